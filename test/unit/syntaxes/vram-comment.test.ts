/** The injected grammar colours what it should: the assertions stand in vram-comment.test.py. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";

const root = path.join(__dirname, "../../..");

describe("grammar of the # vram: comments", () => {
  it("gives every part its scope and leaves other comments alone", () => {
    const tester = path.join(root, "node_modules/vscode-tmgrammar-test/dist/unit.js");
    const base = path.join(__dirname, "python-comments.tmLanguage.json");
    const cases = "test/unit/syntaxes/*.test.py";
    const { status, stdout, stderr } = spawnSync(process.execPath, [tester, "-g", base, cases], {
      cwd: root,
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /vram-comment\.test\.py run success/, "the assertions were run");
  });
});
