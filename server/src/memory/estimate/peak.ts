/** The peak of a traced step, on one device or on one of several that share the model states. */
import type { ModelEstimate } from "../estimate";
import { plainSpan } from "./spans";
import type { StepMeasure } from "../evaluate/step";
import { steppedBytes } from "../iteration-states";
import type { OptimizerNeeds } from "../optimizers";
import type { TrainingSetup } from "../setup";
import type { DeviceStates } from "../sharding";
import { stepPeak, workspaceBytes, type StepPeak } from "../simulate";
import type { Peak } from "../tape";

/** Bytes of the model states, all of them and one device's part. */
export interface States {
  readonly whole: {
    readonly parameters: number;
    readonly buffers: number;
    readonly gradients: number;
    readonly optimizer: number;
  };
  readonly device: DeviceStates;
  readonly isShared: boolean;
}

type EstimatedPeak = NonNullable<ModelEstimate["peak"]>;

export function peakOf(
  measure: StepMeasure,
  states: States,
  needs: OptimizerNeeds | undefined,
  setup: TrainingSetup,
): EstimatedPeak {
  const workspace = workspaceBytes(setup.device?.value.card);
  if ((setup.mode?.value ?? "train") === "infer") return phaseOnly(measure.forward, "forward", 0, workspace);
  if (measure.backward === undefined) {
    const bound = lowerBound(measure, states, needs, workspace);
    return states.isShared ? shared(measure, states, needs, setup, bound) : bound;
  }
  const traced = {
    forward: measure.forward,
    backward: measure.backward,
    after: measure.liveAfterBackward,
    afterAllocated: measure.allocatedAfterBackward,
    ...(measure.steps === undefined ? {} : { steps: steppedBytes(measure.steps, setup) }),
  };
  const peak = written(stepPeak(traced, needs, workspace));
  return states.isShared ? shared(measure, states, needs, setup, peak) : peak;
}

function written(peak: StepPeak): EstimatedPeak {
  const { bytes, allocated, phase, operator, location } = peak;
  return {
    bytes,
    allocated,
    phase,
    operator,
    span: plainSpan(location?.span),
    modulePath: location?.modulePath ?? "",
  };
}

function phaseOnly(peak: Peak, phase: "forward", state: number, workspace: number): EstimatedPeak {
  return {
    bytes: peak.live + state,
    allocated: peak.allocated + state + workspace,
    phase,
    operator: peak.operator,
    span: plainSpan(peak.location.span),
    modulePath: peak.location.modulePath,
  };
}

/** The step could not be followed to its end: it still holds all the states at once. */
function lowerBound(
  measure: StepMeasure,
  { whole }: States,
  needs: OptimizerNeeds | undefined,
  workspace: number,
): EstimatedPeak {
  const rounding = (needs?.stateAllocated ?? 0) - (needs?.state ?? 0);
  const forward = phaseOnly(measure.forward, "forward", whole.optimizer, workspace + rounding);
  const held = whole.parameters + whole.buffers + whole.gradients + whole.optimizer;
  if (forward.bytes >= held) return forward;
  return {
    bytes: held,
    allocated: held + workspace + rounding,
    phase: "step",
    operator: "optimizer.step",
    span: undefined,
    modulePath: "",
  };
}

/** What the optimizer's step holds beyond the model states; 0 where the step could not be followed that far. */
function besideStates(
  measure: StepMeasure,
  { whole, device }: States,
  needs: OptimizerNeeds | undefined,
  setup: TrainingSetup,
): number {
  if (measure.backward === undefined) return 0;
  const { parameters, buffers, optimizer } = whole;
  const optimizerShare = optimizer === 0 ? 1 : device.optimizer / optimizer;
  const beside = (live: number, temporary: number): number =>
    Math.max(0, live - parameters - buffers - measure.gradients) + Math.ceil(temporary * optimizerShare);
  if (measure.steps === undefined) return beside(measure.liveAfterBackward, needs?.temporary ?? 0);
  const steps = steppedBytes(measure.steps, setup);
  return Math.max(0, ...steps.map(({ live, temporary }) => beside(live, temporary)));
}

/** What one device holds at each point of the step: its part of the states, and all of the activations. */
function shared(
  measure: StepMeasure,
  { whole, device }: States,
  needs: OptimizerNeeds | undefined,
  setup: TrainingSetup,
  alone: EstimatedPeak,
): EstimatedPeak {
  const fixed = device.parameters + device.buffers + device.optimizer + device.gathered + device.buckets;
  const gradientShare = whole.gradients === 0 ? 0 : device.gradients / whole.gradients;
  let best: EstimatedPeak = {
    ...alone,
    phase: "step",
    operator: "optimizer.step",
    span: undefined,
    modulePath: "",
    bytes: fixed + device.gradients + besideStates(measure, { whole, device, isShared: true }, needs, setup),
  };
  for (const point of measure.timeline) {
    const activations = point.inputs + point.saved + point.temporary;
    const bytes = fixed + activations + Math.ceil(point.gradients * gradientShare);
    if (bytes <= best.bytes || point.phase === "setup") continue;
    const { operator, location } = point;
    best = {
      ...best,
      bytes,
      phase: point.phase,
      operator,
      span: plainSpan(location.span),
      modulePath: location.modulePath,
    };
  }
  return { ...best, allocated: best.bytes + Math.max(0, alone.allocated - alone.bytes) };
}
