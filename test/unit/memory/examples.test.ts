import assert from "node:assert/strict";
import { estimateModule, type ModelEstimate } from "../../../server/src/memory/estimate";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import { loadParser } from "../../support/parser";

const head = "import torch.nn as nn\nfrom dataclasses import dataclass\n";
const layer =
  "class Layer(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.fc = nn.Linear(n, n)\n" +
  "    def forward(self, x):\n        return self.fc(x)\n";
const configured = (parameter: string): string =>
  `class Net(nn.Module):\n    def __init__(self, ${parameter}):\n        super().__init__()\n` +
  `        self.layer = Layer(config.n)\n    def forward(self, x):\n        return self.layer(x)\n`;
const config = "@dataclass\nclass NetConfig:\n    n: int = 4\n";

function estimateOf(text: string, name: string): ModelEstimate | undefined {
  const { module } = parseModule(head + text);
  return estimateModule(module, buildScopes(module), {}).ofClass(name);
}

/** The instance that stands for a class, and its parameters; undefined when there is none. */
function exampleOf(text: string, name: string): readonly [string, number] | undefined {
  const estimate = estimateOf(text, name);
  return estimate?.example === undefined ? undefined : [estimate.example, estimate.parameters.count];
}

describe("instances that stand for classes with arguments", () => {
  before(loadParser);

  it("a part of a class that needs none", () => {
    const outer =
      "class Net(nn.Module):\n    def __init__(self, n=3):\n        super().__init__()\n        self.a = Layer(n)\n";
    assert.deepEqual(exampleOf(layer + outer, "Layer"), ["Net().a", 12]);
  });

  it("what the script makes", () => {
    const other = layer.replace("Layer", "Other");
    const script = "width = 2\nfirst = Layer(width).to('cuda')\nsecond = Other(width + 1).to('cuda')\n";
    assert.deepEqual(exampleOf(layer + other + script, "Layer"), ["Layer(…)", 6]);
    assert.deepEqual(exampleOf(layer + other + script, "Other"), ["Other(…)", 12]);
  });

  it("a configuration of the file, by its annotation or its name", () => {
    assert.deepEqual(exampleOf(config + layer + configured("config: NetConfig"), "Net"), [
      "Net(NetConfig())",
      20,
    ]);
    assert.deepEqual(exampleOf(config + layer + configured("config"), "Layer"), [
      "Net(NetConfig()).layer",
      20,
    ]);
  });

  it("nothing where the file does not say what is given", () => {
    const other = "@dataclass\nclass OtherConfig:\n    n: int = 8\n";
    assert.equal(exampleOf(config + other + layer + configured("config"), "Net"), undefined);
    const needing = "@dataclass\nclass NetConfig:\n    n: int\n";
    assert.equal(exampleOf(needing + layer + configured("config"), "Net"), undefined);
    assert.equal(
      exampleOf(layer + "def train(args):\n    return Layer(args.width).fc\n", "Layer"),
      undefined,
    );
  });
});
