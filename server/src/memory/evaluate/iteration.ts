/** Iterating over values, and filling dicts. */
import type { Span } from "../../python/tree";
import { isFloating, Tensor } from "../tensor";
import { isUnknown, type Unknown } from "../unknown";
import { callOperator } from "./bridge";
import { callMethod } from "./overloads";
import { doubtAttributes } from "./doubted";
import type { Interpreter } from "./interpreter";
import { PythonError } from "./errors";
import { keyOf } from "./operations";
import {
  ClassValue,
  DictValue,
  Float,
  IteratorValue,
  ListValue,
  ObjectValue,
  RangeValue,
  SetValue,
  TupleValue,
  type Value,
} from "./values";

/** The items of a value, one by one; a list may grow meanwhile, as in Python. Unknown when they are not known. */
export function iterate(
  interpreter: Interpreter,
  value: Value,
  span: Span | undefined,
): Iterable<Value> | Unknown {
  if (value instanceof ListValue) return overList(interpreter, value);
  if (value instanceof TupleValue) return value.items;
  if (value instanceof IteratorValue) return overIterator(value);
  if (value instanceof RangeValue) return overRange(interpreter, value);
  if (value instanceof DictValue)
    return value.uncertain ?? [...value.entries.values()].map((entry) => entry.key);
  if (value instanceof SetValue) return [...value.entries.values()];
  if (typeof value === "string") return Array.from(value);
  if (isUnknown(value)) return value;
  if (value instanceof Tensor) return overTensor(interpreter, value, span);
  if (value instanceof ObjectValue) return overObject(interpreter, value, span);
  if (value instanceof ClassValue && value.isEnum) return enumMembers(value);
  return interpreter.unknown("unsupported", span, { what: `iter(${interpreter.typeName(value)})` });
}

/** What an iterator over the value holds: of a tensor its rows, which are made at once, of anything else the value. */
export function iterated(interpreter: Interpreter, value: Value, span: Span | undefined): Value {
  if (!(value instanceof Tensor)) return value;
  const rows = overTensor(interpreter, value, span);
  return isUnknown(rows) ? rows : new TupleValue([...rows]);
}

/** As `iterate`, gathered. */
export function itemsOf(interpreter: Interpreter, value: Value, span: Span | undefined): Value[] | Unknown {
  const items = iterate(interpreter, value, span);
  if (isUnknown(items)) return items;
  const gathered: Value[] = [];
  for (const item of items) {
    interpreter.tick();
    gathered.push(item);
  }
  return gathered;
}

export function enumMembers(type: ClassValue): Value[] {
  return [...type.attributes.values()].filter(
    (member) => member instanceof ObjectValue && member.type === type,
  );
}

function* overList(interpreter: Interpreter, list: ListValue): Iterable<Value> {
  for (let i = 0; i < list.items.length; i++) {
    interpreter.tick();
    yield list.items[i] ?? null;
  }
}

function* overRange(interpreter: Interpreter, range: RangeValue): Iterable<Value> {
  for (let i = 0; i < range.length; i++) {
    interpreter.tick();
    yield range.at(i);
  }
}

function overIterator(iterator: IteratorValue): Iterable<Value> {
  return { [Symbol.iterator]: () => ({ next: () => iterator.source.next() }) };
}

function overTensor(
  interpreter: Interpreter,
  tensor: Tensor,
  span: Span | undefined,
): Iterable<Value> | Unknown {
  if (tensor.shape.length === 0) return interpreter.raise("TypeError", "iteration over a 0-d tensor", span);
  // elements of an array are numbers
  if (tensor.isArray && tensor.values !== undefined && tensor.shape.length === 1)
    return tensor.values.map((value) => (isFloating(tensor.dtype) ? new Float(value) : value));
  const parts = callOperator(interpreter, "Tensor.unbind", [tensor, 0]);
  if (!(parts instanceof TupleValue || parts instanceof ListValue))
    return unknownOr(interpreter, parts, span);
  if (tensor.values !== undefined && tensor.shape.length === 1) {
    for (const [i, part] of parts.items.entries()) {
      const value = tensor.values[i];
      if (part instanceof Tensor && value !== undefined) part.values = [value];
    }
  }
  return parts.items;
}

