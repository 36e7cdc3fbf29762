import assert from "node:assert/strict";
import { perBatchRun, type PerBatchRun } from "../../../server/src/torch/per-batch";
import { loadParser } from "../../support/parser";
import { examine } from "../../support/torch";

const setting = `
import torch
from torch import nn
import lightning.pytorch as pl
model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([1])
`;

/** How `mark()` runs in a text behind the setting. */
function run(text: string): PerBatchRun | undefined {
  const file = examine(setting + text);
  return perBatchRun(file.torch, file.call("mark()"));
}

describe("what runs once a batch", () => {
  before(loadParser);

  it("stands in a loop over batches", () => {
    assert.equal(run("for x in loader:\n    model(x)\n    mark()\n")?.kind, "loop");
    assert.equal(run("for x in loader:\n    if torch.cuda.is_available():\n        mark()\n")?.kind, "loop");
  });

  it("stands in a helper that such a loop calls", () => {
    const helper = "def tidy():\n    mark()\nfor x in loader:\n    tidy()\n";
    const always = run(helper);
    assert.ok(always?.kind === "helper" && always.all && always.callers.length === 1);
    const partly = run(`${helper}tidy()\n`);
    assert.ok(partly?.kind === "helper" && !partly.all);
  });

  it("stands in a method that a framework calls once a batch", () => {
    const hook = (name: string): string =>
      `class Net(pl.LightningModule):\n    def ${name}(self, *args):\n        mark()\n`;
    assert.deepEqual(run(hook("training_step")), { kind: "hook", hook: "training_step" });
    assert.equal(run(hook("on_train_epoch_end")), undefined);
  });

  it("is not behind a condition, in a handler, after a release or at the end of a phase", () => {
    const inLoop = (body: string): string => `for step, x in enumerate(loader):\n${body}`;
    assert.equal(run(inLoop("    if step % 10 == 0:\n        mark()\n")), undefined);
    assert.equal(run(inLoop("    if step % 10:\n        continue\n    mark()\n")), undefined);
    assert.equal(
      run(inLoop("    try:\n        model(x)\n    except RuntimeError:\n        mark()\n")),
      undefined,
    );
    assert.equal(run(inLoop("    del model\n    mark()\n")), undefined);
    assert.equal(
      run("for epoch in range(3):\n    for x in loader:\n        model(x)\n    mark()\n"),
      undefined,
    );
    assert.equal(run("for warmup in loader:\n    mark()\n"), undefined);
  });

  it("is not a round that holds a training loop of its own", () => {
    const update =
      "    for part in range(4):\n        model(x).mean().backward()\n        optimizer.step()\n";
    assert.equal(
      run(`rounds = iter(loader)\nwhile True:\n    x = next(rounds)\n${update}    mark()\n`),
      undefined,
    );
  });
});
