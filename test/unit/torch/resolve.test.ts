import assert from "node:assert/strict";
import { loadParser } from "../../support/parser";
import { examine } from "../../support/torch";

const imports = `
import copy
import torch
import torch as th
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.utils.data import DataLoader
import torchvision
from torchvision import models
`;

/** Role and certainty of an expression, as one word pair. */
function roleIn(text: string, expression: string, occurrence = 0): string | undefined {
  const examined = examine(imports + text);
  const found = examined.torch.resolve.objectOf(examined.expression(expression, occurrence));
  return found && `${found.role} ${found.certainty}`;
}

describe("what a name is bound to", () => {
  before(loadParser);

  it("follows aliases and star imports to the canonical name", () => {
    const examined = examine(
      `${imports}from torch.nn import *\nth.autograd.no_grad()\nLinear(1, 2)\nF.relu(x)\nfloat(x)\n`,
    );
    const name = (text: string): string | undefined =>
      examined.torch.resolve.qualifiedName(examined.expression(text));
    assert.equal(name("th.autograd.no_grad"), "torch.no_grad");
    assert.equal(name("Linear"), "torch.nn.Linear");
    assert.equal(name("F.relu"), "torch.nn.functional.relu");
    assert.equal(name("float"), "builtins.float");
  });

  it("finds models through wrappers, copies and role-keeping calls", () => {
    assert.equal(roleIn("m = nn.Linear(1, 2).to('cuda').half()\nm(x)\n", "m", 1), "model resolved");
    assert.equal(
      roleIn("m = nn.DataParallel(models.resnet18()).cuda()\nm.module(x)\n", "m.module"),
      "model resolved",
    );
    assert.equal(
      roleIn("ema = copy.deepcopy(torch.compile(models.resnet18()))\nema(x)\n", "ema", 1),
      "model resolved",
    );
    assert.equal(roleIn("m = models.__dict__[name](num_classes=3)\nm(x)\n", "m", 1), "model resolved");
    assert.equal(roleIn("m = getattr(torchvision.models, name)()\nm(x)\n", "m", 1), "model resolved");
  });

  it("finds attributes bound in any method, and parameters by what callers give", () => {
    const text = `
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(1, 2)
    def forward(self, x):
        return self.fc(x)
class Runner:
    def __init__(self, net, steps):
        self.net = net
        self.opt, self.crit = optim.SGD(net.parameters(), lr=steps), nn.MSELoss()
    def run(self, x):
        return self.crit(self.net(x), x)
runner = Runner(Net(), 3)
`;
    assert.equal(roleIn(text, "self.fc", 1), "model resolved");
    assert.equal(roleIn(text, "self.net", 1), "model resolved");
    assert.equal(roleIn(text, "self.crit", 1), "loss-module resolved");
    assert.equal(roleIn(text, "self.opt"), "optimizer resolved");
    const examined = examine(imports + text);
    assert.equal(examined.torch.resolve.objectOf(examined.expression("self.net", 1))?.className, "Net");
  });

  it("keeps roles through accelerator.prepare and deepspeed.initialize", () => {
    const prepared = `
from accelerate import Accelerator
import deepspeed
accelerator = Accelerator()
net = models.resnet18()
opt = optim.AdamW(net.parameters())
net, opt, data = accelerator.prepare(net, opt, DataLoader(xs))
use(net, opt, data)
engine, opt2, _, sched = deepspeed.initialize(model=net)
use(engine, sched)
`;
    assert.equal(roleIn(prepared, "data", 1), "loader resolved");
    assert.equal(roleIn(prepared, "accelerator", 1), "framework resolved");
    assert.equal(roleIn(prepared, "engine", 1), "engine resolved");
    assert.equal(roleIn(prepared, "sched", 1), "scheduler resolved");
  });

  it("takes annotations, uses and names, each marked as what it is", () => {
    assert.equal(roleIn("def f(m: nn.Module):\n    m(x)\n", "m", 1), "model annotation");
    assert.equal(
      roleIn(
        "from zoo import make\nthing = make()\nopt = optim.SGD(thing.parameters())\nthing(x)\n",
        "thing",
        2,
      ),
      "model resolved",
    );
    assert.equal(roleIn("def f(model):\n    model(x)\n", "model", 1), "model name");
    assert.equal(roleIn("def f(criterion):\n    criterion(x)\n", "criterion", 1), "loss-module name");
  });

  it("does not take settings, texts, classes and imports for objects", () => {
    assert.equal(roleIn("model = 'resnet18'\nprint(model)\n", "model", 1), undefined);
    assert.equal(roleIn("print(args.model)\n", "args.model"), undefined);
    assert.equal(roleIn("def f(Model):\n    Model(x)\n", "Model", 1), undefined);
    assert.equal(roleIn("import model\nmodel.run(x)\n", "model"), undefined);
    assert.equal(roleIn("model_name = pick()\nmodel_name(x)\n", "model_name", 1), undefined);
  });

  it("knows a model is frozen by a loop or by requires_grad_(False), and not by half of it", () => {
    const frozen = (text: string): boolean => {
      const examined = examine(imports + text);
      return examined.torch.resolve.isFrozen(examined.call("m(x)").callee);
    };
    assert.ok(frozen("m = models.resnet18()\nfor p in m.parameters():\n    p.requires_grad = False\nm(x)\n"));
    assert.ok(frozen("m = models.resnet18().eval().requires_grad_(False)\nm(x)\n"));
    assert.ok(
      frozen("m = models.resnet18()\nfor _, p in m.named_parameters():\n    p.requires_grad_(False)\nm(x)\n"),
    );
    assert.ok(
      !frozen(
        "m = models.resnet18()\nfor n, p in m.named_parameters():\n    if 'fc' not in n:\n        p.requires_grad = False\nm(x)\n",
      ),
    );
    assert.ok(!frozen("m = models.resnet18()\nm.layer1.requires_grad_(False)\nm(x)\n"));
  });

  it("ends where a function returns parts of what it returns itself", () => {
    const text = `
def measure(frame, tries):
    if tries > 3:
        return None, 0
    return measure(frame, tries + 1)
net, error = measure(frame, 0)
net(x)
`;
    assert.equal(roleIn(text, "net", 1), "model name");
  });

  it("finds callers, arguments and functions used as values", () => {
    const examined = examine(`
def work(a, b=2):
    return a
class T:
    def step(self, x):
        return work(x, b=3)
t = T()
t.step(4)
pool.map(work, xs)
def unused(work):
    work(1)
`);
    const { resolve } = examined.torch;
    const work = examined.function("work");
    const step = examined.function("step");
    assert.equal(resolve.callsTo(work).length, 1);
    assert.equal(resolve.callsTo(step).length, 1);
    assert.ok(resolve.isUsedAsValue(work));
    assert.ok(!resolve.isUsedAsValue(step));
    const argument = resolve.argumentFor(examined.call("t.step(4)"), step, "x");
    assert.equal(argument && examined.source.slice(argument), "4");
    assert.equal(resolve.functionOf(examined.call("work(x, b=3)")), work);
    assert.equal(resolve.functionOf(examined.call("work(1)")), undefined);
  });
});

