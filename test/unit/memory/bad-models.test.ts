/** Models that cannot be evaluated to their end: in bounded time, a lower bound or nothing, and a reason with its line. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import type { ModelEstimate } from "../../../server/src/memory/estimate";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import type { ResolveImport } from "../../../server/src/python/resolve-import";
import { loadParser } from "../../support/parser";

const head = "# vram: batch=2, input=float32[B,4], optimizer=sgd\nimport torch\nfrom torch import nn\n";

function model(init: string, forward: string): string {
  return `${head}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        ${init}\n    def forward(self, x):\n        ${forward}\nmodel = Net()\n`;
}

interface Told {
  readonly estimate: ModelEstimate;
  /** `reason @ text it stands at`. */
  readonly reasons: readonly string[];
}

function toldOf(text: string, resolveImport?: ResolveImport): Told {
  const parsed = parseModule(text);
  const [estimate] = analyze(parsed, { select: [], resolveImport }).estimates.all();
  assert.ok(estimate, "no estimate");
  const reasons = estimate.unknown.map(
    ({ reason, span }) =>
      `${render(reason, "en")} @ ${span === undefined ? "" : text.slice(span.start, span.end)}`,
  );
  return { estimate, reasons };
}

/** Milliseconds that no such file may take; the evaluator's own limit is half a second of work. */
const mostMilliseconds = 20_000;

describe("models that cannot be followed to their end", () => {
  before(loadParser);

  const cases: readonly (readonly [what: string, text: string, reason: RegExp])[] = [
    [
      "shapes that do not fit: both and the line",
      model("self.a = nn.Linear(4, 3); self.b = nn.Linear(5, 2)", "return self.b(self.a(x))"),
      /\[2, 3\].*\[.*5.*\].*@ self\.b\(self\.a\(x\)\)/,
    ],
    [
      "an addition of shapes that do not fit",
      model("self.a = nn.Linear(4, 3)", "return x + self.a(x)"),
      /\[2, 4\].*\[2, 3\].*@ x \+ self\.a\(x\)/,
    ],
    [
      "a division by zero",
      model("self.a = nn.Linear(4, 8 // 0)", "return self.a(x)"),
      /ZeroDivisionError.*@ 8 \/\/ 0/,
    ],
    [
      "a branch on a tensor's value",
      model("self.a = nn.Linear(4, 4)", "return self.a(x) if x.sum() > 0 else x"),
      /depends on the value of a tensor/,
    ],
    [
      "a loop as long as a tensor says",
      model("self.a = nn.Linear(4, 4)", "for _ in range(int(x.sum())): x = self.a(x)\n        return x"),
      /depends on the value of a tensor/,
    ],
    ["an argument that is missing", model("self.a = nn.Linear(4)", "return self.a(x)"), /out_features/],
    [
      "an endless forward",
      model("self.a = nn.Linear(4, 4)", "while True: x = self.a(x)"),
      /stopped after \d+ steps/,
    ],
    [
      "a module that calls itself",
      model("self.a = nn.Linear(4, 4)", "return self(self.a(x))"),
      /nested too deeply|stopped after/,
    ],
    [
      "an endless range of layers",
      model("self.a = nn.ModuleList(nn.Linear(4, 4) for _ in range(10 ** 9))", "return x"),
      /stopped after \d+ steps/,
    ],
  ];
  for (const [what, text, reason] of cases) {
    it(what, () => {
      const begin = performance.now();
      const { estimate, reasons } = toldOf(text);
      assert.ok(performance.now() - begin < mostMilliseconds);
      assert.equal(estimate.complete, false);
      assert.ok(
        reasons.some((one) => reason.test(one)),
        reasons.join("\n"),
      );
    });
  }

  const vocabulary = "words = [f'word{i}' for i in range(5000)]\n";
  const sized = (filled: string): string =>
    `import torch\nfrom torch import nn\n${vocabulary}${filled}\nmodel = nn.Embedding(len(index), 100)\noptimizer = torch.optim.Adam(model.parameters())\n`;
  const unfinished: Readonly<Record<string, string>> = {
    "at the top level": "index = {}\nfor word in words:\n    index[word] = len(index)",
    "of a function that fills what is global":
      "index = {}\ndef fill():\n    for word in words:\n        if word not in index: index[word] = len(index)\nfill()",
    "of a method of an object":
      "class Lang:\n    def __init__(self):\n        self.index = {}\n    def add(self, word):\n        self.index[word] = len(self.index)\n" +
      "lang = Lang()\nindex = lang.index\nfor word in words:\n    lang.add(word)",
  };
  for (const [where, filled] of Object.entries(unfinished)) {
    it(`what a loop that is not followed to its end fills is not known: ${where}`, () => {
      const { estimate, reasons } = toldOf(sized(filled));
      assert.equal(estimate.complete, false);
      assert.match(reasons.join("\n"), /an argument of `nn.Embedding` is not known: evaluation stopped/);
      assert.equal(toldOf(sized(filled.replaceAll("words", "words[:50]"))).estimate.parameters.count, 5000);
    });
  }

  it("a class that is defined twice is the last one", () => {
    const first =
      "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(9, 9)\n";
    const { estimate } = toldOf(
      model("self.a = nn.Linear(4, 4)", "return self.a(x)").replace(head, `${head}${first}`),
    );
    assert.equal(estimate.parameters.count, 20);
    assert.ok(estimate.complete);
  });

  const settings = [
    "self.__dict__.update(given)",
    "vars(self).update(given)",
    "self.__dict__ |= given",
    "for key, value in given.items(): setattr(self, key, value)",
  ];
  for (const line of settings) {
    it(`attributes that are set under names from elsewhere: ${line}`, () => {
      const text = (given: string): string =>
        `${head}from settings import read\nclass Net(nn.Module):\n    width = 64\n    def __init__(self, given):\n        super().__init__()\n        ${line}\n        self.a = nn.Linear(4, self.width)\n    def forward(self, x):\n        return self.a(x)\nmodel = Net(${given})\n`;
      const known = toldOf(text("{'width': 8}")).estimate;
      assert.equal(known.parameters.count, 40);
      const { estimate, reasons } = toldOf(text("read()"));
      assert.equal(
        estimate.parameters.count,
        0,
        "neither the class's own value nor a bound that rests on it",
      );
      assert.equal(estimate.complete, false);
      assert.match(reasons.join("\n"), /settings\.read/);
    });
  }

  it("files that import each other in a circle", () => {
    const files: Readonly<Record<string, string>> = {
      a: "from torch import nn\nfrom b import width\nclass A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(width, 1)\n    def forward(self, x):\n        return self.fc(x)\n",
      b: "from a import A\nfrom c import *\nwidth = 4\n",
      c: "from b import *\n",
    };
    const parsed = new Map(Object.entries(files).map(([name, text]) => [name, parseModule(text)]));
    const resolve: ResolveImport = (name) => {
      const found = parsed.get(name);
      return found === undefined
        ? undefined
        : { module: found.module, source: found.source, key: `${name}.py` };
    };
    const text = `${head}from a import A\nfrom c import nothing\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = A()\n    def forward(self, x):\n        return self.a(x)\nmodel = Net()\n`;
    const { estimate, reasons } = toldOf(text, resolve);
    assert.equal(estimate.parameters.count, 5, reasons.join("\n"));
    assert.ok(estimate.complete);
  });
});
