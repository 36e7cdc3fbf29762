/** The measured figures of `test/goldens/`, and models of it built and run by the evaluator. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { Program } from "../../server/src/memory/evaluate/program";
import { castStates, runStep, type StepMeasure, type StepPlan } from "../../server/src/memory/evaluate/step";
import { ObjectValue } from "../../server/src/memory/evaluate/values";
import type { AttentionBackend, InputSpecification, Precision } from "../../server/src/memory/setup";
import { Execution } from "../../server/src/memory/tape";
import type { Dtype } from "../../server/src/memory/tensor";
import { isUnknown } from "../../server/src/memory/unknown";
import { render } from "../../server/src/messages/message";
import { parseModule } from "../../server/src/python/parse";
import type { Expression } from "../../server/src/python/tree";

const root = path.join(__dirname, "..", "goldens");

export interface GoldenRun {
  readonly device: "cpu" | "cuda";
  readonly precision: Precision;
  readonly attention?: AttentionBackend;
  readonly batch: number;
  readonly saved: number | null;
  readonly forward_peak?: number;
  readonly backward_peak?: number;
  readonly live_after_backward?: number;
  readonly optimizers?: Readonly<Record<string, { readonly peak: number; readonly state_bytes: number }>>;
}

export interface GoldenModel {
  readonly file: string;
  readonly model: string;
  readonly input: readonly string[];
  readonly target: readonly string[];
  readonly loss: string;
  readonly params: number;
  readonly trainable: number;
  readonly param_bytes: number;
  readonly buffer_bytes: number;
  readonly module_param_bytes: Readonly<Record<string, number>>;
  readonly runs: readonly GoldenRun[];
}

/** Every configuration of every model file. */
export function goldenModels(): GoldenModel[] {
  const text = readFileSync(path.join(root, "goldens.json"), "utf8");
  const { models } = JSON.parse(text) as { models: Record<string, Omit<GoldenModel, "file">[]> };
  return Object.entries(models).flatMap(([file, configurations]) =>
    configurations.map((configuration) => ({ ...configuration, file })),
  );
}

export function modelText(file: string): string {
  return readFileSync(path.join(root, "models", file), "utf8");
}

/** `[name=]dtype[dim,…][<bound]` as in the goldens. */
export function inputOf(text: string): InputSpecification {
  const found = /^(?:(\w+)=)?(\w+)\[([^\]]*)\](?:<(\d+))?$/.exec(text.replaceAll(" ", ""));
  if (found === null) throw new Error(`not an input: ${text}`);
  const [, name, dtype, dims = "", bound] = found;
  const dimensions = dims
    .split(",")
    .filter(Boolean)
    .map((dim) => {
      const factors = dim.split("*");
      const factor = factors.reduce((product, one) => (one === "B" ? product : product * Number(one)), 1);
      return { factor, perSample: factors.includes("B") };
    });
  return { name, dtype: dtype as Dtype, dimensions, bound: bound === undefined ? undefined : Number(bound) };
}

export function expressionOf(text: string): Expression {
  const [statement] = parseModule(text).module.body;
  if (statement?.kind !== "ExpressionStatement") throw new Error(`not an expression: ${text}`);
  return statement.expression;
}

export interface BuiltGolden {
  readonly program: Program;
  readonly model: ObjectValue;
}

/** The golden's model, built; the file's last module class when it names none. */
export function buildGolden(
  golden: GoldenModel,
  device: "cpu" | "cuda",
  attention?: AttentionBackend,
): BuiltGolden {
  const { module } = parseModule(modelText(golden.file));
  const program = new Program(new Execution({ device, attention: attention ?? "auto" }), module);
  const last = program.moduleClasses().at(-1);
  const value =
    golden.model === "" && last !== undefined
      ? program.instantiate(last.type, undefined)
      : program.evaluate(expressionOf(golden.model), undefined);
  if (!(value instanceof ObjectValue)) {
    throw new Error(isUnknown(value) ? render(value.reason, "en") : `no model in ${golden.file}`);
  }
  program.adopt(value);
  return { program, model: value };
}

export function stepOf(golden: GoldenModel, run: GoldenRun): StepPlan {
  return {
    batch: run.batch,
    inputs: golden.input.map(inputOf),
    targets: golden.target.map(inputOf),
    loss: golden.loss,
    precision: run.precision,
    mode: "train",
  };
}

/** One step of the golden's model as it was measured; `accumulates`: a later micro-batch of several. */
export function runGolden(
  golden: GoldenModel,
  run: GoldenRun,
  accumulates = false,
): StepMeasure & { readonly notes: string[] } {
  const { program, model } = buildGolden(golden, run.device, run.attention);
  castStates(program, model, run.precision);
  const measure = runStep(program, model, { ...stepOf(golden, run), accumulates });
  const faults = measure.fault === undefined ? [] : [measure.fault];
  return {
    ...measure,
    notes: [...program.noted(), ...faults].map((unknown) => render(unknown.reason, "en")),
  };
}
