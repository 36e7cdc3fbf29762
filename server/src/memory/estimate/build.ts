/** Building the model of an estimate, and the step that is asked of it. */
import type { Expression, Module } from "../../python/tree";
import { dottedPath } from "../../python/walk";
import type { UnknownPart } from "../estimate";
import { buildModel, type Subject } from "./subject";
import { Program } from "../evaluate/program";
import { castStates, runStep, type StepMeasure, type StepPlan } from "../evaluate/step";
import type { GivenInputs } from "../evaluate/training/given-data";
import { ScriptIteration, type MissingModel } from "../evaluate/training/iteration";
import type { ObjectValue } from "../evaluate/values";
import type { World } from "../evaluate/world";
import type { TrainingSetup } from "../setup";
import { Execution } from "../tape";
import type { Unknown } from "../unknown";

/** A model that was built, in the program that built it. */
export interface Built {
  readonly program: Program;
  readonly model: ObjectValue;
  /** What was not understood on the way. */
  readonly noted: readonly Unknown[];
  /** The script's own iteration, where that is the step. */
  readonly iteration?: ScriptIteration;
  /** The same built once more, up to its loop: an iteration that has run may have left something to the next. */
  readonly anew?: () => Built | undefined;
}

function newExecution({ attention }: TrainingSetup): Execution {
  return new Execution({ device: "cuda", attention: attention?.value ?? "auto" });
}

export function newProgram(module: Module, setup: TrainingSetup, world?: World): Program {
  return new Program(newExecution(setup), module, undefined, world);
}

/**
 * The models that the script's training loop works with, as they are once an iteration has run; or why there are none. Undefined
 * where the states are to be of a type that the script does not give them.
 */
export function buildIteration(
  module: Module,
  setup: TrainingSetup,
  world?: World,
): Built | MissingModel | undefined {
  const { iteration, precision, mode } = setup;
  const isCast = /^(fp|bf)16$/.test(precision?.value ?? "") && precision?.from !== "script";
  if (iteration === undefined || isCast || mode?.value === "infer") return undefined;
  const given = givenInputs(setup);
  const reached = ScriptIteration.reach(newExecution(setup), module, iteration.value, world, given);
  if (!(reached instanceof ScriptIteration)) return { name: "nn.Module", reason: reached };
  if (reached.models.length === 0) return reached.missingModel;
  reached.adopt();
  const { program, model } = reached;
  const anew = (): Built | undefined => {
    const built = buildIteration(module, setup, world);
    return built === undefined || "reason" in built ? undefined : built;
  };
  return { program, model, noted: program.noted(), iteration: reached, anew };
}

/** The inputs that somebody gives instead of the script. */
export function givenInputs({ inputs, targets, batch, model }: TrainingSetup): GivenInputs | undefined {
  if (inputs === undefined || inputs.from === "script") return undefined;
  return {
    inputs: inputs.value,
    targets: targets?.value ?? [],
    batch: batch?.value ?? 1,
    model: model === undefined || model.from === "script" ? undefined : nameOf(model.value.expression),
  };
}

/** `Generator` of `Generator` and of `Generator(nz=100)`. */
function nameOf(expression: Expression): string {
  const named = expression.kind === "Call" ? expression.callee : expression;
  return dottedPath(named) ?? "";
}

/** Runs the step of a built model: the script's own iteration, or forward, loss and backward of the model alone. */
export function runBuilt(
  { program, model, iteration }: Built,
  plan: StepPlan,
  wantsTimeline = false,
): StepMeasure {
  return iteration?.run(plan, wantsTimeline) ?? runStep(program, model, plan, wantsTimeline);
}

/** Builds the subject's model in a program of its own, ready for a step; undefined when it cannot be built. */
export function build(
  module: Module,
  setup: TrainingSetup,
  subject: Subject,
  world?: World,
): Built | undefined {
  const built = buildOrReason(module, setup, subject, world);
  return "reason" in built ? undefined : built;
}

export function buildOrReason(
  module: Module,
  setup: TrainingSetup,
  subject: Subject,
  world: World | undefined,
): Built | UnknownPart {
  const program = newProgram(module, setup, world);
  const model = buildModel(program, subject);
  if ("reason" in model) return model;
  program.adopt(model);
  castStates(program, model, setup.precision?.value ?? "fp32");
  return { program, model, noted: program.noted() };
}

/**
 * The step that the setup describes, at a micro-batch; undefined when its input is not known. A script's own iteration
 * makes its inputs itself.
 */
export function planOf(
  setup: TrainingSetup,
  batch = setup.batch?.value ?? 1,
  iteration?: ScriptIteration,
): StepPlan | undefined {
  if (setup.inputs === undefined && iteration === undefined) return undefined;
  return {
    batch,
    inputs: setup.inputs?.value ?? [],
    call: setup.inputs?.from === "script" ? setup.call?.value : undefined,
    targets: setup.targets?.value ?? [],
    loss: setup.loss?.value ?? "sum",
    precision: setup.precision?.value ?? "fp32",
    mode: setup.mode?.value ?? "train",
    checkpoint: setup.checkpoint?.value ?? "none",
    precisionIsScripts: setup.precision && setup.precision.from === "script",
    accumulates: (setup.accumulate?.value ?? 1) > 1,
    clearsLate: setup.clearsLate?.value,
  };
}
