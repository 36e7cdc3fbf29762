/** Scripts whose later passes train more than the first: lower bounds, with the place. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

const head = `import torch
from torch import nn
import torch.nn.functional as F

def set_trainable(part, on):
    for p in part.parameters():
        p.requires_grad = on

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(64, 256)
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.body(x))

net = Net()
`;

const iteration = `
        loss = F.cross_entropy(net(torch.randn(32, 64)), torch.randint(0, 10, (32,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
`;

function scriptOf(before: string, inPass: string): string {
  return `${head}${before}
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(10):
${inPass.replaceAll(/^(?=.)/gm, "    ")}
    for i in range(100):${iteration}`;
}

/** The source at the reason; undefined where the figures are no lower bounds. */
function placeIn(text: string): string | undefined {
  const first = analyze(parseModule(text)).estimates.first();
  assert.ok(first?.peak, "the step is reached");
  const reason = first.unknown.find((one) => render(one.reason, "en").includes("in later passes only"));
  assert.equal(first.complete, reason === undefined);
  return reason?.span && text.slice(reason.span.start, reason.span.end);
}

const frozen = "set_trainable(net.body, False)";

describe("what later passes train besides", () => {
  before(loadParser);

  const bounds: readonly (readonly [what: string, text: string, place: string])[] = [
    [
      "a function that turns gradients on from some epoch on",
      scriptOf(frozen, "if epoch >= 5:\n    set_trainable(net.body, True)"),
      "p.requires_grad",
    ],
    [
      "an assignment",
      scriptOf(frozen, "if epoch == 3:\n    net.body.weight.requires_grad = True"),
      "net.body.weight.requires_grad",
    ],
    [
      "a group that the optimizer gets later",
      scriptOf(
        "",
        "if epoch == 1:\n    optimizer.add_param_group({'params': [torch.zeros(3, requires_grad=True)]})",
      ),
      "optimizer.add_param_group({'params': [torch.zeros(3, requires_grad=True)]})",
    ],
    [
      "a function that is told the epoch",
      scriptOf(
        `def thaw(number):\n    if number > 4:\n        net.body.requires_grad_()\n${frozen}`,
        "thaw(epoch)",
      ),
      "net.body.requires_grad_()",
    ],
  ];
  for (const [what, text, place] of bounds) {
    it(`makes a lower bound: ${what}`, () => {
      assert.equal(placeIn(text), place);
    });
  }

  const quiet: readonly (readonly [what: string, text: string])[] = [
    ["before the loop", scriptOf(frozen, "pass")],
    ["whatever the pass", scriptOf("thaws = True", "if thaws:\n    net.body.requires_grad_(True)")],
    [
      "by the parameters' names",
      scriptOf(
        "for name, p in net.named_parameters():\n    if 'head' in name:\n        p.requires_grad = True",
        "pass",
      ),
    ],
    ["and only turned off", scriptOf("", "if epoch == 5:\n    net.body.requires_grad_(False)")],
  ];
  for (const [what, text] of quiet) {
    it(`is nothing where gradients are set ${what}`, () => {
      assert.equal(placeIn(text), undefined);
    });
  }
});
