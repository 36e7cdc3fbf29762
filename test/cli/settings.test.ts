import assert from "node:assert/strict";
import { TemporaryFolder } from "../unit/workspace/folder";
import { clean, flawed, vramlint } from "./run";

describe("settings files on the command line", () => {
  let folder: TemporaryFolder;
  beforeEach(() => (folder = new TemporaryFolder({ "a.py": flawed })));
  afterEach(() => folder.remove());

  /** Rules found, with their level and file, in order. */
  async function found(...argv: string[]): Promise<string[]> {
    const { code, stdout, stderr } = await vramlint(["check", "--format", "json", ...argv], {
      cwd: folder.path,
    });
    assert.equal(stderr, "");
    const { findings } = JSON.parse(stdout) as {
      findings: { file: string; rule: string; level: string }[];
    };
    assert.equal(code, findings.length > 0 ? 1 : 0);
    return findings.map(({ file, rule, level }) => `${file} ${level} ${rule}`);
  }

  it("chooses rules and their levels", async () => {
    folder.write("pyproject.toml", '[tool.vramlint]\nignore = ["suppression-unused"]\n');
    assert.deepEqual(await found(), ["a.py warning budget-invalid"]);
    folder.write("pyproject.toml", '[tool.vramlint]\nselect = ["suppression-unused", "graph"]\n');
    assert.deepEqual(await found(), ["a.py information suppression-unused"]);
    folder.write("vramlint.toml", 'levels = { all = "hint", budget-invalid = "error" }\n');
    assert.deepEqual(await found(), ["a.py error budget-invalid", "a.py hint suppression-unused"]);
  });

  it("lets options win over the file", async () => {
    folder.write(
      "vramlint.toml",
      'select = ["graph"]\nignore = ["budget-invalid"]\nlevels = { suppression-unused = "off" }\n',
    );
    assert.deepEqual(await found(), []);
    assert.deepEqual(await found("--select", "budget-invalid,suppression-unused,graph"), [
      "a.py warning budget-invalid",
      "a.py information suppression-unused",
    ]);
    assert.deepEqual(await found("--level", "budget-invalid=hint"), ["a.py hint budget-invalid"]);
    folder.write("vramlint.toml", 'levels = { all = "error" }\n');
    assert.deepEqual(await found("--ignore", "suppression-unused", "--level", "budget-invalid=hint"), [
      "a.py hint budget-invalid",
    ]);
  });

  it("checks what is excluded when it is named itself, unless --force-exclude says otherwise", async () => {
    folder.write("vramlint.toml", 'exclude = ["build", "*_generated.py"]\n');
    for (const name of ["a.py", "a_generated.py", "build/b.py", "build/deep/c.py"])
      folder.write(name, flawed);
    const check = (...argv: string[]) => vramlint(["check", ...argv], { cwd: folder.path });
    const named = ["a.py", "a_generated.py", "build/b.py", "build/deep/c.py"];
    assert.match((await check(...named)).stdout, /in 4 files/);
    assert.match((await check("--force-exclude", ...named)).stdout, /in 1 file\./);
    for (const path of ["build", "build/deep", "build/**/*.py", "a_generated.py"]) {
      const { code, stderr } = await check("--force-exclude", path);
      assert.deepEqual([code, stderr], [0, ""], path);
    }
    // A missing file is a mistake all the same.
    assert.equal((await check("--force-exclude", "missing_generated.py")).code, 2);
    const piped = await vramlint(
      ["check", "--fix", "--force-exclude", "--stdin-filename", "build/x.py", "-"],
      {
        cwd: folder.path,
        stdin: flawed,
      },
    );
    assert.deepEqual([piped.code, piped.stdout], [0, flawed]);
  });

  it("leaves out what is excluded and what is ignored in some files", async () => {
    folder.write("lib/b.py", flawed);
    folder.write("lib/c.py", flawed);
    folder.write(
      "vramlint.toml",
      'exclude = ["/a.py"]\n[per-file-ignores]\n"lib/b*" = ["all"]\n"*.py" = ["budget-invalid"]\n',
    );
    assert.deepEqual(await found(), ["lib/c.py information suppression-unused"]);
    assert.deepEqual(await found("a.py"), ["a.py information suppression-unused"]);
  });

  it("takes for each file the settings nearest to it, standard input by its name", async () => {
    folder.write("vramlint.toml", 'ignore = ["all"]\n');
    folder.write("sub/vramlint.toml", 'select = ["budget-invalid"]\n');
    folder.write("sub/b.py", flawed);
    assert.deepEqual(await found(), ["sub/b.py warning budget-invalid"]);
    const stdin = await vramlint(["check", "-", "--stdin-filename", "sub/new.py"], {
      cwd: folder.path,
      stdin: flawed,
    });
    assert.equal(stdin.code, 1);
    assert.match(stdin.stdout, /^sub\/new\.py:1:9: warning\[budget-invalid\]/);
    assert.equal((await vramlint(["check", "-"], { cwd: folder.path, stdin: flawed })).code, 0);
  });

  it("ends with code 2 and checks nothing when a file has mistakes", async () => {
    folder.write("sub/b.py", clean);
    folder.write("sub/pyproject.toml", '[tool.vramlint]\n\n  selct = ["graph"]\ndevice = "rtx-409"\n');
    const ran = await vramlint(["check"], { cwd: folder.path });
    assert.deepEqual(ran, {
      code: 2,
      stdout: "",
      stderr:
        "vramlint: sub/pyproject.toml:3:3: There is no setting `selct`; `select` is probably meant.\n" +
        "vramlint: sub/pyproject.toml:4:10: `rtx-409` is neither a size such as `24GiB` nor a known card. `rtx-4090` is probably meant.\n",
    });
    assert.equal((await vramlint(["estimate", "sub/b.py"], { cwd: folder.path })).code, 2);
    assert.equal((await vramlint(["check", "a.py"], { cwd: folder.path })).code, 1);
    folder.write("sub/pyproject.toml", "[tool.vramlint\n");
    const broken = await vramlint(["check", "--lang", "zh-cn"], { cwd: folder.path });
    assert.equal(broken.code, 2);
    assert.match(broken.stderr, /^vramlint: sub\/pyproject\.toml:2:1：不是有效的 TOML/);
  });

  const net = `# vram: model=Net(), batch=1, input=float32[B,1024]
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1024, 1024)

    def forward(self, x):
        return self.layer(x)
`;

  it("holds budget and device against files whose header names none", async () => {
    folder.write("a.py", net);
    folder.write("vramlint.toml", 'budget = "1MiB"\n');
    assert.deepEqual(await found(), ["a.py error budget-exceeded"]);
    const estimated = await vramlint(["estimate", "a.py", "--format", "json"], { cwd: folder.path });
    assert.match(estimated.stdout, /over-budget/);
    folder.write("a.py", net.replace("vram: ", "vram: budget=1GiB, "));
    assert.deepEqual(await found(), []);
    folder.write("a.py", net.replace(/^.*\n/, ""));
    assert.deepEqual(await found(), []);
    folder.write("a.py", net);
    folder.write("vramlint.toml", 'device = "2MiB"\n');
    assert.deepEqual(await found(), ["a.py error device-exceeded"]);
  });

  it("speaks the project's language unless one is asked for", async () => {
    folder.write("vramlint.toml", 'language = "zh-cn"\n');
    const chinese = await vramlint(["check"], { cwd: folder.path, env: { LANG: "en_US.UTF-8" } });
    assert.match(chinese.stdout, /\p{Script=Han}/u);
    const english = await vramlint(["check", "--lang", "en"], { cwd: folder.path });
    assert.doesNotMatch(english.stdout, /\p{Script=Han}/u);
  });
});
