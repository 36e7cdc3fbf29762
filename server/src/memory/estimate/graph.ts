/** The graph of one batch, for findings about graphs that are kept or built for nothing. */
import type { Module } from "../../python/tree";
import type { BatchGraph } from "../estimate";
import { build, planOf } from "./build";
import { heldBy, statesOf } from "./states";
import { placeOf, type Subject } from "./subject";
import { modulesOf, unknownParts } from "../evaluate/nn/state";
import { runStep } from "../evaluate/step";
import type { World } from "../evaluate/world";
import type { TrainingSetup } from "../setup";

/** See `Estimates.batchGraph`. The model is built anew: evaluation mode stays with it. */
export function batchGraphOf(
  module: Module,
  setup: TrainingSetup,
  subject: Subject | undefined,
  isTraining: boolean,
  world?: World,
): BatchGraph | undefined {
  const plan = planOf(setup);
  if (plan === undefined || setup.batch === undefined) return undefined;
  if (subject === undefined || subject.from === "default") return undefined;
  const built = build(module, setup, subject, world);
  if (built === undefined) return undefined;
  const { program, model } = built;
  for (const { module: part } of modulesOf(model)) if (part !== undefined) part.training = isTraining;
  const { saved, fault } = runStep(program, model, {
    ...plan,
    loss: "none",
    mode: "train",
    forwardOnly: true,
  });
  if (saved === 0) return undefined;
  const isUnderstood = program.noted().length === 0 && unknownParts(model).length === 0;
  const { parameters, buffers, optimizer } = statesOf(heldBy(model), setup).device;
  const limit = setup.device?.value.bytes ?? setup.budget?.value;
  const room = limit === undefined ? undefined : limit - parameters - buffers - optimizer;
  return {
    model: placeOf(subject, model),
    bytes: saved,
    batch: plan.batch,
    complete: fault === undefined && isUnderstood,
    limit,
    isDevice: setup.device !== undefined,
    fitting: room === undefined || room <= 0 ? undefined : Math.floor(room / saved),
  };
}
