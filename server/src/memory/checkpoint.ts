/**
 * `torch.utils.checkpoint`: a segment's forward is recorded as calls of operators and Python's references, and run again
 * in backward. Recording calls rather than calling the evaluator again keeps backward free of Python.
 */
import type { RecomputedTensor, StoredTensor } from "./graph";
import type { Argument, Keywords } from "./operators/argument";
import { isSequence, tensorsIn } from "./operators/argument";
import type { AutocastMode, Execution, FunctionNode, Location } from "./tape";
import { Tensor } from "./tensor";

type Event =
  | {
      readonly kind: "call";
      readonly name: string;
      readonly positional: readonly Argument[];
      readonly keywords: Keywords;
      readonly location: Location;
      readonly result: Argument;
    }
  | { readonly kind: "function"; readonly node: FunctionNode }
  | { readonly kind: "retain" | "release"; readonly tensor: Tensor }
  | { readonly kind: "push-grad"; readonly enabled: boolean }
  | { readonly kind: "push-autocast"; readonly mode: AutocastMode }
  | { readonly kind: "pop-grad" | "pop-autocast" };

/** Thrown and caught in here: the last tensor that backward needs has been computed. */
class EnoughRecomputed extends Error {}

/** One for all: making an error takes a look at the stack. */
export const enough = new EnoughRecomputed();

export class CheckpointSegment {
  readonly events: Event[] = [];
  readonly holders: RecomputedTensor[] = [];
  /** Holders whose node is still to run; the inputs live as long. */
  private open = 0;
  private recomputed = 0;
  private recomputing = false;
  private closed = false;

  constructor(
    private readonly execution: Execution,
    private readonly inputs: readonly Tensor[],
    private readonly gradEnabled: boolean,
    readonly autocast: AutocastMode | undefined,
    /** What the function brings along itself: alive as long as the inputs, though autograd knows nothing of it. */
    private readonly bound: readonly Tensor[] = [],
  ) {
    for (const tensor of inputs) execution.holdSaved(tensor.storage);
    for (const tensor of bound) execution.retain(tensor);
  }

  record(event: Event): void {
    this.events.push(event);
  }

  /** The pack hook of the forward: nothing is kept. */
  pack(): RecomputedTensor {
    const holder: RecomputedTensor = {
      kind: "recomputed",
      segment: this,
      index: this.holders.length,
      stored: undefined,
      done: false,
    };
    this.holders.push(holder);
    this.open++;
    return holder;
  }

  /** The forward is over. A segment that saved nothing keeps nothing. */
  close(): void {
    this.closed = true;
    if (this.open === 0) this.dropInputs();
  }

  /** The unpack hook: runs the segment again when that has not been done. */
  unpack(holder: RecomputedTensor): StoredTensor | undefined {
    if (holder.stored === undefined) this.recompute();
    return holder.stored;
  }

  /** What was computed again for the holder belongs to who asked for it. */
  handOver(holder: RecomputedTensor): void {
    if (holder.stored !== undefined) this.execution.dropSaved(holder.stored.storage);
    holder.stored = undefined;
  }

  /** The node of the holder has run or died. */
  finish(holder: RecomputedTensor): void {
    if (holder.done) return;
    holder.done = true;
    this.handOver(holder);
    this.open--;
    if (this.open === 0 && this.closed) this.dropInputs();
  }

  /** The pack hook of the recomputation. True when nothing more is needed: the caller throws `enough`. */
  packRecomputed(tensor: Tensor): boolean {
    const holder = this.holders[this.recomputed++];
    if (holder !== undefined && !holder.done && holder.stored === undefined) {
      holder.stored = {
        kind: "stored",
        storage: tensor.storage,
        shape: tensor.shape,
        strides: tensor.strides,
        dtype: tensor.dtype,
        layout: tensor.layout,
      };
      this.execution.holdSaved(tensor.storage);
    }
    return this.recomputed >= this.holders.length;
  }

  private recompute(): void {
    if (this.recomputing) return;
    this.recomputing = true;
    this.recomputed = 0;
    const replay = new Replay(this.execution, this.events, new Map());
    this.execution.pushRecomputation(this);
    this.execution.pushGradMode(this.gradEnabled);
    if (this.autocast !== undefined) this.execution.pushAutocast(this.autocast);
    try {
      replay.run();
    } catch (error) {
      if (!(error instanceof EnoughRecomputed)) throw error;
    } finally {
      replay.dropAll();
      if (this.autocast !== undefined) this.execution.popAutocast();
      this.execution.popGradMode();
      this.execution.popRecomputation();
      this.recomputing = false;
    }
  }

