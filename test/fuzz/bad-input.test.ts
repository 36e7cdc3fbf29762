/** Sources nobody should write, in bounded time: fewer results, never an exception. */
import assert from "node:assert/strict";
import { analyze } from "../../server/src/analysis";
import { parseModule } from "../../server/src/python/parse";
import { sizeLimit } from "../../server/src/workspace/text";
import { loadParser } from "../support/parser";

const training = `import torch
from torch import nn
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
`;

const bad: Readonly<Record<string, string>> = {
  "an empty file": "",
  "only a BOM": "\uFEFF",
  "NUL bytes": training.replaceAll("loss", "lo\0ss"),
  "20,000 nested brackets": `import torch\nx = ${"(".repeat(20_000)}1${")".repeat(20_000)}\n`,
  "20,000 open brackets": `import torch\nx = ${"[".repeat(20_000)}\n${training}`,
  "a chain of 20,000 calls": `import torch\nx = torch${".a()".repeat(20_000)}\n`,
  "a sum of 20,000 terms": `import torch\nx = 0${" + loss".repeat(20_000)}\n`,
  "20,000 unary operators": `import torch\nx = ${"not ".repeat(20_000)}y\n`,
  "5,000 nested conditionals": `import torch\nx = ${"a if b else (".repeat(5000)}c${")".repeat(5000)}\n`,
  "300 nested blocks": `import torch\n${Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth)}for x${depth} in y:\n`).join("")}${" ".repeat(300)}loss.backward()\n`,
  "3,000 elif": `import torch\nif a:\n    pass\n${"elif a:\n    loss.backward()\n".repeat(3000)}`,
  "a function of 5,000 statements in a loop": `${training}${"    total = total + loss\n    model.eval()\n    y = model(x)\n".repeat(1700)}`,
  "1,000 functions that call each other": `${training}${Array.from({ length: 1000 }, (_, i) => `def f${i}(model, x):\n    return f${(i * 7 + 1) % 1000}(model, f${(i * 3 + 2) % 1000}(model, x))\n`).join("")}`,
  "a class that inherits from itself":
    "import torch\nclass Net(Net):\n    def __init__(self):\n        super().__init__()\n        self.net = Net()\n",
  "an endless module":
    "from torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        while True:\n            self.x = nn.Linear(1, 1)\nmodel = Net()\n",
  "a huge range":
    "from torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.x = [nn.Linear(1, 1) for _ in range(10 ** 12)]\nmodel = Net()\n",
  "tabs and spaces mixed": training.replace("    loss =", "\tloss ="),
  "exec and eval": `${training}exec("loss = 1")\neval("model")(x)\n`,
  "unknown star imports": `from mystery import *\n${training}`,
  "a half-typed line": `${training}    losses.append(lo`,
  "an unclosed string": `${training}    print("loss\n    x = '''\n`,
};

/** Milliseconds; far above what they take, far below what anything superlinear takes. */
const timeLimit = 20_000;

describe("bad input", () => {
  before(loadParser);

  for (const [name, text] of Object.entries(bad)) {
    it(`${name}: fewer results, no exception, in bounded time`, () => {
      const started = performance.now();
      const parsed = parseModule(text);
      const analysis = analyze(parsed);
      analysis.estimates.all();
      assert.deepEqual(analysis.failures, []);
      for (const { span } of analysis.findings) assert.ok(span.end <= text.length);
      const elapsed = performance.now() - started;
      assert.ok(elapsed < timeLimit, `took ${Math.round(elapsed)} ms`);
    });
  }

  it("a file as large as the limit is analysed in bounded time", () => {
    const script = (index: number) =>
      `def script_${index}(loader):\n    ${training.replaceAll("\n", "\n    ")}\n`;
    let text = "";
    for (let index = 0; text.length < sizeLimit; index++) text += script(index);
    const parsed = parseModule(text);
    const analysis = analyze(parsed);
    assert.deepEqual(analysis.failures, []);
    assert.ok(analysis.findings.length > 1000, "each of the scripts forgets to zero its gradients");
  });
});
