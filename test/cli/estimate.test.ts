import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { budgetVerdict } from "../../server/src/directives/budget";
import { readHeader } from "../../server/src/directives/header";
import { terminalFor } from "../../server/src/cli/reporter";
import { jsonEstimate } from "../../server/src/cli/report/estimate-json";
import type { EstimateFacts } from "../../server/src/cli/report/estimate-json";
import { textEstimate } from "../../server/src/cli/report/estimate-text";
import { measuredLine } from "../../server/src/memory/measured-line";
import type { ModelEstimate } from "../../server/src/memory/estimate";
import { message } from "../../server/src/messages/message";
import type { Language } from "../../server/src/messages/message";
import { initializeParser, parseModule } from "../../server/src/python/parse";
import { readParserBinaries } from "../../server/src/workspace/parser-binaries";
import { TemporaryFolder } from "../unit/workspace/folder";
import { vramlint } from "./run";

const MiB = 1024 ** 2;

const text = `# vram: device=8GiB, budget=1GiB, batch=16, accumulate=2, devices=2
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return mystery(x)
`;

function spanOf(part: string): { start: number; end: number } {
  const start = text.indexOf(part);
  return { start, end: start + part.length };
}

const known: ModelEstimate = {
  name: "Net",
  span: spanOf("Net"),
  classSpan: spanOf("Net"),
  parameters: { count: 20_000_000, bytes: 80_000_000, trainable: 20_000_000 },
  buffers: { bytes: 0 },
  gradients: { bytes: 80_000_000 },
  optimizer: { name: "adam", bytes: 160_000_000 },
  saved: { bytes: 32 * MiB, perSample: 2 * MiB },
  peak: { bytes: 500 * MiB, allocated: 512 * MiB, phase: "backward", span: spanOf("return") },
  complete: true,
  unknown: [],
  assumptions: [{ key: "precision", value: "fp32", from: "default" }],
};

const partly: ModelEstimate = {
  ...known,
  name: "Half",
  optimizer: null,
  saved: null,
  peak: null,
  complete: false,
  unknown: [
    {
      span: spanOf("mystery(x)"),
      reason: message({ en: "mystery is not known", "zh-cn": "不认识 mystery" }),
    },
    { span: undefined, reason: message({ en: "nowhere", "zh-cn": "无处" }) },
  ],
  assumptions: [],
};

function factsOf(models: readonly ModelEstimate[], more: Partial<EstimateFacts> = {}): EstimateFacts {
  const parsed = parseModule(text);
  const { setup } = readHeader(parsed);
  return {
    name: "net.py",
    source: parsed.source,
    models,
    setup,
    verdict: budgetVerdict(setup, models[0]),
    fit: undefined,
    largestBatch: undefined,
    measured: undefined,
    ...more,
  };
}

function textOf(
  models: readonly ModelEstimate[],
  language: Language = "en",
  more: Partial<EstimateFacts> = {},
): string {
  const silent = { write: () => undefined };
  const io = {
    readStdin: () => Promise.resolve(new Uint8Array()),
    stdout: silent,
    stderr: silent,
    env: {},
    cwd: "/",
  };
  return textEstimate(factsOf(models, more), terminalFor(io, language));
}

