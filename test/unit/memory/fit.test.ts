import assert from "node:assert/strict";
import { readHeader } from "../../../server/src/directives/header";
import { estimateModule, type Estimates } from "../../../server/src/memory/estimate";
import { measuredLine } from "../../../server/src/memory/measured-line";
import type { TrainingSetup } from "../../../server/src/memory/setup";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import type { Module } from "../../../server/src/python/tree";
import { modelText } from "../../support/goldens";
import { loadParser } from "../../support/parser";

const GiB = 2 ** 30;

function subject(
  file: string,
  change: (setup: TrainingSetup) => TrainingSetup = (setup) => setup,
): { module: Module; setup: TrainingSetup } {
  const parsed = parseModule(modelText(file));
  return { module: parsed.module, setup: change(readHeader(parsed).setup) };
}

function estimates(module: Module, setup: TrainingSetup): Estimates {
  return estimateModule(module, buildScopes(module), setup);
}

function peakOf(module: Module, setup: TrainingSetup): number {
  return estimates(module, setup).all()[0]?.peak?.allocated ?? 0;
}

describe("what would make it fit", () => {
  before(loadParser);

  it("finds the largest micro-batch by simulation", () => {
    const { module, setup } = subject("lenet5.py");
    const limit = 64 * 2 ** 20;
    const largest = estimates(module, setup).largestBatch(limit);
    assert.ok(largest !== undefined && largest > 128);
    const at = (batch: number): number =>
      peakOf(module, { ...setup, batch: { value: batch, from: "header" } });
    assert.ok(at(largest) <= limit);
    assert.ok(at(largest + 1) > limit);
  });

  it("says nothing when not even one sample fits", () => {
    const { module, setup } = subject("lenet5.py");
    assert.equal(estimates(module, setup).largestBatch(1000), undefined);
  });

  it("simulates every option anew, smallest change first", () => {
    const { module, setup } = subject("gpt.py", (given) => ({
      ...given,
      budget: { value: 1.5 * GiB, from: "header" },
    }));
    const answer = estimates(module, setup).whatFits();
    assert.ok(answer);
    assert.deepEqual(
      answer.options.map(({ changes }) => Object.keys(changes)[0]),
      ["batch", "precision", "checkpoint", "optimizer", "shard"],
    );
    const [smaller] = answer.options;
    assert.deepEqual(smaller?.changes, { batch: "4", accumulate: "2" });
    // The gradients of one micro-batch wait for those of the next.
    const split = { batch: { value: 4, from: "header" }, accumulate: { value: 2, from: "header" } } as const;
    assert.equal(smaller.bytes, peakOf(module, { ...setup, ...split }));
    for (const option of answer.options) assert.equal(option.fits, option.bytes <= answer.limit);
    const present = peakOf(module, setup);
    assert.ok(answer.options.every((option) => option.bytes <= 0.99 * present));
  });

  it("leaves out what saves next to nothing, unless it makes the step fit", () => {
    const isFusedOffered = (file: string): boolean => {
      const { module, setup } = subject(file, (given) => ({
        ...given,
        optimizer: { value: { name: "adamw", options: {} }, from: "header" },
        budget: { value: 1, from: "header" },
      }));
      const options = estimates(module, setup).whatFits()?.options ?? [];
      return options.some(({ changes }) => changes.optimizer === "adamw(fused)");
    };
    assert.equal(isFusedOffered("gpt.py"), false, "the peak is the forward's, fused kernels are the step's");
    assert.equal(isFusedOffered("mlp.py"), true, "the peak is the step's");
  });

  it("offers to share or offload the optimizer where there are devices or an engine for it", () => {
    const changes = (devices: number, shard: "ddp" | "zero2"): string[] => {
      const { module, setup } = subject("gpt.py", (given) => ({
        ...given,
        budget: { value: GiB, from: "header" },
        devices: { value: devices, from: "script" },
        shard: { value: shard, from: "script" },
      }));
      const options = estimates(module, setup).whatFits()?.options ?? [];
      return options.map((option) => JSON.stringify(option.changes));
    };
    assert.ok(changes(4, "ddp").includes('{"shard":"zero-redundancy","devices":"4"}'));
    assert.ok(!changes(4, "ddp").some((change) => change.includes("offload")));
    assert.ok(changes(4, "zero2").includes('{"offload":"optimizer"}'));
    assert.ok(!changes(4, "zero2").some((change) => change.includes("shard")));
  });

  it("gives no promise where a kernel holds more than is counted", () => {
    const { module, setup } = subject("lstm_lm.py");
    const found = estimates(module, setup);
    const [model] = found.all();
    assert.equal(model?.complete, false);
    assert.ok(model.unknown.some(({ reason }) => reason.text.en.includes("cuDNN")));
    assert.equal(found.largestBatch(64 * GiB), undefined);
    const { module: same, setup: inference } = subject("lstm_lm.py", (given) => ({
      ...given,
      mode: { value: "infer", from: "header" },
    }));
    assert.equal(estimates(same, inference).all()[0]?.complete, true);
  });

  it("does not run an endless forward again for every option", () => {
    const { module } = parseModule(`import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
    def forward(self, x):
        while True:
            x = self.layer(x)
`);
    const { setup } = subject("gpt.py", (given) => ({
      budget: { value: 1, from: "header" },
      batch: { value: 8, from: "header" },
      optimizer: { value: { name: "adamw", options: {} }, from: "header" },
      inputs: {
        value: [
          {
            name: undefined,
            dtype: "float32",
            dimensions: [
              { factor: 1, perSample: true },
              { factor: 8, perSample: false },
            ],
            bound: undefined,
          },
        ],
        from: "header",
      },
      mode: given.mode ?? { value: "train", from: "header" },
    }));
    const found = estimates(module, setup);
    assert.equal(found.all()[0]?.complete, false);
    assert.equal(found.largestBatch(), undefined);
    const changes = found.whatFits()?.options.flatMap((option) => Object.keys(option.changes)) ?? [];
    assert.ok(
      !changes.some((key) => key === "batch" || key === "precision" || key === "checkpoint"),
      changes.join(),
    );
  });

  it("has nothing to say without a limit or an input", () => {
    const { module } = subject("gpt.py");
    assert.equal(estimates(module, {}).whatFits(), undefined);
    assert.equal(estimates(module, { budget: { value: GiB, from: "header" } }).whatFits(), undefined);
  });
});

