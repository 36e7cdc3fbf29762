/**
 * What an operator, or the backward of a graph node, does to the tape: which tensors it makes, holds and drops, which nodes
 * it hangs on the graph. Operators depend on nothing but the layouts of their operands and the modes they run in, so that
 * what one call has done, another call like it does, with its own tensors in the place of the first one's.
 */
import { metadataOf, type BackwardFunction, type OutputMetadata } from "../graph";
import type { Allocation, AttachedNode, Execution } from "../tape";
import { Tensor } from "../tensor";
import type { Argument } from "./argument";
import { layoutOf, Recordings } from "./memo";

/** A node on the graph; the numbers are places in the table of tensors, `none` where there is no tensor. */
interface NodeEffect {
  readonly name: string;
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  readonly metadata: readonly OutputMetadata[];
  readonly saved: readonly number[];
  readonly backward: BackwardFunction;
  /** What the backward of such nodes does. */
  readonly recordings: Recordings;
}

/**
 * One thing done to the tape. Tensors are places in a table: first the operands, then what is made, in order. All effects
 * have the same fields, so that V8 reads them fast; `other` is an alias's source, a view's base, a weight's copy, or a
 * number of multiply-adds.
 */
interface Effect {
  readonly kind:
    "allocate" | "alias" | "hold" | "drop" | "base" | "node" | "products" | "enter" | "cached" | "cache";
  readonly tensor: number;
  readonly other: number;
  readonly made: Allocation | undefined;
  readonly node: NodeEffect | undefined;
  readonly operator: string;
}

function effect(
  kind: Effect["kind"],
  tensor: number,
  other = none,
  { made, node, operator = "" }: Partial<Pick<Effect, "made" | "node" | "operator">> = {},
): Effect {
  return { kind, tensor, other, made, node, operator };
}

/** In lists of a node: no tensor. */
const none = -1;

const nothing = effect("products", none, 0);

/** What is not made by an effect of its own: the fields of a tensor that an operator sets itself. */
interface Fields {
  readonly tensor: number;
  readonly values: readonly number[] | undefined;
  readonly bound: number | undefined;
  readonly isArray: boolean;
  readonly name: string | undefined;
  readonly requiresGrad: boolean;
}

/** The tensors of a call: its operands, then those that it has made. */
type Table = readonly (Tensor | undefined)[];

type FromTable = (table: Table) => Argument;

/** The effects of one call, for calls like it. */
export interface Recording {
  readonly effects: readonly Effect[];
  readonly fields: readonly Fields[];
  readonly kernels: readonly string[];
  readonly result: FromTable;
}

/** Told by the tape of everything that an operator does to it. */
export class EffectRecorder {
  /** Of the operators that run, innermost last. */
  private readonly names: string[];
  private readonly table = new Map<Tensor, number>();
  private readonly effects: Effect[] = [];
  private readonly before: readonly (readonly [Tensor, Tensor["node"], boolean, number | undefined])[];
  private readonly rebound = new Set<Tensor>();
  /** Something was done that cannot be done again with other tensors. */
  private isBroken = false;

  constructor(
    private readonly execution: Execution,
    name: string,
    operands: readonly Tensor[],
    private readonly kernels = execution.attentionKernels.length,
  ) {
    this.names = [name];
    for (const tensor of operands) this.table.set(tensor, this.table.size);
    this.before = operands.map((tensor) => [tensor, tensor.node, tensor.requiresGrad, tensor.bound]);
  }

  allocated(tensor: Tensor): void {
    this.effects.push(effect("allocate", none, none, { made: this.made(tensor) }));
  }

  aliased(tensor: Tensor, source: Tensor): void {
    const from = this.index(source);
    this.effects.push(effect("alias", none, from, { made: this.made(tensor) }));
  }

  held(tensor: Tensor): void {
    this.effects.push(effect("hold", this.index(tensor)));
  }

  dropped(tensor: Tensor): void {
    const index = this.index(tensor);
    const last = this.effects.at(-1);
    if (last?.kind === "hold" && last.tensor === index) this.effects.pop();
    else this.effects.push(effect("drop", index));
  }

  based(view: Tensor, base: Tensor): void {
    this.effects.push(effect("base", this.index(view), this.index(base)));
  }

  attached({ name, inputs, outputs, saved, backward, dropped }: AttachedNode): Recordings {
    const recordings = new Recordings();
    if (dropped !== undefined) this.isBroken = true;
    for (const output of outputs) if (output !== undefined) this.rebound.add(output);
    const node: NodeEffect = {
      name,
      inputs: this.indices(inputs),
      outputs: this.indices(outputs),
      metadata: outputs.map(metadataOf),
      saved: this.indices(saved ?? []),
      backward,
      recordings,
    };
    this.effects.push(effect("node", none, none, { node }));
    return recordings;
  }

  computed(count: number): void {
    this.effects.push(effect("products", none, count));
  }

  /** Another operator of the table runs inside, until `left`. */
  entered(operator: string): void {
    this.names.push(operator);
    this.effects.push(effect("enter", none, none, { operator }));
  }

