import assert from "node:assert/strict";
import { loadParser } from "../../support/parser";
import { examine } from "../../support/torch";

const setup = `
from collections import defaultdict
import torch
import torch.nn as nn
import torch.nn.functional as F
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
`;

const trained = `    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
`;

function keptIn(text: string): string[] {
  const examined = examine(setup + text);
  return examined.torch.provenance.kept.map(
    (kept) => `${examined.source.slice(kept.value)}${kept.freedBy ? " freed" : ""}`,
  );
}

function forwardsIn(text: string): string[] {
  const examined = examine(setup + text);
  return examined.torch.provenance.evaluationPasses.map((pass) =>
    pass.forwards.map((forward) => examined.source.slice(forward)).join(", "),
  );
}

describe("what loops keep", () => {
  before(loadParser);

  it("sums under a key, unless the loop starts them anew", () => {
    const loop = `logs = defaultdict(float)\nfor i, (x, y) in enumerate(data):\n${trained}    logs["loss"] += loss\n`;
    assert.deepEqual(keptIn(loop), ["loss freed"]);
    assert.deepEqual(keptIn(`${loop}    if i % 9 == 0:\n        logs["loss"] = 0.0\n`), []);
  });

  it("running averages, also behind a condition", () => {
    const loop = `ema = None\nfor x, y in data:\n${trained}    ema = loss if ema is None else 0.9 * ema + 0.1 * loss\n`;
    assert.deepEqual(keptIn(loop).length, 1);
    assert.deepEqual(
      keptIn(
        `best = None\nfor x, y in data:\n${trained}    best = loss if best is None else min(best, loss)\n`,
      ),
      [],
    );
  });

  it("what a meter of the file stores, reported where it is given away", () => {
    const meter = `
class Meter:
    def __init__(self):
        self.sum = 0
    def update(self, value):
        self.sum += value
meters = {"a": Meter(), "b": Meter()}
for x, y in data:
    parts = {"a": F.mse_loss(net(x), y), "b": F.l1_loss(net(x), y)}
    sum(parts.values()).backward()
    for name, part in parts.items():
        meters[name].update(part)
`;
    assert.deepEqual(keptIn(meter), ["part freed"]);
    assert.deepEqual(keptIn(meter.replace("update(part)", "update(part.item())")), []);
    assert.deepEqual(keptIn(meter.replace("self.sum += value", "self.last = value")), []);
  });

  it("nothing that a backward walks later, in the loop or after it", () => {
    const summed = "total = 0\nfor x, y in data:\n    total += F.mse_loss(net(x), y)\n";
    assert.deepEqual(keptIn(summed).length, 1);
    assert.deepEqual(keptIn(`${summed}total.backward()\n`), []);
    assert.deepEqual(keptIn(`def run():\n${summed.replace(/^/gm, "    ")}\n    return total\n`), []);
    assert.deepEqual(
      keptIn(
        "group = []\nfor x, y in data:\n    group.append(F.mse_loss(net(x), y))\n    if len(group) == 4:\n        torch.stack(group).mean().backward()\n        group = []\n",
      ),
      [],
    );
  });

  it("no parts of one result made before the loop, and no short loops", () => {
    assert.deepEqual(keptIn("out = net(x)\nrows = []\nfor i in range(100):\n    rows.append(out[i])\n"), []);
    assert.deepEqual(keptIn("rows = []\nfor scale in [1, 2]:\n    rows.append(net(x * scale))\n"), []);
  });
});

describe("evaluation passes", () => {
  before(loadParser);

  it("follow eval(), names of functions and of data", () => {
    assert.deepEqual(forwardsIn("net.eval()\nfor x in data:\n    p = net(x)\n"), ["net(x)"]);
    assert.deepEqual(
      forwardsIn("def validate(loader):\n    for x in loader:\n        print(net(x).argmax())\n"),
      ["net(x)"],
    );
    assert.deepEqual(forwardsIn("for x in val_loader:\n    print(net(x).argmax())\n"), ["net(x)"]);
    assert.deepEqual(forwardsIn("for x in data:\n    print(net(x).argmax())\n"), []);
  });

  it("end where training begins again", () => {
    const epoch = `for epoch in range(3):\n    net.train()\n    for x, y in data:\n${trained.replace(/^/gm, "    ").trimEnd()}\n    net.eval()\n    for x, y in held:\n        print(net(x))\n`;
    assert.deepEqual(forwardsIn(epoch).length, 1);
  });

  it("are none where gradients are wanted or off", () => {
    assert.deepEqual(forwardsIn("net.eval()\nwith torch.no_grad():\n    p = net(x)\n"), []);
    assert.deepEqual(
      forwardsIn("net.eval()\nx.requires_grad_(True)\nfor x in data:\n    net(x).sum().backward()\n"),
      [],
    );
    assert.deepEqual(
      forwardsIn("net.eval()\nnet.requires_grad_(False)\nfor x in data:\n    p = net(x)\n"),
      [],
    );
    assert.deepEqual(forwardsIn("def targets(s):\n    net.eval()\n    return net(s)\n"), []);
  });
});
