/** What a script moves to the CPU beside a model on a GPU counts for nothing there. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

interface Parts {
  readonly before?: string;
  readonly first?: string;
  readonly target?: string;
  readonly after?: string;
  readonly device?: string;
}

function script({ before = "", first = "", target = "y", after = "", device = "cuda" }: Parts): string {
  return `
import copy
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 8))
    def forward(self, x):
        return self.layers(x)

device = "${device}"
model = Net().to(device)
kept = None
${before}
optimizer = torch.optim.Adam(model.parameters())
for x, y in DataLoader(TensorDataset(torch.randn(64, 64), torch.randn(64, 8)), batch_size=16):
${first.replaceAll(/^/gm, "    ")}
    host = x
    x, y = x.to(device), y.to(device)
    loss = ((model(x) - ${target}) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
${after.replaceAll(/^/gm, "    ")}
`;
}

function figures(parts: Parts) {
  const [estimate] = analyze(parseModule(script(parts))).estimates.all();
  assert.ok(estimate !== undefined);
  assert.deepEqual(estimate.unknown, []);
  const { parameters, buffers, gradients, optimizer, peak } = estimate;
  return { parameters, buffers, gradients, optimizer, peak: peak?.bytes };
}

/** The shadow's weights follow those of the model. */
const follow = `with torch.no_grad():
    for kept, weight in zip(shadow.parameters(), model.parameters()):
        kept.mul_(0.99).add_(weight.detach().cpu(), alpha=0.01)`;

const onTheHost: readonly (readonly [what: string, parts: Parts])[] = [
  ["a copy of the model", { before: "shadow = copy.deepcopy(model).cpu()", after: follow }],
  ["a copy of a copy", { before: "shadow = copy.deepcopy(copy.deepcopy(model).to('cpu'))", after: follow }],
  [
    "weights by name",
    {
      before: "shadow = {name: p.detach().cpu().clone() for name, p in model.named_parameters()}",
      after:
        "for name, p in model.named_parameters():\n    shadow[name] = 0.9 * shadow[name] + 0.1 * p.detach().cpu()",
    },
  ],
  [
    "the best weights",
    { after: "kept = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}" },
  ],
];

describe("what is on the CPU", () => {
  before(loadParser);

  for (const [what, parts] of onTheHost) {
    it(`is not counted: ${what}`, () => {
      assert.deepEqual(figures(parts), figures({}));
    });
  }

  it("is a teacher with what it computes; what it gives is counted where it is moved to the GPU", () => {
    const teacher = {
      before: "teacher = Net(4096).to('cpu').eval()",
      target: "soft",
      after: "with torch.no_grad():\n    soft = teacher(host).to(device)",
    };
    const given = { ...teacher, before: "soft = None", after: "soft = torch.randn(16, 8).to(device)" };
    const first = "soft = torch.zeros(16, 8).to(device)";
    assert.deepEqual(
      figures({ ...teacher, before: `${teacher.before}\n${first}` }),
      figures({ ...given, before: first }),
    );
  });

  it("is a teacher that nobody moves, called with a batch that nobody has moved yet", () => {
    const before = "teacher = Net(4096).eval()";
    const kept = "with torch.no_grad():\n    soft = teacher(x).to(device)";
    const target = "soft";
    const first = "soft = torch.randn(16, 8).to(device)";
    assert.deepEqual(figures({ before, first: kept, target }), figures({ first, target }));
    const moved = figures({ before, first: `x = x.to(device)\n${kept}`, target });
    assert.ok(moved.parameters.bytes > figures({}).parameters.bytes);
  });

  it("is counted when it comes back", () => {
    const there = { before: "teacher = Net().cpu()\nteacher.to(device)" };
    assert.equal(figures(there).parameters.bytes, 2 * figures({}).parameters.bytes);
  });

  it("is counted where the script names no GPU: the estimate is that of one", () => {
    assert.deepEqual(figures({ device: "cpu" }), figures({}));
  });
});
