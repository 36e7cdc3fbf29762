/** Peaks that others measured on a real card (goldens/cuda_peaks.json) against what is estimated for the same models. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { castStates, runStep } from "../../server/src/memory/evaluate/step";
import { namedTensors } from "../../server/src/memory/evaluate/nn/state";
import { optimizerNeeds } from "../../server/src/memory/optimizers";
import { stepPeak, workspaceBytes } from "../../server/src/memory/simulate";
import { elementCount } from "../../server/src/memory/tensor";
import { render } from "../../server/src/messages/message";
import { parseModule } from "../../server/src/python/parse";
import { buildGolden, goldensFolder, parseSpecification } from "./accuracy";

interface MeasuredRun {
  readonly model: string;
  readonly params: number;
  readonly batch: number;
  readonly sequence: number | null;
  readonly allocated: number;
}

export interface GpuRow {
  readonly model: string;
  readonly batch: number;
  readonly sequence: number | null;
  readonly measured: number;
  readonly estimated: number;
  readonly parameters: number;
  readonly expectedParameters: number;
  readonly phase: string;
}

interface Source {
  readonly file: string;
  readonly expression: string;
  readonly inputs: (sequence: number) => readonly string[];
  readonly targets: readonly string[];
  readonly loss: string;
}

const text = (sequence: number): string[] => [`int64[B,${sequence}]<30000`];

const sources: Readonly<Record<string, Source>> = {
  gpt2: {
    file: "gpu_models/gpt2.py",
    expression: "GPT2()",
    inputs: (sequence) => [`int64[B,${sequence}]<50257`, `int64[B,${sequence}]<50257`],
    targets: [],
    loss: "model",
  },
  "bert-base-uncased": {
    file: "gpu_models/bert.py",
    expression: "Bert()",
    inputs: text,
    targets: [],
    loss: "model",
  },
  "distilbert-base-uncased": {
    file: "gpu_models/bert.py",
    expression: "distilbert()",
    inputs: text,
    targets: [],
    loss: "model",
  },
  resnet50: {
    file: "models/resnet.py",
    expression: "resnet50()",
    inputs: () => ["float32[B,3,224,224]"],
    targets: ["int64[B]<1000"],
    loss: "cross_entropy",
  },
};

/** Every run on the T4: AMP fp16, AdamW with foreach kernels, the math attention kernel, workspaces added. */
export function measureGpu(): (GpuRow | string)[] {
  const path = join(goldensFolder, "cuda_peaks.json");
  const { t4 } = JSON.parse(readFileSync(path, "utf8")) as { t4: { runs: MeasuredRun[] } };
  return t4.runs.map(estimate);
}

function estimate(run: MeasuredRun): GpuRow | string {
  const source = sources[run.model];
  if (source === undefined) return `${run.model}: no model file`;
  const parsed = parseModule(readFileSync(join(goldensFolder, source.file), "utf8"));
  const built = buildGolden(parsed, source.expression, { device: "cuda", attention: "math" });
  if (typeof built === "string") return `${run.model}: ${built}`;
  castStates(built.program, built.model, "amp-fp16");
  const measure = runStep(built.program, built.model, {
    batch: run.batch,
    inputs: source.inputs(run.sequence ?? 0).map(parseSpecification),
    targets: source.targets.map(parseSpecification),
    loss: source.loss,
    precision: "amp-fp16",
    mode: "train",
  });
  if (measure.fault !== undefined) return `${run.model}: ${render(measure.fault.reason, "en")}`;
  if (measure.backward === undefined) return `${run.model}: no backward`;
  const parameters = namedTensors(built.model, "parameters").map((one) => one.tensor);
  const peak = stepPeak(
    {
      forward: measure.forward,
      backward: measure.backward,
      after: measure.liveAfterBackward,
      afterAllocated: measure.allocatedAfterBackward,
    },
    optimizerNeeds({ name: "adamw", options: {} }, parameters),
    workspaceBytes("t4"),
  );
  return {
    model: run.model,
    batch: run.batch,
    sequence: run.sequence,
    measured: run.allocated,
    estimated: peak.allocated,
    parameters: parameters.reduce((sum, { shape }) => sum + elementCount(shape), 0),
    expectedParameters: run.params,
    phase: peak.phase,
  };
}
