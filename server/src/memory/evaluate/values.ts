/**
 * Python values as the evaluator sees them. Numbers in JavaScript are Python's `int`; `Float` is Python's `float`, so
 * that `7 / 2`, `7 // 2` and `round` stay apart. What is not understood is an `Unknown` and spreads.
 *
 * Everything that can hold a tensor is a `Heap` value with a reference count, as in CPython: `References` counts, and a
 * heap value holds what is inside it exactly while something holds the value itself.
 */
import type { ClassDefinition, Comprehension, FunctionDefinition, Lambda, Span } from "../../python/tree";
import type { Argument } from "../operators/argument";
import type { Dtype, Tensor } from "../tensor";
import type { Unknown } from "../unknown";
import type { Frame } from "./frame";
import { LazyMap } from "./lazy-map";
import type { CallArguments } from "./arguments";
import type { Interpreter } from "./interpreter";
import type { ModuleState } from "./nn/state";

export type Value = null | boolean | number | string | Float | Ellipsis | Unknown | Tensor | Heap;

/** A Python `float`. */
export class Float {
  constructor(readonly value: number) {}
}

/** `...`. */
export class Ellipsis {
  readonly kind = "ellipsis";
}

export const ellipsis = new Ellipsis();

/** A value that can hold others; `references` is kept by `References` alone. */
export abstract class Heap {
  references: number;

  constructor() {
    this.references = 0;
  }

  /** What this value holds references to. */
  abstract held(): Iterable<Value>;
}

const nothing: readonly Value[] = [];

export class ListValue extends Heap {
  constructor(
    readonly items: Value[],
    /** `maxlen` of a deque: one more at an end drops one from the other. */
    readonly most = Infinity,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return this.items;
  }
}

/** A tuple; `fields` for named tuples; `isSize` for `torch.Size`, which prints and adds like a tuple. */
export class TupleValue extends Heap {
  constructor(
    readonly items: readonly Value[],
    readonly type?: ClassValue,
    readonly isSize = false,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return this.items;
  }
}

/** The key under which a dict or a set files a value; `undefined` for what cannot be hashed. */
export type Key = string;

/** What fills a dict from outside: decorators of files whose top level has not been run. */
export interface Registry {
  /** Runs what may add the key. */
  fill(key: Value): void;
  /** Why a key that nothing added may be there all the same; undefined when it is not. */
  doubt(key: Value): Unknown | undefined;
  /** Said of the dict as a whole: there may be more in it. */
  readonly reason: Unknown;
}

export class DictValue extends Heap {
  /** Insertion order, as in Python. */
  readonly entries = new Map<Key, { readonly key: Value; value: Value }>();
  /** Set for `defaultdict`. */
  factory: Value = null;
  /** Set once a write with an unknown key or from a branch not understood may have changed it. */
  tainted: Unknown | undefined;
  /** Set for a registry that other files fill: what they add is there when it is asked for. */
  registry: Registry | undefined;
  /** Some of its values were references to others: `width: ${model.width}`. */
  hasReferences = false;
  /** The object whose attributes these are: `vars(args)` writes into `args`. */
  owner: ObjectValue | undefined;

  /** The entry filed under a key; a registry is asked for what it lacks. */
  find(file: Key, key: Value): { readonly key: Value; value: Value } | undefined {
    const known = this.entries.get(file);
    if (known !== undefined || this.registry === undefined) return known;
    this.registry.fill(key);
    return this.entries.get(file);
  }

  /** Why a key that is not found may be there all the same; undefined when it is not. */
  doubt(key: Value): Unknown | undefined {
    return this.tainted ?? this.registry?.doubt(key);
  }

  /** Why there may be other entries; undefined when all are known. */
  get uncertain(): Unknown | undefined {
    return this.tainted ?? this.registry?.reason;
  }

  *held(): Iterable<Value> {
    for (const entry of this.entries.values()) {
      yield entry.key;
      yield entry.value;
    }
  }
}

export class SetValue extends Heap {
  readonly entries = new Map<Key, Value>();

  constructor(readonly frozen = false) {
    super();
  }

  held(): Iterable<Value> {
    return this.entries.values();
  }
}

