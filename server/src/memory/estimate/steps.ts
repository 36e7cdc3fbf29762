/**
 * The steps of one built model: simulated once at a micro-batch and a set of choices, and from two of them at any other
 * micro-batch where only sizes change. Bytes throughout.
 */
import { recountLater, ScaledStep, type StepBytes } from "../allocation-log";
import { planOf, runBuilt, type Built } from "./build";
import { peakOf } from "./peak";
import { heldBy, isShared, statesOf, type HeldTensors, type ModelStates } from "./states";
import { unknownParts } from "../evaluate/nn/state";
import { isLimit } from "../evaluate/reasons";
import type { StepMeasure } from "../evaluate/step";
import { leavesLossOpen, type TrainingSetup } from "../setup";

/** Steps of evaluation that one search over micro-batches may take: dozens of forwards of a large model. */
const searchSteps = 10_000_000;

/** A step and what it needs at its peak. */
export interface RanStep {
  readonly batch: number;
  readonly measure: StepMeasure;
  /** What the model held that ran it. */
  readonly held: HeldTensors;
  readonly states: ModelStates;
  /** The peak's allocated bytes. */
  readonly bytes: number;
  /** All that ran was understood: the bytes are no lower bound of what the script's operators need. */
  readonly isUnderstood: boolean;
  /** The same, and nothing of the model or its optimizer is left out either. */
  readonly complete: boolean;
}

export class ModelSteps {
  private readonly known = new Map<number, RanStep | undefined>();
  private later: ModelSteps | undefined;
  private scaled: { readonly step: ScaledStep; readonly from: RanStep; readonly to: RanStep } | undefined;

  constructor(
    private readonly built: Built,
    readonly setup: TrainingSetup,
    private held?: HeldTensors,
    /** The model's step came to the end of what it may take under another setup. */
    private readonly wasEndless = false,
  ) {}

  get batch(): number {
    return this.setup.batch?.value ?? 1;
  }

  /** Whether the input grows with the micro-batch. */
  get grows(): boolean {
    const { iteration } = this.built;
    if (iteration !== undefined) return iteration.batch !== undefined;
    const inputs = this.setup.inputs?.value ?? [];
    return inputs.some(({ dimensions }) => dimensions.some(({ perSample }) => perSample));
  }

  /** A step that has been run already. */
  add(measure: StepMeasure, isUnderstood: boolean): void {
    this.known.set(this.batch, this.judged(this.batch, measure, isUnderstood, this.heldNow()));
  }

  /** The step at a micro-batch, simulated; undefined where the model's input is not known. */
  simulated(batch = this.batch): RanStep | undefined {
    if (!this.known.has(batch)) this.known.set(batch, this.isEndless ? undefined : this.run(batch));
    return this.known.get(batch);
  }

  /** A step came to the end of what it may take: others would, too, and take as long. */
  private get isEndless(): boolean {
    if (this.wasEndless) return true;
    return [...this.known.values()].some(
      (ran) => ran?.measure.fault !== undefined && isLimit(ran.measure.fault.reason),
    );
  }

  isSimulated(batch: number): boolean {
    return this.known.has(batch);
  }

  /** Steps that have been simulated and understood. */
  understood(): RanStep[] {
    return [...this.known.values()].filter((ran) => ran !== undefined).filter((ran) => ran.isUnderstood);
  }

  /** The same model under other choices: precision, checkpoints. */
  under(setup: TrainingSetup): ModelSteps {
    return new ModelSteps(this.built, setup, this.held, this.isEndless);
  }

  /** The step under such choices; the present one where all that they change is to checkpoint the blocks of a model without any. */
  chosen(setup: TrainingSetup): RanStep | undefined {
    const isOther = setup.precision !== this.setup.precision || setup.checkpoint?.value !== "all";
    const blocks = this.simulated()?.measure.blocks.count ?? 0;
    return isOther || blocks > 0 || this.isEndless ? this.under(setup).simulated() : this.restated(setup);
  }

