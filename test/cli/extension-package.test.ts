/** The extension's package stays small: everybody who installs or updates it downloads all of it. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { listFiles, PackageManager } from "@vscode/vsce";
import { packageParts, printParts } from "../../scripts/package-parts.mjs";
import { catalogue } from "../../server/src/analysis";

const root = path.join(__dirname, "../..");

/** KiB; of what a part may grow to before somebody has to say why. */
const limit = 1068;

describe("the extension's package", () => {
  let files: string[];

  before(async function () {
    if (!existsSync(path.join(root, "dist/server.js"))) this.skip();
    files = await listFiles({ cwd: root, packageManager: PackageManager.None });
  });

  it("stays below its limit", () => {
    const sizes = packageParts(root, files);
    printParts(sizes);
    const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0) / 1024;
    console.log(`${total.toFixed(0).padStart(6)} KiB  in all, of ${limit}`);
    assert.ok(total <= limit, `${total.toFixed(0)} KiB`);
  });

  it("holds one file for Node and for browsers of each program, and nothing that only others read", () => {
    assert.deepEqual(files.filter((file) => file.startsWith("dist/")).sort(), [
      "dist/example/train.py",
      "dist/extension.js",
      "dist/launch.js",
      "dist/pages/en.json",
      "dist/pages/zh-cn.json",
      "dist/panel.css",
      "dist/panel.js",
      "dist/server.js",
      "dist/tree-sitter-python.wasm",
      "dist/web-tree-sitter.wasm",
    ]);
  });

  it("has the page of every rule in both languages", () => {
    const names = catalogue.map(({ name }) => name).sort();
    for (const language of ["en", "zh-cn"]) {
      const file = path.join(root, "dist/pages", `${language}.json`);
      const pages = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
      assert.deepEqual(Object.keys(pages), names);
      for (const [name, text] of Object.entries(pages)) assert.match(text, /^# /, name);
    }
  });
});
