import assert from "node:assert/strict";
import { loadParser } from "../../support/parser";
import { examine } from "../../support/torch";

const setup = `
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import no_grad
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
`;

/** Whether the argument of `look(…)` carries a graph. */
function looked(text: string, occurrence = 0): string {
  const examined = examine(setup + text);
  const calls = examined.torch.resolve.index.callsByName.get("look") ?? [];
  const argument = calls[occurrence]?.positional[0];
  assert.ok(argument, "no look(…)");
  return examined.torch.provenance.carried(argument).graph;
}

function modeAt(text: string): string {
  const examined = examine(setup + text);
  const call = (examined.torch.resolve.index.callsByName.get("look") ?? [])[0];
  assert.ok(call, "no look(…)");
  return examined.torch.provenance.gradientMode(call);
}

describe("which values carry a graph", () => {
  before(loadParser);

  it("does through models, losses and operations", () => {
    assert.equal(looked("out = net(x)\nlook(out)\n"), "yes");
    assert.equal(looked("look(criterion(net(x), y))\n"), "yes");
    assert.equal(looked("look(F.softmax(net(x), -1)[0].mean() * 2)\n"), "yes");
    assert.equal(looked("xs = []\nfor x in d:\n    xs.append(net(x))\nlook(torch.stack(xs))\n"), "yes");
    assert.equal(looked("total = 0\nfor x in d:\n    total += net(x).sum()\nlook(total)\n"), "yes");
    assert.equal(looked("parts = {'a': net(x), 'b': 1}\nlook(parts['a'])\n"), "yes");
  });

  it("does not where it was severed", () => {
    for (const text of [
      "net(x).item()",
      "net(x).detach()",
      "net(x).argmax(1)",
      "net(x) > 0",
      "float(net(x))",
      "net(x).shape",
      "net(x).data",
      "torch.max(net(x), 1)[1]",
      "net(x).max(1)[1].float().mean()",
    ]) {
      assert.equal(looked(`look(${text})\n`), "no", text);
    }
    assert.equal(looked("parts = {'a': net(x), 'b': 1}\nlook(parts['b'])\n"), "no");
    assert.equal(looked("_, best = net(x).max(1)\nlook(best)\n"), "no");
  });

  it("does not under no_grad, and views made there keep what they had", () => {
    assert.equal(looked("with no_grad():\n    out = net(x)\nlook(out)\n"), "no");
    assert.equal(looked("out = net(x)\nwith torch.no_grad():\n    acc = out.mean()\nlook(acc)\n"), "no");
    assert.equal(looked("@torch.no_grad()\ndef f():\n    out = net(x)\n    look(out)\n"), "no");
  });

  it("is unknown where code is not seen", () => {
    assert.equal(looked("from lib import f\nlook(f(net(x)))\n"), "unknown");
    assert.equal(looked("def g(v):\n    look(v)\n"), "unknown");
  });

  it("takes a backward as proof, on all that reaches it", () => {
    assert.equal(looked("from lib import f\nloss = f(x)\nloss.backward()\nlook(loss)\n"), "yes");
    assert.equal(
      looked("from lib import f\nloss, logs = f(x)\n(loss / 4).backward()\nlook(loss)\nlook(logs)\n"),
      "yes",
    );
    assert.equal(
      looked("from lib import f\nloss, logs = f(x)\n(loss / 4).backward()\nlook(loss)\nlook(logs)\n", 1),
      "unknown",
    );
  });

  it("follows helpers by what they return for these arguments", () => {
    const helpers =
      "def number(t):\n    return t.item()\ndef half(t):\n    return t / 2\ndef both(t):\n    return t, {'l': t.detach()}\n";
    assert.equal(looked(`${helpers}look(number(net(x)))\n`), "no");
    assert.equal(looked(`${helpers}look(half(net(x)))\n`), "yes");
    assert.equal(looked(`${helpers}look(half(3))\n`), "no");
    assert.equal(looked(`${helpers}_, logs = both(net(x))\nlook(logs['l'])\n`), "no");
  });

  it("respects assignments in their order", () => {
    assert.equal(looked("v = net(x)\nv = v.item()\nlook(v)\n"), "no");
    assert.equal(looked("v = 0\nif c:\n    v = net(x)\nlook(v)\n"), "yes");
    assert.equal(looked("v = net(x)\nlook(v)\nv = 0\n"), "yes");
    assert.equal(looked("for x in d:\n    look(v)\n    v = net(x)\n"), "yes");
  });

  it("leaves frozen models out", () => {
    assert.equal(looked("net.requires_grad_(False)\nlook(net(torch.zeros(3)))\n"), "no");
  });
});

