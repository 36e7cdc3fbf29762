import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { settingsWords } from "../../../server/src/analysis/project-settings";
import { render } from "../../../server/src/messages/message";
import { discoverFiles } from "../../../server/src/workspace/discover";
import { pathPattern } from "../../../server/src/workspace/globs";
import { SettingsFiles } from "../../../server/src/workspace/settings-files";
import { TemporaryFolder } from "./folder";

describe("settings files", () => {
  let folder: TemporaryFolder;
  afterEach(() => folder.remove());

  it("takes the nearest that has settings, and vramlint.toml before pyproject.toml", () => {
    folder = new TemporaryFolder({
      "pyproject.toml": "[tool.vramlint]\n",
      "a/pyproject.toml": "[tool.other]\n",
      "a/b/vramlint.toml": "",
      "a/b/pyproject.toml": "[tool.vramlint]\n",
      "c/": "",
    });
    const files = new SettingsFiles(settingsWords);
    const found = (name: string) => files.ofFile(folder.join(name))?.file;
    assert.equal(found("x.py"), folder.join("pyproject.toml"));
    assert.equal(found("a/x.py"), folder.join("pyproject.toml"));
    assert.equal(found("a/b/x.py"), folder.join("a/b/vramlint.toml"));
    assert.equal(found("a/b/no/such/x.py"), folder.join("a/b/vramlint.toml"));
    assert.equal(found("c/x.py"), folder.join("pyproject.toml"));
    assert.deepEqual(
      files.all().map(({ file }) => file),
      [folder.join("pyproject.toml"), folder.join("a/b/vramlint.toml")],
    );
  });

  it("reads again once told to forget", () => {
    folder = new TemporaryFolder({ "vramlint.toml": 'ignore = ["cat-in-loop"]\n' });
    const files = new SettingsFiles(settingsWords);
    assert.deepEqual(files.ofFolder(folder.path)?.ignore, ["cat-in-loop"]);
    folder.write("vramlint.toml", "");
    assert.deepEqual(files.ofFolder(folder.path)?.ignore, ["cat-in-loop"]);
    files.forget();
    assert.equal(files.ofFolder(folder.path)?.ignore, undefined);
  });

  it("says when a vramlint.toml cannot be read", function () {
    if (process.getuid?.() === 0) this.skip();
    folder = new TemporaryFolder({ "vramlint.toml": "" });
    chmodSync(folder.join("vramlint.toml"), 0);
    const [problem] = new SettingsFiles(settingsWords).ofFolder(folder.path)?.problems ?? [];
    assert.ok(problem);
    assert.equal(render(problem.message, "en"), "The file cannot be read (EACCES).");
  });

  it("keeps discovery out of what is excluded, unless it is named itself", async () => {
    folder = new TemporaryFolder({
      "vramlint.toml": 'exclude = ["generated", "*_old.py", "/a/b.py"]\n',
      "a/b.py": "",
      "a/c.py": "",
      "a/x_old.py": "",
      "a/generated/deep/d.py": "",
      "own/vramlint.toml": "",
      "own/e_old.py": "",
    });
    const files = new SettingsFiles(settingsWords);
    const options = { cwd: folder.path, excludes: (target: string) => files.excludes(target) };
    assert.deepEqual((await discoverFiles(["."], options)).files, ["a/c.py", "own/e_old.py"]);
    assert.deepEqual((await discoverFiles(["a/*.py"], options)).files, ["a/c.py"]);
    assert.deepEqual((await discoverFiles(["a/b.py", "a/generated"], options)).files, [
      "a/b.py",
      "a/generated/deep/d.py",
    ]);
  });

  it("has patterns for names, places and everything below", () => {
    folder = new TemporaryFolder();
    const cases: readonly (readonly [pattern: string, path: string, matches: boolean])[] = [
      ["build", "build", true],
      ["build", "a/build/c.py", true],
      ["build", "a/builds/c.py", false],
      ["build/", "a/build/c.py", true],
      ["/build", "a/build/c.py", false],
      ["./src/legacy", "src/legacy/x.py", true],
      ["src/*.py", "src/a.py", true],
      ["src/*.py", "src/b/a.py", false],
      ["src/**/*.py", "src/b/a.py", true],
      ["src\\legacy", "src/legacy/x.py", true],
      ["{a,b}.py", "x/b.py", true],
      ["*.ipynb", ".hidden/n.ipynb", true],
    ];
    for (const [pattern, target, matches] of cases) {
      assert.equal(pathPattern(pattern)?.matches(target), matches, `${pattern} ${target}`);
    }
    for (const wrong of ["", " ", "/", ".", "!a", "a/../b", "..", "C:\\x"]) {
      assert.equal(pathPattern(wrong), undefined, wrong);
    }
  });
});