function unknownOr(interpreter: Interpreter, value: Value, span: Span | undefined): Unknown {
  return isUnknown(value) ? value : interpreter.unknown("tensorValue", span);
}

function overObject(
  interpreter: Interpreter,
  object: ObjectValue,
  span: Span | undefined,
): Iterable<Value> | Unknown {
  const own = callMethod(interpreter, object, "__iter__", [], span);
  if (own !== undefined) {
    if (own instanceof ObjectValue) return overNext(interpreter, own, span);
    return iterate(interpreter, own, span);
  }
  if (object.payload !== undefined) return iterate(interpreter, object.payload, span);
  if (object.type.attribute("__getitem__") !== undefined) return overGetItem(interpreter, object, span);
  return (
    object.type.unknownBase ?? interpreter.unknown("unsupported", span, { what: `iter(${object.type.name})` })
  );
}

/** An object whose `__iter__` gives an object with `__next__`: asked until it raises StopIteration or is not known. */
function* overNext(interpreter: Interpreter, object: ObjectValue, span: Span | undefined): Iterable<Value> {
  for (;;) {
    interpreter.tick();
    const next = stopped(interpreter, "StopIteration", () =>
      callMethod(interpreter, object, "__next__", [], span),
    );
    if (next === undefined) return;
    yield next;
  }
}

function* overGetItem(
  interpreter: Interpreter,
  object: ObjectValue,
  span: Span | undefined,
): Iterable<Value> {
  for (let i = 0; ; i++) {
    interpreter.tick();
    const next = stopped(interpreter, "IndexError", () =>
      callMethod(interpreter, object, "__getitem__", [i], span),
    );
    if (next === undefined) return;
    yield next;
  }
}

/** The value, or undefined when getting it raised the exception named. */
export function stopped(
  interpreter: Interpreter,
  exception: string,
  get: () => Value | undefined,
): Value | undefined {
  const state = interpreter.state();
  try {
    return get();
  } catch (error) {
    if (
      !(error instanceof PythonError) ||
      !error.exception.type.isSubclassOf(interpreter.library.exception(exception))
    ) {
      throw error;
    }
    interpreter.restore(state);
    return undefined;
  }
}

/** `dict[key] = value`. A key that is not known leaves the dict uncertain. */
export function dictSet(interpreter: Interpreter, dict: DictValue, key: Value, value: Value): void {
  const file = keyOf(key);
  if (file === undefined) {
    dict.tainted ??= isUnknown(key)
      ? key
      : interpreter.unknown("unsupported", interpreter.callSpan, { what: "dict" });
    if (dict.owner !== undefined) doubtAttributes(dict.owner, dict.tainted);
    return;
  }
  if (dict.owner !== undefined && typeof key === "string") {
    interpreter.references.adopt(dict.owner, value);
    dict.owner.attributes.set(key, value);
  }
  const old = dict.entries.get(file);
  interpreter.references.adopt(dict, value);
  if (old === undefined) {
    interpreter.references.adopt(dict, key);
    dict.entries.set(file, { key, value });
    return;
  }
  const before = old.value;
  old.value = value;
  interpreter.references.disown(dict, before);
}

/** `del dict[key]` or `pop`; undefined when the key is not there. */
export function dictRemove(interpreter: Interpreter, dict: DictValue, key: Value): Value | undefined {
  const file = keyOf(key);
  const entry = file === undefined ? undefined : dict.entries.get(file);
  if (file === undefined || entry === undefined) return undefined;
  dict.entries.delete(file);
  interpreter.references.disown(dict, entry.key);
  interpreter.references.disown(dict, entry.value);
  return entry.value;
}

/** A dict with string keys from pairs. */
export function dictOf(pairs: Iterable<readonly [string, Value]>): DictValue {
  const dict = new DictValue();
  for (const [key, value] of pairs) dict.entries.set(`s${key}`, { key, value });
  return dict;
}
