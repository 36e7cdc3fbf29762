import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import path from "node:path";
import { readHeader } from "../../../server/src/directives/header";
import { estimateModule } from "../../../server/src/memory/estimate";
import { forgetOperators } from "../../../server/src/memory/operators/memo";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import { modelText } from "../../support/goldens";
import { loadParser } from "../../support/parser";

const folder = path.join(__dirname, "../../goldens/models");

/** Everything that is said of a file's model. */
function answers(text: string): string {
  const parsed = parseModule(text);
  const setup = {
    device: { value: { bytes: 24 * 2 ** 30, card: undefined }, from: "default" as const },
    ...readHeader(parsed).setup,
  };
  const estimates = estimateModule(parsed.module, buildScopes(parsed.module), setup);
  const steps = [
    estimates.changed?.({ checkpointed: 2 }),
    estimates.changed?.({ precision: "amp-bf16", batch: 3 }),
  ];
  return JSON.stringify([
    estimates.all(),
    estimates.step?.(),
    estimates.largestBatch(),
    estimates.whatFits(),
    steps,
    estimates.batchGraph?.(true),
  ]);
}

/** A model with a forward of its own. */
function withForward(body: string, inits = "self.a = nn.Linear(16, 16)"): string {
  return `# vram: batch=8, input=float32[B,16], loss=sum, optimizer=adamw, precision=amp-bf16
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        ${inits}

    def forward(self, x):
        ${body}
`;
}

/** Where an operator's operands are more than their shapes. */
const special: Readonly<Record<string, string>> = {
  "the same tensor twice, and two alike": withForward(
    "h = self.a(x)\n        return h * h + h * self.a(x) + h * h.clone()",
  ),
  "changed in place through a view, and not": withForward(
    "h = self.a(x)\n        v = h.view(8, 4, 4)\n        v[:, 0].mul_(2)\n        w = h.clone()\n        w.mul_(2)\n        return v.sum() + w.sum() + h.detach().sum()",
  ),
  "a copy of the weight that autocast has kept, or not": withForward(
    "h = self.a(x)\n        with torch.no_grad():\n            g = self.a(x)\n        return h + g + torch.nn.functional.linear(x, self.a.weight)",
  ),
  "checkpointed blocks alike": withForward(
    "h = x\n        for _ in range(3):\n            h = checkpoint(self.a, h, use_reentrant=False)\n        for _ in range(2):\n            h = checkpoint(self.b, h, use_reentrant=True)\n        return h",
    "self.a = nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.1), nn.GELU())\n        self.b = nn.Sequential(nn.Linear(16, 16), nn.Tanh())",
  ),
  "attention with and without gradients": withForward(
    "q = self.a(x).view(-1, 2, 4, 2)\n        y = nn.functional.scaled_dot_product_attention(q, q, q)\n        z = nn.functional.scaled_dot_product_attention(q.detach(), q.detach(), q.detach(), is_causal=True)\n        return y.sum() + z.sum() + nn.functional.scaled_dot_product_attention(q, q, q).sum()",
  ),
};

describe("operators that are remembered", () => {
  before(loadParser);

  const texts = { ...special };
  for (const name of readdirSync(folder)) if (name.endsWith(".py")) texts[name] = modelText(name);

  for (const [name, text] of Object.entries(texts)) {
    it(`answers the same the second time: ${name}`, () => {
      forgetOperators();
      const first = answers(text);
      assert.equal(answers(text), first);
    });
  }

  it("answers the same whatever was estimated before", () => {
    const names = Object.keys(special);
    const alone = names.map((name) => {
      forgetOperators();
      return answers(special[name] ?? "");
    });
    forgetOperators();
    assert.deepEqual(
      names.map((name) => answers(special[name] ?? "")),
      alone,
    );
  });
});
