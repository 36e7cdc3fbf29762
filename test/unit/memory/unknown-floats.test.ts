/** Floats that only a run can know weigh tensors as any number does; sizes and branches that depend on them stay unknown. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

/** A script whose loss is made by these lines, of `model`, `aux`, `x` and the known number `half`. */
function scriptOf(lines: string): string {
  return `import random
import numpy as np
import torch
from torch import nn

model, aux = nn.Linear(20, 5), nn.Linear(20, 5)
optimizer = torch.optim.SGD([*model.parameters(), *aux.parameters()], lr=0.1)
half = 0.5
for i in range(10):
    x = torch.randn(16, 20)
${lines.replaceAll(/^(?=.)/gm, "    ")}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
`;
}

function estimateOf(lines: string) {
  const estimate = analyze(parseModule(scriptOf(lines))).estimates.first();
  assert.ok(estimate);
  return estimate;
}

const drawn = [
  "random.random()",
  "random.uniform(0, 1)",
  "np.random.beta(1.0, 1.0)",
  "np.random.rand()",
  "x.mean().item()",
];

describe("floats that only a run can know", () => {
  before(loadParser);

  const weighed = (weight: string): string =>
    `weight = ${weight}
mixed = weight * x + (1 - weight) * x.flip(0)
mixed -= weight / 2
loss = torch.lerp(model(mixed).mean(), aux(x).mean(), weight ** 2) * max(i, 1)`;

  for (const weight of drawn) {
    it(`weigh tensors: ${weight}`, () => {
      const [known, unknown] = ["half", weight].map((each) => estimateOf(weighed(each)));
      assert.ok(known?.complete === true && unknown?.complete === true);
      assert.equal(unknown.peak?.bytes, known.peak?.bytes);
      assert.equal(unknown.saved?.bytes, known.saved?.bytes);
    });
  }

  const open: readonly (readonly [what: string, lines: string])[] = [
    ["a size", "n = int(random.random() * 16)\nloss = model(x[:n]).mean() + aux(x).mean()"],
    ["an exponent", "loss = (model(x) ** random.random()).mean() + aux(x).mean()"],
    ["a branch", "loss = aux(x).mean()\nif random.random() < 0.5:\n    loss = loss + model(x).mean()"],
    [
      "a list's length",
      "rows = [x] * np.random.rand()\nloss = sum(model(row).mean() for row in rows) + aux(x).mean()",
    ],
  ];
  for (const [what, lines] of open) {
    it(`leave ${what} open`, () => {
      const { peak, complete, unknown } = estimateOf(lines);
      assert.ok(peak === null || !complete, "no number, or a lower bound");
      assert.ok(unknown.length > 0);
    });
  }
});
