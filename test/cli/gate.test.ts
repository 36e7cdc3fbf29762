/** What passes and what fails: levels, exit codes, fixes that want a look, counts, limits. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { TemporaryFolder } from "../unit/workspace/folder";
import { clean, flawed, repaired, vramlint } from "./run";

describe("vramlint check as a gate", () => {
  let folder: TemporaryFolder;

  beforeEach(() => (folder = new TemporaryFolder({ "a.py": flawed })));
  afterEach(() => folder.remove());

  const check = (...argv: string[]): ReturnType<typeof vramlint> =>
    vramlint(["check", ...argv], { cwd: folder.path });
  const levelsOf = async (...argv: string[]): Promise<Record<string, string>> => {
    const { stdout, stderr } = await check("--format", "json", ...argv);
    assert.equal(stderr, "");
    const { findings } = JSON.parse(stdout) as { findings: { rule: string; level: string }[] };
    return Object.fromEntries(findings.map(({ rule, level }) => [rule, level]));
  };

  describe("--level", () => {
    it("changes rules, groups and all; the later wins", async () => {
      const own = { "budget-invalid": "warning", "suppression-unused": "information" };
      assert.deepEqual(await levelsOf(), own);
      assert.deepEqual(await levelsOf("--level", "suppression-unused=error"), {
        ...own,
        "suppression-unused": "error",
      });
      assert.deepEqual(await levelsOf("--level", "budget=HINT, suppressions = error"), {
        "budget-invalid": "hint",
        "suppression-unused": "error",
      });
      assert.deepEqual(await levelsOf("--level", "all=hint", "--level", "budget-invalid=error"), {
        "budget-invalid": "error",
        "suppression-unused": "hint",
      });
      assert.deepEqual(await levelsOf("--level", "budget-invalid=off"), {
        "suppression-unused": "information",
      });
    });

    for (const [value, reason] of [
      ["budget-invalid", /--level takes RULE=LEVEL, such as .*, not budget-invalid/],
      ["=error", /not =error/],
      ["budget-invalid=", /not budget-invalid=/],
      ["budget-invalld=error", /no rule or group budget-invalld\. Did you mean budget-invalid\?/],
      ["__proto__=error", /no rule or group __proto__/],
      ["budget-invalid=eror", /--level cannot be eror; choose error, .*, off\. Did you mean error\?/],
      ["budget-invalid=info", /Did you mean information\?/],
    ] as const) {
      it(`refuses ${value}`, async () => {
        const { code, stdout, stderr } = await check("--level", value);
        assert.equal(code, 2);
        assert.equal(stdout, "");
        assert.match(stderr, reason);
      });
    }
  });

  it("fails from the level of --fail-on up", async () => {
    const codes = async (...argv: string[]): Promise<number[]> => {
      const levels = ["hint", "information", "warning", "error"];
      return Promise.all(levels.map(async (level) => (await check("--fail-on", level, ...argv)).code));
    };
    assert.deepEqual(await codes(), [1, 1, 1, 0]);
    assert.deepEqual(await codes("--ignore", "budget"), [1, 1, 0, 0]);
    assert.deepEqual(await codes("--level", "all=hint"), [1, 0, 0, 0]);
    assert.deepEqual(await codes("--level", "all=error"), [1, 1, 1, 1]);
    // What does not fail the run is told all the same.
    assert.match((await check("--fail-on", "error")).stdout, /2 findings in 1 file/);
  });

  it("ends with 0 in spite of findings, never of errors, with --exit-zero", async () => {
    const { code, stdout } = await check("--exit-zero");
    assert.equal(code, 0);
    assert.match(stdout, /2 findings in 1 file/);
    assert.equal((await check("--exit-zero", "missing.py")).code, 2);
    assert.equal((await check("--exit-zero", "--select", "nothing")).code, 2);
  });

  it("applies fixes that want a look only with --unsafe-fixes", async () => {
    assert.equal((await check("--fix")).code, 1);
    assert.equal(readFileSync(folder.join("a.py"), "utf8"), repaired);
    const { code, stdout } = await check("--fix", "--unsafe-fixes");
    assert.equal(stdout, "1 fix applied. Nothing found in 1 file.\n");
    assert.equal(code, 0);
    assert.equal(readFileSync(folder.join("a.py"), "utf8"), repaired.replace("batch_size", "batch"));
    const alone = await check("--unsafe-fixes");
    assert.equal(alone.code, 2);
    assert.match(alone.stderr, /--unsafe-fixes works only together with --fix/);
  });

  it("counts findings with --statistics", async () => {
    folder.write("b.py", flawed);
    folder.write("c.py", "import torch\nx = 1  # vram: ignore[loss-graph-retained]\n");
    const { code, stdout } = await check("--statistics");
    assert.equal(code, 1);
    const lines = stdout.split("\n");
    assert.match(lines[0] ?? "", /^3 {2}suppression-unused {2}information {2}\S/);
    assert.match(lines[1] ?? "", /^2 {2}budget-invalid {6}warning {6}\S/);
    assert.deepEqual(lines.slice(2), [
      "",
      "5 findings in 3 files. 3 have safe fixes: --fix applies them.",
      "",
    ]);
    const json = await check("--statistics", "--format", "json");
    assert.deepEqual(JSON.parse(json.stdout), {
      statistics: [
        { rule: "suppression-unused", level: "information", count: 3, fixable: 3 },
        { rule: "budget-invalid", level: "warning", count: 2, fixable: 0 },
      ],
      files: 3,
    });
    const sarif = await check("--statistics", "--format", "sarif");
    assert.equal(sarif.code, 2);
    assert.match(sarif.stderr, /--statistics and --format sarif cannot be combined/);
    assert.equal(
      (await check("--statistics", "--select", "budget-exceeded")).stdout,
      "Nothing found in 3 files.\n",
    );
    assert.match(
      (await check("--statistics", "--lang", "zh-cn")).stdout,
      /^3 {2}suppression-unused {2}信息 /,
    );
  });

  it("takes another limit of size", async () => {
    folder.write("large.py", `${flawed}#${" ".repeat(2 * 1024 * 1024)}`);
    assert.match((await check()).stderr, /large\.py: not checked, 2\.0 MiB is over the limit of 1 MiB/);
    const more = await check("--max-file-size", "3MiB");
    assert.equal(more.stderr, "");
    assert.match(more.stdout, /4 findings in 2 files/);
    for (const size of ["20", "20B"]) {
      const { code, stderr } = await check("--max-file-size", size);
      assert.equal(code, 0);
      assert.match(stderr, /a\.py: not checked, 92 B is over the limit of 20 B/);
    }
    const input = await vramlint(["check", "-", "--max-file-size", "20"], { stdin: flawed });
    assert.match(input.stderr, /<stdin>: not checked/);
    for (const size of ["much", "0", "-1", "1TiB", ""]) {
      const { code, stdout, stderr } = await check(`--max-file-size=${size}`);
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, /--max-file-size cannot be .*; give a size such as 512KiB or 2MiB, at most 256/);
    }
  });

  it("says which options do not go together", async () => {
    folder.write("c.py", clean);
    for (const [argv, reason] of [
      [["--write-baseline"], /--write-baseline works only together with --baseline FILE/],
      [["--prune"], /--prune works only together with --baseline FILE/],
      [["--stdin-filename", "a.py"], /--stdin-filename works only together with -\./],
      [["--baseline", "b", "--write-baseline", "--diff", "HEAD"], /--write-baseline and --diff cannot be/],
      [["--baseline", "b", "--prune", "--diff", "HEAD"], /--prune and --diff cannot be combined/],
      [["-", "--diff", "HEAD"], /--diff and - cannot be combined/],
      [["-", "--baseline", "b", "--write-baseline"], /--write-baseline and - cannot be combined/],
    ] as const) {
      const { code, stdout, stderr } = await check(...argv);
      assert.equal(code, 2, argv.join(" "));
      assert.equal(stdout, "");
      assert.match(stderr, reason);
      const chinese = await check(...argv, "--lang", "zh-cn");
      assert.match(chinese.stderr, /必须与|不能与/);
    }
  });
});