export class RangeValue extends Heap {
  constructor(
    readonly start: number,
    readonly stop: number,
    readonly step: number,
  ) {
    super();
  }

  get length(): number {
    return Math.max(0, Math.ceil((this.stop - this.start) / this.step));
  }

  at(index: number): number {
    return this.start + index * this.step;
  }

  held(): Iterable<Value> {
    return nothing;
  }
}

export class SliceValue extends Heap {
  constructor(
    readonly lower: Value,
    readonly upper: Value,
    readonly step: Value,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return [this.lower, this.upper, this.step];
  }
}

/** A Python iterator: `next()` once a value. `sources` keeps what it reads from alive. */
export class IteratorValue extends Heap {
  constructor(
    readonly source: Iterator<Value>,
    readonly sources: readonly Value[] = nothing,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return this.sources;
  }
}

export class FunctionValue extends Heap {
  /** Attributes set on the function object. */
  readonly attributes = new LazyMap<string, Value>();
  /** A decorator that is not understood: what a call leaves out, it may give. */
  decoratedBy: Unknown | undefined;

  constructor(
    readonly node: FunctionDefinition | Lambda,
    readonly name: string,
    readonly defaults: Map<string, Value>,
    readonly closure: Frame,
    /** The class whose body defined it: what a bare `super()` starts from. */
    public definingClass: ClassValue | undefined,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return [this.closure, ...this.defaults.values(), ...this.attributes.values()];
  }
}

export type Native = (interpreter: Interpreter, args: CallArguments, span: Span | undefined) => Value;

/** A function that the evaluator knows. */
export class NativeFunction extends Heap {
  constructor(
    readonly name: string,
    readonly call: Native,
    readonly holds: readonly Value[] = nothing,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return this.holds;
  }
}

export class BoundMethod extends Heap {
  constructor(
    readonly receiver: Value,
    readonly method: FunctionValue | NativeFunction,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return [this.receiver, this.method];
  }
}

/** `functools.partial`. */
export class PartialValue extends Heap {
  constructor(
    readonly callee: Value,
    readonly args: CallArguments,
  ) {
    super();
  }

  *held(): Iterable<Value> {
    yield this.callee;
    yield* this.args.values();
  }
}

export class PropertyValue extends Heap {
  constructor(
    readonly getter: Value,
    readonly setter: Value = null,
    /** `functools.cached_property`: computed once an object. */
    readonly cached = false,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return [this.getter, this.setter];
  }
}

/** `@staticmethod` and `@classmethod`. */
export class MethodWrapper extends Heap {
  constructor(
    readonly flavour: "static" | "class",
    readonly wrapped: Value,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return [this.wrapped];
  }
}

/** Makes an instance without running `__init__` of Python; undefined when the class is an ordinary one. */
export type Construct = (
  interpreter: Interpreter,
  type: ClassValue,
  args: CallArguments,
  span: Span | undefined,
) => Value;

export interface FieldDefinition {
  readonly name: string;
  /** The default's value; `undefined` when the field must be given. */
  readonly default: Value | undefined;
  /** `field(default_factory=…)`. */
  readonly factory: Value | undefined;
  readonly inInit: boolean;
}

export class ClassValue extends Heap {
  readonly attributes = new Map<string, Value>();
  /** This class first, `object` left out. */
  mro: readonly ClassValue[];
  /** Fields of a dataclass or a named tuple, in order. */
  fields: readonly FieldDefinition[] | undefined;
  /** Set when a base could not be understood: attributes that are not found may be its. */
  unknownBase: Unknown | undefined;
  /** Members of an `Enum`. */
  isEnum = false;
  construct: Construct | undefined;
  /** Defined in another file than the one that is analysed. */
  isImported = false;
  /** The path in PyTorch of a class of its own, e.g. `torch.nn.Linear`. */
  path: string | undefined;

  constructor(
    readonly name: string,
    readonly bases: readonly ClassValue[],
    readonly node?: ClassDefinition,
  ) {
    super();
    this.mro = linearize(this, bases);
  }

  /** Methods that are the evaluator's own. */
  addMethods(methods: Readonly<Record<string, Native>>): void {
    for (const [name, method] of Object.entries(methods))
      this.attributes.set(name, new NativeFunction(name, method));
  }

