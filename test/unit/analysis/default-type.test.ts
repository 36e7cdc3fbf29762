/** `torch.set_default_dtype`: figures that would be another's are lower bounds, or none. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import type { ModelEstimate } from "../../../server/src/memory/estimate";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

function estimated(setter: string): ModelEstimate | undefined {
  const text = `import torch
from torch import nn
${setter}
model = nn.Linear(4, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(9):
    optimizer.zero_grad()
    loss = model(torch.randn(2, 4)).sum()
    loss.backward()
    optimizer.step()
`;
  return analyze(parseModule(text), { select: [] }).estimates.first();
}

describe("the default type of a script", () => {
  before(loadParser);

  it("is single precision", () => {
    for (const setter of [
      "",
      "torch.set_default_dtype(torch.float32)",
      "torch.set_default_tensor_type('torch.cuda.FloatTensor')",
    ])
      assert.equal(estimated(setter)?.complete, true, setter);
  });

  it("makes lower bounds where it is wider", () => {
    for (const setter of [
      "torch.set_default_dtype(torch.float64)",
      "torch.set_default_tensor_type(torch.DoubleTensor)",
    ]) {
      const model = estimated(setter);
      assert.deepEqual([model?.complete, model?.parameters.bytes], [false, 160], setter);
    }
  });

  it("leaves no figures where it is narrower, or not known", () => {
    for (const setter of [
      "torch.set_default_dtype(torch.bfloat16)",
      "torch.set_default_dtype(getattr(torch, name))",
    ])
      assert.equal(estimated(setter)?.notBuilt, true, setter);
  });
});