  /** The present step with another optimizer or another sharing of the states: nothing of it runs anew. */
  restated(setup: TrainingSetup): RanStep | undefined {
    const ran = this.simulated();
    return ran === undefined
      ? undefined
      : this.judged(ran.batch, ran.measure, ran.isUnderstood, ran.held, setup);
  }

  /** From now on `at` follows the line through these two steps; false where they differ in more than sizes or leave something open. */
  scale(from: RanStep, to: RanStep): boolean {
    if (!from.isUnderstood || !to.isUnderstood) return false;
    if (from.measure.log === undefined || to.measure.log === undefined) return false;
    const step = ScaledStep.through(from.measure.log, to.measure.log);
    if (step === undefined) return false;
    this.scaled = { step, from, to };
    return true;
  }

  get isScaled(): boolean {
    return this.scaled !== undefined;
  }

  /** Allocated bytes at a micro-batch, by the line; undefined where there is none. */
  scaledBytes(batch: number): number | undefined {
    if (this.scaled === undefined) return undefined;
    const { step, from, to } = this.scaled;
    const share = (batch - from.batch) / (to.batch - from.batch);
    const other = isShared(this.setup) ? blend(from.measure, to.measure, share) : from.measure;
    return this.bytesOf(withBytes(other, step.at(batch)), from.states);
  }

  /** Allocated bytes at a micro-batch if what seems to hold samples grows with it. */
  guessedBytes(from: RanStep, batch: number): number | undefined {
    if (from.measure.log === undefined) return undefined;
    const step = ScaledStep.guess(from.measure.log);
    return this.bytesOf(withBytes(from.measure, step.at(batch)), from.states);
  }

  /** By the line where there is one, else simulated. A single sample is always simulated: dimensions of 1 are special. */
  bytesAt(batch: number): { readonly bytes: number; readonly isUnderstood: boolean } | undefined {
    const scaled = this.known.has(batch) || batch === 1 ? undefined : this.scaledBytes(batch);
    return scaled === undefined ? this.simulated(batch) : { bytes: scaled, isUnderstood: true };
  }

  /** The same for a later micro-batch: the gradients of those before it wait for the optimizer's step. */
  laterBytesAt(batch: number): { readonly bytes: number; readonly isUnderstood: boolean } | undefined {
    if ((this.setup.accumulate?.value ?? 1) > 1) return this.bytesAt(batch);
    this.later ??= this.under({ ...this.setup, accumulate: { value: 2, from: "header" } });
    const bytes = this.laterBytes(batch);
    return bytes === undefined ? this.later.bytesAt(batch) : { bytes, isUnderstood: true };
  }

  /** Undefined where what the first micro-batch does leaves open what a later one does. */
  private laterBytes(batch: number): number | undefined {
    if (this.built.program.leavesTraces || isShared(this.setup)) return undefined;
    const line = this.known.has(batch) || batch === 1 ? undefined : this.scaled;
    const ran = line === undefined ? this.simulated(batch) : line.from;
    if (ran?.isUnderstood !== true) return undefined;
    const { measure, states } = ran;
    const { log, stepped } = measure;
    if (log === undefined) return undefined;
    const later =
      line === undefined ? recountLater(log, stepped, log.log.sizes) : line.step.laterAt(batch, stepped);
    return later && this.bytesOf(withBytes(measure, later), states);
  }

  /** Searching takes more steps of evaluation than reading the file. */
  allowSearch(): void {
    this.built.program.interpreter.world.allowance?.extend(searchSteps);
  }