  /** The first class in the method resolution order that satisfies the question. */
  find<Found>(ask: (type: ClassValue) => Found | undefined): Found | undefined {
    const { mro } = this;
    for (let i = 0; i < mro.length; i++) {
      const found = ask(mro[i] as ClassValue);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  attribute(name: string): Value | undefined {
    const { mro } = this;
    for (let i = 0; i < mro.length; i++) {
      const found = (mro[i] as ClassValue).attributes.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  isSubclassOf(other: ClassValue): boolean {
    return this.mro.includes(other);
  }

  held(): Iterable<Value> {
    return this.attributes.values();
  }
}

export class ObjectValue extends Heap {
  readonly attributes = new Map<string, Value>();
  /** Parameters, buffers and submodules when the object is an `nn.Module`. */
  module: ModuleState | undefined;
  /** The list, dict, tuple, string or number inside an instance of a class derived from one. */
  payload: Value | undefined;
  /** The dict that its attributes lie in, where that is one that others hold too: `self.__dict__ = self`. */
  namespace: DictValue | undefined;
  /** Where the call stands that made it. */
  span: Span | undefined;

  constructor(public type: ClassValue) {
    super();
  }

  held(): Iterable<Value> {
    const { attributes, module, payload } = this;
    if (module === undefined && payload === undefined) return attributes.values();
    const held = [...attributes.values()];
    module?.addHeld(held);
    if (payload !== undefined) held.push(payload);
    return held;
  }
}

/** `super()` of one object: attribute look-up starts after `after`. */
export class SuperValue extends Heap {
  constructor(
    readonly after: ClassValue,
    readonly receiver: ObjectValue | ClassValue,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return [this.receiver];
  }
}

/** A module, function or class of a library by its dotted path, e.g. `torch.nn.functional`. */
export class LibraryName extends Heap {
  constructor(readonly path: string) {
    super();
  }

  held(): Iterable<Value> {
    return nothing;
  }
}

/** Another file of the workspace, imported. */
export class FileModule extends Heap {
  constructor(
    readonly key: string,
    readonly frame: Frame,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return [this.frame];
  }
}

/** `torch.float32`. */
export class DtypeValue extends Heap {
  constructor(readonly dtype: Dtype) {
    super();
  }

  held(): Iterable<Value> {
    return nothing;
  }
}

/** `torch.device("cuda:0")`. */
export class DeviceValue extends Heap {
  constructor(readonly name: string) {
    super();
  }

  get type(): string {
    return this.name.split(":")[0] ?? this.name;
  }

  get index(): number | null {
    const index = this.name.split(":")[1];
    return index === undefined ? null : Number(index);
  }

  held(): Iterable<Value> {
    return nothing;
  }
}

/** What operators understand and Python code only passes on: memory formats, generators, streams. */
export class OpaqueValue extends Heap {
  constructor(readonly argument: Argument) {
    super();
  }

  held(): Iterable<Value> {
    return nothing;
  }
}

/** A `with` target the evaluator understands: what to do on entry and on exit. */
export class ContextValue extends Heap {
  constructor(
    readonly enter: (interpreter: Interpreter) => Value,
    readonly exit: (interpreter: Interpreter) => void,
    /** Set when it also decorates functions (`@torch.no_grad()`). */
    readonly name: string,
  ) {
    super();
  }

  held(): Iterable<Value> {
    return nothing;
  }
}

export type FunctionNode = FunctionDefinition | Lambda | Comprehension;

/** C3 linearization; falls back to depth-first order where Python would refuse the class. */
function linearize(self: ClassValue, bases: readonly ClassValue[]): readonly ClassValue[] {
  const sequences = [...bases.map((base) => [...base.mro]), [...bases]].filter((one) => one.length > 0);
  const result: ClassValue[] = [self];
  while (sequences.some((one) => one.length > 0)) {
    const heads = sequences.filter((one) => one.length > 0);
    const next =
      heads
        .map((one) => one[0])
        .find((head) => head !== undefined && !heads.some((one) => one.indexOf(head) > 0)) ?? heads[0]?.[0];
    if (next === undefined) break;
    result.push(next);
    for (const one of sequences) {
      const at = one.indexOf(next);
      if (at >= 0) one.splice(at, 1);
    }
  }
  return result;
}
