import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { analyze } from "../../../server/src/analysis";
import { inputText } from "../../../server/src/memory/setup";
import { estimateModule, type ModelEstimate } from "../../../server/src/memory/estimate";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import { importResolver } from "../../../server/src/workspace/imports";
import { needsTorch, sitePackagesOf } from "../../../server/src/workspace/installed-packages";
import { loadParser } from "../../support/parser";

/** A package as model libraries are built: a registry filled by a decorator, star imports, wrapped factories. */
const library: Readonly<Record<string, string>> = {
  "zoo/__init__.py": "from .models import *\nfrom .registry import create\n",
  "zoo/models/__init__.py": "from .small import *\nfrom .wide import *\nfrom ._hidden import *\n",
  "zoo/models/_hidden.py": "raise RuntimeError('nobody needs this')\n",
  "zoo/registry.py": `import functools, inspect, sys
_factories = {}
def register(function):
    module = sys.modules[function.__module__]
    name = function.__name__
    if name in _factories:
        forget(name)
    if hasattr(module, "defaults") and name in module.defaults:
        function.width = module.defaults[name]
    _factories[name] = function
    return function
def forget(name):
    _factories.pop(name)
def named(label):
    def decorate(function):
        _factories[label] = function
        return function
    return decorate
def by_position(function):
    first = next(i for i, one in enumerate(inspect.signature(function).parameters.values()) if one.kind == one.KEYWORD_ONLY)
    names = tuple(inspect.signature(function).parameters)[first:]
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        args, rest = args[:first], args[first:]
        kwargs.update(zip(names, rest))
        return function(*args, **kwargs)
    return wrapper
def create(name, **kwargs):
    if name not in _factories:
        raise ValueError("no such model")
    return _factories[name](**kwargs)
`,
  "zoo/models/small.py": `import re
import torch
from torch import nn
from ..registry import by_position, named, register
defaults = {"small": 3}
class Small(nn.Module):
    def __init__(self, n, m=5):
        super().__init__()
        self.fc = nn.Linear(n, m, bias=False)
    def forward(self, x):
        return self.fc(x)
@register
@by_position
def small(*, n=2, m=5):
    return Small(n + small.width, m)
@named("small-by-label")
def _label():
    kind, size = re.split(r"(\\d+)", "conv12")[:2]
    return Small(int(size), 1)
def rounded():
    widths = torch.round(torch.arange(4) * 2.6 / 2).int().tolist()
    return Small(sum(widths), len(set(widths)))
`,
  "zoo/models/wide.py": "from .small import Small\ndef wide():\n    return Small(100, 100)\n",
  "zoo-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: zoo\nRequires-Dist: torch>=2.0\n\nA zoo.\n",
  // What a script takes from these two is known without their sources.
  "torchvision/__init__.py": "from . import datasets, models, transforms\n",
  "torchvision/datasets.py": "def FakeData(*args, **kwargs):\n    raise RuntimeError\n",
  "torchvision/transforms.py": "def ToTensor():\n    raise RuntimeError\n",
  "torchvision/models.py": "from torch import nn\ndef tiny(n=4):\n    return nn.Conv2d(3, n, 3)\n",
  "torchvision-0.29.1.dist-info/METADATA":
    "Metadata-Version: 2.1\nName: torchvision\nRequires-Dist: torch==2.13.0\n",
  "plain/__init__.py": "from torch import nn\ndef net():\n    return nn.Linear(1, 1)\n",
  "plain-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: plain\nRequires-Dist: torch-geometric\n",
};

