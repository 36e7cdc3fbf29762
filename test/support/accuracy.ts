/** How far the estimates are from PyTorch: every configuration of goldens.json estimated and compared. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CallArguments } from "../../server/src/memory/evaluate/arguments";
import { namedTensors } from "../../server/src/memory/evaluate/nn/state";
import { Program } from "../../server/src/memory/evaluate/program";
import { castStates, runStep, type StepMeasure } from "../../server/src/memory/evaluate/step";
import { ClassValue, ObjectValue, type Value } from "../../server/src/memory/evaluate/values";
import { optimizerNeeds } from "../../server/src/memory/optimizers";
import type { AttentionBackend, InputSpecification, Precision } from "../../server/src/memory/setup";
import { stepPeak, type StepPhase } from "../../server/src/memory/simulate";
import { Execution } from "../../server/src/memory/tape";
import { elementCount, type Dtype, type Tensor } from "../../server/src/memory/tensor";
import { isUnknown } from "../../server/src/memory/unknown";
import { render } from "../../server/src/messages/message";
import { parseModule, type ParsedModule } from "../../server/src/python/parse";

export interface OptimizerGolden {
  readonly peak: number;
  readonly phase: StepPhase;
  readonly state_bytes: number;
  readonly step_temporary_bytes: number;
}

export interface RunGolden {
  readonly device: "cpu" | "cuda";
  readonly precision: Precision;
  readonly attention?: AttentionBackend;
  readonly batch: number;
  /** Null where PyTorch needs a card to run it. */
  readonly saved: number | null;
  readonly saved_inputs: number;
  readonly output: unknown;
  readonly forward_peak?: number;
  readonly backward_peak?: number;
  readonly live_after_forward?: number;
  readonly live_after_backward?: number;
  readonly backward_at?: string;
  readonly optimizers?: Readonly<Record<string, OptimizerGolden>>;
}

export interface ConfigurationGolden {
  readonly model: string;
  readonly input: readonly string[];
  readonly target?: readonly string[];
  readonly loss: string;
  readonly params: number;
  readonly trainable: number;
  readonly param_bytes: number;
  readonly buffer_bytes: number;
  readonly runs: readonly RunGolden[];
}

export const goldensFolder = join(__dirname, "../goldens");

export function readGoldens(): Readonly<Record<string, readonly ConfigurationGolden[]>> {
  const text = readFileSync(join(goldensFolder, "goldens.json"), "utf8");
  return (JSON.parse(text) as { models: Record<string, ConfigurationGolden[]> }).models;
}

/** `mask=bool[B,16]`, `int64[B,35*B]<100`: as header.py and measure.py read it. */
export function parseSpecification(text: string): InputSpecification {
  const match = /^(?:(\w+)=)?(\w+)\[([^\]]*)\](?:<(\d+))?$/.exec(text.replaceAll(" ", ""));
  const dimensions = (match?.[3] ?? "")
    .split(",")
    .filter(Boolean)
    .map((part) => {
      const factors = part.split("*");
      const factor = factors
        .filter((each) => each !== "B")
        .reduce((product, each) => product * Number(each), 1);
      return { factor, perSample: factors.includes("B") };
    });
  return {
    name: match?.[1],
    dtype: (match?.[2] ?? "float32") as Dtype,
    dimensions,
    bound: match?.[4] === undefined ? undefined : Number(match[4]),
  };
}

/** A model of a file, built in a program of its own. */
export interface BuiltModel {
  readonly program: Program;
  readonly model: ObjectValue;
}

/** Builds what `model` says: an expression over the file's names, or the file's last module class when it is empty. */
export function buildGolden(
  parsed: ParsedModule,
  model: string,
  options: { device: "cpu" | "cuda"; attention: AttentionBackend | "auto" },
): BuiltModel | string {
  const program = new Program(new Execution(options), parsed.module);
  const value = evaluateModel(program, model);
  if (isUnknown(value)) return render(value.reason, "en");
  if (!(value instanceof ObjectValue)) return `${model} is no module`;
  program.adopt(value);
  return { program, model: value };
}

function evaluateModel(program: Program, text: string): Value {
  if (text === "") {
    const last = program.moduleClasses().at(-1);
    return last === undefined ? null : program.instantiate(last.type, undefined);
  }
  const parsed = parseModule(`${text}\n`);
  const statement = parsed.module.body[0];
  if (statement?.kind !== "ExpressionStatement") return null;
  const value = program.evaluate(statement.expression, undefined);
  if (value instanceof ClassValue) return program.instantiate(value, undefined);
  if (value instanceof ObjectValue || isUnknown(value)) return value;
  return program.call(value, new CallArguments([]));
}

export interface StatesFound {
  readonly params: number;
  readonly trainable: number;
  readonly paramBytes: number;
  readonly bufferBytes: number;
}

export function statesOf({ model }: BuiltModel): StatesFound {
  const parameters = namedTensors(model, "parameters").map((one) => one.tensor);
  const buffers = namedTensors(model, "buffers").map((one) => one.tensor);
  const count = (tensors: readonly Tensor[]): number =>
    tensors.reduce((sum, tensor) => sum + elementCount(tensor.shape), 0);
  const bytes = (tensors: readonly Tensor[]): number =>
    [...new Set(tensors.map((tensor) => tensor.storage))].reduce((sum, storage) => sum + storage.bytes, 0);
  return {
    params: count(parameters),
    trainable: count(parameters.filter((parameter) => parameter.requiresGrad)),
    paramBytes: bytes(parameters),
    bufferBytes: bytes(buffers),
  };
}

