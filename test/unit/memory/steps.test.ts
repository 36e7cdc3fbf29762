/** Steps that are counted again instead of run again, and what all answers about a model cost. */
import assert from "node:assert/strict";
import { readHeader } from "../../../server/src/directives/header";
import { recount, recountLater, ScaledStep } from "../../../server/src/memory/allocation-log";
import { build, planOf } from "../../../server/src/memory/estimate/build";
import { estimateModule } from "../../../server/src/memory/estimate";
import { defaultLimits } from "../../../server/src/memory/evaluate/interpreter";
import { Estimator } from "../../../server/src/memory/estimate/model";
import { runStep, type StepMeasure, type StepPlan } from "../../../server/src/memory/evaluate/step";
import { Allowance } from "../../../server/src/memory/evaluate/world";
import type { TrainingSetup } from "../../../server/src/memory/setup";
import { parseModule } from "../../../server/src/python/parse";
import { buildScopes } from "../../../server/src/python/scope";
import type { Module } from "../../../server/src/python/tree";
import { goldenModels, modelText } from "../../support/goldens";
import { loadParser } from "../../support/parser";

interface Subject {
  readonly module: Module;
  readonly setup: TrainingSetup;
}

function subject(file: string): Subject {
  const parsed = parseModule(modelText(file));
  return { module: parsed.module, setup: readHeader(parsed).setup };
}

/** Steps at the given micro-batches, all on one built model. */
function steps(
  { module, setup }: Subject,
  batches: readonly number[],
  change: Partial<StepPlan> = {},
): StepMeasure[] {
  const world = { allowance: new Allowance(10_000_000) };
  const model = new Estimator(module, setup, world).trainedModel();
  const built = model && build(module, setup, model, world);
  return batches.map((batch) => {
    const plan = planOf(setup, batch);
    assert.ok(built !== undefined && plan !== undefined);
    return runStep(built.program, built.model, { ...plan, ...change });
  });
}

function peaks({ forward, backward, liveAfterBackward, allocatedAfterBackward }: StepMeasure): object {
  return {
    forward: { live: forward.live, allocated: forward.allocated },
    backward: backward && { live: backward.live, allocated: backward.allocated },
    after: { live: liveAfterBackward, allocated: allocatedAfterBackward },
  };
}

/** Adjacency matrices grow with the square; the others keep weights or features of the step before, as large as that was. */
const notScaled = new Set([
  "gcn.py",
  "feature_hooks.py",
  "momentum_contrast.py",
  "spectral_norm_gan.py",
  "weight_norm_tcn.py",
]);

const files = [...new Set(goldenModels().map(({ file }) => file))];

describe("a step's log", () => {
  before(loadParser);

  for (const file of files) {
    it(`gives ${file}'s peaks back, at other micro-batches too`, () => {
      const [six, nine, four] = steps(subject(file), [6, 9, 4]);
      assert.ok(six?.log !== undefined && nine?.log !== undefined && four?.log !== undefined);
      assert.deepEqual(recount(six.log, six.log.log.sizes), peaks(six));
      const scaled = ScaledStep.through(six.log, nine.log);
      assert.equal(scaled === undefined, notScaled.has(file));
      if (scaled !== undefined) assert.deepEqual(scaled.at(4), peaks(four));
    });
  }
});

/** They keep something of the step before, so that the gradients of that one are others too. */
const notRepeated = new Set([
  "adapters_checkpointed.py",
  "feature_hooks.py",
  "momentum_contrast.py",
  "own_layers.py",
  "spectral_norm_gan.py",
  "weight_norm_tcn.py",
]);

describe("a later micro-batch", () => {
  before(loadParser);

  for (const file of files) {
    it(`of ${file} follows from the log of the first`, () => {
      const [first] = steps(subject(file), [6]);
      const [later] = steps(subject(file), [6], { accumulates: true });
      assert.ok(first?.log !== undefined && later !== undefined);
      const counted = recountLater(first.log, first.stepped, first.log.log.sizes);
      assert.equal(counted === undefined, notRepeated.has(file));
      if (counted !== undefined) assert.deepEqual(counted, peaks(later));
    });
  }
});

describe("all answers about a model", () => {
  before(loadParser);

  /** Steps of evaluation as the model is built and one step run, and as everything is asked. */
  function evaluated(file: string, budget: number): { plain: number; all: number } {
    const { module, setup } = subject(file);
    const asked: TrainingSetup = { ...setup, budget: { value: budget, from: "header" } };
    const allowance = new Allowance(20_000_000);
    const estimator = new Estimator(module, asked, { allowance });
    const [first] = estimator.all();
    const plain = allowance.taken;
    estimator.whatFits();
    assert.ok(first?.saved && first.saved.perSample > 0);
    return { plain, all: allowance.taken };
  }

  // a search that simulates each micro-batch it looks at takes twenty steps and more
  for (const file of ["t5_like.py", "gpt.py", "resnet.py", "swin.py", "densenet.py"]) {
    for (const budget of [2 ** 29, 2 ** 31]) {
      it(`${file} under ${budget / 2 ** 20} MiB take few forwards`, () => {
        const { plain, all } = evaluated(file, budget);
        assert.ok(all <= 7 * plain, `${(all / plain).toFixed(1)} times the plain estimate`);
      });
    }
  }

  it("of an endless forward take one run up to the limit", () => {
    const parsed = parseModule(`# vram: budget=1MiB, batch=8, input=float32[B,8], loss=sum, optimizer=adamw
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
    def forward(self, x):
        while True:
            x = self.layer(x)
`);
    const allowance = new Allowance(20_000_000);
    const estimator = new Estimator(parsed.module, readHeader(parsed).setup, { allowance });
    const [first] = estimator.all();
    estimator.whatFits();
    assert.equal(first?.complete, false);
    assert.ok(allowance.taken < 1.1 * defaultLimits.steps, `${allowance.taken} steps`);
    // what it held when it was stopped: the matrix that every call saves
    assert.ok((first.peak?.bytes ?? 0) > 1000 * 8 * 8 * 4);
  });

  it("take less than a blink", () => {
    const { module, setup } = subject("gpt.py");
    const asked: TrainingSetup = { ...setup, budget: { value: 2 ** 30, from: "header" } };
    const times: number[] = [];
    for (let run = 0; run < 9; run++) {
      const start = process.cpuUsage();
      const estimates = estimateModule(module, buildScopes(module), asked);
      assert.ok((estimates.whatFits()?.options.length ?? 0) > 3);
      const { user, system } = process.cpuUsage(start);
      times.push((user + system) / 1000);
    }
    times.sort((a, b) => a - b);
    // some 10 ms of a quiet machine; the search that simulated everything took 300
    assert.ok((times[4] ?? 0) < 150, `${times[4]} ms`);
  });
});
