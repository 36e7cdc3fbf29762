/** Distributions in training scripts: what is followed, and the reason where something is not. */
import assert from "node:assert/strict";
import { analyze } from "../../../server/src/analysis";
import { ScriptIteration } from "../../../server/src/memory/evaluate/training/iteration";
import { Execution } from "../../../server/src/memory/tape";
import { render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

interface Measured {
  readonly forward: number;
  readonly backward: number;
  readonly reasons: readonly string[];
}

/** One iteration of a model whose loss is written by `loss`, after `before` the loop. */
function measured(loss: string, before = ""): Measured {
  const text = `
import torch
from torch import nn
from torch import distributions as D
from torch.distributions.normal import Normal
model = nn.Linear(8, 16)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
${before}
for step in range(4):
    y = model(torch.randn(32, 8))
    loss = ${loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
`;
  const parsed = parseModule(text);
  const way = analyze(parsed).setup.iteration;
  assert.ok(way !== undefined, "the training loop is found");
  const reached = ScriptIteration.reach(new Execution({ device: "cpu" }), parsed.module, way.value, {});
  assert.ok(reached instanceof ScriptIteration);
  reached.adopt();
  const measure = reached.run(
    {
      batch: 1,
      inputs: [],
      targets: [],
      loss: "sum",
      precision: "fp32",
      mode: "train",
      precisionIsScripts: true,
    },
    false,
  );
  return {
    forward: measure.forward.live,
    backward: measure.backward?.live ?? 0,
    reasons: reached.program.noted().map(({ reason }) => render(reason, "en")),
  };
}

describe("distributions", () => {
  before(loadParser);

  it("need what the operators need that they are written in", () => {
    const written = measured("(y + torch.randn(32, 16) * y.exp()).sum()");
    const drawn = measured("Normal(y, y.exp(), validate_args=False).rsample().sum()");
    assert.deepEqual(drawn, written);
    assert.deepEqual(drawn.reasons, []);
  });

  it("are found under the names that PyTorch gives them", () => {
    const [long, short] = [
      measured("torch.distributions.normal.Normal(y, 1.0).entropy().sum() + y.sum()"),
      measured("D.Normal(y, 1.0).entropy().sum() + y.sum()"),
    ];
    assert.deepEqual(long, short);
    assert.deepEqual(long.reasons, []);
  });

  it("draw and keep probabilities once, with their gradient even where none is recorded", () => {
    const once = measured("sum(c.probs.sum() for c in [D.Categorical(logits=y)])");
    const twice = measured("sum(c.probs.sum() + 0 * c.probs.sum() for c in [D.Categorical(logits=y)])");
    assert.deepEqual(once.reasons, []);
    assert.ok(twice.forward - once.forward < 32 * 16, "the second time nothing is computed");
  });

  it("validate samples unless the script says not to", () => {
    const loss =
      "D.Categorical(torch.ones(1)).log_prob(torch.zeros(65536, dtype=torch.long)).sum() + y.sum()";
    const without = measured(loss, "D.Distribution.set_default_validate_args(False)");
    const validated = measured(loss);
    assert.deepEqual(measured(loss, "Normal.set_default_validate_args(False)"), without);
    assert.deepEqual([...without.reasons, ...validated.reasons], []);
    // whole numbers modulo one, beside the values
    assert.ok(validated.forward > without.forward + 65536 * 4);
  });

  it("keep what the script sets on their class, for this script only", () => {
    const patched = measured(
      "Normal(y, 1.0).log_prob(y.detach()).sum()",
      "old = Normal.log_prob\nNormal.log_prob = lambda self, value: old(self, value) + torch.zeros(64, 32, 16)",
    );
    const plain = measured("Normal(y, 1.0).log_prob(y.detach()).sum()");
    assert.deepEqual([...patched.reasons, ...plain.reasons], []);
    assert.ok(patched.forward > plain.forward, "it is 64 times as large");
  });

  const unknown: Readonly<Record<string, RegExp>> = {
    "Normal(y, 1.0).expand((2, 32, 16)).rsample().sum()": /`Normal\.expand` is not understood/,
    "D.Categorical(logits=y).rsample().sum()": /`Categorical\.rsample` is not understood/,
    "D.Beta(y.exp(), y.exp()).rsample().sum()": /`torch\.distributions\.Beta` is not understood/,
    "D.kl_divergence(Normal(y, 1.0), D.Laplace(0.0, 1.0)).sum()":
      /`torch\.distributions\.Laplace` is not understood/,
    "D.kl_divergence(D.Bernoulli(logits=y), D.Bernoulli(logits=y)).sum()": /kl_divergence` is not understood/,
    "Normal(y, open('scale').read()).rsample().sum()": /not (known|understood|evaluated)/,
    "D.TransformedDistribution(Normal(y, 1.0), [D.TanhTransform()]).rsample().sum()":
      /`torch\.distributions\.T\w+` is not understood/,
  };
  for (const [loss, reason] of Object.entries(unknown)) {
    it(`say why \`${loss}\` is not known`, () => {
      const { reasons } = measured(loss);
      assert.ok(
        reasons.some((text) => reason.test(text)),
        reasons.join("; "),
      );
    });
  }
});
