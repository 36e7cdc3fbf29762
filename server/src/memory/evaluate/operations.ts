/** Operators of Python on values that are not tensors: arithmetic, comparison, truth, containment. */
import type { BinaryOperator, ComparisonOperator } from "../../python/tree";
import { Tensor } from "../tensor";
import { isUnknown } from "../unknown";
import { arithmetic, numeric } from "./numbers";
import {
  ClassValue,
  DeviceValue,
  DictValue,
  DtypeValue,
  Float,
  IteratorValue,
  LibraryName,
  ListValue,
  ObjectValue,
  RangeValue,
  SetValue,
  SliceValue,
  TupleValue,
  type Heap,
  type Key,
  type Value,
} from "./values";

let identities = 0;
const identityOf = new WeakMap<object, number>();

function identity(value: object): number {
  let id = identityOf.get(value);
  if (id === undefined) {
    id = ++identities;
    identityOf.set(value, id);
  }
  return id;
}

/** Tuples that share their parts grow exponentially when unfolded. */
const deepestKey = 8;

/** How a dict or set files a value; undefined for what cannot be hashed or is not known. */
export function keyOf(value: Value, depth = 0): Key | undefined {
  if (isUnknown(value) || depth > deepestKey) return undefined;
  const number = numeric(value);
  if (number !== undefined) return `n${number}`;
  if (typeof value === "string") return `s${value}`;
  if (value === null) return "None";
  if (value instanceof TupleValue) {
    const parts: string[] = [];
    for (const item of value.items) {
      const part = keyOf(item, depth + 1);
      if (part === undefined) return undefined;
      parts.push(`${part.length}:${part}`);
    }
    return `(${parts.join()})`;
  }
  if (value instanceof DtypeValue) return `d${value.dtype}`;
  if (value instanceof DeviceValue) return `e${value.name}`;
  if (value instanceof LibraryName) return `l${value.path}`;
  if (value instanceof ListValue || value instanceof DictValue) return undefined;
  if (value instanceof SetValue && !value.frozen) return undefined;
  return typeof value === "object" ? `o${identity(value)}` : undefined;
}

/** Python's truth of a value; undefined when it depends on a tensor, on user code, or is not known. */
export function truth(value: Value): boolean | undefined {
  if (value === null) return false;
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return value !== 0;
  if (typeof value === "string") return value.length > 0;
  if (value instanceof Float) return value.value !== 0;
  if (isUnknown(value) || value instanceof Tensor) return undefined;
  if (value instanceof ListValue || value instanceof TupleValue) return value.items.length > 0;
  if (value instanceof DictValue) return value.uncertain === undefined ? value.entries.size > 0 : undefined;
  if (value instanceof SetValue) return value.entries.size > 0;
  if (value instanceof RangeValue) return value.length > 0;
  return true;
}

function sequenceOf(value: Value): readonly Value[] | undefined {
  return value instanceof ListValue || value instanceof TupleValue ? value.items : undefined;
}

/** Pairs that one comparison still may look at: lists that share their parts grow exponentially when unfolded. */
interface Work {
  left: number;
}

const mostCompared = 100_000;

/** `left == right`; undefined when it is not known. */
export function equal(
  left: Value,
  right: Value,
  depth = 0,
  work: Work = { left: mostCompared },
): boolean | undefined {
  if (--work.left < 0) return undefined;
  if (isUnknown(left) || isUnknown(right)) return left === right ? undefined : undefined;
  if (left === right) return true;
  if (left instanceof Tensor || right instanceof Tensor || depth > 50) return undefined;
  const a = numeric(left);
  const b = numeric(right);
  if (a !== undefined && b !== undefined) return a === b;
  const first = sequenceOf(left);
  const second = sequenceOf(right);
  if (first !== undefined && second !== undefined) {
    if (left instanceof ListValue !== right instanceof ListValue || first.length !== second.length)
      return false;
    return allEqual(first, second, depth, work);
  }
  if (left instanceof DictValue && right instanceof DictValue) return equalDicts(left, right, depth, work);
  if (left instanceof SetValue && right instanceof SetValue) {
    return (
      left.entries.size === right.entries.size &&
      [...left.entries.keys()].every((key) => right.entries.has(key))
    );
  }
  if (left instanceof RangeValue && right instanceof RangeValue) {
    return left.start === right.start && left.stop === right.stop && left.step === right.step;
  }
  if (
    left instanceof ObjectValue &&
    right instanceof ObjectValue &&
    left.type === right.type &&
    left.type.fields
  ) {
    const names = left.type.fields.map((field) => field.name);
    const values = (object: ObjectValue): Value[] => names.map((name) => object.attributes.get(name) ?? null);
    return allEqual(values(left), values(right), depth, work);
  }
  if (left instanceof DeviceValue) return deviceEquals(left, right);
  if (right instanceof DeviceValue) return deviceEquals(right, left);
  const key = keyOf(left);
  return key !== undefined && key === keyOf(right);
}