describe("what comes back to itself", () => {
  before(loadParser);

  const circle = `
class Net(nn.Module):
    pass

a = b
b = a if again else Net()
use(b)
`;

  it("is answered alike whichever question comes first", () => {
    const examined = examine(imports + circle);
    const { resolve } = examined.torch;
    const first = examined.expression("b", 2);
    const inside = examined.expression("b", 0);
    assert.equal(resolve.objectOf(first)?.className, "Net");
    assert.equal(resolve.objectOf(inside)?.className, "Net");
  });

  it("belongs to the same class whichever question comes first", () => {
    const examined = examine(imports + circle);
    const { resolve } = examined.torch;
    assert.equal(resolve.classOf(examined.expression("b", 2))?.name.id, "Net");
    assert.equal(resolve.classOf(examined.expression("a", 1))?.name.id, "Net");
  });

  it("is found from the end of a long chain though it was asked from its beginning before", () => {
    const links = Array.from({ length: 40 }, (_, index) => `v${index + 1} = v${index}\n`).join("");
    const examined = examine(`${imports}v0 = nn.Linear(1, 2)\n${links}use(v40)\n`);
    const { resolve } = examined.torch;
    assert.equal(resolve.objectOf(examined.expression("v40", 1)), undefined);
    assert.equal(resolve.roleOf(examined.expression("v20", 1)), "model");
  });
});
