import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { TemporaryFolder } from "../unit/workspace/folder";
import { vramlint } from "./run";

/** Names carry over from cell to cell; the second code cell has a finding with a safe fix. */
const cells = [
  { cell_type: "markdown", metadata: {}, source: ["# Training\n", "with *torch*"] },
  {
    cell_type: "code",
    execution_count: 3,
    metadata: { scrolled: 1.0 },
    outputs: [],
    source: ["%matplotlib inline\n", "import torch\n", "from torch import nn\n", "!nvidia-smi"],
  },
  { cell_type: "code", metadata: {}, outputs: [], source: ["%%bash\n", "if true; then ls; fi"] },
  {
    cell_type: "code",
    metadata: {},
    outputs: [{ text: "π ≈ 3.14" }],
    source: [
      "def train(model, loader, optimizer):\n",
      "    for x, y in loader:\n",
      "        optimizer.zero_grad()\n",
      "        loss = nn.functional.cross_entropy(model(x), y)\n",
      "        loss.backward()\n",
      "        optimizer.step()\n",
      "        torch.cuda.empty_cache()\n",
      "    # größer",
    ],
  },
  { cell_type: "code", metadata: {}, outputs: [], source: "import numpy\nmodel?" },
];
const metadata = { kernelspec: { language: "python", name: "python3" } };

function notebook(indent: number | string | undefined, ending = "\n", about: object = metadata): string {
  const content = { cells, metadata: about, nbformat: 4, nbformat_minor: 5 };
  // A float that JavaScript would write otherwise.
  return JSON.stringify(content, undefined, indent).replace(/("scrolled": ?)1/, "$11.0") + ending;
}

describe("notebooks on the command line", () => {
  let folder: TemporaryFolder;
  beforeEach(() => (folder = new TemporaryFolder()));
  afterEach(() => folder.remove());
  const check = (...argv: string[]) => vramlint(["check", ...argv], { cwd: folder.path });
  const read = (name: string): string => readFileSync(folder.join(name), "utf8");

  it("name cell and line", async () => {
    folder.write("a.ipynb", notebook(1));
    const { code, stdout, stderr } = await check();
    assert.equal(stderr, "");
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^a\.ipynb:cell 4:7:9: warning\[empty-cache-in-loop\] .*\n {2}\|\n7 \| {9}torch\.cuda\.empty_cache\(\)\n/,
    );
    assert.match(stdout, /1 finding in 1 file/);
    const { findings } = JSON.parse((await check("--format", "json")).stdout) as {
      findings: { file: string; cell: number; line: number; column: number; endLine: number }[];
    };
    assert.deepEqual(
      findings.map(({ file, cell, line, column, endLine }) => ({ file, cell, line, column, endLine })),
      [{ file: "a.ipynb", cell: 4, line: 7, column: 9, endLine: 7 }],
    );
  });

  it("are annotated on the line of their file where a report knows no cells", async () => {
    folder.write("a.ipynb", notebook(1));
    const line =
      notebook(1)
        .split("\n")
        .findIndex((text) => text.includes("empty_cache")) + 1;
    const { stdout } = await check("--format", "github");
    assert.match(stdout, new RegExp(`line=${line},`));
    const sarif = JSON.parse((await check("--format", "sarif")).stdout) as {
      runs: { results: { fixes?: unknown; locations: { physicalLocation: { region: object } }[] }[] }[];
    };
    const [result] = sarif.runs[0]?.results ?? [];
    assert.deepEqual(result?.locations[0]?.physicalLocation.region, {
      startLine: line,
      startColumn: 1,
      endLine: line,
      endColumn: 2,
    });
    assert.equal(result.fixes, undefined);
  });

  for (const [name, indent, ending] of [
    ["indented by one", 1, "\n"],
    ["indented by tabs without a last line end", "\t", ""],
    ["on one line", undefined, "\n"],
  ] as const) {
    it(`are fixed and nothing else in them changes: ${name}`, async () => {
      const before = notebook(indent, ending);
      folder.write("a.ipynb", before);
      const { code, stdout } = await check("--fix");
      assert.equal(code, 0, stdout);
      const line = JSON.stringify("        torch.cuda.empty_cache()\n");
      const pieces = before.split(line);
      assert.equal(pieces.length, 2);
      const after = read("a.ipynb");
      const expected = cells.map((cell) =>
        Array.isArray(cell.source)
          ? cell.source.filter((text) => !text.includes("empty_cache"))
          : cell.source,
      );
      const { cells: found } = JSON.parse(after) as { cells: { source: unknown }[] };
      assert.deepEqual(
        found.map(({ source }) => source),
        expected,
      );
      assert.ok(after.startsWith(pieces[0]?.trimEnd().replace(/,$/, "") ?? ""));
      assert.ok(after.endsWith(pieces[1] ?? ""));
      assert.equal(
        after.length,
        before.length - line.length - (before.match(/,\s*(?="    # gr)/)?.[0].length ?? 0),
      );
    });
  }

  it("keep a file that escapes everything beyond ASCII that way", async () => {
    const escaped = notebook(1).replace(
      /[^\0-\x7f]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    folder.write("a.ipynb", escaped);
    await check("--fix");
    assert.match(read("a.ipynb"), /^[\0-\x7f]*$/);
    assert.match(read("a.ipynb"), /gr\\u00f6\\u00dfer/);
  });

  it("are filtered from standard input to standard output", async () => {
    const options = { cwd: folder.path, stdin: notebook(1) };
    const ran = await vramlint(["check", "-", "--stdin-filename", "a.ipynb", "--fix"], options);
    assert.equal(ran.code, 0);
    assert.doesNotMatch(ran.stdout, /empty_cache/);
    assert.equal((JSON.parse(ran.stdout) as { cells: unknown[] }).cells.length, cells.length);
  });

  it("that cannot be read are named with what to do", async () => {
    folder.write("conflict.ipynb", `<<<<<<< HEAD\n${notebook(1)}`);
    folder.write("none.ipynb", '{"a": 1}\n');
    folder.write("list.ipynb", "[]\n");
    folder.write("old.ipynb", '{"worksheets": [], "nbformat": 3}\n');
    folder.write("cell.ipynb", '{"cells": [{"cell_type": "code", "source": 5}]}\n');
    folder.write("empty.ipynb", "");
    const { code, stdout, stderr } = await check();
    assert.equal(code, 2);
    assert.equal(stdout, "");
    const lines = stderr.trimEnd().split("\n");
    assert.equal(lines.length, 6);
    assert.match(lines[0] ?? "", /cell\.ipynb: cell 1 of this notebook has no readable source/);
    assert.match(lines[1] ?? "", /conflict\.ipynb: this notebook is not valid JSON .*merge conflict/);
    assert.match(lines[5] ?? "", /old\.ipynb: this notebook has a format before version 4/);
  });

  it("in another language are no mistake", async () => {
    folder.write("a.ipynb", notebook(1, "\n", { language_info: { name: "R" } }));
    const { code, stderr } = await check();
    assert.equal(code, 0);
    assert.match(stderr, /a\.ipynb: not checked, the notebook's language is R, not Python/);
  });

  it("may be empty, and hold cells without lines", async () => {
    folder.write("a.ipynb", '{"cells": [], "metadata": {}, "nbformat": 4}');
    folder.write(
      "b.ipynb",
      '{"cells": [{"cell_type": "code", "source": []}, {"cell_type": "code", "source": ""}]}',
    );
    assert.deepEqual(await check("--fix"), { code: 0, stdout: "Nothing found in 2 files.\n", stderr: "" });
  });
});
