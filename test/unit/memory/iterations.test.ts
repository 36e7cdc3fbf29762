/** Scripts whose iteration is more than one model's step: against what real PyTorch needed for them, to the byte. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { analyze } from "../../../server/src/analysis";
import { needsOfSteps, steppedBytes } from "../../../server/src/memory/iteration-states";
import { heldBy } from "../../../server/src/memory/estimate-states";
import { ScriptIteration } from "../../../server/src/memory/evaluate/training/iteration";
import { Execution } from "../../../server/src/memory/tape";
import { parseModule } from "../../../server/src/python/parse";
import { loadParser } from "../../support/parser";

const goldens = path.join(__dirname, "../../goldens");

interface Measured {
  readonly param_bytes: number;
  readonly params: number;
  readonly buffer_bytes: number;
  readonly gradient_bytes: number;
  readonly state_bytes: number;
  readonly peak: Readonly<Record<"forward" | "backward" | "step", number>>;
}

const { scripts } = JSON.parse(readFileSync(path.join(goldens, "iterations.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, Measured>>;
};

/** Bytes of single numbers that LBFGS keeps between calls of its closure, which are not modelled. */
const scalars: Readonly<Record<string, number>> = { "lbfgs.py": 17 };

function textOf(file: string): string {
  return readFileSync(path.join(goldens, "iterations", file), "utf8");
}

/** The script's iteration with the CPU's kernels, as it was measured; the optimizers with those of CUDA. */
function simulated(text: string): { readonly figures: Measured; readonly unknown: readonly string[] } {
  const parsed = parseModule(text);
  const { module } = parsed;
  const { setup } = analyze(parsed);
  assert.ok(setup.iteration !== undefined, "the training loop is found");
  const reached = ScriptIteration.reach(new Execution({ device: "cpu" }), module, setup.iteration.value, {});
  assert.ok(reached instanceof ScriptIteration);
  reached.adopt();
  const plan = {
    batch: reached.batch ?? 1,
    inputs: [],
    targets: [],
    loss: "sum",
    precision: "fp32",
    mode: "train",
    precisionIsScripts: true,
  } as const;
  const measure = reached.run(plan, false);
  const { parameters, parameterBytes, bufferBytes } = heldBy(reached.model);
  const count = (tensors: typeof parameters): number =>
    tensors.reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0);
  const state = needsOfSteps(measure, {})?.state ?? 0;
  const steps = steppedBytes(measure.steps ?? [], {});
  return {
    figures: {
      param_bytes: parameterBytes,
      params: count(parameters),
      buffer_bytes: bufferBytes,
      gradient_bytes: measure.gradients,
      state_bytes: state + (measure.ownState?.bytes ?? 0),
      peak: {
        forward: measure.forward.live + state,
        backward: (measure.backward?.live ?? 0) + state,
        step: Math.max(...steps.map(({ live, temporary }) => live + temporary + state)),
      },
    },
    unknown: [...reached.program.noted(), ...(measure.fault === undefined ? [] : [measure.fault])].map(
      ({ reason }) => JSON.stringify(reason),
    ),
  };
}

describe("an iteration of a script", () => {
  before(loadParser);

  for (const [file, expected] of Object.entries(scripts)) {
    it(`of ${file} needs what PyTorch needs`, () => {
      const { figures, unknown } = simulated(textOf(file));
      assert.deepEqual(unknown, []);
      const missing = scalars[file] ?? 0;
      const { forward, backward, step } = figures.peak;
      const peak = { forward: forward + missing, backward: backward + missing, step: step + missing };
      assert.deepEqual({ ...figures, peak }, expected);
    });
  }

  it("was measured for every script", () => {
    assert.deepEqual(Object.keys(scripts).sort(), readdirSync(path.join(goldens, "iterations")).sort());
  });
});
