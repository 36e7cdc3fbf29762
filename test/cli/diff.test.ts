/** `--diff REF`: findings on changed lines only. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { parseDiff } from "../../server/src/cli/changed-lines";
import { linesOfSource, shiftedLines } from "../../server/src/cli/file-filter";
import { Source } from "../../server/src/python/source";
import { applyEdits } from "../../server/src/rules/fix";
import { TemporaryFolder } from "../unit/workspace/folder";
import { Repository } from "./repository";
import { vramlint } from "./run";

const unused = "# vram: ignore[loss-graph-retained]";
/** A file whose every line behind the first has a finding. */
const lines = (...names: string[]): string =>
  ["import torch", ...names.map((name) => `${name} = 1  ${unused}`), ""].join("\n");

describe("vramlint check --diff", () => {
  let repository: Repository;

  afterEach(() => repository.remove());

  interface Found {
    readonly code: number;
    readonly stderr: string;
    /** `file:line`. */
    readonly places: string[];
  }

  async function check(ref: string, argv: readonly string[] = ["."], cwd = repository.path): Promise<Found> {
    const { code, stdout, stderr } = await vramlint(["check", "--diff", ref, "--format", "json", ...argv], {
      cwd,
      env: { PATH: process.env["PATH"] },
    });
    const { findings } = JSON.parse(stdout === "" ? '{"findings":[]}' : stdout) as {
      findings: { file: string; line: number }[];
    };
    return { code, stderr, places: findings.map(({ file, line }) => `${file}:${line}`) };
  }

  it("reports changed and new lines, and nothing else", async () => {
    repository = new Repository({ "a.py": lines("a", "b", "c", "d"), "same.py": lines("a") });
    assert.deepEqual(await check("HEAD"), { code: 0, stderr: "", places: [] });
    repository.write("a.py", lines("a", "new", "b", "changed", "d"));
    assert.deepEqual(await check("HEAD"), { code: 1, stderr: "", places: ["a.py:3", "a.py:5"] });
    repository.commit("second");
    assert.deepEqual((await check("HEAD")).places, []);
    assert.deepEqual((await check("HEAD~1")).places, ["a.py:3", "a.py:5"]);
    repository.write("a.py", lines("a", "d"));
    assert.deepEqual((await check("HEAD")).places, []);
  });

  it("counts new files whole, whether git knows them or not, but not ignored ones", async () => {
    repository = new Repository({ "a.py": lines("a"), ".gitignore": "ignored.py\n" });
    repository.write("new.py", lines("a", "b"));
    repository.write("sub/added.py", lines("a"));
    repository.write("ignored.py", lines("a"));
    repository.git("add", "sub/added.py");
    assert.deepEqual((await check("HEAD")).places.sort(), ["new.py:2", "new.py:3", "sub/added.py:2"]);
    assert.deepEqual((await check("HEAD", ["ignored.py"])).places, []);
  });

  it("compares with the commit where HEAD left a branch", async () => {
    repository = new Repository({ "a.py": lines("a", "b", "c", "d", "e", "f") });
    repository.git("checkout", "--quiet", "-b", "mine");
    repository.write("a.py", lines("mine", "b", "c", "d", "e", "f"));
    repository.commit("mine");
    repository.git("checkout", "--quiet", "main");
    repository.write("a.py", lines("a", "b", "c", "d", "e", "theirs"));
    repository.commit("theirs");
    repository.git("checkout", "--quiet", "mine");
    assert.deepEqual(await check("main"), { code: 1, stderr: "", places: ["a.py:2"] });
  });

  it("compares with REF itself where the histories have nothing in common, and says so", async () => {
    repository = new Repository({ "a.py": lines("a") });
    repository.git("checkout", "--quiet", "--orphan", "other");
    repository.write("a.py", lines("a", "b"));
    repository.commit("other");
    const { code, stderr, places } = await check("main");
    assert.equal(code, 1);
    assert.deepEqual(places, ["a.py:3"]);
    assert.match(stderr, /--diff: HEAD and main have no commit in common here/);
  });

  it("follows renames, and works from a folder below the top", async () => {
    repository = new Repository({ "sub/a.py": lines("a", "b", "c", "d", "e") });
    repository.git("mv", "sub/a.py", "sub/b.py");
    repository.write("sub/b.py", lines("a", "b", "new", "c", "d", "e"));
    assert.deepEqual((await check("HEAD")).places, ["sub/b.py:4"]);
    assert.deepEqual((await check("HEAD", ["."], repository.join("sub"))).places, ["b.py:4"]);
  });

  it("sees the lines of files whose diffs `.gitattributes` hides", async () => {
    repository = new Repository({
      ".gitattributes": "*.py -diff\n*.pyi binary\n",
      "a.py": lines("a", "b"),
      "b.pyi": lines("a", "b"),
      "same.py": lines("a"),
    });
    repository.write("a.py", lines("a", "new", "b"));
    repository.write("b.pyi", lines("a", "b", "new"));
    repository.git("mv", "same.py", "moved.py");
    assert.deepEqual((await check("HEAD")).places, ["a.py:3", "b.pyi:4"]);
  });

  it("says which submodules it does not look into", async () => {
    const library = new Repository({ "lib.py": lines("a") });
    repository = new Repository({ "a.py": lines("a") });
    try {
      repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.path, "lib");
      repository.commit("submodule");
      assert.deepEqual(await check("HEAD"), { code: 0, stderr: "", places: [] });
      const said = "vramlint: --diff: lib is a submodule, and what changed in it was not looked at. ";
      repository.write("lib/lib.py", lines("a", "b"));
      assert.equal((await check("HEAD")).stderr.slice(0, said.length), said);
      repository.git("-C", "lib", "commit", "--quiet", "--all", "-m", "second");
      const { code, stderr } = await check("HEAD");
      assert.deepEqual({ code, said: stderr.slice(0, said.length) }, { code: 0, said });
      assert.equal((await check("HEAD", ["a.py"])).stderr, "", "nobody asked for what is in it");
    } finally {
      library.remove();
    }
  });

  it("tells that nothing changed from that there is nothing", async () => {
    repository = new Repository({ "a.py": lines("a"), "b.py": "", "docs/readme.md": "" });
    const said = async (...paths: string[]): Promise<string> => {
      const env = { PATH: process.env["PATH"] };
      return (await vramlint(["check", "--diff", "HEAD", ...paths], { cwd: repository.path, env })).stdout;
    };
    assert.equal(await said(), "None of the 2 Python files has changed.\n");
    assert.equal(await said("a.py"), "The Python file has not changed.\n");
    assert.equal(await said("docs"), "No Python file found.\n");
  });

  it("is not misled by names, by content that looks like a diff, or by the user's configuration", async () => {
    const names = ["a b.py", "训练.py", 'quo"te\\.py', "new\nline.py", "tab\t.py", "+++ b.py", "sp .py "];
    repository = new Repository(Object.fromEntries(names.map((name) => [name, lines("a")])));
    const diffLike = `++ b/other.py\n@@ -1,9 +1,9 @@\n-- a\n`;
    for (const name of names) {
      repository.write(
        name,
        `${lines("a")}x = """\n${diffLike}"""\n${lines("b").slice("import torch\n".length)}`,
      );
    }
    for (const [key, value] of [
      ["diff.noprefix", "true"],
      ["diff.mnemonicPrefix", "true"],
      ["diff.interHunkContext", "9"],
      ["diff.external", "false"],
      ["color.ui", "always"],
      ["core.quotePath", "false"],
    ] as const) {
      repository.git("config", key, value);
    }
    const { places } = await check("HEAD", names);
    assert.deepEqual(places.sort(), names.map((name) => `${name}:8`).sort());
  });

  describe("of notebooks", () => {
    /** A notebook of code cells, each of lines, in one of the forms that programs write. */
    function notebook(
      cells: readonly (readonly string[])[],
      indent: number | undefined = 1,
      outputs: unknown[] = [],
    ) {
      const code = cells.map((lines) => ({
        cell_type: "code",
        metadata: {},
        outputs,
        source: lines.map((line, index) => (index < lines.length - 1 ? `${line}\n` : line)),
      }));
      const text = { cell_type: "markdown", metadata: {}, source: ["text"] };
      return `${JSON.stringify({ cells: [text, ...code], metadata: {}, nbformat: 4, nbformat_minor: 5 }, undefined, indent)}\n`;
    }
    const flaw = (name: string): string => `${name} = 1  ${unused}`;
    const before = [["import torch"], [flaw("a"), flaw("b")], [flaw("c"), flaw("d")]];

    async function places(): Promise<string[]> {
      const { stdout } = await vramlint(["check", "--diff", "HEAD", "--format", "json"], {
        cwd: repository.path,
        env: { PATH: process.env["PATH"] },
      });
      const { findings } = JSON.parse(stdout) as { findings: { cell: number; line: number }[] };
      return findings.map(({ cell, line }) => `${cell}:${line}`);
    }

    for (const indent of [1, undefined]) {
      it(`tells changed lines of cells, laid out ${indent === undefined ? "on one line" : "as usual"}`, async () => {
        repository = new Repository({ "a.ipynb": notebook(before, indent) });
        assert.deepEqual(await places(), []);
        const [torch = [], first = [], second = []] = before;
        repository.write(
          "a.ipynb",
          notebook([torch, first, [flaw("c"), flaw("changed"), flaw("d")]], indent),
        );
        assert.deepEqual(await places(), ["4:2"]);
        // A line behind the last puts a line end and a comma into the JSON of the one before it.
        repository.write("a.ipynb", notebook([torch, [...first, flaw("added")], second], indent));
        assert.deepEqual(await places(), ["3:3"]);
        repository.write("a.ipynb", notebook([torch, [flaw("new")], first, second], indent));
        assert.deepEqual(await places(), ["3:1"]);
        repository.write("a.ipynb", notebook([torch, second], indent));
        assert.deepEqual(await places(), []);
      });
    }

    it("are not changed by outputs, nor by another layout", async () => {
      repository = new Repository({ "a.ipynb": notebook(before) });
      repository.write("a.ipynb", notebook(before, 1, [{ output_type: "stream", text: ["1\n", "2\n"] }]));
      assert.deepEqual(await places(), []);
      repository.write("a.ipynb", notebook(before, 4));
      assert.deepEqual(await places(), []);
    });

    it("count whole when they are new or were none before, and keep their lines when renamed", async () => {
      repository = new Repository({ "a.ipynb": "{}\n", "b.ipynb": notebook(before) });
      repository.write("a.ipynb", notebook(before));
      assert.deepEqual(await places(), ["3:1", "3:2", "4:1", "4:2"]);
      repository.write("a.ipynb", "{}\n");
      repository.git("mv", "b.ipynb", "c d.ipynb");
      const [torch = [], first = []] = before;
      repository.write("c d.ipynb", notebook([torch, first, [flaw("c"), flaw("changed")]]));
      repository.write("a.ipynb", '{"cells": []}\n');
      assert.deepEqual(await places(), ["4:2"]);
    });

    it("are fixed on their changed lines only", async () => {
      repository = new Repository({ "a.ipynb": notebook(before) });
      const [torch = [], first = []] = before;
      repository.write("a.ipynb", notebook([torch, first, [flaw("c"), flaw("changed")]]));
      await vramlint(["check", "--diff", "HEAD", "--fix"], {
        cwd: repository.path,
        env: { PATH: process.env["PATH"] },
      });
      const expected = notebook([torch, first, [flaw("c"), "changed = 1"]]);
      assert.equal(readFileSync(repository.join("a.ipynb"), "utf8"), expected);
    });
  });

  it("counts lines as git does where a lone carriage return ends one", async () => {
    repository = new Repository({ "a.py": `import torch\ra = 1  ${unused}\nb = 1  ${unused}\n` });
    repository.write("a.py", `import torch\ra = 1  ${unused}\nb = 2  ${unused}\n`);
    assert.deepEqual((await check("HEAD")).places, ["a.py:3"]);
  });

  it("fixes changed lines only, wherever fixes move them", async () => {
    repository = new Repository({ "a.py": `# vram: batch_size=1\n${lines("a", "b", "c")}` });
    const loop = `for batch in loader:\n    torch.cuda.empty_cache()\n    step(batch)\n`;
    repository.write(
      "a.py",
      `# vram: batch_size=1\n${lines("a", "new", "b", "c")}${loop}last = 1  ${unused}\n`,
    );
    const { code, places } = await check("HEAD", [".", "--fix"]);
    assert.deepEqual([code, places], [0, []]);
    const text = readFileSync(repository.join("a.py"), "utf8");
    assert.equal(
      text,
      `# vram: batch_size=1\n${lines("a", "new", "b", "c").replace(`new = 1  ${unused}`, "new = 1")}` +
        `${loop.replace("    torch.cuda.empty_cache()\n", "")}last = 1\n`,
    );
  });

  describe("tells", () => {
    beforeEach(() => (repository = new Repository({ "a.py": lines("a") })));

    for (const ref of ["nowhere", "HEAD~9", "--output=x", "a b", "", "HEAD:a.py", "\u001b[2J"]) {
      it(`that there is no commit ${JSON.stringify(ref)}`, async () => {
        const { code, stderr } = await vramlint(["check", `--diff=${ref}`], {
          cwd: repository.path,
          env: { PATH: process.env["PATH"] },
        });
        assert.equal(code, 2);
        assert.match(
          stderr,
          /--diff: git knows no commit .* here\. Check the spelling; in CI fetch it first/,
        );

        assert.doesNotMatch(stderr, /\u001b/);
      });
    }

    it("that this is no repository", async () => {
      const folder = new TemporaryFolder({ "a.py": lines("a") });
      try {
        const { code, stderr, places } = await check("HEAD", ["."], folder.path);
        assert.deepEqual([code, places], [2, []]);
        assert.match(stderr, /is not inside a git repository\. Run the command in one, or leave --diff out/);
      } finally {
        folder.remove();
      }
    });

    it("that there is no git", async () => {
      const { code, stderr } = await vramlint(["check", "--diff", "HEAD"], {
        cwd: repository.path,
        env: { PATH: repository.path },
      });
      assert.equal(code, 2);
      assert.match(stderr, /--diff needs git/);
    });

    it("what git says otherwise", async () => {
      mkdirSync(repository.join("bin"));
      writeFileSync(repository.join("bin/git"), "#!/bin/sh\necho 'fatal: \u001b[1mbad day' >&2\nexit 128\n");
      chmodSync(repository.join("bin/git"), 0o755);
      const { code, stderr } = await vramlint(["check", "--diff", "HEAD"], {
        cwd: repository.path,
        env: { PATH: `${repository.join("bin")}:${process.env["PATH"]}` },
      });
      assert.equal(code, 2);
      assert.equal(stderr, "vramlint: --diff: git failed: fatal: \\x1b[1mbad day\n");
    });

    it("that paths are missing", async () => {
      renameSync(repository.join("a.py"), repository.join("b.py"));
      const { code, stderr } = await check("HEAD", ["a.py"]);
      assert.equal(code, 2);
      assert.match(stderr, /a\.py: there is no such file or folder/);
    });
  });
});

