/** The trained model's step under another setup: what a panel's controls ask. */
import type { Module } from "../python/tree";
import type { ModelEstimate } from "./estimate";
import { Estimator } from "./estimate/model";
import type { World } from "./evaluate/world";
import type { Precision, Setting, TrainingSetup } from "./setup";
import type { StepTimeline } from "./step-timeline";

/** What changes; the rest stays as header and script say. */
export interface SetupChanges {
  /** Micro-batch: at least 1. */
  readonly batch?: number;
  /** So many repeated blocks, from the first on, run as checkpointed segments. */
  readonly checkpointed?: number;
  readonly precision?: Precision;
  /** One of `optimizerChoices`, as the header writes it. */
  readonly optimizer?: string;
}

export interface ChangedStep {
  readonly estimate: ModelEstimate;
  /** Undefined when no step could be simulated: the estimate says why. */
  readonly step: StepTimeline | undefined;
}

/** Optimizers to choose from, as the header writes them. */
export const optimizerChoices: Readonly<Record<string, NonNullable<TrainingSetup["optimizer"]>["value"]>> = {
  sgd: { name: "sgd", options: {} },
  "sgd-momentum": { name: "sgd-momentum", options: {} },
  adam: { name: "adam", options: {} },
  adamw: { name: "adamw", options: {} },
  "adamw(fused)": { name: "adamw", options: { fused: true } },
  adamw8bit: { name: "adamw8bit", options: {} },
  adafactor: { name: "adafactor", options: {} },
  lion: { name: "lion", options: {} },
};

/** A setup with the changes as if options had given them. */
export function changedSetup(setup: TrainingSetup, changes: SetupChanges): TrainingSetup {
  const { batch, checkpointed, precision } = changes;
  const optimizer = changes.optimizer === undefined ? undefined : optimizerChoices[changes.optimizer];
  return {
    ...setup,
    ...(batch === undefined ? {} : { batch: chosen(batch) }),
    ...(checkpointed === undefined ? {} : { checkpoint: chosen(checkpointed) }),
    ...(precision === undefined ? {} : { precision: chosen(precision) }),
    ...(optimizer === undefined ? {} : { optimizer: chosen(optimizer) }),
  };
}

function chosen<Value>(value: Value): Setting<Value> {
  return { value, from: "option" };
}

/** The steps of one file's trained model under other setups. */
export class ChangedSteps {
  /** By the type of the states: casting them is for good. */
  private readonly estimators = new Map<string, Estimator>();

  constructor(
    private readonly module: Module,
    private readonly setup: TrainingSetup,
    present: Estimator,
    private readonly world: World,
  ) {
    this.estimators.set(stateType(setup), present);
  }

  /** Undefined where the file has no model. */
  with(changes: SetupChanges): ChangedStep | undefined {
    const setup = changedSetup(this.setup, changes);
    const built = this.estimators.get(stateType(setup));
    const estimator = built?.under(setup) ?? new Estimator(this.module, setup, this.world);
    if (built === undefined) this.estimators.set(stateType(setup), estimator);
    const estimate = estimator.trainedEstimate();
    return estimate && { estimate, step: estimator.stepTimeline() };
  }
}

function stateType({ precision }: TrainingSetup): string {
  const name = precision?.value ?? "fp32";
  return name === "fp16" || name === "bf16" ? name : "fp32";
}