  /** Bytes that the graph keeps for one more sample; undefined where the present step cannot be followed. */
  savedPerSample(): number | undefined {
    const present = this.simulated();
    if (present === undefined || present.measure.fault !== undefined) return undefined;
    if (this.scaled !== undefined) {
      const { from, to } = this.scaled;
      return (to.measure.saved - from.measure.saved) / (to.batch - from.batch);
    }
    if (!this.grows) return undefined;
    const built = this.ready();
    const plan = planOf(this.setup, 2 * present.batch, built?.iteration);
    if (built === undefined || plan === undefined) return undefined;
    const other = runBuilt(built, { ...plan, forwardOnly: true });
    return (other.saved - present.measure.saved) / present.batch;
  }

  /** The model, as if no step of it had run: a script's iteration may leave what another would start from. */
  private ready(): Built | undefined {
    return this.built.anew === undefined ? this.built : this.built.anew();
  }

  private run(batch: number): RanStep | undefined {
    if (this.built.iteration !== undefined && !this.grows && batch !== this.batch) return undefined;
    const built = this.ready();
    const plan = planOf(this.setup, batch, built?.iteration);
    if (built === undefined || plan === undefined) return undefined;
    const { program, noted } = built;
    const collected = program.interpreter.noted;
    const before = [...collected];
    collected.clear();
    const measure = runBuilt(built, plan, isShared(this.setup));
    const isUnderstood = noted.length === 0 && collected.size === 0 && program.execution.bounds.size === 0;
    collected.clear();
    for (const [key, unknown] of before) collected.set(key, unknown);
    const held = built === this.built ? this.heldNow() : heldBy(built.model);
    return this.judged(batch, measure, isUnderstood, held);
  }

  /** Steps that leave traces may change what the model holds. */
  private heldNow(): HeldTensors {
    const { model, program } = this.built;
    if (this.held === undefined || program.leavesTraces) this.held = heldBy(model);
    return this.held;
  }

  private judged(
    batch: number,
    measure: StepMeasure,
    isUnderstood: boolean,
    held: HeldTensors,
    setup = this.setup,
  ): RanStep {
    const states = statesOf(held, setup, measure.backward === undefined ? undefined : measure);
    const understood = isUnderstood && measure.fault === undefined && states.fault === undefined;
    const isKnown = unknownParts(this.built.model).length === 0;
    const isTraining = (setup.mode?.value ?? "train") === "train";
    const hasOptimizer = !isTraining || states.needs !== undefined;
    return {
      batch,
      measure,
      held,
      states,
      bytes: peakOf(measure, states, states.needs, setup).allocated,
      isUnderstood: understood,
      complete:
        understood &&
        isKnown &&
        hasOptimizer &&
        (this.built.iteration !== undefined || !(isTraining && leavesLossOpen(setup))),
    };
  }

  private bytesOf(measure: StepMeasure, states: ModelStates): number {
    return peakOf(measure, states, states.needs, this.setup).allocated;
  }
}

/** The measure with the bytes of another micro-batch; where the peaks stand is not known of it. */
export function withBytes(measure: StepMeasure, { forward, backward, after }: StepBytes): StepMeasure {
  const nowhere = { operator: "", location: measure.forward.location };
  return {
    ...measure,
    forward: { ...forward, ...nowhere },
    backward: measure.backward === undefined ? undefined : { ...backward, ...nowhere },
    liveAfterBackward: after.live,
    allocatedAfterBackward: after.allocated,
  };
}

/** Inputs and timeline on the lines through those of two steps; 0 is the first, 1 the second. */
export function blend(from: StepMeasure, to: StepMeasure, share: number): StepMeasure {
  const at = (one: number, other: number): number => Math.round(one + (other - one) * share);
  const timeline = from.timeline.map((point, index) => {
    const other = to.timeline[index] ?? point;
    return {
      ...point,
      inputs: at(point.inputs, other.inputs),
      gradients: at(point.gradients, other.gradients),
      saved: at(point.saved, other.saved),
      temporary: at(point.temporary, other.temporary),
    };
  });
  return { ...from, inputs: at(from.inputs, to.inputs), timeline };
}
