/**
 * What an operator, or the backward of a graph node, does to the tape: which tensors it makes, holds and drops, which nodes
 * it hangs on the graph. Operators depend on nothing but the layouts of their operands and the modes they run in, so that
 * what one call has done, another call like it does, with its own tensors in the place of the first one's.
 */
import type { BackwardFunction } from "../graph";
import type { AttachedNode, Execution } from "../tape";
import { elementCount, dtypeBytes, Tensor, type Dtype, type StorageKind } from "../tensor";
import type { Argument } from "./argument";
import { layoutOf, Recordings } from "./memo";

/** Tensors are numbers in a table: first the operands, then what is made, in order. */
type Effect =
  | {
      readonly kind: "allocate";
      readonly shape: readonly number[];
      readonly strides: readonly number[];
      readonly dtype: Dtype;
      readonly bytes: number;
      readonly storage: StorageKind;
      readonly layout: number;
    }
  | {
      readonly kind: "alias";
      readonly source: number;
      readonly shape: readonly number[];
      readonly strides: readonly number[];
      readonly dtype: Dtype;
      readonly layout: number;
    }
  | { readonly kind: "hold" | "drop"; readonly tensor: number }
  | { readonly kind: "base"; readonly view: number; readonly base: number }
  | {
      readonly kind: "node";
      readonly name: string;
      readonly inputs: readonly number[];
      readonly outputs: readonly number[];
      readonly saved: readonly number[];
      readonly backward: BackwardFunction;
      /** What the backward of such nodes does. */
      readonly recordings: Recordings;
    }
  | { readonly kind: "products"; readonly count: number }
  | { readonly kind: "enter"; readonly operator: string }
  | { readonly kind: "leave" }
  | { readonly kind: "cached"; readonly weight: number }
  | { readonly kind: "cache"; readonly weight: number; readonly copy: number };

/** In lists of a node: no tensor. */
const none = -1;

/** What is not made by an effect of its own: the fields of a tensor that an operator sets itself. */
interface Fields {
  readonly tensor: number;
  readonly values: readonly number[] | undefined;
  readonly bound: number | undefined;
  readonly isArray: boolean;
  readonly name: string | undefined;
  readonly requiresGrad: boolean;
}

type FromTable = (table: readonly Tensor[]) => Argument;

/** The effects of one call, for calls like it. */
export interface Recording {
  readonly effects: readonly Effect[];
  readonly fields: readonly Fields[];
  readonly kernels: readonly string[];
  readonly result: FromTable;
}

/** Told by the tape of everything that an operator does to it. */
export class EffectRecorder {
  private readonly table = new Map<Tensor, number>();
  private readonly effects: Effect[] = [];
  private readonly before: readonly (readonly [Tensor, Tensor["node"], boolean, number | undefined])[];
  private readonly rebound = new Set<Tensor>();
  /** Something was done that cannot be done again with other tensors. */
  private isBroken = false;

  constructor(
    private readonly execution: Execution,
    operands: readonly Tensor[],
    private readonly kernels = execution.attentionKernels.length,
  ) {
    for (const tensor of operands) this.table.set(tensor, this.table.size);
    this.before = operands.map((tensor) => [tensor, tensor.node, tensor.requiresGrad, tensor.bound]);
  }

  allocated(tensor: Tensor): void {
    this.table.set(tensor, this.table.size);
    const { shape, strides, dtype, storage } = tensor;
    const bytes = elementCount(shape) * dtypeBytes[dtype];
    const layout = layoutOf(tensor);
    this.effects.push({ kind: "allocate", shape, strides, dtype, bytes, storage: storage.kind, layout });
  }

  aliased(tensor: Tensor, from: Tensor): void {
    const source = this.index(from);
    this.table.set(tensor, this.table.size);
    const { shape, strides, dtype } = tensor;
    this.effects.push({ kind: "alias", source, shape, strides, dtype, layout: layoutOf(tensor) });
  }

  held(tensor: Tensor): void {
    this.effects.push({ kind: "hold", tensor: this.index(tensor) });
  }

