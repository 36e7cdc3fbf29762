/** The npm package: packed from what is built, installed into an empty folder, run there. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import manifest from "../../package.json";
import { catalogue } from "../../server/src/analysis";
import { TemporaryFolder } from "../unit/workspace/folder";
import { flawed, repaired } from "./run";

const root = path.join(__dirname, "../..");

describe("the npm package", function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;

  before(function () {
    if (!existsSync(path.join(root, "dist/cli.js"))) this.skip();
    folder = new TemporaryFolder({ "pack/": "", "home/": "", "project/package.json": "{}" });
    // Scripts would build again, under the other tests' feet.
    npm(root, "pack", "--ignore-scripts", "--pack-destination", folder.join("pack"));
    const [file = ""] = readdirSync(folder.join("pack"));
    // Nothing may be fetched: the package depends on nothing.
    npm(folder.join("project"), "install", "--offline", "--no-audit", "--no-fund", folder.join("pack", file));
  });
  after(() => folder.remove());

  function npm(cwd: string, ...argv: string[]): void {
    const { PATH } = process.env;
    const env = { PATH, HOME: folder.join("home"), npm_config_cache: folder.join("home/cache") };
    const { status, stderr } = spawnSync("npm", argv, { cwd, env, encoding: "utf8" });
    assert.equal(status, 0, stderr);
  }

  function vramlint(
    argv: readonly string[],
    input = "",
  ): { code: number | null; stdout: string; stderr: string } {
    const { status, stdout, stderr } = spawnSync(folder.join("project/node_modules/.bin/vramlint"), argv, {
      cwd: folder.join("project"),
      input,
      encoding: "utf8",
      env: { PATH: process.env["PATH"] },
    });
    return { code: status, stdout, stderr };
  }

  const installed = (...parts: string[]): string => folder.join("project/node_modules/vramlint", ...parts);

  it("brings no other package along", () => {
    assert.deepEqual(
      readdirSync(folder.join("project/node_modules")).filter((name) => !name.startsWith(".")),
      ["vramlint"],
    );
    // Everything is bundled: what the product uses belongs under devDependencies.
    assert.ok(!("dependencies" in manifest));
  });

  it("holds the command line with the language server, and nothing else", () => {
    assert.deepEqual(readdirSync(installed()).sort(), [
      "LICENSE",
      "README.md",
      "README.zh-cn.md",
      "dist",
      "package.json",
    ]);
    const entries = readdirSync(installed("dist")).sort();
    for (const name of ["cli.js", "program.js", "rules", "tree-sitter-python.wasm", "web-tree-sitter.wasm"]) {
      assert.ok(entries.includes(name), name);
    }
    for (const name of ["extension.js", "server.js", "launch.js", "panel.js", "panel.css", "pages"])
      assert.ok(!entries.includes(name), name);
    const [file = ""] = readdirSync(folder.join("pack"));
    assert.ok(statSync(folder.join("pack", file)).size < 930 * 1024);
    const [launcher, program] = ["dist/cli.js", "dist/program.js"].map((file) =>
      readFileSync(installed(file), "utf8"),
    );
    assert.ok(launcher?.startsWith("#!/usr/bin/env node\n"));
    for (const bundle of [launcher, program])
      assert.ok(bundle?.includes(realpathSync(root)) === false, "no path of the machine it was built on");
  });

  it("is a language server for editors", async () => {
    const messages = [
      {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { processId: null, rootUri: null, capabilities: {} },
      },
      { jsonrpc: "2.0", id: 2, method: "shutdown" },
      { jsonrpc: "2.0", method: "exit" },
    ];
    const framed = messages.map((message) => {
      const text = JSON.stringify(message);
      return `Content-Length: ${text.length}\r\n\r\n${text}`;
    });
    for (const argv of [["lsp"], ["lsp", "--stdio"]]) {
      const child = spawn(folder.join("project/node_modules/.bin/vramlint"), argv);
      let stdout = "";
      child.stdout.on("data", (chunk) => (stdout += String(chunk)));
      child.stdin.write(framed.join(""));
      const [code] = (await once(child, "close")) as [number | null];
      assert.equal(code, 0);
      assert.match(stdout, /"serverInfo":\{"name":"vramlint"/);
    }
  });

  it("checks, fixes, estimates and explains", () => {
    assert.equal(vramlint(["--version"]).stdout, `${manifest.version}\n`);
    folder.write("project/a.py", flawed);
    const { code, stdout, stderr } = vramlint([
      "check",
      "--format",
      "json",
      "--baseline",
      "b",
      "--write-baseline",
    ]);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.equal((JSON.parse(stdout) as { known: number }).known, 2);
    assert.equal(vramlint(["check"]).code, 1);
    assert.equal(vramlint(["check", "--fix", "-"], flawed).stdout, repaired);
    const model =
      "import torch.nn as nn\nclass Net(nn.Module):\n  def __init__(self):\n    super().__init__()\n    self.l = nn.Linear(9, 1)\n";
    assert.match(
      vramlint(["estimate", "-"], `${model}net = Net()\n`).stdout,
      /parameters +40 B +10, 10 trainable/,
    );
    for (const language of ["en", "zh-cn"]) {
      const page = vramlint(["rule", catalogue[0]?.name ?? "", "--lang", language]);
      assert.deepEqual([page.code, page.stderr], [0, ""]);
      assert.ok(page.stdout.startsWith("# "));
    }
  });
});