  left(): void {
    this.names.pop();
    this.effects.push(effect("enter", none, none, { operator: this.names.at(-1) ?? "" }));
  }

  /** Autocast's cache had a copy of a weight. */
  foundCopy(weight: Tensor, copy: Tensor): void {
    this.effects.push(effect("cached", this.index(weight)));
    if (!this.table.has(copy)) this.table.set(copy, this.table.size);
    else this.isBroken = true;
  }

  keptCopy(weight: Tensor, copy: Tensor): void {
    this.effects.push(effect("cache", this.index(weight), this.index(copy)));
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

  private made(tensor: Tensor): Allocation {
    this.table.set(tensor, this.table.size);
    const { shape, strides, dtype, storage } = tensor;
    return { shape, strides, dtype, bytes: storage.bytes, storage: storage.kind, layout: layoutOf(tensor) };
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

/**
 * Does what was recorded, to other operands with the same layouts. Whoever called it owns what it gives. `table` holds the
 * operands, `operands` of them; what is made is put behind them, and nothing is left in it.
 */
export function repeat(
  execution: Execution,
  recording: Recording,
  table: (Tensor | undefined)[],
  operands: number,
): Argument {
  const { effects, fields, kernels, result } = recording;
  const { running } = execution;
  let made = operands;
  let done = 0;
  try {
    for (; done < effects.length; done++) {
      const next = effects[done];
      if (next === undefined) continue;
      const tensor = apply(execution, next, table);
      if (tensor !== undefined) table[made++] = tensor;
    }
  } catch (error) {
    // a recomputation ends here: as its caller does, what runs gives everything back
    giveBack(execution, effects, done, table, operands);
    table.fill(undefined, 0, made);
    execution.running = running;
    throw error;
  }
  for (const field of fields) setFields(at(table, field.tensor), field);
  for (const kernel of kernels) execution.attentionKernels.push(kernel);
  const given = result(table);
  for (let i = 0; i < made; i++) table[i] = undefined;
  return given;
}

function at(table: Table, index: number): Tensor {
  const tensor = table[index];
  if (tensor === undefined) throw new RangeError("a recorded tensor is missing");
  return tensor;
}

/** What there is of a new tensor, or of one that was found. */
function apply(execution: Execution, effect: Effect, table: Table): Tensor | undefined {
  switch (effect.kind) {
    case "allocate":
      return effect.made && execution.allocateAs(effect.made);
    case "hold":
      execution.holdTensor(at(table, effect.tensor));
      return undefined;
    case "drop":
      execution.dropTensor(at(table, effect.tensor));
      return undefined;
    case "node":
      if (effect.node !== undefined) attach(execution, effect.node, table);
      return undefined;
    case "alias":
      return effect.made && execution.aliasAs(at(table, effect.other), effect.made);
    case "base":
      execution.hangOn(at(table, effect.tensor), at(table, effect.other));
      return undefined;
    case "products":
      execution.noteProducts(effect.other);
      return undefined;
    case "enter":
      execution.enter(effect.operator);
      return undefined;
    case "cached":
      return execution.copyOf(at(table, effect.tensor));
    case "cache":
      execution.keepCopy(at(table, effect.tensor), at(table, effect.other));
      return undefined;
  }
}

function attach(execution: Execution, node: NodeEffect, table: Table): void {
  const { name, metadata, backward, recordings } = node;
  const inputs = chosen(table, node.inputs);
  const outputs = chosen(table, node.outputs);
  const saved = node.saved.length === 0 ? nothingSaved : chosen(table, node.saved);
  execution.attach({ name, inputs, outputs, saved, backward, recordings, metadata, dropped: undefined });
}

const nothingSaved: readonly undefined[] = [];

function chosen(table: Table, places: readonly number[]): readonly (Tensor | undefined)[] {
  const tensors = new Array<Tensor | undefined>(places.length);
  for (let i = 0; i < places.length; i++) {
    const place = places[i] ?? none;
    tensors[i] = place === none ? undefined : table[place];
  }
  return tensors;
}

function setFields(made: Tensor, { values, bound, isArray, name, requiresGrad }: Fields): void {
  made.values = values;
  made.bound = bound;
  made.isArray = isArray;
  made.name = name;
  if (requiresGrad) made.requiresGrad = true;
}

function giveBack(
  execution: Execution,
  effects: readonly Effect[],
  done: number,
  table: Table,
  operands: number,
): void {
  const owned = new Map<number, number>();
  const count = (tensor: number, change: number): void =>
    void owned.set(tensor, (owned.get(tensor) ?? 0) + change);
  let made = operands;
  for (let i = 0; i < done; i++) {
    const { kind, tensor, other } = effects[i] ?? nothing;
    if (kind === "allocate" || kind === "alias") count(made++, 1);
    else if (kind === "cached") made++;
    else if (kind === "cache") count(other, -1);
    else if (kind === "hold") count(tensor, 1);
    else if (kind === "drop") count(tensor, -1);
  }
  for (const [index, times] of owned) for (let i = 0; i < times; i++) execution.dropTensor(at(table, index));
}