  dropped(tensor: Tensor): void {
    const index = this.index(tensor);
    const last = this.effects.at(-1);
    if (last?.kind === "hold" && last.tensor === index) this.effects.pop();
    else this.effects.push({ kind: "drop", tensor: index });
  }

  based(view: Tensor, base: Tensor): void {
    this.effects.push({ kind: "base", view: this.index(view), base: this.index(base) });
  }

  attached({ name, inputs, outputs, saved, backward, dropped }: AttachedNode): Recordings {
    const recordings = new Recordings();
    if (dropped !== undefined) this.isBroken = true;
    for (const output of outputs) if (output !== undefined) this.rebound.add(output);
    this.effects.push({
      kind: "node",
      name,
      inputs: this.indices(inputs),
      outputs: this.indices(outputs),
      saved: this.indices(saved ?? []),
      backward,
      recordings,
    });
    return recordings;
  }

  computed(count: number): void {
    this.effects.push({ kind: "products", count });
  }

  entered(operator: string): void {
    this.effects.push({ kind: "enter", operator });
  }

  left(): void {
    this.effects.push({ kind: "leave" });
  }

  /** Autocast's cache had a copy of a weight. */
  foundCopy(weight: Tensor, copy: Tensor): void {
    this.effects.push({ kind: "cached", weight: this.index(weight) });
    if (!this.table.has(copy)) this.table.set(copy, this.table.size);
    else this.isBroken = true;
  }

  keptCopy(weight: Tensor, copy: Tensor): void {
    this.effects.push({ kind: "cache", weight: this.index(weight), copy: this.index(copy) });
  }

  /** What runs has an effect that is none of these. */
  abandon(): void {
    this.isBroken = true;
  }

  /** Undefined where what was done cannot be done again. */
  finish(result: Argument | readonly (Tensor | undefined)[]): Recording | undefined {
    const fromTable = this.fromTable(result);
    const isSame = this.before.every(
      ([tensor, node, requiresGrad, bound]) =>
        tensor.bound === bound &&
        tensor.values === undefined &&
        !tensor.isArray &&
        (this.rebound.has(tensor) || (tensor.node === node && tensor.requiresGrad === requiresGrad)),
    );
    if (this.isBroken || !isSame || fromTable === undefined) return undefined;
    const kernels = this.execution.attentionKernels.slice(this.kernels);
    return { effects: this.effects, fields: this.fields(), kernels, result: fromTable };
  }

  private fields(): Fields[] {
    const found: Fields[] = [];
    for (const [tensor, index] of this.table) {
      if (index < this.before.length) continue;
      const { values, bound, isArray, name, node } = tensor;
      const requiresGrad = tensor.requiresGrad && node === undefined;
      const isPlain = values === undefined && bound === undefined && !isArray && name === undefined;
      if (!isPlain || requiresGrad) found.push({ tensor: index, values, bound, isArray, name, requiresGrad });
    }
    return found;
  }

  private fromTable(value: Argument | readonly (Tensor | undefined)[]): FromTable | undefined {
    if (value instanceof Tensor) {
      const index = this.index(value);
      return (table) => table[index] ?? null;
    }
    if (typeof value !== "object" || value === null) return () => value;
    if (Array.isArray(value)) {
      const parts = (value as readonly Argument[]).map((part) => this.fromTable(part));
      if (!parts.every((part) => part !== undefined)) return undefined;
      return (table) => parts.map((part) => part(table));
    }
    if (!("kind" in value)) return undefined;
    if (value.kind === "named-tuple") {
      const parts = this.fromTable(value.values);
      return parts && ((table) => ({ ...value, values: parts(table) as readonly Argument[] }));
    }
    const isPlain = value.kind === "float" || value.kind === "dtype" || value.kind === "device";
    return isPlain ? () => value : undefined;
  }

  private indices(tensors: readonly (Tensor | undefined)[]): number[] {
    return tensors.map((tensor) => (tensor === undefined ? none : this.index(tensor)));
  }

