/**
 * A training step as a row of moments, as one device lives through it: what a timeline shows. Unlike the trace it ends
 * with the optimizer's step, and its figures add up to the peak that the estimate gives.
 */
import type { Span } from "../python/tree";
import type { ModelEstimate } from "./estimate";
import type { States } from "./estimate/peak";
import { plainSpan } from "./estimate/spans";
import { steppedBytes } from "./iteration-states";
import type { BlockCount, StepMeasure } from "./evaluate/step";
import type { OptimizerNeeds } from "./optimizers";
import type { TrainingSetup } from "./setup";
import { totalOf, type MomentBytes } from "./moment-bytes";
import { workspaceBytes, type SteppedBytes, type StepPhase } from "./simulate";
import type { TimelinePoint, Work } from "./tape";

/** Live bytes of one device when an operator has allocated its results. */
export interface StepMoment {
  readonly phase: StepPhase;
  /** The operator, e.g. `torch.nn.functional.conv2d`, in backward the graph node; `optimizer.step` and `optimizer.zero_grad`. */
  readonly operator: string;
  readonly modulePath: string;
  readonly span: Span | undefined;
  /** A checkpointed segment is being computed again. */
  readonly isRecomputed: boolean;
  readonly bytes: MomentBytes;
}

export interface StepTimeline {
  readonly moments: readonly StepMoment[];
  /** Index of the moment of the estimate's peak. */
  readonly peak: number;
  readonly work: Work;
  readonly blocks: BlockCount;
}

/** Undefined when nothing ran. `peak` is that of the estimate of the same step. */
export function stepTimeline(
  measure: StepMeasure,
  states: States,
  needs: OptimizerNeeds | undefined,
  setup: TrainingSetup,
  peak: EstimatedPeak,
): StepTimeline | undefined {
  const place = placing(states, needs, setup, peak, measure.ownState?.bytes ?? 0);
  const moments: StepMoment[] = [];
  const steps = steppedBytes(measure.steps ?? [], setup);
  let stepped = 0;
  for (const traced of measure.timeline) {
    const { phase, operator, isRecomputed, location } = traced;
    if (phase === "setup") continue;
    const point = phase === "step" ? stepping(traced, steps[stepped++]) : traced;
    const span = plainSpan(location.span);
    const { modulePath } = location;
    moments.push({ phase, operator, modulePath, span, isRecomputed, bytes: place(point) });
  }
  if (moments.length === 0) return undefined;
  const last = measure.timeline.at(-1);
  const isWhole = measure.backward !== undefined && measure.fault === undefined;
  const isOneStep = measure.steps === undefined;
  if (last !== undefined && isWhole && isOneStep)
    moments.push(...stepMoments(measure, last, states, needs, place));
  else if (isOneStep && peak.phase === "step" && last !== undefined)
    moments.push(statesAlone(states, last, place));
  return { moments, peak: peakIndex(moments, peak.phase), work: measure.work, blocks: measure.blocks };
}

/** A step of one of several optimizers, with its temporaries. */
function stepping(point: TimelinePoint, step: SteppedBytes | undefined): TimelinePoint {
  if (step === undefined) return point;
  return {
    ...point,
    temporary: point.temporary + step.temporary,
    allocated: point.allocated + step.temporaryAllocated,
  };
}

type EstimatedPeak = NonNullable<ModelEstimate["peak"]>;

type Place = (point: TimelinePoint) => MomentBytes;

/** Turns a point of the trace, which knows neither optimizer nor other devices, into the bytes of one device. */
function placing(
  { whole, device, isShared }: States,
  needs: OptimizerNeeds | undefined,
  setup: TrainingSetup,
  peak: EstimatedPeak,
  ownState: number,
): Place {
  const gradientShare = whole.gradients === 0 ? 0 : device.gradients / whole.gradients;
  const optimizer = isTraining(setup) ? device.optimizer : 0;
  const ofState = isTraining(setup) ? (needs?.stateAllocated ?? 0) - (needs?.state ?? 0) : 0;
  const fixed = workspaceBytes(setup.device?.value.card) + ofState;
  // Nobody knows how the parts on several devices are rounded: the whole's rounding stands for it.
  const sharded = device.gathered + device.buckets + peak.allocated - peak.bytes;
  return (point) => {
    const { parameters, buffers, gradients, inputs, saved, temporary, allocated } = point;
    const live = parameters + buffers + gradients + inputs + saved + temporary;
    return {
      parameters: isShared ? device.parameters : parameters,
      buffers,
      optimizer,
      gradients: isShared ? Math.ceil(gradients * gradientShare) : gradients,
      inputs,
      saved,
      temporary: temporary - Math.min(temporary, ownState),
      other: isShared ? sharded : fixed + allocated - live,
    };
  };
}

function isTraining({ mode }: TrainingSetup): boolean {
  return (mode?.value ?? "train") === "train";
}

/** The optimizer's step after backward: its temporaries come and go, then the gradients are let go. */
function stepMoments(
  measure: StepMeasure,
  last: TimelinePoint,
  { whole, device }: States,
  needs: OptimizerNeeds | undefined,
  place: Place,
): StepMoment[] {
  const after = afterBackward(measure, last);
  const optimizerShare = whole.optimizer === 0 ? 1 : device.optimizer / whole.optimizer;
  const share = (bytes = 0): number => Math.ceil(bytes * optimizerShare);
  const stepping: TimelinePoint = {
    ...after,
    temporary: after.temporary + share(needs?.temporary),
    allocated: after.allocated + share(needs?.temporaryAllocated),
  };
  const cleared: TimelinePoint = {
    ...after,
    gradients: 0,
    allocated: after.allocated - after.gradients,
  };
  const moment = (operator: string, point: TimelinePoint): StepMoment => ({
    phase: "step",
    operator,
    modulePath: "",
    span: undefined,
    isRecomputed: false,
    bytes: place(point),
  });
  return [moment("optimizer.step", stepping), moment("optimizer.zero_grad", cleared)];
}

/** Backward is over: what the graph kept is gone. */
function afterBackward(measure: StepMeasure, last: TimelinePoint): TimelinePoint {
  const { gradients, liveAfterBackward, allocatedAfterBackward } = measure;
  const held = last.parameters + last.buffers + last.inputs + gradients;
  return {
    ...last,
    gradients,
    saved: 0,
    temporary: Math.max(0, liveAfterBackward - held),
    allocated: allocatedAfterBackward,
  };
}

/** The step could not be followed, but it holds all the states at once. */
function statesAlone({ whole }: States, last: TimelinePoint, place: Place): StepMoment {
  const { parameters, buffers, gradients } = whole;
  const allocated = parameters + buffers + gradients;
  const point = { ...last, parameters, buffers, gradients, inputs: 0, saved: 0, temporary: 0, allocated };
  return {
    phase: "step",
    operator: "optimizer.step",
    modulePath: "",
    span: undefined,
    isRecomputed: false,
    bytes: place(point),
  };
}

function peakIndex(moments: readonly StepMoment[], phase: StepPhase): number {
  let [highest, index] = [-1, 0];
  moments.forEach((moment, i) => {
    const total = totalOf(moment.bytes);
    if (moment.phase === phase && total > highest) [highest, index] = [total, i];
  });
  return index;
}