function deviceEquals(device: DeviceValue, other: Value): boolean {
  return other instanceof DeviceValue ? device.name === other.name : device.name === other;
}

function allEqual(
  first: readonly Value[],
  second: readonly Value[],
  depth: number,
  work: Work,
): boolean | undefined {
  let answer: boolean | undefined = true;
  for (let i = 0; i < first.length; i++) {
    const same = equal(first[i] ?? null, second[i] ?? null, depth + 1, work);
    if (same === false) return false;
    if (same === undefined) answer = undefined;
    if (work.left < 0) return undefined;
  }
  return answer;
}

function equalDicts(left: DictValue, right: DictValue, depth: number, work: Work): boolean | undefined {
  if (left.uncertain !== undefined || right.uncertain !== undefined) return undefined;
  if (left.entries.size !== right.entries.size) return false;
  const pairs: [Value, Value][] = [];
  for (const [key, entry] of left.entries) {
    const other = right.entries.get(key);
    if (other === undefined) return false;
    pairs.push([entry.value, other.value]);
  }
  return allEqual(
    pairs.map((pair) => pair[0]),
    pairs.map((pair) => pair[1]),
    depth,
    work,
  );
}

/** Negative, zero or positive; undefined when the values have no order that is known. */
export function compare(left: Value, right: Value, depth = 0): number | undefined {
  const a = numeric(left);
  const b = numeric(right);
  if (a !== undefined && b !== undefined) return Number.isNaN(a) || Number.isNaN(b) ? undefined : a - b;
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : left > right ? 1 : 0;
  const first = sequenceOf(left);
  const second = sequenceOf(right);
  if (first === undefined || second === undefined || depth > 20) return undefined;
  for (let i = 0; i < Math.min(first.length, second.length); i++) {
    const order = compare(first[i] ?? null, second[i] ?? null, depth + 1);
    if (order !== 0) return order;
  }
  return first.length - second.length;
}

/** Whether two names mean the same object. */
export function same(left: Value, right: Value): boolean | undefined {
  if (isUnknown(left) || isUnknown(right)) return undefined;
  if (left === right) return true;
  if (left instanceof LibraryName && right instanceof LibraryName) return left.path === right.path;
  if (left instanceof DtypeValue && right instanceof DtypeValue) return left.dtype === right.dtype;
  return false;
}

/** `item in container`; undefined when it is not known. */
export function contains(container: Value, item: Value): boolean | undefined {
  if (isUnknown(container)) return undefined;
  if (typeof container === "string") return typeof item === "string" ? container.includes(item) : undefined;
  if (container instanceof DictValue) {
    const key = keyOf(item);
    if (key === undefined) return undefined;
    if (container.find(key, item) !== undefined) return true;
    return container.doubt(item) === undefined ? false : undefined;
  }
  if (container instanceof SetValue) {
    const key = keyOf(item);
    return key === undefined ? undefined : container.entries.has(key);
  }
  if (container instanceof RangeValue) {
    const number = numeric(item);
    if (number === undefined) return isUnknown(item) ? undefined : false;
    const index = (number - container.start) / container.step;
    return Number.isInteger(index) && index >= 0 && index < container.length;
  }
  const items =
    sequenceOf(container) ??
    (container instanceof ObjectValue ? sequenceOf(container.payload ?? null) : undefined);
  if (items === undefined) return undefined;
  let answer: boolean | undefined = false;
  for (const one of items) {
    const found = one === item && !isUnknown(one) ? true : equal(one, item);
    if (found === true) return true;
    if (found === undefined) answer = undefined;
  }
  return answer;
}

/** One comparison of values that are not tensors; undefined when it is not known. */
export function comparison(operator: ComparisonOperator, left: Value, right: Value): boolean | undefined {
  const not = (answer: boolean | undefined): boolean | undefined =>
    answer === undefined ? undefined : !answer;
  switch (operator) {
    case "==":
      return equal(left, right);
    case "!=":
      return not(equal(left, right));
    case "is":
      return same(left, right);
    case "is not":
      return not(same(left, right));
    case "in":
      return contains(right, left);
    case "not in":
      return not(contains(right, left));
    default: {
      if (left instanceof SetValue && right instanceof SetValue) return compareSets(operator, left, right);
      const order = compare(left, right);
      if (order === undefined) return undefined;
      if (operator === "<") return order < 0;
      if (operator === "<=") return order <= 0;
      return operator === ">" ? order > 0 : order >= 0;
    }
  }
}

function compareSets(operator: ComparisonOperator, left: SetValue, right: SetValue): boolean {
  const within = (a: SetValue, b: SetValue): boolean =>
    [...a.entries.keys()].every((key) => b.entries.has(key));
  const [small, large] = operator.startsWith("<") ? [left, right] : [right, left];
  return within(small, large) && (operator.endsWith("=") || small.entries.size < large.entries.size);
}

