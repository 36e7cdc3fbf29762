import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { estimateModule, type ModelEstimate } from "../../../server/src/memory/estimate";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import { importResolver } from "../../../server/src/workspace/imports";
import { loadParser } from "../../support/parser";

const layer =
  "from torch import nn\nWIDTH = 4\nBIAS = None\nclass Layer(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n" +
  "        self.fc = nn.Linear(n, n)\n    def forward(self, x):\n        return self.fc(x)\n";

function net(importLine: string, made: string): string {
  return (
    `import torch.nn as nn\n${importLine}\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n` +
    `        self.layer = ${made}\n    def forward(self, x):\n        return self.layer(x)\nmodel = Net()\n`
  );
}

describe("imports of other files", () => {
  let root = "";

  before(loadParser);
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), "imports-"));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  function write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      writeFileSync(path.join(root, name), text);
    }
  }

  function estimateOf(text: string, script = "train.py"): ModelEstimate {
    const { module } = parseModule(text);
    const resolve = importResolver(path.join(root, script), { root });
    const [first] = estimateModule(module, buildScopes(module), {}, { resolveImport: resolve }).all();
    assert.ok(first, "no estimate");
    return first;
  }

  const forms: readonly (readonly [name: string, importLine: string, made: string])[] = [
    ["a module beside the script", "from layers import Layer, WIDTH", "Layer(WIDTH)"],
    ["a package", "from pkg.layers import Layer as L", "L(4)"],
    ["a module as a whole", "import pkg.layers", "pkg.layers.Layer(pkg.layers.WIDTH)"],
    ["a module under another name", "import pkg.layers as m", "m.Layer(4)"],
    ["a name that a package passes on", "from pkg import Layer", "Layer(4)"],
    ["a submodule", "from pkg import layers", "layers.Layer(4)"],
    ["everything", "from layers import *", "Layer(WIDTH)"],
    ["the namespace of a module", "import layers", "layers.__dict__['Layer'](4)"],
    ["the namespace of a package", "import pkg", "pkg.__dict__['Layer'](4)"],
    [
      "a name that is looked for in a namespace",
      "import pkg.layers as m",
      "(m.__dict__['Layer'] if 'Layer' in m.__dict__.keys() and 'Other' not in m.__dict__ else nn.Linear)(4)",
    ],
    ["a name that is None", "from layers import Layer, BIAS", "Layer(4 if BIAS is None else 9)"],
  ];
  for (const [name, importLine, made] of forms) {
    it(name, () => {
      write({ "layers.py": layer, "pkg/layers.py": layer, "pkg/__init__.py": "from .layers import Layer\n" });
      const text = net(importLine, made);
      const estimate = estimateOf(text);
      assert.equal(estimate.parameters.count, 20);
      assert.ok(estimate.complete);
      for (const { span } of estimate.layers ?? []) assert.ok(span.end <= text.length);
    });
  }

  it("folders above the script are looked in, up to the root", () => {
    write({ "layers.py": layer, "scripts/deep/train.py": "" });
    const estimate = estimateOf(net("from layers import Layer", "Layer(4)"), "scripts/deep/train.py");
    assert.equal(estimate.parameters.count, 20);
  });

  it("files that import each other end", () => {
    write({
      "a.py": `from b import n\n${layer}m = n\n`,
      "b.py": "from a import m\nn = m\n",
    });
    const estimate = estimateOf(net("from a import Layer, m", "Layer(m)"));
    assert.ok(!estimate.complete);
    assert.ok(estimate.unknown.length > 0);
  });

  it("what is not understood in another file is said at the call that leads there", () => {
    const broken = layer.replace("nn.Linear(n, n)", "mystery(n)");
    write({ "layers.py": `${"# far away\n".repeat(200)}${broken}` });
    const text = net("from layers import Layer", "Layer(4)");
    const estimate = estimateOf(text);
    assert.ok(!estimate.complete);
    const [part] = estimate.unknown;
    assert.ok(part);
    assert.match(render(part.reason, "en"), /mystery/);
    assert.equal(text.slice(part.span?.start, part.span?.end), "Layer(4)");
  });

  it("an import that leads nowhere is a reason", () => {
    const estimate = estimateOf(net("from layers import Layer", "Layer(4)"));
    assert.ok(!estimate.complete);
    assert.ok(estimate.unknown.length > 0);
  });

  it("a class that takes arguments is shown by an instance that a function of the file makes", () => {
    const outer =
      "class Net(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.layer = Layer(n)\n";
    const { module } = parseModule(`${layer}${outer}def small(n=3):\n    return Net(n)\n`);
    const estimate = estimateModule(module, buildScopes(module), {}).ofClass("Layer");
    assert.equal(estimate?.example, "small().layer");
    assert.equal(estimate.parameters.count, 12);
  });
});
