/** What the optimizer of a setup keeps and needs while it steps. */
import { message, type Message } from "../messages/message";
import { unknownReasons } from "../messages/estimate";
import type { TrainingSetup } from "./setup";
import type { Tensor } from "./tensor";

export interface OptimizerNeeds {
  readonly name: string;
  /** Bytes kept between steps; with every tensor rounded up as CUDA does. */
  readonly state: number;
  readonly stateAllocated: number;
  /** Bytes more while it steps. */
  readonly temporary: number;
  /** `foreach`, `fused`, `single` or empty. */
  readonly kernel: string;
  /** Set when the optimizer is not known: then the figures are none. */
  readonly fault: Message | undefined;
}

/** Undefined when neither header nor script names an optimizer. */
export function needsOf(setup: TrainingSetup, _trainable: readonly Tensor[]): OptimizerNeeds | undefined {
  const setting = setup.optimizer?.value;
  if (setting === undefined) return undefined;
  const fault = message(unknownReasons.optimizer, { name: setting.name });
  return { name: setting.name, state: 0, stateAllocated: 0, temporary: 0, kernel: "", fault };
}