/** Highest number of items or characters that one value may have. */
export const sizeLimit = 1_000_000;

export type OperationFault = "zero-division" | "too-large" | "too-long" | "unsupported";

export function isFault(value: unknown): value is OperationFault {
  return (
    value === "zero-division" || value === "too-large" || value === "too-long" || value === "unsupported"
  );
}

/** A result, boxed so that a string result cannot be taken for a fault. */
export type OperationResult = { readonly value: Value } | OperationFault;

/** A binary operator on values that are not tensors and have no operator methods of their own. */
export function binary(operator: BinaryOperator, left: Value, right: Value): OperationResult {
  const number = arithmetic(operator, left, right);
  if (number !== "unsupported") return isFault(number) ? number : { value: number };
  if (operator === "+") return concatenate(left, right);
  if (operator === "*") return repeat(left, right);
  if (operator === "|" && left instanceof DictValue && right instanceof DictValue)
    return { value: mergedDict(left, right) };
  if (left instanceof SetValue && right instanceof SetValue) return setOperation(operator, left, right);
  return "unsupported";
}

function concatenate(left: Value, right: Value): OperationResult {
  if (typeof left === "string" && typeof right === "string") {
    return left.length + right.length > sizeLimit ? "too-long" : { value: left + right };
  }
  if (left instanceof ListValue && right instanceof ListValue) {
    if (left.items.length + right.items.length > sizeLimit) return "too-long";
    return { value: new ListValue([...left.items, ...right.items]) };
  }
  if (left instanceof TupleValue && right instanceof TupleValue) {
    return { value: new TupleValue([...left.items, ...right.items], undefined, left.isSize && right.isSize) };
  }
  return "unsupported";
}

function repeat(left: Value, right: Value): OperationResult {
  const count = typeof right === "number" ? right : typeof left === "number" ? left : undefined;
  const sequence = typeof right === "number" ? left : right;
  if (count === undefined) return "unsupported";
  const times = Math.max(0, count);
  if (typeof sequence === "string") {
    return sequence.length * times > sizeLimit ? "too-long" : { value: sequence.repeat(times) };
  }
  const items = sequenceOf(sequence);
  if (items === undefined) return "unsupported";
  if (items.length * times > sizeLimit) return "too-long";
  const result: Value[] = [];
  for (let i = 0; i < times; i++) for (const item of items) result.push(item);
  return { value: sequence instanceof ListValue ? new ListValue(result) : new TupleValue(result) };
}

function mergedDict(left: DictValue, right: DictValue): DictValue {
  const merged = new DictValue();
  for (const source of [left, right]) {
    for (const [key, entry] of source.entries) merged.entries.set(key, { ...entry });
    merged.tainted ??= source.uncertain;
  }
  return merged;
}

function setOperation(operator: BinaryOperator, left: SetValue, right: SetValue): OperationResult {
  const result = new SetValue(left.frozen);
  const put = (source: SetValue, wanted: (key: Key) => boolean): void => {
    for (const [key, value] of source.entries) if (wanted(key)) result.entries.set(key, value);
  };
  const inLeft = (key: Key): boolean => left.entries.has(key);
  const inRight = (key: Key): boolean => right.entries.has(key);
  if (operator === "|") {
    put(left, () => true);
    put(right, () => true);
  } else if (operator === "&") put(left, inRight);
  else if (operator === "-") put(left, (key) => !inRight(key));
  else if (operator === "^") {
    put(left, (key) => !inRight(key));
    put(right, (key) => !inLeft(key));
  } else return "unsupported";
  return { value: result };
}

/** A dict's key as text: what keyword names and module names are made of. */
export function keyText(value: Value | undefined): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "?";
}

/** A word for the type of a value, as Python would name it. */
export function typeName(value: Value): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return "int";
  if (typeof value === "string") return "str";
  if (value instanceof Float) return "float";
  if (value instanceof Tensor) return "Tensor";
  if (isUnknown(value)) return "?";
  if (value instanceof ObjectValue) return value.type.name;
  if (value instanceof ClassValue) return value.name;
  return heapNames.find(([type]) => value instanceof type)?.[1] ?? "object";
}

type HeapClass = abstract new (...args: never[]) => Heap;

const heapNames: readonly (readonly [HeapClass, string])[] = [
  [ListValue, "list"],
  [TupleValue, "tuple"],
  [DictValue, "dict"],
  [SetValue, "set"],
  [RangeValue, "range"],
  [SliceValue, "slice"],
  [IteratorValue, "iterator"],
  [DtypeValue, "torch.dtype"],
  [DeviceValue, "torch.device"],
  [LibraryName, "module"],
];
