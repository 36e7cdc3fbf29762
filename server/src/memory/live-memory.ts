/**
 * The bytes that live while a step is traced: storages that come and go, what they are for, the highest there have been at
 * once, and on request a point of a timeline whenever something is allocated. All counts are bytes.
 */
import type { Span } from "../python/tree";
import { roundedUp, type AllocationLog } from "./allocation-log";
import type { Storage, StorageKind } from "./tensor";

/** Where something runs: the source, and the path of the module, e.g. `layer1.0.conv1`. */
export interface Location {
  readonly span: Span | undefined;
  readonly modulePath: string;
}

export const nowhere: Location = { span: undefined, modulePath: "" };

export type Phase = "setup" | "forward" | "backward" | "step";

/** The highest number of live bytes since `startPeak`, and where it was. */
export interface Peak {
  readonly live: number;
  /** Every storage rounded up to CUDA's 512 bytes. */
  readonly allocated: number;
  /** The operator, e.g. `convolution`, or the graph node in backward. */
  readonly operator: string;
  readonly location: Location;
}

/** Live bytes by what they are for. */
export interface LiveBytes {
  readonly parameters: number;
  readonly buffers: number;
  readonly inputs: number;
  readonly gradients: number;
  /** Kept by the graph. */
  readonly saved: number;
  /** Held by Python or by a running operator only. */
  readonly temporary: number;
}

/** One point of the step: the live bytes when an operator had allocated its results. */
export interface TimelinePoint extends LiveBytes {
  readonly phase: Phase;
  readonly operator: string;
  readonly location: Location;
  /** All of it as CUDA rounds it. */
  readonly allocated: number;
  /** A checkpointed segment is being computed again for backward. */
  readonly isRecomputed: boolean;
}

/** What is alive, and what it adds up to. */
export class LiveMemory {
  /** Bytes of all live storages, and the same with every storage rounded up to 512. */
  live = 0;
  allocated = 0;
  phase: Phase = "setup";
  /** Set to an array to collect a point for every operator that allocates. */
  timeline: TimelinePoint[] | undefined;
  /** What is allocated and freed since `beginLog`. */
  log: AllocationLog | undefined;
  private peak: { live: number; allocated: number; operator: string; location: Location } = emptyPeak();
  /** What runs now: an operator in forward, a graph node in backward. */
  running: { operator: string; location: Location } = { operator: "", location: nowhere };
  private readonly bytesOf: Record<StorageKind, number> = noBytes();
  private readonly savedOf: Record<StorageKind, number> = noBytes();
  private isUnobserved = false;
  private beforeLast: { readonly storage: Storage; readonly peak: LiveMemory["peak"] } | undefined;
  /** Operators that are running; in backward they are those of a segment that is computed again. */
  protected callDepth = 0;

  /** Begins a new measurement of the highest live bytes. */
  startPeak(): void {
    this.peak = { ...emptyPeak(), live: this.live, allocated: this.allocated };
  }

  /** The same, of what is allocated from here on: bytes that are only there do not count. */
  startPeakAnew(): void {
    this.peak = emptyPeak();
  }

  takePeak(): Peak {
    return { ...this.peak };
  }

  /** Runs what allocates at another time than it is run: neither peak nor timeline sees it. */
  unobserved<Result>(run: () => Result): Result {
    const { peak, timeline } = this;
    this.peak = emptyPeak();
    this.timeline = undefined;
    this.isUnobserved = true;
    try {
      return run();
    } finally {
      this.peak = peak;
      this.timeline = timeline;
      this.isUnobserved = false;
    }
  }

  /** Live bytes by kind. */
  liveBytes(): LiveBytes {
    return {
      parameters: this.bytesOf.parameter,
      buffers: this.bytesOf.buffer,
      inputs: this.bytesOf.input,
      gradients: this.bytesOf.gradient,
      saved: this.savedOf.activation,
      temporary: this.bytesOf.activation - this.savedOf.activation,
    };
  }