describe("vramlint estimate", () => {
  before(() => initializeParser(readParserBinaries()));

  it("prints a table, the budget and what it rests on", () => {
    assert.equal(
      textOf([known]),
      `net.py:3: Net
  parameters           76.3 MiB  20,000,000, 20,000,000 trainable
  buffers                   0 B
  gradients            76.3 MiB
  optimizer state     152.6 MiB  adam
  saved for backward   32.0 MiB  2.0 MiB a sample
  peak of a step      500.0 MiB  in backward, line 5
  allocated on CUDA   512.0 MiB
  on the device: 647.7 MiB to 713.4 MiB, with 6 to 13 % allocator slack and 105.0 MiB to 134.9 MiB of CUDA context (measured on a T4; larger cards may take more)
  assumptions:
    precision = fp32 (default)
  budget           1.00 GiB
  device           8.00 GiB
  effective batch        64  16 × 2 × 2
  fits: 50 % used
`,
    );
  });

  it("says `at least`, and why, when something is not understood", () => {
    const printed = textOf([partly]);
    assert.match(printed, /parameters +at least 76\.3 MiB/);
    assert.match(printed, /saved for backward +not known/);
    assert.match(printed, /all figures are lower bounds/);
    assert.match(printed, /line 5: mystery is not known\n {4}nowhere\n/);
    assert.match(printed, /no verdict: the estimate is a lower bound/);
    assert.doesNotMatch(printed, /fits/);
  });

  it("prints Chinese with aligned columns", () => {
    const printed = textOf([known, partly], "zh-cn");
    assert.match(printed, /^ {2}参数 {15}76\.3 MiB {2}20,000,000 个/m);
    assert.match(printed, /第 5 行：不认识 mystery/);
    assert.match(printed, /可以容纳：占用 50 %/);
  });

  it("writes JSON in which what is not known is null", () => {
    const { models, budget } = JSON.parse(jsonEstimate(factsOf([known, partly]), "en")) as {
      models: Record<string, unknown>[];
      budget: unknown;
    };
    assert.deepEqual(models[0], {
      name: "Net",
      line: 3,
      parameters: { count: 20_000_000, bytes: 80_000_000, trainable: 20_000_000 },
      buffers: { bytes: 0 },
      gradients: { bytes: 80_000_000 },
      optimizer: { name: "adam", bytes: 160_000_000 },
      saved: { bytes: 32 * MiB, perSample: 2 * MiB },
      peak: {
        bytes: 500 * MiB,
        allocated: 512 * MiB,
        // 512 MiB and 6 % with 110,100,480 bytes of context; 13 % with 141,426,688.
        device: { least: 679_183_647, most: 748_090_819 },
        phase: "backward",
        line: 5,
      },
      complete: true,
      unknown: [],
      assumptions: [{ key: "precision", value: "fp32", from: "default" }],
    });
    assert.equal(models[1]?.["optimizer"], null);
    assert.equal(models[1]["saved"], null);
    assert.equal(models[1]["peak"], null);
    assert.deepEqual(models[1]["unknown"], [
      { line: 5, reason: "mystery is not known" },
      { line: null, reason: "nowhere" },
    ]);
    assert.deepEqual(budget, {
      budget: 1024 * MiB,
      device: 8192 * MiB,
      needed: 512 * MiB,
      isLowerBound: false,
      verdict: "fits",
      batch: 16,
      accumulate: 2,
      devices: 2,
      effectiveBatch: 64,
      largestBatch: null,
      options: [],
      measured: null,
    });
  });

  it("prints the line through measured peaks, and says what it holds for", () => {
    const GiB = 1024 ** 3;
    const points = [
      { batch: 16, bytes: 1.8 * GiB },
      { batch: 32, bytes: 3 * GiB },
      { batch: 64, bytes: 5.4 * GiB },
    ];
    const setup = { batch: { value: 80, from: "header" as const } };
    const measured = measuredLine(points, 80, 6.5 * GiB);
    const printed = textOf([known], "en", { setup, measured });
    assert.match(printed, /measured peaks +614\.4 MiB \+ 76\.8 MiB a sample\n/);
    assert.match(printed, /by that line +6\.60 GiB {2}at micro-batch 80\n/);
    assert.match(printed, /largest by the line +78\n/);
    assert.match(printed, /largest measured +64\n/);
    assert.match(printed, /this shape, precision and optimizer only/);
    const { budget } = JSON.parse(jsonEstimate(factsOf([known], { measured }), "en")) as {
      budget: { measured: { largestBatch: number; largestMeasured: number } };
    };
    assert.equal(budget.measured.largestBatch, 78);
    assert.equal(budget.measured.largestMeasured, 64);
  });

  it("gives no verdict where there is no model or no budget", () => {
    assert.deepEqual(JSON.parse(jsonEstimate(factsOf([]), "en")), { models: [], budget: null });
  });

  describe("run on files", () => {
    let folder: TemporaryFolder;

    beforeEach(() => (folder = new TemporaryFolder()));
    afterEach(() => folder.remove());

    it("counts a model's parameters as PyTorch does, and judges its budget", async () => {
      const models = path.join(__dirname, "../goldens/models");
      const { code, stdout } = await vramlint(["estimate", "lenet5.py", "--format", "json"], { cwd: models });
      assert.equal(code, 0);
      const read = JSON.parse(stdout) as {
        models: { name: string; parameters: { count: number }; peak: { bytes: number } }[];
        budget: { verdict: string; budget: number; device: number; batch: number };
      };
      const goldens = JSON.parse(readFileSync(path.join(models, "../goldens.json"), "utf8")) as {
        models: Record<string, { params: number }[]>;
      };
      assert.equal(read.models[0]?.parameters.count, goldens.models["lenet5.py"]?.[0]?.params);
      assert.equal(read.budget.verdict, "fits");
      assert.equal(read.budget.batch, 128);
      assert.deepEqual([read.budget.budget, read.budget.device], [1024 * MiB, 4096 * MiB]);
      const table = await vramlint(["estimate", "lenet5.py"], { cwd: models });
      assert.match(table.stdout, /parameters +241\.0 KiB {2}61,706, 61,706 trainable/);
    });

    it("simulates what would make a step fit", async () => {
      const lenet = readFileSync(path.join(__dirname, "../goldens/models/lenet5.py"), "utf8");
      folder.write("a.py", lenet.replace("budget=1GiB", "budget=15MiB"));
      const { stdout } = await vramlint(["estimate", "a.py", "--format", "json"], { cwd: folder.path });
      const { budget } = JSON.parse(stdout) as {
        budget: {
          verdict: string;
          largestBatch: number;
          options: { changes: Record<string, string>; bytes: number; fits: boolean }[];
        };
      };
      assert.equal(budget.verdict, "over-budget");
      assert.ok(budget.largestBatch > 0 && budget.largestBatch < 128, String(budget.largestBatch));
      const smaller = budget.options.find(({ changes }) => changes["batch"] !== undefined);
      assert.ok(smaller?.fits && smaller.bytes <= 15 * MiB);
      assert.equal(Number(smaller.changes["batch"]) * Number(smaller.changes["accumulate"]), 128);
      const table = await vramlint(["estimate", "a.py"], { cwd: folder.path });
      assert.match(table.stdout, /over the budget by/);
      assert.match(table.stdout, /what would make it fit:\n {4}micro-batch 64 with 2 accumulation steps: \d/);
    });

    it("takes budget, device and micro-batch from the options instead of the header", async () => {
      const lenet = readFileSync(path.join(__dirname, "../goldens/models/lenet5.py"), "utf8");
      folder.write("a.py", lenet);
      const estimate = (...argv: string[]): ReturnType<typeof vramlint> =>
        vramlint(["estimate", "a.py", ...argv], { cwd: folder.path });
      const { code, stdout } = await estimate(
        ...["--budget", "15MiB", "--device=rtx-4090", "--batch", "256", "--format", "json"],
      );
      assert.equal(code, 1, "over the budget");
      const { models, budget } = JSON.parse(stdout) as {
        models: { assumptions: { key: string; value: string; from: string }[] }[];
        budget: { budget: number; device: number; batch: number; verdict: string };
      };
      assert.equal(budget.budget, 15 * MiB);
      assert.ok(budget.device > 20_000 * MiB);
      assert.equal(budget.batch, 256);
      assert.equal(budget.verdict, "over-budget");
      assert.deepEqual(
        models[0]?.assumptions.find(({ key }) => key === "batch"),
        { key: "batch", value: "256", from: "option" },
      );
      // The header's own budget stands where no option says otherwise.
      assert.match((await estimate("--batch=1")).stdout, /budget +1\.00 GiB/);
      assert.match(
        (await estimate("--batch=1", "--lang=zh-cn")).stdout,
        /batch = 1（选项）|batch = 1 \(选项\)/,
      );
      for (const [argv, reason] of [
        [["--budget", "6"], /^vramlint: --budget: `6` has no unit/],
        [["--budget", "lots"], /^vramlint: --budget: `lots` is not a size/],
        [["--device", "rtx-4900"], /^vramlint: --device: .* `rtx-4090` is probably meant/],
        [["--batch", "0"], /^vramlint: --batch: `batch` is a whole number of at least 1, not `0`/],
        [["--batch", "2.5"], /^vramlint: --batch: /],
        [["--batch="], /^vramlint: --batch cannot be ; give one value/],
        [["--budget", "1GiB, loss=none"], /^vramlint: --budget cannot be 1GiB, loss=none; give one value/],
        [["--model", "Nothing()"], /^vramlint: --model: This file defines nothing named `Nothing`/],
        [
          ["--model", "LeNet(), budget=1GiB"],
          /^vramlint: --model cannot be LeNet\(\), budget=1GiB; give one value/,
        ],
        [["--budget", "1GiB\nimport os"], /^vramlint: --budget cannot be 1GiB\\x0aimport os/],
      ] as const) {
        const refused = await estimate(...argv);
        assert.equal(refused.code, 2, argv.join(" "));
        assert.equal(refused.stdout, "");
        assert.match(refused.stderr, reason);
        assert.match((await estimate(...argv, "--lang=zh-cn")).stderr, /\p{Script=Han}/u);
      }
    });

    it("tells by its exit code whether the step is over, whatever the format", async () => {
      const lenet = readFileSync(path.join(__dirname, "../goldens/models/lenet5.py"), "utf8");
      folder.write("a.py", lenet);
      folder.write("bare.py", lenet.replace(/# vram:.*/g, ""));
      folder.write(
        "never.py",
        "import torch\nclass Net(torch.nn.Module):\n    def __init__(self, width): pass\n",
      );
      for (const [argv, expected] of [
        [["a.py"], 0],
        [["a.py", "--budget=15MiB"], 1],
        [["a.py", "--device=15MiB"], 1],
        [["a.py", "--budget=15MiB", "--exit-zero"], 0],
        // Without an input only the model states are known: over is over, below says nothing.
        [["bare.py", "--budget=1KiB"], 1],
        [["bare.py", "--budget=24GiB"], 0],
        [["never.py", "--budget=24GiB"], 2],
        [["never.py", "--budget=24GiB", "--exit-zero"], 2],
      ] as const) {
        for (const format of ["text", "json"]) {
          const { code, stderr } = await vramlint(["estimate", ...argv, "--format", format], {
            cwd: folder.path,
          });
          assert.equal(code, expected, argv.join(" "));
          assert.equal(stderr, "");
        }
      }
    });

    it("lists every model of a file, and judges the one that --model names", async () => {
      const linear = (name: string, width: string, argument = ""): string =>
        `class ${name}(nn.Module):\n    def __init__(self${argument}):\n        super().__init__()\n` +
        `        self.layer = nn.Linear(10, ${width})\n    def forward(self, x):\n        return self.layer(x)\n`;
      folder.write(
        "a.py",
        `# vram: budget=1GiB, model=Small()\nfrom torch import nn\n${linear("Small", "5")}${linear("Wide", "width", ", width, bias=True")}`,
      );
      const modelsOf = async (...argv: string[]) => {
        const { stdout } = await vramlint(["estimate", "a.py", "--format", "json", ...argv], {
          cwd: folder.path,
        });
        return (
          JSON.parse(stdout) as {
            models: { name: string; line: number; parameters: { count: number } | null }[];
          }
        ).models;
      };
      assert.deepEqual(
        (await modelsOf()).map(({ name, line, parameters }) => [name, line, parameters?.count]),
        [
          ["Small", 1, 55],
          ["Wide", 9, undefined],
        ],
      );
      assert.deepEqual(
        (await modelsOf("--model", "Wide(7, bias=False)")).map(({ name, line, parameters }) => [
          name,
          line,
          parameters?.count,
        ]),
        [
          ["Wide", 9, 77],
          ["Small", 3, 55],
        ],
      );
    });

    it("reads notebooks, and names cell and line", async () => {
      const cell = (source: string, type = "code"): object => ({ cell_type: type, metadata: {}, source });
      const cells = [
        cell("# A model", "markdown"),
        cell(
          "%matplotlib inline\n# vram: budget=1GiB, batch=2, input=float32[B,10]\nimport torch\nfrom torch import nn",
        ),
        cell("%%bash\nclass Net(nn.Module): pass"),
        cell(
          "class Net(nn.Module):\n  def __init__(self):\n    super().__init__()\n    self.a = nn.Linear(10, 5)\n  def forward(self, x):\n    return mystery(self.a(x))",
        ),
      ];
      folder.write("a.ipynb", JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }));
      const { code, stdout, stderr } = await vramlint(["estimate", "a.ipynb"], { cwd: folder.path });
      assert.equal(stderr, "");
      assert.equal(code, 0);
      assert.match(stdout, /^a\.ipynb:cell 4:1: Net\n {2}parameters .*55, 55 trainable\n/);
      const json = await vramlint(["estimate", "a.ipynb", "--format", "json"], { cwd: folder.path });
      const { models } = JSON.parse(json.stdout) as {
        models: { name: string; cell: number; line: number; unknown: { cell: number; line: number }[] }[];
      };
      assert.deepEqual(
        models.map(({ name, cell: number, line }) => [name, number, line]),
        [["Net", 4, 1]],
      );
      assert.ok(models[0]?.unknown.some((place) => place.cell === 4 && place.line === 6));
      assert.match(stdout, /\n {4}cell 4, line 6: /);
      const piped = await vramlint(["estimate", "-", "--stdin-filename", "a.ipynb"], {
        cwd: folder.path,
        stdin: readFileSync(folder.join("a.ipynb")),
      });
      assert.equal(piped.stdout, stdout);
      const chinese = await vramlint(["estimate", "a.ipynb", "--lang=zh-cn"], { cwd: folder.path });
      assert.match(chinese.stdout, /\p{Script=Han}/u);
      folder.write("bad.ipynb", "{");
      folder.write(
        "r.ipynb",
        JSON.stringify({ cells, metadata: { language_info: { name: "R" } }, nbformat: 4 }),
      );
      for (const [name, reason] of [
        ["bad.ipynb", /^vramlint: bad\.ipynb: this notebook is not valid JSON/],
        ["r.ipynb", /^vramlint: r\.ipynb: not checked, the notebook's language is R/],
      ] as const) {
        const refused = await vramlint(["estimate", name], { cwd: folder.path });
        assert.deepEqual([refused.code, refused.stdout], [2, ""]);
        assert.match(refused.stderr, reason);
      }
    });

    it("has every key of its JSON on the page about it", async () => {
      const lenet = readFileSync(path.join(__dirname, "../goldens/models/lenet5.py"), "utf8");
      folder.write("a.py", lenet.replace("budget=1GiB", "budget=15MiB, measured=16:1GiB 32:2GiB"));
      const { stdout } = await vramlint(["estimate", "a.py", "--format", "json"], { cwd: folder.path });
      const keys = new Set<string>();
      JSON.parse(stdout, (key, value: unknown) => {
        if (key !== "" && !/^\d+$/.test(key)) keys.add(key);
        return value;
      });
      // What a change is about is a key of the header.
      for (const key of ["batch", "accumulate", "residuals", "largestMeasured"])
        assert.ok(keys.has(key), key);
      for (const page of ["command-line.md", "command-line.zh-cn.md"]) {
        const text = readFileSync(path.join(__dirname, "../../docs", page), "utf8");
        for (const key of keys) {
          if (["precision", "checkpoint", "shard", "optimizer"].includes(key)) continue;
          assert.match(text, new RegExp(`[\`.]${key}\``), `${page}: ${key}`);
        }
      }
    });

    it("says what is missing in a file without models", async () => {
      folder.write("a.py", "import torch\n");
      const { code, stdout, stderr } = await vramlint(["estimate", "a.py"], { cwd: folder.path });
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, /^vramlint: a\.py: no model found\./);
      const json = await vramlint(["estimate", "a.py", "--format", "json"], { cwd: folder.path });
      assert.equal(json.code, 2);
      assert.deepEqual(JSON.parse(json.stdout), { models: [], budget: null });
    });

    it("reads standard input", async () => {
      const { code, stderr } = await vramlint(["estimate", "-", "--stdin-filename", "b.py"], {
        stdin: "x = 1\n",
      });
      assert.equal(code, 2);
      assert.match(stderr, /^vramlint: b\.py: no model found/);
    });

    it("refuses folders, missing and unreadable files", async () => {
      folder.write("x.py/", "");
      folder.write("nul.py", "\0");
      for (const [name, reason] of [
        ["x.py", /this is a folder, a file is needed/],
        ["missing.py", /no such file/],
        ["nul.py", /NUL byte/],
      ] as const) {
        const { code, stdout, stderr } = await vramlint(["estimate", name], { cwd: folder.path });
        assert.equal(code, 2);
        assert.equal(stdout, "");
        assert.ok(stderr.startsWith(`vramlint: ${name}: `), stderr);
        assert.match(stderr, reason);
      }
    });
  });

  it("reads the packages of the interpreter that --python names", async () => {
    const folder = new TemporaryFolder({
      "train.py":
        "import torch\nimport zoo\nmodel = zoo.net()\ntorch.optim.SGD(model.parameters(), lr=0.1)\n",
      "conda/lib/python3.12/site-packages/zoo/__init__.py":
        "from torch import nn\ndef net():\n    return nn.Linear(3, 2)\n",
      "conda/lib/python3.12/site-packages/zoo-1.0.dist-info/METADATA": "Name: zoo\nRequires-Dist: torch\n",
    });
    try {
      const { stdout } = await vramlint(["estimate", "train.py", "--python", "conda/bin/python"], {
        cwd: folder.join(""),
      });
      assert.match(stdout, /parameters +32 B +8, 8 trainable/);
    } finally {
      folder.remove();
    }
  });
});