describe("the line through measured peaks", () => {
  const points = [
    { batch: 16, bytes: 1.8 * GiB },
    { batch: 32, bytes: 3.0 * GiB },
    { batch: 64, bytes: 5.4 * GiB },
  ];

  it("gives the worked figures", () => {
    const line = measuredLine(points, 80, 6.5 * GiB);
    assert.ok(line);
    assert.equal((line.perSample / GiB).toFixed(9), "0.075000000");
    assert.equal((line.fixed / GiB).toFixed(9), "0.600000000");
    assert.equal(((line.prediction ?? 0) / GiB).toFixed(9), "6.600000000");
    assert.equal(line.isOverBudget, true);
    assert.equal(line.largestBatch, 78);
    assert.equal(line.largestMeasured, 64);
    for (const residual of line.residuals) assert.ok(Math.abs(residual) < 10);
  });

  it("shows how far the points lie from it", () => {
    const line = measuredLine(
      [
        { batch: 1, bytes: 10 },
        { batch: 2, bytes: 30 },
        { batch: 3, bytes: 20 },
      ],
      undefined,
      undefined,
    );
    assert.deepEqual(line?.residuals.map(Math.round), [-5, 10, -5]);
    assert.equal(line.prediction, undefined);
    assert.equal(line.largestBatch, undefined);
  });

  it("needs two different micro-batches", () => {
    assert.equal(measuredLine([], 8, GiB), undefined);
    assert.equal(
      measuredLine(
        [
          { batch: 8, bytes: 1 },
          { batch: 8, bytes: 2 },
        ],
        8,
        GiB,
      ),
      undefined,
    );
  });
});
