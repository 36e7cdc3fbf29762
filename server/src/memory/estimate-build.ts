/** Building the model of an estimate, and the step that is asked of it. */
import type { Module } from "../python/tree";
import type { UnknownPart } from "./estimate";
import { buildModel, type Subject } from "./estimate-subject";
import { Program } from "./evaluate/program";
import { castStates, type StepPlan } from "./evaluate/step";
import type { ObjectValue } from "./evaluate/values";
import type { World } from "./evaluate/world";
import type { TrainingSetup } from "./setup";
import { Execution } from "./tape";
import type { Unknown } from "./unknown";

/** A model that was built, in the program that built it. */
export interface Built {
  readonly program: Program;
  readonly model: ObjectValue;
  /** What was not understood on the way. */
  readonly noted: readonly Unknown[];
}

export function newProgram(module: Module, setup: TrainingSetup, world?: World): Program {
  const execution = new Execution({ device: "cuda", attention: setup.attention?.value ?? "auto" });
  return new Program(execution, module, undefined, world);
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

/** The step that the setup describes, at a micro-batch; undefined when its input is not known. */
export function planOf(setup: TrainingSetup, batch = setup.batch?.value ?? 1): StepPlan | undefined {
  if (setup.inputs === undefined) return undefined;
  return {
    batch,
    inputs: setup.inputs.value,
    call: setup.inputs.from === "script" ? setup.call?.value : undefined,
    targets: setup.targets?.value ?? [],
    loss: setup.loss?.value ?? "sum",
    precision: setup.precision?.value ?? "fp32",
    mode: setup.mode?.value ?? "train",
    checkpoint: setup.checkpoint?.value ?? "none",
    accumulates: (setup.accumulate?.value ?? 1) > 1,
  };
}
