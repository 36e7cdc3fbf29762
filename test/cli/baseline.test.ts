/** `--baseline`: what a team lives with for now is left out, what is new is told. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { formatBaseline, parseBaseline } from "../../server/src/cli/baseline";
import type { BaselineEntry } from "../../server/src/cli/baseline";
import { TemporaryFolder } from "../unit/workspace/folder";
import { Repository } from "./repository";
import { clean, flawed, vramlint } from "./run";

const old = flawed;
const unused = "# vram: ignore[loss-graph-retained]";

describe("vramlint check --baseline", () => {
  let folder: TemporaryFolder;

  beforeEach(() => (folder = new TemporaryFolder({ "a.py": old, "sub/b.py": old })));
  afterEach(() => folder.remove());

  const check = (...argv: string[]): ReturnType<typeof vramlint> =>
    vramlint(["check", "--baseline", "base.json", ...argv], { cwd: folder.path });
  const write = async (...argv: string[]): Promise<void> => {
    const { code, stderr } = await check("--write-baseline", ...argv);
    assert.equal(stderr, "");
    assert.equal(code, 0);
  };
  const baseline = (): string => readFileSync(folder.join("base.json"), "utf8");
  const entries = (): BaselineEntry[] => (JSON.parse(baseline()) as { findings: BaselineEntry[] }).findings;

  it("records what there is and leaves it out from then on", async () => {
    const written = await check("--write-baseline");
    assert.equal(written.code, 0);
    assert.equal(
      written.stdout,
      "Nothing new in 2 files. 4 findings are in the baseline. base.json: 4 added, 0 removed.\n",
    );
    assert.equal(
      baseline(),
      `{
  "vramlintBaseline": 1,
  "findings": [
    {"path":"a.py","rule":"budget-invalid","function":"","statement":"# vram: batch_size=32","occurrence":1},
    {"path":"a.py","rule":"suppression-unused","function":"","statement":"${unused}","occurrence":1},
    {"path":"sub/b.py","rule":"budget-invalid","function":"","statement":"# vram: batch_size=32","occurrence":1},
    {"path":"sub/b.py","rule":"suppression-unused","function":"","statement":"${unused}","occurrence":1}
  ]
}
`,
    );
    assert.deepEqual(await check(), {
      code: 0,
      stdout: "Nothing new in 2 files. 4 findings are in the baseline.\n",
      stderr: "",
    });
    const chinese = await check("--lang", "zh-cn");
    assert.equal(chinese.stdout, "2 个文件，没有新问题。4 个问题已在基线中。\n");
  });

  it("tells what is new, in every format, and fails for it", async () => {
    await write();
    folder.write("a.py", `# first\n${old}y = 1  ${unused}\n`);
    const { code, stdout } = await check();
    assert.equal(code, 1);
    assert.match(stdout, /^a\.py:6:\d+: information\[suppression-unused\]/);
    assert.match(stdout, /1 new finding in 2 files\. 1 has a safe fix.* 4 findings are in the baseline\.\n$/);
    const json = JSON.parse((await check("--format", "json")).stdout) as Record<string, unknown>;
    assert.equal((json["findings"] as unknown[]).length, 1);
    assert.deepEqual([json["known"], json["stale"]], [4, 0]);
    for (const [format, count] of [
      ["github", /^::/gm],
      ["junit", /<failure/g],
      ["gitlab", /"fingerprint"/g],
      ["sarif", /"vramlint\/v1"/g],
    ] as const) {
      assert.equal((await check("--format", format)).stdout.match(count)?.length, 1, format);
    }
  });

  it("knows a finding again after its lines moved or were laid out anew, not in another function", async () => {
    const train = (body: string): string => `import torch\n\n\ndef train(loader):\n${body}`;
    folder.write(
      "a.py",
      train("    for batch in loader:\n        torch.cuda.empty_cache()\n        step(batch, lr=0.1)\n"),
    );
    await write("a.py");
    assert.deepEqual(
      entries().map(({ function: name, statement }) => [name, statement]),
      [["train", "torch.cuda.empty_cache()"]],
    );
    folder.write(
      "a.py",
      `"""New."""\n${train("  for batch in loader:\n    step(1)\n\n    torch.cuda.empty_cache( )  # still\n")}`,
    );
    assert.equal((await check("a.py")).code, 0);
    const method = "    for batch in loader:\n      torch.cuda.empty_cache()\n";
    folder.write("a.py", `${train("    pass\n")}\nclass T:\n  def train(self, loader):\n${method}`);
    assert.equal((await check("a.py")).code, 1);
  });

  describe("when a function is renamed", () => {
    const loop = "    for batch in loader:\n        torch.cuda.empty_cache()\n";
    const script = (...names: string[]): string =>
      ["import torch\n", ...names.map((name) => `def ${name}(loader):\n${loop}`)].join("\n");
    const functions = (): string[] => entries().map(({ function: name }) => name);

    beforeEach(async () => {
      folder.write("a.py", script("train"));
      await write("a.py");
      folder.write("a.py", script("train_one_epoch"));
    });

    it("knows its findings again, and takes none of them for repaired", async () => {
      const { code, stdout } = await check("a.py");
      assert.equal(stdout, "Nothing new in 1 file. 1 finding is in the baseline.\n");
      assert.equal(code, 0);
      folder.write("a.py", `import torch\nclass Trainer:\n  def fit(self, loader):\n${loop}`);
      assert.equal((await check("a.py")).code, 0, "or its class");
      await check("a.py", "--prune");
      assert.deepEqual(functions(), ["train"]);
      assert.equal((await check("a.py")).code, 0);
    });

    it("writes the new name where findings are recorded anew", async () => {
      assert.match((await check("a.py", "--write-baseline")).stdout, /base\.json: 1 added, 1 removed\.\n$/);
      assert.deepEqual(functions(), ["train_one_epoch"]);
    });

    it("takes each known finding for one only, and none whose function is still there", async () => {
      folder.write("a.py", script("train_one_epoch", "evaluate"));
      const both = await check("a.py");
      assert.match(both.stdout, /1 new finding in 1 file\..* 1 finding is in the baseline\.\n$/);
      folder.write("a.py", script("train", "evaluate"));
      assert.match(
        (await check("a.py")).stdout,
        /1 new finding in 1 file\..* 1 finding is in the baseline\.\n$/,
      );
      folder.write("a.py", `import torch\ndef train(loader):\n    pass\n${script("evaluate")}`);
      assert.match(
        (await check("a.py")).stdout,
        /1 new finding.* 1 entry of the baseline is found no longer/,
      );
    });
  });

  it("counts equal findings: one more than known is new", async () => {
    folder.write("a.py", `import torch\nx = 1  ${unused}\nx = 1  ${unused}\n`);
    await write("a.py");
    folder.write("a.py", `import torch\nx = 1  ${unused}\nx = 1  ${unused}\nx = 1  ${unused}\n`);
    assert.match((await check("a.py")).stdout, /1 new finding in 1 file.* 2 findings are in the baseline/);
  });

  it("says what is found no longer, and prunes it with what lost its file", async () => {
    await write();
    folder.write("a.py", clean);
    rmSync(folder.join("sub/b.py"));
    const stale = await check();
    assert.equal(stale.code, 0);
    assert.match(stale.stdout, /2 entries of the baseline are found no longer: --prune removes them/);
    const pruned = await check("--prune");
    assert.equal(pruned.code, 0);
    assert.equal(pruned.stdout, "Nothing new in 1 file. base.json: 0 added, 4 removed.\n");
    assert.deepEqual(entries(), []);
    folder.write("a.py", old);
    assert.equal((await check("--prune")).code, 1);
    assert.deepEqual(entries(), [], "pruning adds nothing");
  });

  it("keeps what this run did not look at", async () => {
    await write();
    const before = baseline();
    folder.write("a.py", clean);
    await write("sub");
    assert.equal(baseline(), before);
    await check("--prune", "--select", "budget-exceeded");
    assert.equal(baseline(), before);
    folder.write("sub/b.py", "\0");
    assert.equal((await check("--prune", "sub/b.py")).code, 2);
    assert.equal(baseline(), before);
    await write("a.py", "--select", "budget-invalid");
    assert.deepEqual(
      entries().map(({ path, rule }) => `${path} ${rule}`),
      ["a.py suppression-unused", "sub/b.py budget-invalid", "sub/b.py suppression-unused"],
    );
  });

  it("names paths from its own folder, so that it holds from anywhere", async () => {
    mkdirSync(folder.join("ci"));
    const run = (cwd: string, file: string, ...argv: string[]): ReturnType<typeof vramlint> =>
      vramlint(["check", "--baseline", file, ...argv], { cwd });
    await run(folder.path, "ci/base.json", "--write-baseline", folder.path);
    const { findings } = JSON.parse(readFileSync(folder.join("ci/base.json"), "utf8")) as {
      findings: BaselineEntry[];
    };
    assert.deepEqual([...new Set(findings.map(({ path }) => path))], ["../a.py", "../sub/b.py"]);
    assert.equal((await run(folder.join("sub"), "../ci/base.json", "b.py")).code, 0);
    assert.equal((await run(folder.join("ci"), folder.join("ci/base.json"), "..")).code, 0);
    const input = await vramlint(
      ["check", "-", "--stdin-filename", "sub/b.py", "--baseline", "ci/base.json"],
      { cwd: folder.path, stdin: old },
    );
    assert.equal(input.code, 0);
  });

  it("goes with --fix: what is known stays as it is", async () => {
    await write();
    folder.write("a.py", `${old}y = 1  ${unused}\n`);
    assert.equal((await check("--fix")).code, 0);
    assert.equal(readFileSync(folder.join("a.py"), "utf8"), `${old}y = 1\n`);
  });

  it("merges as text, and counts entries twice written once", async () => {
    const repository = new Repository({ "a.py": clean, "m.py": clean, "z.py": clean });
    try {
      const record = async (name: string): Promise<void> => {
        repository.write(name, old);
        const { code } = await vramlint(["check", "--baseline", "base.json", "--write-baseline"], {
          cwd: repository.path,
        });
        assert.equal(code, 0);
        repository.commit(name);
      };
      await record("m.py");
      repository.git("checkout", "--quiet", "-b", "other");
      await record("a.py");
      repository.git("checkout", "--quiet", "main");
      await record("z.py");
      repository.git("merge", "--quiet", "--no-edit", "other");
      const check = (): ReturnType<typeof vramlint> =>
        vramlint(["check", "--baseline", "base.json"], { cwd: repository.path });
      assert.equal((await check()).stdout, "Nothing new in 3 files. 6 findings are in the baseline.\n");

      const text = readFileSync(repository.join("base.json"), "utf8");
      const [line = ""] = text.split("\n").filter((candidate) => candidate.includes("a.py"));
      repository.write("base.json", text.replace(line, `${line}\n${line}`));
      assert.equal((await check()).code, 0);
      repository.write("base.json", text.replace(line, `<<<<<<< HEAD\n${line}\n=======\n>>>>>>> other`));
      const conflict = await check();
      assert.equal(conflict.code, 2);
      assert.match(conflict.stderr, /^vramlint: base\.json: line 4 is a merge conflict marker\. Keep the/);
    } finally {
      repository.remove();
    }
  });

  describe("refuses, and leaves the file alone:", () => {
    for (const [title, content, reason] of [
      ["what is no JSON", "{", /base\.json: the baseline is not valid JSON: .*write it anew/],
      ["what is no baseline", "[]", /base\.json: this is not a baseline of vramlint/],
      ["another tool's file", '{"findings": []}', /base\.json: this is not a baseline of vramlint/],
      [
        "another version",
        '{"vramlintBaseline": 2, "findings": []}',
        /has form 2, this vramlint reads form 1/,
      ],
      ["a broken list", '{"vramlintBaseline": 1, "findings": {}}', /this is not a baseline of vramlint/],
      [
        "a broken entry",
        '{"vramlintBaseline": 1, "findings": [{"path": "a.py"}]}',
        /entry 1 of the baseline lacks path, rule, function, statement or occurrence/,
      ],
      ["nothing", "", /not valid JSON/],
    ] as const) {
      it(title, async () => {
        folder.write("base.json", content);
        for (const argv of [[], ["--write-baseline"], ["--prune"]]) {
          const { code, stdout, stderr } = await check(...argv);
          assert.equal(code, 2);
          assert.equal(stdout, "");
          assert.match(stderr, reason);
          assert.match((await check(...argv, "--lang", "zh-cn")).stderr, /\p{Script=Han}/u);
          assert.equal(baseline(), content);
        }
      });
    }

    it("a file that is not there", async () => {
      const { code, stderr } = await check();
      assert.equal(code, 2);
      assert.match(stderr, /no such baseline\. Make it with --baseline base\.json --write-baseline/);
      assert.deepEqual(readdirSync(folder.path), ["a.py", "sub"]);
    });

    it("a folder", async () => {
      mkdirSync(folder.join("base.json"));
      assert.match((await check("--write-baseline")).stderr, /the baseline cannot be read \(EISDIR\)/);
    });

    it("a folder that is not there, telling the findings all the same", async () => {
      const { code, stderr } = await vramlint(["check", "--baseline", "no/base.json", "--write-baseline"], {
        cwd: folder.path,
      });
      assert.equal(code, 2);
      assert.match(stderr, /no\/base\.json: the baseline cannot be written \(ENOENT\)/);
    });
  });

  it("keeps the file's mode and its link, and does not touch it for nothing", async () => {
    folder.write("real.json", formatBaseline([]));
    chmodSync(folder.join("real.json"), 0o640);
    symlinkSync("real.json", folder.join("base.json"));
    await write();
    assert.equal(statSync(folder.join("real.json")).mode & 0o777, 0o640);
    assert.equal(entries().length, 4);
    const { mtimeNs, ino } = statSync(folder.join("real.json"), { bigint: true });
    await write();
    const after = statSync(folder.join("real.json"), { bigint: true });
    assert.deepEqual([after.mtimeNs, after.ino], [mtimeNs, ino]);
    assert.deepEqual(readdirSync(folder.path).sort(), ["a.py", "base.json", "real.json", "sub"]);
  });

  it("writes and reads the same, whatever stands in it", () => {
    const odd: BaselineEntry[] = ["b\n", "a\u2028", 'q"\\', "训练", "\0"].map((text, index) => ({
      path: text,
      rule: text,
      function: text,
      statement: text,
      occurrence: index + 1,
    }));
    const text = formatBaseline(odd);
    assert.equal(text.split("\n").length, odd.length + 6);
    const read = parseBaseline(text, "x");
    assert.ok(!("mistake" in read));
    assert.equal(formatBaseline([...read].reverse()), text);
    assert.deepEqual(new Set(read), new Set(odd));
  });
});
