/** The program as it is shipped: the bundle in `dist/`, run as a process of its own. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { TemporaryFolder } from "../unit/workspace/folder";
import { flawed, repaired } from "./run";

const program = path.join(__dirname, "../../dist/cli.js");

describe("the built command line", function () {
  let folder: TemporaryFolder;

  before(function () {
    if (!existsSync(program)) this.skip();
  });
  beforeEach(() => (folder = new TemporaryFolder()));
  afterEach(() => folder.remove());

  function vramlint(
    argv: readonly string[],
    input = "",
  ): { code: number | null; stdout: string; stderr: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], {
      cwd: folder.path,
      input,
      encoding: "utf8",
      maxBuffer: 16 * 1024 * 1024,
      env: { PATH: process.env["PATH"] },
    });
    return { code: status, stdout, stderr };
  }

  it("checks, fixes and tells by its exit code", () => {
    folder.write("a.py", flawed);
    const first = vramlint(["check", "--format", "json"]);
    assert.equal(first.code, 1, first.stderr);
    assert.equal((JSON.parse(first.stdout) as { findings: unknown[] }).findings.length, 2);
    assert.equal(vramlint(["check", "--fix"]).code, 1);
    assert.equal(readFileSync(folder.join("a.py"), "utf8"), repaired);
    assert.equal(vramlint(["check", "--ignore", "budget-invalid"]).code, 0);
    assert.equal(vramlint(["check", "missing.py"]).code, 2);
  });

  it("finds its parser and its pages from any folder", () => {
    for (const [language, title] of [
      ["en", "What it finds"],
      ["zh-cn", "检查内容"],
    ] as const) {
      const { code, stdout } = vramlint(["rule", "budget-invalid", "--lang", language]);
      assert.equal(code, 0);
      assert.ok(stdout.includes(title));
    }
  });

  it("reads and writes standard streams", () => {
    const { code, stdout, stderr } = vramlint(["check", "--fix", "-"], flawed);
    assert.equal(code, 1);
    assert.equal(stdout, repaired);
    assert.match(stderr, /budget-invalid/);
  });

  it("delivers a large report through a pipe", () => {
    folder.write("a.py", `import torch\n${"x = 1  # vram: ignore[loss-graph-retained]\n".repeat(3000)}`);
    const { stdout } = vramlint(["check", "--format", "json"]);
    assert.equal((JSON.parse(stdout) as { findings: unknown[] }).findings.length, 3000);
  });

  it("ends quietly when nobody reads on", async () => {
    folder.write("a.py", `import torch\n${"x = 1  # vram: ignore[loss-graph-retained]\n".repeat(3000)}`);
    for (let index = 0; index < 5; index++) folder.write(`b${index}.py`, readFileSync(folder.join("a.py")));
    const child = spawn(process.execPath, [program, "check"], { cwd: folder.path });
    let errors = "";
    child.stderr.on("data", (chunk) => (errors += String(chunk)));
    child.stdout.once("data", () => child.stdout.destroy());
    await once(child, "close");
    assert.equal(errors, "");
  });

  it("ends quietly on Ctrl-C", async () => {
    for (let index = 0; index < 300; index++) folder.write(`f${index}.py`, flawed.repeat(50));
    const child = spawn(process.execPath, [program, "check"], { cwd: folder.path });
    let errors = "";
    child.stderr.on("data", (chunk) => (errors += String(chunk)));
    child.stdout.once("data", () => child.kill("SIGINT"));
    const [code] = (await once(child, "close")) as [number | null];
    assert.equal(code, 130);
    assert.equal(errors, "");
  });

  it("leaves whole files behind when nobody reads on or Ctrl-C comes during --fix", async () => {
    for (const end of ["pipe", "signal"]) {
      for (let index = 0; index < 40; index++) folder.write(`f${index}.py`, flawed);
      const child = spawn(process.execPath, [program, "check", "--fix"], { cwd: folder.path });
      let errors = "";
      child.stderr.on("data", (chunk) => (errors += String(chunk)));
      child.stdout.once("data", () => {
        if (end === "pipe") child.stdout.destroy();
        else child.kill("SIGINT");
      });
      const [code] = (await once(child, "close")) as [number | null];
      assert.equal(errors, "");
      assert.equal(code, end === "pipe" ? 0 : 130);
      const names = readdirSync(folder.path);
      assert.equal(names.length, 40, "no temporary file is left");
      const texts = names.map((name) => readFileSync(folder.join(name), "utf8"));
      assert.ok(texts.includes(repaired));
      for (const text of texts) assert.ok(text === flawed || text === repaired);
    }
  });

  it("leaves whole files and nothing else behind when threads are at work, however often Ctrl-C comes", async () => {
    for (let index = 0; index < 260; index++) folder.write(`f${index}.py`, flawed.repeat(2));
    for (const [signal, expected, times] of [
      ["SIGINT", 130, 1],
      ["SIGINT", 130, 3],
      ["SIGTERM", 143, 1],
      ["SIGHUP", 129, 2],
    ] as const) {
      const env = { PATH: process.env["PATH"], VRAMLINT_THREADS: "3" };
      const child = spawn(process.execPath, [program, "check", "--fix"], { cwd: folder.path, env });
      let errors = "";
      child.stderr.on("data", (chunk) => (errors += String(chunk)));
      child.stdout.once("data", () => {
        for (let time = 0; time < times; time++) setTimeout(() => child.kill(signal), 5 * time);
      });
      const [code] = (await once(child, "close")) as [number | null];
      assert.equal(errors, "");
      assert.equal(code, expected, `${signal}, ${times}`);
      const names = readdirSync(folder.path);
      assert.equal(names.length, 260, "no temporary file is left");
      for (const name of names) {
        const text = readFileSync(folder.join(name), "utf8");
        assert.ok(text === flawed.repeat(2) || text === repaired.repeat(2), name);
      }
    }
  });

  it("writes no report, no baseline and no half of either on Ctrl-C", async () => {
    folder.write("base.json", '{"vramlintBaseline": 1, "findings": []}');
    for (let index = 0; index < 300; index++) folder.write(`f${index}.py`, flawed.repeat(20));
    const argv = ["check", "--format", "json", "--baseline", "base.json", "--write-baseline", "."];
    const child = spawn(process.execPath, [program, ...argv], { cwd: folder.path });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => (output += String(chunk)));
    const timer = setTimeout(() => child.kill("SIGINT"), 300);
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    clearTimeout(timer);
    assert.ok(code === 130 || signal === "SIGINT", `ended with ${code}`);
    assert.equal(output, "");
    assert.equal(readFileSync(folder.join("base.json"), "utf8"), '{"vramlintBaseline": 1, "findings": []}');
  });

  it("says so when the disk takes no more, and loses nothing", () => {
    folder.write("a.py", flawed);
    folder.write("base.json", '{"vramlintBaseline": 1, "findings": []}');
    // A limit on the size of files does what a full disk does, once its signal is ignored.
    const limited = (...argv: string[]): { status: number | null; stdout: string; stderr: string } =>
      spawnSync(
        "bash",
        ["-c", `trap '' XFSZ; ulimit -f 0; exec "$@"`, "bash", process.execPath, program, ...argv],
        {
          cwd: folder.path,
          encoding: "utf8",
        },
      );
    const fixed = limited("check", "--fix", "a.py");
    assert.equal(fixed.stderr, "vramlint: a.py: cannot be written (EFBIG); the file is as it was.\n");
    assert.equal(fixed.status, 2);
    const recorded = limited("check", "--baseline", "base.json", "--write-baseline");
    assert.equal(
      recorded.stderr,
      "vramlint: base.json: the baseline cannot be written (EFBIG); it is as it was.\n",
    );
    assert.equal(recorded.stdout, "2 findings in 1 file.\n");
    assert.equal(recorded.status, 2);
    assert.equal(readFileSync(folder.join("a.py"), "utf8"), flawed);
    assert.equal(readFileSync(folder.join("base.json"), "utf8"), '{"vramlintBaseline": 1, "findings": []}');
    assert.deepEqual(readdirSync(folder.path), ["a.py", "base.json"]);
  });

  it("says so when the report cannot be written", function () {
    if (!existsSync("/dev/full")) this.skip();
    folder.write("a.py", flawed);
    const { status, stderr } = spawnSync(
      "bash",
      ["-c", `exec "$@" > /dev/full`, "bash", process.execPath, program, "check", "a.py"],
      { cwd: folder.path, encoding: "utf8" },
    );
    assert.match(stderr, /^vramlint: ENOSPC/);
    assert.equal(status, 2);
  });

  it("does not wait for input on Ctrl-C", async () => {
    const child = spawn(process.execPath, [program, "check", "-"], { cwd: folder.path });
    // The program answers SIGINT itself only once it runs; a signal before that ends it just as quietly.
    const timer = setInterval(() => child.kill("SIGINT"), 200);
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    clearInterval(timer);
    assert.ok(code === 130 || signal === "SIGINT");
  });
});