describe("models of installed packages", () => {
  let root = "";

  before(loadParser);
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), "installed-"));
    const site = path.join(root, ".venv/lib/python3.12/site-packages");
    for (const [name, text] of Object.entries(library)) write(path.join(site, name), text);
    write(path.join(root, ".venv/pyvenv.cfg"), "home = /usr/bin\n");
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  function write(file: string, text: string): void {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  function estimateOf(importLine: string, made: string): ModelEstimate {
    const { module } = parseModule(
      `import torch\n${importLine}\nmodel = ${made}\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.inner = ${made}\nNet()\n`,
    );
    const file = path.join(root, "src", "train.py");
    const resolve = importResolver(file, { root, packages: sitePackagesOf(file, { root }) });
    const [first] = estimateModule(module, buildScopes(module), {}, { resolveImport: resolve }).all();
    assert.ok(first, "no estimate");
    return first;
  }

  const cases: readonly (readonly [name: string, importLine: string, made: string, parameters: number])[] = [
    ["a factory behind two star imports", "import zoo", "zoo.small()", 25],
    [
      "arguments by position through a wrapper that asks for the signature",
      "from zoo import small",
      "small(7, 2)",
      20,
    ],
    [
      "a registry that a decorator fills in a file nobody imported by name",
      "from zoo import create",
      "create('small')",
      25,
    ],
    ["a registry keyed by a label", "import zoo", "zoo.create('small-by-label')", 12],
    ["arguments through the registry", "import zoo", "zoo.registry.create('small', m=1)", 5],
    ["a later star import", "from zoo.models import wide", "wide()", 10_000],
    ["widths computed with tensors", "from zoo.models.small import rounded", "rounded()", 32],
  ];
  for (const [name, importLine, made, parameters] of cases) {
    it(name, () => {
      const estimate = estimateOf(importLine, made);
      assert.deepEqual(
        estimate.unknown.map(({ reason }) => render(reason, "en")),
        ["activations: input unknown"],
      );
      assert.equal(estimate.parameters.count, parameters);
    });
  }

  it("a key that nothing files is not said to be missing", () => {
    const estimate = estimateOf("import zoo", "zoo.create('large')");
    assert.equal(estimate.complete, false);
    assert.ok(estimate.unknown.some(({ reason }) => render(reason, "en").includes("_factories")));
  });

  it("a model of torchvision, with the pictures that its datasets and transforms give", () => {
    const file = path.join(root, "train.py");
    const resolveImport = importResolver(file, { root, packages: sitePackagesOf(file, { root }) });
    const script = `import torch, torchvision
from torchvision import transforms as T
data = torchvision.datasets.FakeData(8, (3, 20, 16), transform=T.Compose([T.Resize(10), T.ToTensor()]))
model = torchvision.models.tiny(5)
optimizer = torch.optim.SGD(model.parameters())
for x, y in torch.utils.data.DataLoader(data, batch_size=2):
    loss = torch.nn.functional.mse_loss(model(x), x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
`;
    const { setup, estimates } = analyze(parseModule(script), { resolveImport });
    assert.equal(setup.inputs && inputText(setup.inputs.value), "float32[B,3,12,10]");
    assert.equal(estimates.all()[0]?.parameters.count, 140);
  });

  it("a library that is not there is named", () => {
    const estimate = estimateOf("import timm", "timm.create_model('vit')");
    const reason =
      "`timm` is not found in a Python environment known here, so `timm.create_model` cannot be read";
    assert.ok(estimate.unknown.some((unknown) => render(unknown.reason, "en").includes(reason)));
  });

  it("what such a library makes is never counted as nothing", () => {
    const load = 'AutoModel.from_pretrained("bert-base-uncased")';
    for (const made of [
      load,
      "AutoModel.from_config(AutoConfig.from_pretrained('bert-base-uncased'))",
      `torch.compile(${load})`,
      `torch.nn.DataParallel(${load})`,
      `get_peft_model(${load}, settings)`,
      `${load}.to("cuda").encoder`,
    ]) {
      const imports = "from transformers import AutoConfig, AutoModel; from peft import get_peft_model";
      const estimate = estimateOf(imports, made);
      assert.equal(estimate.complete, false, made);
      assert.equal(estimate.missesParts, true, made);
    }
  });

  it("packages that do not need PyTorch are not read", () => {
    const site = path.join(root, ".venv/lib/python3.12/site-packages");
    assert.equal(needsTorch(site, "zoo"), true);
    assert.equal(needsTorch(site, "plain"), false);
    const estimate = estimateOf("import plain", "plain.net()");
    assert.equal(estimate.complete, false);
    assert.ok(estimate.unknown.some(({ reason }) => render(reason, "en").includes("plain.net")));
  });

  it("the environment: chosen, beside the script, or activated", () => {
    const file = path.join(root, "src", "train.py");
    const site = path.join(root, ".venv/lib/python3.12/site-packages");
    const other = path.join(root, "conda");
    mkdirSync(path.join(other, "lib/python3.11/site-packages"), { recursive: true });
    const otherSite = path.join(other, "lib/python3.11/site-packages");
    assert.deepEqual(sitePackagesOf(file, { root }), [site]);
    assert.deepEqual(sitePackagesOf(file, { root, variables: { CONDA_PREFIX: other } }), [site]);
    assert.deepEqual(sitePackagesOf(file, { root, python: path.join(other, "bin/python") }), [otherSite]);
    rmSync(path.join(root, ".venv/pyvenv.cfg"));
    assert.deepEqual(sitePackagesOf(file, { root }), []);
    assert.deepEqual(sitePackagesOf(file, { root, variables: { CONDA_PREFIX: other } }), [otherSite]);
  });
});
