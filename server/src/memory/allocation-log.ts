/**
 * What a step allocates and frees, in order. Which storages come and go when is the step's structure; their sizes follow
 * from the micro-batch. Two steps of equal structure tell each storage's size at every other micro-batch, and with it the
 * peaks, without running anything again. Bytes throughout.
 */
import { elementCount, type Storage, type Tensor } from "./tensor";

/** CUDA's caching allocator hands out multiples of 512 bytes (c10/cuda/CUDACachingAllocator.cpp, kMinBlockSize). */
const allocationUnit = 512;

export function roundedUp(bytes: number): number {
  return Math.ceil(bytes / allocationUnit) * allocationUnit;
}

/** Shapes of tensors, each also with its dimensions reversed. */
export class ShapeSet {
  private readonly byCount = new Map<number, (readonly number[])[]>();

  constructor(tensors: readonly Tensor[]) {
    for (const { shape } of tensors) {
      if (this.has(shape)) continue;
      const count = elementCount(shape);
      this.byCount.set(count, [...(this.byCount.get(count) ?? []), shape, shape.toReversed()]);
    }
  }

  has(shape: readonly number[]): boolean {
    const shapes = this.byCount.get(elementCount(shape));
    return shapes?.some((one) => isSame(one, shape)) ?? false;
  }
}

/** A parameter has got its first gradient. */
interface TakenGradient {
  readonly parameter: Tensor;
  /** Events before it was taken, and when it was. */
  readonly start: number;
  readonly end: number;
  /** Its storage's number. */
  readonly index: number;
  /** It was copied: the storage has come and been noted since `start`. Else it is one of the graph's. */
  readonly isCopy: boolean;
  /** Nobody else looked at it. */
  readonly isAlone: boolean;
}

export class AllocationLog {
  /** `n + 1`: storage `n` comes to life; `-(n + 1)`: it goes; 0: an operator has allocated, a peak may be here. */
  readonly events: number[] = [];
  /** By storage, counted from the beginning of the log. */
  readonly sizes: number[] = [];
  /**
   * Whether a dimension of the storage's first tensor is a multiple of the micro-batch, and it is no gradient of a parameter
   * and none of autocast's copies of one: a guess that it grows with the micro-batch.
   */
  readonly mayGrow: boolean[] = [];
  /** Storages of this log that are alive, gradients of parameters left out. */
  alive = 0;
  /** Bytes of all its storages that are alive, and the same with each rounded up. */
  live = 0;
  allocated = 0;
  /** False once a storage from before the log has come or gone. */
  isSelfContained = true;
  /** Gradients that parameters took over, in order. */
  readonly taken: TakenGradient[] = [];

  /** `first` is the number of the first storage that is made under it. */
  constructor(
    private readonly first: number,
    private readonly batch: number,
    /** Shapes of the parameters that autocast may copy. */
    private readonly copied: ShapeSet,
  ) {}

  index(storage: Storage): number {
    return storage.id - this.first;
  }

  appear(storage: Storage): void {
    const index = storage.id - this.first;
    if (index < 0) {
      this.isSelfContained = false;
      return;
    }
    this.events.push(index + 1);
    this.sizes[index] = storage.bytes;
    this.live += storage.bytes;
    this.allocated += roundedUp(storage.bytes);
    if (storage.kind === "gradient") this.mayGrow[index] = false;
    else this.alive++;
  }

  disappear(storage: Storage): void {
    const index = storage.id - this.first;
    if (index < 0) {
      this.isSelfContained = false;
      return;
    }
    this.events.push(-index - 1);
    this.live -= storage.bytes;
    this.allocated -= roundedUp(storage.bytes);
    if (storage.kind !== "gradient") this.alive--;
  }

  note(): void {
    this.events.push(0);
  }

  /** What was allocated last makes no peak. */
  takeNoteBack(): void {
    if (this.events.at(-1) === 0) this.events.pop();
  }

  /** A parameter takes over a gradient on a storage, since there were `start` events. */
  take(
    parameter: Tensor,
    start: number,
    storage: Storage,
    { isCopy, isAlone }: Pick<TakenGradient, "isCopy" | "isAlone">,
  ): void {
    const [index, end] = [this.index(storage), this.events.length];
    this.taken.push({ parameter, start, end, index, isCopy, isAlone });
  }