  private index(tensor: Tensor): number {
    const index = this.table.get(tensor);
    if (index === undefined) this.isBroken = true;
    return index ?? none;
  }
}

/** Does what was recorded, to other operands with the same layouts. Whoever called it owns what it gives. */
export function repeat(execution: Execution, recording: Recording, operands: readonly Tensor[]): Argument {
  return new Repetition(execution, recording, operands).run();
}

class Repetition {
  private readonly table: Tensor[];
  /** Operators that run inside others, innermost last. */
  private readonly outer: Execution["running"][] = [];

  constructor(
    private readonly execution: Execution,
    private readonly recording: Recording,
    private readonly operands: readonly Tensor[],
  ) {
    this.table = [...operands];
  }

  run(): Argument {
    const { execution, table } = this;
    const { effects, fields, kernels, result } = this.recording;
    const { running } = execution;
    let done = 0;
    try {
      for (const effect of effects) {
        this.apply(effect);
        done++;
      }
    } catch (error) {
      // a recomputation ends here: as its caller does, what runs gives everything back
      this.giveBack(effects.slice(0, done));
      execution.running = running;
      throw error;
    }
    for (const { tensor, values, bound, isArray, name, requiresGrad } of fields) {
      const made = this.tensor(tensor);
      made.values = values;
      made.bound = bound;
      made.isArray = isArray;
      made.name = name;
      if (requiresGrad) made.requiresGrad = true;
    }
    for (const kernel of kernels) execution.attentionKernels.push(kernel);
    return result(table);
  }

  private tensor(index: number): Tensor {
    const tensor = this.table[index];
    if (tensor === undefined) throw new RangeError("a recorded tensor is missing");
    return tensor;
  }

  private tensors(indices: readonly number[]): (Tensor | undefined)[] {
    return indices.map((index) => this.table[index]);
  }

  private apply(effect: Effect): void {
    const { execution } = this;
    switch (effect.kind) {
      case "allocate":
        this.table.push(execution.allocateAs(effect));
        return;
      case "alias": {
        const { source, shape, strides, dtype, layout } = effect;
        const made = execution.alias(this.tensor(source), shape, strides, dtype);
        made.layout = layout;
        this.table.push(made);
        return;
      }
      case "hold":
        execution.holdTensor(this.tensor(effect.tensor));
        return;
      case "drop":
        execution.dropTensor(this.tensor(effect.tensor));
        return;
      case "base":
        execution.hangOn(this.tensor(effect.view), this.tensor(effect.base));
        return;
      case "node":
        execution.attach({
          name: effect.name,
          inputs: this.tensors(effect.inputs),
          outputs: this.tensors(effect.outputs),
          saved: this.tensors(effect.saved),
          backward: effect.backward,
          recordings: effect.recordings,
        });
        return;
      case "products":
        execution.noteProducts(effect.count);
        return;
      case "enter":
        this.outer.push(execution.running);
        // in backward it is the graph's node that runs
        if (execution.phase !== "backward")
          execution.running = { operator: effect.operator, location: execution.running.location };
        return;
      case "leave":
        execution.running = this.outer.pop() ?? execution.running;
        return;
      case "cached":
        this.table.push(execution.copyOf(this.tensor(effect.weight)));
        return;
      case "cache":
        execution.keepCopy(this.tensor(effect.weight), this.tensor(effect.copy));
    }
  }

  private giveBack(done: readonly Effect[]): void {
    const owned = new Map<number, number>();
    const count = (tensor: number, change: number): void =>
      void owned.set(tensor, (owned.get(tensor) ?? 0) + change);
    let made = this.operands.length;
    for (const effect of done) {
      if (effect.kind === "allocate" || effect.kind === "alias") count(made++, 1);
      else if (effect.kind === "cached") made++;
      else if (effect.kind === "cache") count(effect.copy, -1);
      else if (effect.kind === "hold") count(effect.tensor, 1);
      else if (effect.kind === "drop") count(effect.tensor, -1);
    }
    for (const [index, times] of owned)
      for (let i = 0; i < times; i++) this.execution.dropTensor(this.tensor(index));
  }
}
