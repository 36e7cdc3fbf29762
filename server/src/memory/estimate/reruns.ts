/**
 * Steps of one built model with their timelines, as a panel's controls ask for them: one run for every precision and
 * number of checkpoints, and two of them give every other micro-batch.
 */
import type { Message } from "../../messages/message";
import type { Span } from "../../python/tree";
import { ScaledStep } from "../allocation-log";
import { planOf, runBuilt, type Built } from "./build";
import { blend, withBytes } from "./steps";
import type { StepMeasure, StepPlan } from "../evaluate/step";
import type { TrainingSetup } from "../setup";
import type { Unknown } from "../unknown";

/** A step with a timeline, and what was learnt on the way. */
export interface TracedStep {
  readonly measure: StepMeasure;
  /** Not understood, when the model was built or when it ran. */
  readonly noted: readonly Unknown[];
  /** Kernels that hold more than is counted. */
  readonly bounds: readonly { readonly reason: Message; readonly span: Span | undefined }[];
  /** Attention kernels in order of call. */
  readonly attention: readonly string[];
}

/** Runs the first step of a model that has just been built. */
export function firstStep(built: Built, plan: StepPlan): TracedStep {
  const { program } = built;
  const measure = runBuilt(built, plan, true);
  const { bounds, attentionKernels } = program.execution;
  return { measure, noted: program.noted(), bounds: [...bounds.values()], attention: [...attentionKernels] };
}

/** Setups whose steps are kept; a slider that is dragged over hundreds of blocks asks for as many. */
const mostSetups = 8;
/** Micro-batches kept of each where no line helps. */
const mostBatches = 3;

interface Kept {
  steps: readonly TracedStep[];
  line: { readonly scaled: ScaledStep; readonly from: TracedStep; readonly to: TracedStep } | undefined;
}

export class Reruns {
  private readonly kept = new Map<string, Kept>();

  private constructor(
    private readonly built: Built,
    first: TracedStep,
    setup: TrainingSetup,
  ) {
    this.kept.set(keyOf(setup), { steps: [first], line: undefined });
  }

  /** Undefined for a model whose second step may differ from its first, and for one that is not understood. */
  static of(built: Built, first: TracedStep, setup: TrainingSetup): Reruns | undefined {
    if (!isUnderstood(first) || !isRepeatable(built)) return undefined;
    return new Reruns(built, first, setup);
  }

  /** The step of a setup that differs in micro-batch, precision of operators, checkpoints or optimizer alone. */
  at(setup: TrainingSetup): TracedStep | undefined {
    const plan = planOf(setup, undefined, this.built.iteration);
    if (plan === undefined) return undefined;
    const kept = this.keptOf(keyOf(setup));
    const known = kept.steps.find(({ measure }) => measure.log?.batch === plan.batch);
    return known ?? onLine(kept, plan.batch) ?? this.run(kept, plan);
  }

  /** The setups asked for last are kept. */
  private keptOf(key: string): Kept {
    const kept = this.kept.get(key) ?? { steps: [], line: undefined };
    this.kept.delete(key);
    this.kept.set(key, kept);
    const [oldest] = this.kept.keys();
    if (this.kept.size > mostSetups && oldest !== undefined) this.kept.delete(oldest);
    return kept;
  }

  private run(kept: Kept, plan: StepPlan): TracedStep | undefined {
    if (!isRepeatable(this.built)) return undefined;
    const { program } = this.built;
    const { execution, interpreter } = program;
    const before = [...interpreter.noted];
    interpreter.noted.clear();
    execution.bounds.clear();
    execution.attentionKernels.length = 0;
    program.interpreter.world.allowance?.extendForFile();
    const step = firstStep(this.built, plan);
    interpreter.noted.clear();
    execution.bounds.clear();
    for (const [key, unknown] of before) interpreter.noted.set(key, unknown);
    if (!isRepeatable(this.built)) return undefined;
    kept.line ??= lineOf(kept.steps, step);
    kept.steps = [step, ...kept.steps].slice(0, mostBatches);
    return step;
  }
}

function keyOf({ precision, checkpoint }: TrainingSetup): string {
  return JSON.stringify([precision?.value ?? "fp32", checkpoint?.value ?? "none"]);
}

function isUnderstood({ measure, noted, bounds }: TracedStep): boolean {
  return measure.log !== undefined && noted.length === 0 && bounds.length === 0;
}

/** Nothing of a step is left that the next one could see. */
function isRepeatable({ program }: Built): boolean {
  return !program.leavesTraces && !program.interpreter.wroteState;
}

/** A single sample is on no line: dimensions of 1 are special. */
function lineOf(steps: readonly TracedStep[], to: TracedStep): Kept["line"] {
  const end = to.measure.log;
  if (end === undefined || end.batch === 1 || !isUnderstood(to)) return undefined;
  for (const from of steps) {
    const start = from.measure.log;
    if (start === undefined || start.batch === 1 || !isUnderstood(from)) continue;
    const scaled = ScaledStep.through(start, end);
    if (scaled !== undefined) return { scaled, from, to };
  }
  return undefined;
}

/** Undefined where there is no line, or where it gives no whole bytes. */
function onLine({ line }: Kept, batch: number): TracedStep | undefined {
  if (line === undefined || batch === 1) return undefined;
  const { scaled, from, to } = line;
  const allocated = scaled.allocatedAt(batch);
  const [one, other] = [from.measure, to.measure];
  if (allocated?.length !== one.timeline.length || other.timeline.length !== one.timeline.length)
    return undefined;
  const [start, end] = [scaled.batch, other.log?.batch ?? 0];
  const share = (batch - start) / (end - start);
  const at = (first: number, second: number): number => Math.round(first + (second - first) * share);
  const blended = blend(one, other, share);
  const measure: StepMeasure = {
    ...withBytes(blended, scaled.at(batch)),
    timeline: blended.timeline.map((point, index) => ({ ...point, allocated: allocated[index] ?? 0 })),
    saved: at(one.saved, other.saved),
    work: { forward: at(one.work.forward, other.work.forward), again: at(one.work.again, other.work.again) },
    liveAfterForward: at(one.liveAfterForward, other.liveAfterForward),
    // What single calls save is not on the line.
    calls: undefined,
    log: undefined,
  };
  return { ...from, measure };
}