  /** Bytes of the distinct storages that the graph keeps, model states and inputs left out. */
  get savedBytes(): number {
    return this.savedOf.activation;
  }

  /** The same for model inputs and targets. */
  get savedInputBytes(): number {
    return this.savedOf.input;
  }

  holdSaved(storage: Storage): void {
    if (storage.saved++ === 0) this.savedOf[storage.kind] += storage.bytes;
    if (storage.saved + storage.tensors === 1) this.appear(storage);
  }

  dropSaved(storage: Storage): void {
    if (--storage.saved === 0) this.savedOf[storage.kind] -= storage.bytes;
    if (storage.saved + storage.tensors === 0) this.disappear(storage);
  }

  protected holdStorage(storage: Storage): void {
    storage.tensors++;
    if (storage.saved + storage.tensors === 1) this.appear(storage);
  }

  protected dropStorage(storage: Storage): void {
    storage.tensors--;
    if (storage.saved + storage.tensors === 0) this.disappear(storage);
  }

  private appear(storage: Storage): void {
    this.bytesOf[storage.kind] += storage.bytes;
    if (storage.kind === "host") return;
    this.live += storage.bytes;
    this.allocated += roundedUp(storage.bytes);
    this.log?.appear(storage);
  }

  private disappear(storage: Storage): void {
    this.bytesOf[storage.kind] -= storage.bytes;
    if (storage.kind === "host") return;
    this.live -= storage.bytes;
    this.allocated -= roundedUp(storage.bytes);
    this.log?.disappear(storage);
  }

  changeKind(storage: Storage, kind: StorageKind): void {
    if (storage.kind === kind) return;
    const alive = storage.saved + storage.tensors > 0;
    if (alive) this.disappear(storage);
    if (storage.saved > 0) this.savedOf[storage.kind] -= storage.bytes;
    storage.kind = kind;
    if (storage.saved > 0) this.savedOf[kind] += storage.bytes;
    if (alive) this.appear(storage);
  }

  /** The peak before a storage is allocated, so that `takeBack` can restore it. */
  protected rememberPeak(storage: Storage): void {
    this.beforeLast = { storage, peak: { ...this.peak } };
  }

  /** The storage that was allocated last has not been allocated after all. */
  protected takeBack(storage: Storage | undefined): void {
    const { beforeLast } = this;
    if (this.isUnobserved || beforeLast === undefined || beforeLast.storage !== storage) return;
    this.beforeLast = undefined;
    this.peak = beforeLast.peak;
    this.timeline?.pop();
    this.log?.takeNoteBack();
  }

  protected notePeak(): void {
    if (this.isUnobserved) return;
    this.log?.note();
    if (this.live > this.peak.live) {
      this.peak.live = this.live;
      this.peak.operator = this.running.operator;
      this.peak.location = this.running.location;
    }
    if (this.allocated > this.peak.allocated) this.peak.allocated = this.allocated;
    if (this.timeline !== undefined) {
      const { operator, location } = this.running;
      const { phase, allocated, bytesOf, savedOf } = this;
      // all in one place: there are thousands of them
      this.timeline.push({
        phase,
        operator,
        location,
        allocated,
        isRecomputed: phase === "backward" && this.callDepth > 0,
        parameters: bytesOf.parameter,
        buffers: bytesOf.buffer,
        inputs: bytesOf.input,
        gradients: bytesOf.gradient,
        saved: savedOf.activation,
        temporary: bytesOf.activation - savedOf.activation,
      });
    }
  }
}

function noBytes(): Record<StorageKind, number> {
  return { parameter: 0, buffer: 0, input: 0, gradient: 0, activation: 0, host: 0 };
}

function emptyPeak(): { live: number; allocated: number; operator: string; location: Location } {
  return { live: 0, allocated: 0, operator: "", location: nowhere };
}
