import assert from "node:assert/strict";
import { readFileSync, statSync, symlinkSync, chmodSync } from "node:fs";
import { TemporaryFolder } from "../unit/workspace/folder";
import { clean, flawed, repaired, vramlint } from "./run";

describe("vramlint check", () => {
  let folder: TemporaryFolder;

  beforeEach(() => (folder = new TemporaryFolder()));
  afterEach(() => folder.remove());

  it("is silent but for a summary on clean files", async () => {
    folder.write("a.py", clean);
    folder.write("empty.py", "");
    assert.deepEqual(await vramlint(["check"], { cwd: folder.path }), {
      code: 0,
      stdout: "Nothing found in 2 files.\n",
      stderr: "",
    });
  });

  it("says so when there is nothing to check", async () => {
    folder.write("empty/", "");
    assert.deepEqual(await vramlint(["check", "empty"], { cwd: folder.path }), {
      code: 0,
      stdout: "No Python file found.\n",
      stderr: "",
    });
  });

  it("shows findings with their line, their fixes and a summary", async () => {
    folder.write("a.py", flawed);
    const { code, stdout, stderr } = await vramlint(["check", "a.py"], { cwd: folder.path });
    assert.equal(code, 1);
    assert.equal(stderr, "");
    assert.equal(
      stdout,
      `a.py:1:9: warning[budget-invalid] The header has no key \`batch_size\`; \`batch\` is probably meant.
  |
1 | # vram: batch_size=32
  |         ^^^^^^^^^^
  = fix: Change \`batch_size\` to \`batch\` (review)

a.py:4:36: information[suppression-unused] This suppression hides nothing: there is no \`loss-graph-retained\` here.
  |
4 | x = torch.zeros(1)  # vram: ignore[loss-graph-retained]
  |                                    ^^^^^^^^^^^^^^^^^^^
  = fix: Remove the comment

2 findings in 1 file. 1 has a safe fix: --fix applies it.
`,
    );
  });

  it("fails what is over its budget", async () => {
    folder.write(
      "net.py",
      `# vram: budget=1MiB, model=Net(), batch=1, input=float32[B,1024]
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1024, 1024)

    def forward(self, x):
        return self.layer(x)
`,
    );
    const { code, stdout } = await vramlint(["check", "net.py"], { cwd: folder.path });
    assert.equal(code, 1);
    assert.match(stdout, /^net\.py:1:16: error\[budget-exceeded\] Needs .*over the budget of 1\.0 MiB/);
    const quiet = await vramlint(["check", "net.py", "--ignore", "budget-exceeded"], { cwd: folder.path });
    assert.equal(quiet.code, 0);
  });

  it("speaks Chinese", async () => {
    folder.write("a.py", flawed);
    const asked = await vramlint(["check", "a.py", "--lang", "zh-cn"], { cwd: folder.path });
    const found = await vramlint(["check", "a.py"], { cwd: folder.path, env: { LANG: "zh_CN.UTF-8" } });
    assert.equal(asked.stdout, found.stdout);
    assert.match(asked.stdout, /警告\[budget-invalid\] 显存预算注释没有键/);
    assert.match(asked.stdout, /1 个文件，发现 2 个问题。其中 1 个可用 --fix 安全修复。/);
    const english = await vramlint(["check", "a.py"], {
      cwd: folder.path,
      env: { LC_ALL: "C", LANG: "zh_CN.UTF-8" },
    });
    assert.match(english.stdout, /2 findings/);
  });

  it("writes JSON with lines and columns from 1", async () => {
    folder.write("a.py", `# 😀 vram\n${flawed}`);
    const { code, stdout } = await vramlint(["check", "--format", "json", "."], { cwd: folder.path });
    assert.equal(code, 1);
    assert.deepEqual(JSON.parse(stdout), {
      findings: [
        {
          file: "a.py",
          line: 2,
          column: 9,
          endLine: 2,
          endColumn: 19,
          rule: "budget-invalid",
          level: "warning",
          message: "The header has no key `batch_size`; `batch` is probably meant.",
          related: [],
          fixes: [{ title: "Change `batch_size` to `batch` (review)", safe: false }],
        },
        {
          file: "a.py",
          line: 5,
          column: 36,
          endLine: 5,
          endColumn: 55,
          rule: "suppression-unused",
          level: "information",
          message: "This suppression hides nothing: there is no `loss-graph-retained` here.",
          related: [],
          fixes: [{ title: "Remove the comment", safe: true }],
        },
      ],
      files: 1,
    });
  });

  it("counts columns in UTF-16 units", async () => {
    folder.write("a.py", 'import torch\nx = "😀"  # vram: ignore[loss-graph-retained]\n');
    const { stdout } = await vramlint(["check", "--format=json", "a.py"], { cwd: folder.path });
    const { findings } = JSON.parse(stdout) as { findings: { column: number }[] };
    assert.equal(findings[0]?.column, 26);
  });

  describe("with --fix", () => {
    it("applies safe fixes only, and keeps the rest of the file", async () => {
      folder.write("a.py", Buffer.from(`\ufeff${flawed.replaceAll("\n", "\r\n")}`));
      chmodSync(folder.join("a.py"), 0o600);
      const { code, stdout } = await vramlint(["check", "--fix", "a.py"], { cwd: folder.path });
      assert.equal(code, 1, "a finding is left");
      assert.match(stdout, /1 fix applied\. 1 finding in 1 file\.\n$/);
      assert.equal(readFileSync(folder.join("a.py"), "utf8"), `\ufeff${repaired.replaceAll("\n", "\r\n")}`);
      assert.equal(statSync(folder.join("a.py")).mode & 0o777, 0o600);
    });

    it("leaves a file alone that is not to be written, and reports what is in it", async () => {
      folder.write("a.py", flawed);
      chmodSync(folder.join("a.py"), 0o444);
      const { code, stdout, stderr } = await vramlint(["check", "--fix", "a.py"], { cwd: folder.path });
      assert.equal(stderr, "vramlint: a.py: cannot be written (EACCES); the file is as it was.\n");
      assert.equal(code, 2);
      assert.match(stdout, /2 findings in 1 file/);
      assert.equal(readFileSync(folder.join("a.py"), "utf8"), flawed);
    });

    it("goes on until nothing is left", async () => {
      folder.write("a.py", "import torch\nx = 1  # vram: ignore[loss-graph-retained, empty-cache-in-loop]\n");
      const { code, stdout } = await vramlint(["check", "--fix", "a.py"], { cwd: folder.path });
      assert.equal(code, 0, stdout);
      assert.equal(readFileSync(folder.join("a.py"), "utf8"), "import torch\nx = 1\n");
    });

    it("does not touch files without safe fixes", async () => {
      folder.write("a.py", repaired);
      const before = statSync(folder.join("a.py")).ino;
      await vramlint(["check", "--fix", "a.py"], { cwd: folder.path });
      assert.equal(statSync(folder.join("a.py")).ino, before);
    });

    it("says when a file cannot be written in its encoding, and reports what is left", async () => {
      const gbk = Buffer.concat([
        Buffer.from("# coding: gbk\n# "),
        Uint8Array.of(0xd1, 0xb5),
        Buffer.from(`\n${flawed}`),
      ]);
      folder.write("a.py", gbk);
      const { code, stdout, stderr } = await vramlint(["check", "--fix", "a.py"], { cwd: folder.path });
      assert.equal(code, 2);
      assert.match(stderr, /cannot be written in its encoding gbk/);
      assert.match(stdout, /2 findings in 1 file/);
      assert.deepEqual(readFileSync(folder.join("a.py")), gbk);
    });
  });

  describe("reading standard input", () => {
    it("names it as told", async () => {
      const { code, stdout } = await vramlint(["check", "-", "--stdin-filename", "src/net.py"], {
        stdin: flawed,
      });
      assert.equal(code, 1);
      assert.match(stdout, /^src\/net\.py:1:9: /);
    });

    it("fixes as a filter: text to standard output, report to standard error", async () => {
      const { code, stdout, stderr } = await vramlint(["check", "--fix", "-"], { stdin: `\ufeff${flawed}` });
      assert.equal(code, 1);
      assert.equal(stdout, `\ufeff${repaired}`);
      assert.match(stderr, /^<stdin>:1:9: warning/);
    });

    it("gives back unchanged what it has no fix for", async () => {
      const bytes = Buffer.from("# coding: latin-1\n# \xfc\r\nimport torch\r", "latin1");
      const { code, stdout } = await vramlint(["check", "--fix", "-"], { stdin: bytes });
      assert.equal(code, 0);
      assert.equal(stdout, bytes.toString());
    });

    it("stands alone", async () => {
      const { code, stderr } = await vramlint(["check", "-", "a.py"]);
      assert.equal(code, 2);
      assert.match(stderr, /cannot be combined/);
    });

    it("refuses what is no text", async () => {
      const { code, stdout, stderr } = await vramlint(["check", "--fix", "-"], { stdin: "x\0y" });
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, /^vramlint: <stdin>: contains a NUL byte at 1/);
    });
  });

  describe("choosing rules", () => {
    it("runs the selected and leaves the ignored out", async () => {
      folder.write("a.py", flawed);
      const rulesOf = async (...options: string[]): Promise<string[]> => {
        const { stdout } = await vramlint(["check", "--format", "json", "a.py", ...options], {
          cwd: folder.path,
        });
        return (JSON.parse(stdout) as { findings: { rule: string }[] }).findings.map(({ rule }) => rule);
      };
      assert.deepEqual(await rulesOf("--select", "budget-invalid"), ["budget-invalid"]);
      assert.deepEqual(await rulesOf("--select", "budget"), ["budget-invalid"]);
      assert.deepEqual(await rulesOf("--ignore", "budget, suppressions"), []);
      assert.deepEqual(await rulesOf("--select", "all", "--ignore", "budget-invalid"), [
        "suppression-unused",
      ]);
      assert.deepEqual(await rulesOf("--select", "ALL"), ["budget-invalid", "suppression-unused"]);
    });

    for (const [name, hint] of [
      ["budget-invalld", / Did you mean budget-invalid\?/],
      ["constructor", /vramlint rules lists them/],
      ["__proto__", /vramlint rules lists them/],
      ["suppresions", / Did you mean suppressions\?/],
    ] as const) {
      it(`refuses ${name}`, async () => {
        for (const option of ["--select", "--ignore"]) {
          const { code, stdout, stderr } = await vramlint(["check", option, name]);
          assert.equal(code, 2);
          assert.equal(stdout, "");
          assert.match(stderr, hint);
          assert.ok(stderr.includes(name));
        }
      });
    }
  });

  describe("with files that cannot be checked", () => {
    it("names them, checks the others, and ends with 2", async () => {
      folder.write("a.py", flawed);
      folder.write("folder.py/", "");
      folder.write("nul.py", "x\0");
      folder.write("latin.py", Buffer.from("# \xfc\nimport torch\n", "latin1"));
      symlinkSync("nowhere.py", folder.join("dangling.py"));
      const { code, stdout, stderr } = await vramlint(["check", ".", "missing.py"], { cwd: folder.path });
      assert.equal(code, 2);
      assert.match(stdout, /2 findings in 1 file\./);
      const lines = stderr.trimEnd().split("\n");
      assert.equal(lines.length, 3, stderr);
      for (const name of ["missing.py", "latin.py", "nul.py"]) {
        assert.ok(
          lines.some((line) => line.startsWith(`vramlint: ${name}: `)),
          name,
        );
      }
    });

    it("notes files over the limit without failing", async () => {
      folder.write("large.py", Buffer.alloc(2 * 1024 * 1024, "#"));
      folder.write("a.py", clean);
      const { code, stdout, stderr } = await vramlint(["check"], { cwd: folder.path });
      assert.equal(code, 0);
      assert.equal(stdout, "Nothing found in 1 file.\n");
      assert.match(stderr, /^vramlint: large\.py: not checked, 2\.0 MiB/);
    });

    it("keeps JSON whole", async () => {
      const { code, stdout } = await vramlint(["check", "--format", "json", "missing.py"], {
        cwd: folder.path,
      });
      assert.equal(code, 2);
      assert.deepEqual(JSON.parse(stdout), { findings: [], files: 0 });
    });
  });

  it("writes hostile names and source out", async () => {
    folder.write("\u001b[2Jx\n.py", `${flawed.trimEnd()} -- \u001b[31m\u202e\n`);
    const { stdout } = await vramlint(["check"], { cwd: folder.path });
    assert.doesNotMatch(stdout, /[\u001b\u202e]/);
    assert.match(stdout, /^\\x1b\[2Jx\\x0a\.py:1:9: /);
    assert.match(stdout, /-- \\x1b\[31m\\u\{202e\}\n/);
  });

  it("begins no line as a command of GitHub's or Azure's log", async () => {
    folder.write("::error::x.py", flawed);
    folder.write("##vso[task.complete]x.py", flawed);
    const { stdout } = await vramlint(["check"], { cwd: folder.path });
    assert.doesNotMatch(stdout, /^\s*(?:::|##)/m);
    assert.match(stdout, /^\.\/::error::x\.py:1:9: /m);
  });

  it("puts the marks under wide characters and tabs, and cuts long lines", async () => {
    const ignore = "# vram: ignore[loss-graph-retained]";
    folder.write(
      "a.py",
      `import torch\nif x:\n\ty = "训练"  ${ignore}\nz = "${"é".repeat(500)}"  ${ignore}\n`,
    );
    const { stdout } = await vramlint(["check", "a.py"], { cwd: folder.path });
    const lines = stdout.split("\n");
    assert.equal(lines[2], `3 |     y = "训练"  ${ignore}`);
    assert.equal(
      lines[3],
      `  | ${" ".repeat(4 + 'y = "训练"  '.length + 2 + ignore.indexOf("loss"))}${"^".repeat(19)}`,
    );
    const long = lines.find((line) => line.startsWith("4 | ")) ?? "";
    assert.ok(long.startsWith("4 | …") && long.length < 160, long);
    const marks = lines[lines.indexOf(long) + 1] ?? "";
    assert.equal(long.slice(marks.indexOf("^"), marks.lastIndexOf("^") + 1), "loss-graph-retained");
  });

  it("colours terminals only, unless told", async () => {
    folder.write("a.py", flawed);
    const isColored = async (options: { isTTY?: boolean; env?: Record<string, string> }): Promise<boolean> =>
      (await vramlint(["check", "a.py"], { cwd: folder.path, ...options })).stdout.includes("\u001b[");
    assert.equal(await isColored({}), false);
    assert.equal(await isColored({ isTTY: true }), true);
    assert.equal(await isColored({ isTTY: true, env: { NO_COLOR: "1" } }), false);
    assert.equal(await isColored({ isTTY: true, env: { TERM: "dumb" } }), false);
    assert.equal(await isColored({ env: { FORCE_COLOR: "1" } }), true);
    assert.equal(await isColored({ isTTY: true, env: { FORCE_COLOR: "0" } }), false);
  });

  it("checks broken Python without failing", async () => {
    folder.write("a.py", `import torch\ndef (:\n  ]]${"(".repeat(5000)}\n`);
    const { code, stderr } = await vramlint(["check"], { cwd: folder.path });
    assert.equal(stderr, "");
    assert.equal(code, 0);
  });
});