/** One run of goldens.json, estimated; a text when it could not be. */
export function runGolden(
  parsed: ParsedModule,
  configuration: ConfigurationGolden,
  run: RunGolden,
): { measure: StepMeasure; built: BuiltModel } | string {
  const built = buildGolden(parsed, configuration.model, {
    device: run.device,
    attention: run.attention ?? "auto",
  });
  if (typeof built === "string") return built;
  castStates(built.program, built.model, run.precision);
  const measure = runStep(built.program, built.model, {
    batch: run.batch,
    inputs: configuration.input.map(parseSpecification),
    targets: (configuration.target ?? []).map(parseSpecification),
    loss: configuration.loss,
    precision: run.precision,
    mode: "train",
    checkpoint: "none",
  });
  if (measure.fault !== undefined) return render(measure.fault.reason, "en");
  const noted = built.program.noted()[0];
  if (noted !== undefined) return render(noted.reason, "en");
  return { measure, built };
}

/** The optimizers of goldens.json as measure.py made them. */
const optimizers: Readonly<Record<string, Readonly<Record<string, number | boolean>>>> = {
  sgd: { foreach: true },
  "sgd-momentum": { momentum: 0.9, foreach: true },
  adam: { foreach: true },
  "adamw-fused": { fused: true },
};

/** The peak of the step with one optimizer; undefined when backward was not reached. */
export function peakWith(
  { measure, built }: { measure: StepMeasure; built: BuiltModel },
  name: string,
): { bytes: number; phase: StepPhase; state: number; temporary: number } | undefined {
  if (measure.backward === undefined) return undefined;
  const trained = namedTensors(built.model, "parameters")
    .map((one) => one.tensor)
    .filter((tensor) => tensor.requiresGrad);
  // what a tensor's count of steps takes on the device is in none of these goldens: as on the host
  const needs = optimizerNeeds({ name, options: optimizers[name] ?? {} }, trained, "cpu");
  const peak = stepPeak(
    {
      forward: measure.forward,
      backward: measure.backward,
      after: measure.liveAfterBackward,
      afterAllocated: measure.allocatedAfterBackward,
    },
    needs,
  );
  return { bytes: peak.bytes, phase: peak.phase, state: needs?.state ?? 0, temporary: needs?.temporary ?? 0 };
}

/** One line of the report. Errors are shares: 0.01 is one percent too much. */
export interface Accuracy {
  readonly file: string;
  readonly model: string;
  readonly device: string;
  readonly precision: string;
  readonly attention: string;
  readonly batch: number;
  /** Why there is no estimate. */
  readonly missing: string | undefined;
  readonly parameterError: number;
  readonly savedError: number | undefined;
  readonly forwardError: number | undefined;
  readonly backwardError: number | undefined;
  readonly peakErrors: Readonly<Record<string, number>>;
  readonly milliseconds: number;
}

function share(found: number, golden: number): number {
  return golden === 0 ? Number(found !== 0) : (found - golden) / golden;
}

/** Estimates every run of goldens.json. The parser must be loaded. */
export function measureAccuracy(only?: (file: string) => boolean): Accuracy[] {
  const rows: Accuracy[] = [];
  for (const [file, configurations] of Object.entries(readGoldens())) {
    if (only !== undefined && !only(file)) continue;
    const parsed = parseModule(readFileSync(join(goldensFolder, "models", file), "utf8"));
    for (const configuration of configurations) {
      for (const run of configuration.runs) rows.push(compare(file, parsed, configuration, run));
    }
  }
  return rows;
}

function compare(
  file: string,
  parsed: ParsedModule,
  configuration: ConfigurationGolden,
  run: RunGolden,
): Accuracy {
  const start = performance.now();
  const found = runGolden(parsed, configuration, run);
  const milliseconds = performance.now() - start;
  const about = {
    file,
    model: configuration.model,
    device: run.device,
    precision: run.precision,
    attention: run.attention ?? "auto",
    batch: run.batch,
    milliseconds,
  };
  if (typeof found === "string") {
    return {
      ...about,
      missing: found,
      parameterError: 0,
      savedError: undefined,
      forwardError: undefined,
      backwardError: undefined,
      peakErrors: {},
    };
  }
  const { measure, built } = found;
  const { params } = statesOf(built);
  const peakErrors: Record<string, number> = {};
  for (const [name, golden] of Object.entries(run.optimizers ?? {})) {
    const peak = peakWith(found, name);
    if (peak !== undefined) peakErrors[name] = share(peak.bytes, golden.peak);
  }
  return {
    ...about,
    missing: undefined,
    parameterError: share(params, configuration.params),
    savedError: run.saved === null ? undefined : share(measure.saved, run.saved),
    forwardError: run.forward_peak === undefined ? undefined : share(measure.forward.live, run.forward_peak),
    backwardError:
      run.backward_peak === undefined || measure.backward === undefined
        ? undefined
        : share(measure.backward.live, run.backward_peak),
    peakErrors,
  };
}

/** Median, 90th percentile and largest of the errors' sizes. */
export function summarise(errors: readonly number[]): {
  median: number;
  p90: number;
  worst: number;
  count: number;
} {
  const sizes = errors.map(Math.abs).sort((a, b) => a - b);
  const at = (part: number): number =>
    sizes[Math.min(sizes.length - 1, Math.floor(part * sizes.length))] ?? 0;
  return { median: at(0.5), p90: at(0.9), worst: sizes.at(-1) ?? 0, count: sizes.length };
}