describe("changed lines", () => {
  it("are read from hunk headers", () => {
    const diff = [
      "diff --git a/x.py b/x.py",
      "--- a/x.py",
      "+++ b/x.py",
      "@@ -3 +3,2 @@ def f():",
      "-old",
      "+++ b/not-a-header.py",
      "+@@ -1 +1,100 @@",
      "@@ -9,2 +10,0 @@",
      "-a",
      "-b",
      "diff --git a/gone.py b/gone.py",
      "--- a/gone.py",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-x",
      "diff --git a/bin b/bin",
      "Binary files a/bin and b/bin differ",
      'diff --git "a/\\346\\261\\211\\t.py" "b/\\346\\261\\211\\t.py"',
      '--- "a/\\346\\261\\211\\t.py"',
      '+++ "b/\\346\\261\\211\\t.py"',
      "@@ -0,0 +1 @@",
      "+x",
      "\\ No newline at end of file",
      "",
    ].join("\n");
    assert.deepEqual(
      [...parseDiff(diff)],
      [
        ["x.py", { lines: [{ from: 2, to: 3 }], before: "x.py" }],
        ["汉\t.py", { lines: [{ from: 0, to: 0 }], before: "汉\t.py" }],
      ],
    );
    assert.deepEqual([...parseDiff("")], []);
    assert.deepEqual([...parseDiff("@@ -1 +1 @@\n+x")], []);
  });

  it("move with edits, and take in what the edits write", () => {
    const before = new Source("a\nb\nc\nd\ne\n");
    const edits = [
      { start: 0, end: 0, text: "0\n" },
      { start: 4, end: 6, text: "" },
      { start: 8, end: 8, text: "new\n" },
    ];
    const after = new Source(applyEdits(before.text, edits));
    assert.equal(after.text, "0\na\nb\nd\nnew\ne\n");
    const moved = shiftedLines([{ from: 3, to: 3 }], edits, before, after);
    assert.deepEqual(moved, [
      { from: 3, to: 4 },
      { from: 0, to: 0 },
      { from: 4, to: 4 },
    ]);
  });

  it("are those of the source", () => {
    const source = new Source("a\rb\nc\r\nd\re");
    assert.deepEqual(linesOfSource([{ from: 0, to: 0 }], source), [{ from: 0, to: 1 }]);
    assert.deepEqual(linesOfSource([{ from: 1, to: 2 }], source), [{ from: 2, to: 4 }]);
  });
});