  shaped(storage: Storage, { shape, dtype }: Tensor): void {
    let mayGrow = false;
    for (let i = 0; i < shape.length && !mayGrow; i++) {
      const size = shape[i] ?? 0;
      mayGrow = size > 0 && size % this.batch === 0;
    }
    const isLow = dtype === "float16" || dtype === "bfloat16";
    this.mayGrow[storage.id - this.first] = mayGrow && !(isLow && this.copied.has(shape));
  }
}

export interface Bytes {
  readonly live: number;
  /** Every storage rounded up to CUDA's unit. */
  readonly allocated: number;
}

/** A step as its log tells it. */
export interface LoggedStep {
  readonly batch: number;
  readonly log: Pick<AllocationLog, "events" | "sizes" | "mayGrow" | "taken" | "isSelfContained">;
  /** What lived before the log and lives through it. */
  readonly base: Bytes;
  /** Events before the forward, the loss, backward, and all of them; `backward` is `end` where there is none. */
  readonly marks: {
    readonly forward: number;
    readonly loss: number;
    readonly backward: number;
    readonly end: number;
  };
  /**
   * Storages like those that the iteration before still holds during the forward and during the loss, and the gradients that it
   * leaves until backward begins.
   */
  readonly before: {
    readonly forward: readonly number[];
    readonly loss: readonly number[];
    readonly gradients: readonly number[];
  };
}

export interface StepBytes {
  readonly forward: Bytes;
  readonly backward: Bytes;
  /** When backward is over. */
  readonly after: Bytes;
}

/**
 * The same step as a later micro-batch, in which every parameter of `stepped` holds a gradient from the start: what this
 * one computes is added to it and goes. Undefined where a gradient shares its storage, or another leaf got one: then what
 * is added in place may differ too.
 */
function laterMicroBatch(step: LoggedStep, stepped: readonly Tensor[]): LoggedStep | undefined {
  const { log, base, marks } = step;
  const { sizes, mayGrow, taken, isSelfContained } = log;
  const own = new Set(stepped);
  if (!isSelfContained || taken.length !== own.size) return undefined;
  const events: number[] = [];
  let [live, allocated, at] = [base.live, base.allocated, 0];
  for (const { parameter, start, end, index, isCopy, isAlone } of taken) {
    if (start < marks.backward || !(isCopy || isAlone) || !own.has(parameter)) return undefined;
    live += sizes[index] ?? 0;
    allocated += roundedUp(sizes[index] ?? 0);
    for (; at < start; at++) events.push(log.events[at] ?? 0);
    for (; at < end; at++) {
      const event = log.events[at] ?? 0;
      const isTaking = isCopy ? event === 0 || Math.abs(event) === index + 1 : event === index + 1;
      if (!isTaking) events.push(event);
    }
  }
  for (; at < log.events.length; at++) events.push(log.events[at] ?? 0);
  return {
    ...step,
    before: { ...step.before, gradients: [] },
    log: { events, sizes, mayGrow, taken, isSelfContained },
    base: { live, allocated },
    marks: { ...marks, end: marks.end - (log.events.length - events.length) },
  };
}

/** The bytes of such a later micro-batch. */
export function recountLater(
  step: LoggedStep,
  stepped: readonly Tensor[],
  sizes: readonly number[],
): StepBytes | undefined {
  const later = laterMicroBatch(step, stepped);
  return later && recount(later, sizes);
}

/** Counts a logged step again with other sizes. */
export function recount({ log, base, marks, before }: LoggedStep, sizes: readonly number[]): StepBytes {
  const { events } = log;
  let { live, allocated } = base;
  let at = 0;
  const run = (end: number): Bytes => {
    let [most, mostAllocated] = [live, allocated];
    for (; at < end; at++) {
      const event = events[at] ?? 0;
      if (event === 0) {
        if (live > most) most = live;
        if (allocated > mostAllocated) mostAllocated = allocated;
        continue;
      }
      const size = sizes[(event > 0 ? event : -event) - 1] ?? 0;
      const rounded = roundedUp(size);
      live += event > 0 ? size : -size;
      allocated += event > 0 ? rounded : -rounded;
    }
    return { live: most, allocated: mostAllocated };
  };
  run(marks.forward);
  const held = (storages: readonly number[], peak: Bytes): Bytes => {
    let [more, moreAllocated] = [0, 0];
    for (const storage of storages) {
      more += sizes[storage] ?? 0;
      moreAllocated += roundedUp(sizes[storage] ?? 0);
    }
    return { live: peak.live + more, allocated: peak.allocated + moreAllocated };
  };
  const called = held(before.gradients, held(before.forward, run(marks.loss)));
  const lost = held(before.gradients, held(before.loss, run(marks.backward)));
  const backward = run(marks.end);
  return {
    forward: {
      live: Math.max(called.live, lost.live),
      allocated: Math.max(called.allocated, lost.allocated),
    },
    backward,
    after: { live, allocated },
  };
}

