import assert from "node:assert/strict";
import { TemporaryFolder } from "../unit/workspace/folder";
import { clean, flawed, vramlint } from "./run";

describe("progress on the command line", () => {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder({ "b.py": flawed });
    for (let index = 0; index < 59; index++) folder.write(`c${index}.py`, clean);
  });
  afterEach(() => folder.remove());

  it("is shown on a terminal, and gone before and after what is said", async () => {
    const { stderr, stdout } = await vramlint(["check"], { cwd: folder.path, isTTY: true });
    assert.match(stderr, /\r\u001b\[KChecking: 30 of 60 files, 50 %\r\u001b\[K/);
    assert.ok(stderr.endsWith("\r\u001b[K"));
    assert.ok(
      stderr.startsWith("\r\u001b[KChecking: 0 of 60 files, 0 %\r\u001b[K\r\u001b[KChecking: 1 of 60"),
    );
    assert.doesNotMatch(stdout, /Checking/);
    const chinese = await vramlint(["check", "--lang", "zh-cn"], { cwd: folder.path, isTTY: true });
    assert.match(chinese.stderr, /正在检查：30\/60 个文件，50 %/);
  });

  it("is not shown elsewhere, on dumb terminals, nor for a few files", async () => {
    assert.equal((await vramlint(["check"], { cwd: folder.path })).stderr, "");
    const dumb = await vramlint(["check"], { cwd: folder.path, isTTY: true, env: { TERM: "dumb" } });
    assert.equal(dumb.stderr, "");
    assert.equal((await vramlint(["check", "c0.py"], { cwd: folder.path, isTTY: true })).stderr, "");
  });
});
