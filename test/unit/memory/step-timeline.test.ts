import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { readHeader } from "../../../server/src/directives/header";
import { momentKinds, totalOf } from "../../../server/src/memory/moment-bytes";
import type { Setting, TrainingSetup } from "../../../server/src/memory/setup";
import type { StepTimeline } from "../../../server/src/memory/step-timeline";
import { Estimator } from "../../../server/src/memory/estimate/model";
import {
  changedSetup,
  ChangedSteps,
  type ChangedStep,
  type SetupChanges,
} from "../../../server/src/memory/what-if";
import type { Module } from "../../../server/src/python/tree";
import { parseModule } from "../../../server/src/python/parse";
import { goldenModels, modelText } from "../../support/goldens";
import { loadParser } from "../../support/parser";

function header<Value>(value: Value): Setting<Value> {
  return { value, from: "header" };
}

function stepOf(text: string, changes: SetupChanges = {}, setup: TrainingSetup = {}): ChangedStep {
  const parsed = parseModule(text);
  return freshStep(parsed.module, { ...readHeader(parsed).setup, ...setup }, changes);
}

/** Nothing of it comes from another step. */
function freshStep(module: Module, setup: TrainingSetup, changes: SetupChanges): ChangedStep {
  const estimator = new Estimator(module, changedSetup(setup, changes));
  const estimate = estimator.trainedEstimate();
  assert.ok(estimate, "there is a model");
  return { estimate, step: estimator.stepTimeline() };
}

function shown({ step }: ChangedStep): StepTimeline {
  assert.ok(step, "there is a step");
  return step;
}

function holds({ estimate, step }: ChangedStep, name: string): void {
  assert.ok(step && estimate.peak, name);
  for (const { bytes } of step.moments) {
    for (const kind of momentKinds) assert.ok(bytes[kind] >= 0, `${name}: ${kind} is ${bytes[kind]}`);
  }
  const peak = step.moments[step.peak];
  assert.ok(peak, name);
  assert.equal(totalOf(peak.bytes), estimate.peak.allocated, name);
  assert.equal(peak.phase, estimate.peak.phase, name);
  const order = ["forward", "backward", "step"];
  const phases = step.moments.map(({ phase }) => order.indexOf(phase));
  assert.deepEqual(phases, [...phases].sort(), `${name}: the phases follow each other`);
}

/** Without bytes a sample, which take a step of their own, and the place of the peak, which no line tells. */
function plainOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { bytes, allocated, phase, name } = value as Readonly<Record<string, unknown>>;
  return { bytes, allocated, phase, name };
}

/** In this order, as somebody plays with the controls: what was asked before must not show. */
const questions: readonly SetupChanges[] = [
  { batch: 3 },
  { batch: 6 },
  { batch: 7 },
  { batch: 1 },
  { batch: 40 },
  { precision: "amp-bf16" },
  { precision: "bf16", batch: 5 },
  { precision: "bf16", batch: 10 },
  { precision: "bf16", batch: 20, optimizer: "sgd" },
  { checkpointed: 2 },
  { checkpointed: 2, batch: 9 },
  { checkpointed: 2, batch: 12, precision: "amp-fp16" },
  { optimizer: "adafactor" },
];

const files = [...new Set(goldenModels().map(({ file }) => file))];