/** The same as a row: whenever an operator has allocated, from the forward on. */
function allocatedPoints({ log, base, marks, before }: LoggedStep, sizes: readonly number[]): number[] {
  const sum = (storages: readonly number[]): number =>
    storages.reduce((bytes, storage) => bytes + roundedUp(sizes[storage] ?? 0), 0);
  const waiting = sum(before.gradients);
  const [early, late] = [sum(before.forward) + waiting, sum(before.loss) + waiting];
  const points: number[] = [];
  let { allocated } = base;
  log.events.forEach((event, index) => {
    const rounded = roundedUp(sizes[Math.abs(event) - 1] ?? 0);
    if (event !== 0) allocated += event > 0 ? rounded : -rounded;
    else if (index >= marks.backward) points.push(allocated);
    else if (index >= marks.forward) points.push(allocated + (index < marks.loss ? early : late));
  });
  return points;
}

/** Sizes that stay or grow in proportion to the micro-batch. */
export class ScaledStep {
  private constructor(
    private readonly step: LoggedStep,
    private readonly slopes: readonly number[],
  ) {}

  /**
   * Undefined unless both steps do the same with storages that are as large in both or in proportion to the micro-batch: a
   * line that is neither may be a curve.
   */
  static through(one: LoggedStep, other: LoggedStep): ScaledStep | undefined {
    if (one.batch === other.batch || !isSameStructure(one, other)) return undefined;
    const slopes = new Array<number>(one.log.sizes.length);
    for (let i = 0; i < slopes.length; i++) {
      const [size, larger] = [one.log.sizes[i] ?? 0, other.log.sizes[i] ?? 0];
      if (size !== larger && size * other.batch !== larger * one.batch) return undefined;
      slopes[i] = size === larger ? 0 : size / one.batch;
    }
    return new ScaledStep(one, slopes);
  }

  /** What storages that seem to hold samples would be: a guess from one step. */
  static guess(step: LoggedStep): ScaledStep {
    const slopes = step.log.sizes.map((size, i) => (step.log.mayGrow[i] === true ? size / step.batch : 0));
    return new ScaledStep(step, slopes);
  }

  /** Of the step that the line starts from. */
  get batch(): number {
    return this.step.batch;
  }

  at(batch: number): StepBytes {
    return recount(this.step, this.sizesAt(batch));
  }

  /** A later micro-batch of so many samples; `stepped` are the parameters that get a gradient. */
  laterAt(batch: number, stepped: readonly Tensor[]): StepBytes | undefined {
    return recountLater(this.step, stepped, this.sizesAt(batch));
  }

  /** Allocated bytes at every point of the step's timeline; undefined where a storage has no whole number of bytes. */
  allocatedAt(batch: number): number[] | undefined {
    const sizes = this.sizesAt(batch);
    return sizes.every(Number.isInteger) ? allocatedPoints(this.step, sizes) : undefined;
  }

  private sizesAt(batch: number): number[] {
    const change = batch - this.step.batch;
    const { sizes } = this.step.log;
    const scaled = new Array<number>(sizes.length);
    for (let i = 0; i < scaled.length; i++) {
      scaled[i] = Math.max(0, (sizes[i] ?? 0) + (this.slopes[i] ?? 0) * change);
    }
    return scaled;
  }
}

function isSameStructure(one: LoggedStep, other: LoggedStep): boolean {
  if (!one.log.isSelfContained || !other.log.isSelfContained) return false;
  return (
    one.base.live === other.base.live &&
    one.base.allocated === other.base.allocated &&
    one.marks.forward === other.marks.forward &&
    one.marks.loss === other.marks.loss &&
    one.marks.backward === other.marks.backward &&
    isSame(one.before.forward, other.before.forward) &&
    isSame(one.before.loss, other.before.loss) &&
    isSame(one.before.gradients, other.before.gradients) &&
    isSame(one.log.events, other.log.events)
  );
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  if (one.length !== other.length) return false;
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
}