  private dropInputs(): void {
    for (const tensor of this.inputs) this.execution.dropSaved(tensor.storage);
    for (const tensor of this.bound) this.execution.release(tensor);
  }
}

/** Runs recorded events again with other tensors in the place of the recorded ones. */
export class Replay {
  private readonly owned = new Map<Tensor, number>();
  private modes: ("grad" | "autocast")[] = [];

  constructor(
    private readonly execution: Execution,
    private readonly events: readonly Event[],
    private readonly replacement: Map<Tensor, Tensor>,
  ) {}

  run(): void {
    for (const event of this.events) this.step(event);
  }

  /** The tensor that took the place of a recorded one. */
  counterpart(tensor: Tensor): Tensor {
    return this.replacement.get(tensor) ?? tensor;
  }

  /** What Python still held when the replay ended. */
  dropAll(): void {
    for (const mode of this.modes.splice(0).reverse()) this.leave(mode);
    for (const [tensor, count] of this.owned) {
      for (let i = 0; i < count; i++) this.execution.dropTensor(tensor);
    }
    this.owned.clear();
  }

  private step(event: Event): void {
    switch (event.kind) {
      case "call": {
        const result = this.execution.call(
          event.name,
          event.positional.map((value) => this.substitute(value)),
          this.substituteAll(event.keywords),
          event.location,
        );
        const fresh = tensorsIn(result);
        tensorsIn(event.result).forEach((old, i) => {
          const now = fresh[i];
          if (now === undefined) return;
          if (old !== now) this.replacement.set(old, now);
          this.count(now, 1);
        });
        return;
      }
      case "function": {
        const { name, location, backward } = event.node;
        const again = (tensors: readonly (Tensor | undefined)[]): (Tensor | undefined)[] =>
          tensors.map((tensor) => (tensor === undefined ? undefined : this.counterpart(tensor)));
        const [inputs, outputs, saved] = [event.node.inputs, event.node.outputs, event.node.saved].map(again);
        if (inputs === undefined || outputs === undefined || saved === undefined) return;
        if (!this.execution.needsGraph(inputs)) return;
        this.execution.attachFunction({ name, location, inputs, outputs, saved, backward });
        return;
      }
      case "retain":
        if (this.replacement.has(event.tensor)) {
          this.execution.holdTensor(this.counterpart(event.tensor));
          this.count(this.counterpart(event.tensor), 1);
        }
        return;
      case "release": {
        const tensor = this.counterpart(event.tensor);
        if ((this.owned.get(tensor) ?? 0) > 0) {
          this.count(tensor, -1);
          this.execution.dropTensor(tensor);
        }
        return;
      }
      case "push-grad":
        this.execution.pushGradMode(event.enabled);
        this.modes.push("grad");
        return;
      case "push-autocast":
        this.execution.pushAutocast(event.mode);
        this.modes.push("autocast");
        return;
      case "pop-grad":
      case "pop-autocast": {
        const mode = this.modes.pop();
        if (mode !== undefined) this.leave(mode);
      }
    }
  }

  private leave(mode: "grad" | "autocast"): void {
    if (mode === "grad") this.execution.popGradMode();
    else this.execution.popAutocast();
  }

  private count(tensor: Tensor, change: number): void {
    this.owned.set(tensor, (this.owned.get(tensor) ?? 0) + change);
  }

  private substituteAll(keywords: Keywords): Keywords {
    const substituted: Record<string, Argument> = {};
    for (const [key, value] of Object.entries(keywords)) substituted[key] = this.substitute(value);
    return substituted;
  }

  private substitute(value: Argument): Argument {
    if (value instanceof Tensor) return this.counterpart(value);
    if (isSequence(value)) return value.map((entry) => this.substitute(entry));
    if (typeof value === "object" && value !== null && "kind" in value) {
      if (value.kind === "named-tuple") {
        return { ...value, values: value.values.map((entry) => this.substitute(entry)) };
      }
      if (value.kind === "dict") {
        return {
          ...value,
          entries: value.entries.map(([key, entry]) => [key, this.substitute(entry)] as const),
        };
      }
    }
    return value;
  }
}