describe("where gradients are recorded", () => {
  before(loadParser);

  it("reads contexts, decorators and statements", () => {
    assert.equal(modeAt("with torch.inference_mode():\n    look()\n"), "off");
    assert.equal(modeAt("with torch.no_grad():\n    with torch.enable_grad():\n        look()\n"), "on");
    assert.equal(modeAt("with torch.set_grad_enabled(phase == 'train'):\n    look()\n"), "unknown");
    assert.equal(modeAt("@torch.no_grad\ndef f():\n    look()\n"), "off");
    assert.equal(modeAt("torch.set_grad_enabled(False)\nlook()\n"), "off");
    assert.equal(modeAt("torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\nlook()\n"), "on");
    assert.equal(modeAt("torch.no_grad()\nlook()\n"), "on");
    assert.equal(modeAt("context = torch.no_grad()\nwith context:\n    look()\n"), "off");
    assert.equal(modeAt("with torch.autocast('cuda'):\n    look()\n"), "on");
  });

  it("asks every caller", () => {
    const body = "def f():\n    look()\n";
    assert.equal(modeAt(`${body}with torch.no_grad():\n    f()\n`), "off");
    assert.equal(modeAt(`${body}f()\nwith torch.no_grad():\n    f()\n`), "on");
    assert.equal(modeAt(`${body}def g():\n    f()\nwith torch.no_grad():\n    g()\n`), "off");
  });
});

describe("values kept past their iteration", () => {
  before(loadParser);

  const loop = (body: string, after = ""): string =>
    `${setup}kept = []\nfor x, y in data:\n${body.replace(/^/gm, "    ")}\n${after}`;
  const keptIn = (text: string): string[] => {
    const examined = examine(text);
    return examined.torch.provenance.kept.map(
      (kept) => `${examined.source.slice(kept.value)}${kept.freedBy ? " freed" : ""}`,
    );
  };

  it("are those that no backward needs", () => {
    assert.deepEqual(keptIn(loop("kept.append(criterion(net(x), y))")), ["criterion(net(x), y)"]);
    assert.deepEqual(keptIn(loop("kept.append(net(x))", "torch.stack(kept).sum().backward()\n")), []);
    assert.deepEqual(keptIn(loop("kept.append(net(x))", "from lib import f\nf(kept)\n")), []);
  });

  it("are marked when the backward of the iteration frees the graph", () => {
    const body = "out = net(x)\nloss = criterion(out, y)\nloss.backward()\nkept.append(out)";
    assert.deepEqual(keptIn(loop(body)), ["out freed"]);
    assert.deepEqual(keptIn(loop(body.replace("backward()", "backward(retain_graph=True)"))), ["out"]);
  });

  it("are none where the container is emptied, bounded or made inside", () => {
    assert.deepEqual(keptIn(loop("kept.append(net(x))\nif len(kept) > 3:\n    kept.clear()")), []);
    assert.deepEqual(keptIn(loop("kept.append(net(x))\ndel kept[0]")), []);
    assert.deepEqual(keptIn(loop("mine = []\nmine.append(net(x))")), []);
    assert.deepEqual(
      keptIn(
        `from collections import deque\n${loop("last.append(net(x))").replace("kept = []", "last = deque(maxlen=3)")}`,
      ),
      [],
    );
  });

  it("are none where a key or attribute is overwritten", () => {
    assert.deepEqual(keptIn(loop("store['last'] = net(x)").replace("kept = []", "store = {}")), []);
    assert.deepEqual(keptIn(loop("store[y] = net(x)").replace("kept = []", "store = {}")), ["net(x)"]);
  });
});

describe("the gradient mode of a function that seems to call itself", () => {
  it("is that of its other callers", () => {
    const { torch, call } = examine(`
import torch
class Runner:
    def step(self, x):
        y = self.model(x)
        self.optimizer.step()
        return y
`);
    assert.equal(torch.provenance.gradientMode(call("self.model(x)")), "on");
  });

  it("is off when all of them switch it off", () => {
    const { torch, call } = examine(`
import torch
def walk(model, x, depth):
    y = model(x)
    return walk(model, y, depth - 1) if depth else y
with torch.no_grad():
    walk(net, data, 3)
`);
    assert.equal(torch.provenance.gradientMode(call("model(x)")), "off");
  });
});

describe("values that go round a loop", () => {
  const text = `
import torch
from torch import nn
cell = nn.LSTMCell(8, 8)
head = nn.Linear(8, 1)
h = torch.zeros(1, 8)
c = torch.zeros(1, 8)
loss = 0
for x in loader:
    h, c = cell(x, (h, c))
    out = head(h)
    loss = loss + out.sum()
`;

  it("carry the same whichever of them is asked first", () => {
    const questions = ["out.sum()", "loss + out.sum()", "head(h)", "(h, c)", "cell(x, (h, c))"];
    const answers = (order: readonly string[]) => {
      const { torch, expression } = examine(text);
      const given = new Map(order.map((one) => [one, torch.provenance.carried(expression(one)).graph]));
      return questions.map((one) => given.get(one));
    };
    const expected = answers(questions);
    assert.equal(expected[0], "yes");
    for (let turn = 1; turn < questions.length; turn++) {
      assert.deepEqual(answers([...questions.slice(turn), ...questions.slice(0, turn)]), expected);
    }
    assert.deepEqual(answers([...questions].reverse()), expected);
  });
});