describe("the timeline of a step", () => {
  before(loadParser);

  for (const file of files) {
    it(`of ${file} adds up to the estimate's peak`, () => {
      const text = modelText(file);
      holds(stepOf(text), file);
      holds(stepOf(text, { precision: "amp-bf16" }), `${file} in amp-bf16`);
    });
  }

  for (const file of files) {
    it(`of ${file} under other setups is the same as from a model built for them`, () => {
      const { module, ...parsed } = parseModule(modelText(file));
      const { setup } = readHeader({ module, ...parsed });
      const changed = new ChangedSteps(module, setup, new Estimator(module, setup), {});
      for (const changes of questions) {
        const [asked, fresh] = [changed.with(changes), freshStep(module, setup, changes)];
        const name = `${file} ${JSON.stringify(changes)}`;
        assert.ok(asked, name);
        assert.deepEqual(asked.step, fresh.step, name);
        for (const key of ["saved", "peak", "complete", "unknown", "assumptions", "optimizer"] as const)
          assert.deepEqual(plainOf(asked.estimate[key]), plainOf(fresh.estimate[key]), `${name}: ${key}`);
      }
    });
  }

  for (const shard of ["ddp", "zero-redundancy", "zero1", "zero2", "zero3", "fsdp"] as const) {
    it(`on one of four devices with ${shard} adds up too`, () => {
      const setup = { shard: header(shard), devices: header(4) };
      for (const file of ["lenet5.py", "resnet.py", "vae.py"]) {
        holds(stepOf(modelText(file), {}, setup), `${file} with ${shard}`);
        holds(stepOf(modelText(file), { precision: "amp-bf16" }, setup), `${file} with ${shard} in amp-bf16`);
      }
      const [alone, one] = [stepOf(modelText("gpt.py")), stepOf(modelText("gpt.py"), {}, setup)];
      holds(one, shard);
      const parameters = ({ step }: ChangedStep): number => step?.moments[0]?.bytes.parameters ?? 0;
      const share = shard === "zero3" || shard === "fsdp" ? 4 : 1;
      assert.equal(parameters(one), Math.ceil(parameters(alone) / share));
    });
  }

  it("leaves out what else the file made", () => {
    const text = modelText("lenet5.py");
    const other = `${text}\nother = torch.nn.Linear(4000, 4000)\nnoise = torch.randn(3000, 3000)\n`;
    assert.deepEqual(
      shown(stepOf(other)).moments.map(({ bytes }) => bytes),
      shown(stepOf(text)).moments.map(({ bytes }) => bytes),
    );
  });

  it("ends with the optimizer's step and the gradients let go", () => {
    const { moments } = shown(stepOf(modelText("gpt.py")));
    const [stepping, cleared] = moments.slice(-2);
    assert.equal(stepping?.operator, "optimizer.step");
    assert.ok(stepping.bytes.gradients > 0 && stepping.bytes.temporary > 0);
    assert.equal(cleared?.bytes.gradients, 0);
  });

  it("has forward alone for inference", () => {
    const { moments } = shown(stepOf(modelText("gpt.py"), {}, { mode: header("infer") }));
    assert.deepEqual([...new Set(moments.map(({ phase }) => phase))], ["forward"]);
    assert.ok(moments.every(({ bytes }) => bytes.optimizer === 0 && bytes.gradients === 0));
  });

  it("is there as far as the step could be followed", () => {
    const text = modelText("lenet5.py").replace("return self.out(x)", "return unknown_function(self.out(x))");
    const changed = stepOf(text);
    assert.equal(changed.estimate.complete, false);
    const { moments, peak } = shown(changed);
    assert.ok(moments.some(({ phase }) => phase === "forward"));
    assert.ok(!moments.some(({ phase }) => phase === "backward"));
    assert.ok(moments[peak]);
  });

  it("is not there without an input", () => {
    const { estimate, step } = stepOf(modelText("gpt.py").replaceAll(/input=[^,]*\[[^\]]*\]<\d+,/g, ""));
    assert.equal(step, undefined);
    assert.equal(estimate.peak, null);
  });
});

describe("recomputing the first blocks", () => {
  before(loadParser);

  it("counts the blocks that a setup can checkpoint", () => {
    const of = (file: string, checkpointed?: number) =>
      shown(stepOf(modelText(file), checkpointed === undefined ? {} : { checkpointed })).blocks;
    assert.deepEqual(of("gpt.py"), { count: 6, checkpointed: 0, className: "Layer" });
    assert.deepEqual(of("gpt.py", 4), { count: 6, checkpointed: 4, className: "Layer" });
    assert.deepEqual(of("gpt.py", 99), { count: 6, checkpointed: 6, className: "Layer" });
    assert.deepEqual(of("lenet5.py", 2), { count: 0, checkpointed: 0, className: undefined });
  });

  it("of all blocks is `checkpoint=all`", () => {
    for (const file of ["gpt.py", "resnet.py", "swin.py"]) {
      const text = modelText(file);
      const { count } = shown(stepOf(text)).blocks;
      const all = stepOf(text, {}, { checkpoint: header("all") });
      assert.deepEqual(stepOf(text, { checkpointed: count }).estimate.peak, all.estimate.peak, file);
    }
  });

  it("saves memory and costs work with every block", () => {
    const text = modelText("gpt.py");
    const steps = [0, 1, 2, 3, 4, 5, 6].map((checkpointed) => stepOf(text, { checkpointed }));
    const saved = steps.map(({ estimate }) => estimate.saved?.bytes ?? 0);
    const again = steps.map((changed) => shown(changed).work.again);
    const [{ work } = { work: { forward: 0 } }] = steps.map(shown);
    for (let i = 1; i < steps.length; i++) {
      assert.ok((saved[i] ?? 0) < (saved[i - 1] ?? 0), `${i} blocks save`);
      assert.ok((again[i] ?? 0) > (again[i - 1] ?? 0), `${i} blocks cost`);
    }
    assert.equal(again[0], 0);
    assert.ok((again[6] ?? 0) < work.forward);
    const recomputed = shown(steps[3] ?? stepOf(text)).moments.filter(({ isRecomputed }) => isRecomputed);
    assert.ok(recomputed.length > 0 && recomputed.every(({ phase }) => phase === "backward"));
  });
});

interface FlopGolden {
  readonly model: string | null;
  readonly batch: number;
  readonly checkpointed: number;
  readonly forward: number;
  readonly again: number;
}

describe("work, as torch.utils.flop_counter counts it", () => {
  before(loadParser);
  const file = path.join(__dirname, "../../goldens/flops.json");
  const { models } = JSON.parse(readFileSync(file, "utf8")) as { models: Record<string, FlopGolden> };

  for (const [name, golden] of Object.entries(models)) {
    it(`of ${name}`, () => {
      const text = modelText(name).replace("use_checkpoint=True", "use_checkpoint=False");
      const { batch, checkpointed } = golden;
      const { work, blocks } = shown(stepOf(text, { batch, checkpointed }));
      assert.equal(blocks.checkpointed, checkpointed);
      assert.equal(2 * work.forward, golden.forward, "forward");
      assert.equal(2 * work.again, golden.again, "computed again");
    });
  }
});
