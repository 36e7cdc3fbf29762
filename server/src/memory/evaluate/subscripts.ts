/** `object[index]`, read, written and deleted. */
import { unknownReasons } from "../../messages/estimate";
import { message } from "../../messages/message";
import type { Span } from "../../python/tree";
import { Tensor } from "../tensor";
import { isUnknown, Unknown } from "../unknown";
import { CallArguments } from "./arguments";
import { runOperator } from "./bridge";
import { dictRemove, dictSet, enumMembers, itemsOf } from "./iteration";
import type { Interpreter } from "./interpreter";
import { integer } from "./numbers";
import { withKnownLength } from "./offsets";
import { keyOf, keyText } from "./operations";
import { callMethod } from "./overloads";
import {
  ClassValue,
  DictValue,
  LibraryName,
  ListValue,
  NativeFunction,
  ObjectValue,
  RangeValue,
  SliceValue,
  TupleValue,
  type Value,
} from "./values";

export function getItem(interpreter: Interpreter, object: Value, index: Value, span: Span): Value {
  if (isUnknown(object)) return object;
  if (object instanceof Tensor) {
    const known = withKnownLength(index);
    return runOperator(interpreter, "Tensor.__getitem__", new CallArguments([object, known]), span);
  }
  if (object instanceof DictValue) return getKey(interpreter, object, index, span);
  if (object instanceof ListValue || object instanceof TupleValue)
    return getPosition(interpreter, object, index, span);
  if (typeof object === "string") {
    const picked = pick(interpreter, Array.from(object), index, span);
    return Array.isArray(picked) ? picked.map(keyText).join("") : picked;
  }
  if (object instanceof RangeValue) return getFromRange(interpreter, object, index, span);
  if (object instanceof ObjectValue) return getFromObject(interpreter, object, index, span);
  if (object instanceof ClassValue) return getFromClass(interpreter, object, index, span);
  if (object instanceof LibraryName && object.path === "os.environ")
    return interpreter.unknown("call", span, { name: object.path });
  if (object instanceof LibraryName && object.path.endsWith(".__dict__"))
    return getFromLibrary(interpreter, object.path.slice(0, -".__dict__".length), index, span);
  // `list[int]`, `Callable[..., int]`: annotations at run time
  if (object instanceof LibraryName || object instanceof NativeFunction) return object;
  return interpreter.unknown("unsupported", span, { what: `${interpreter.typeName(object)}[]` });
}

/** `torchvision.models.__dict__[arch]`: the function or class of that name. */
function getFromLibrary(interpreter: Interpreter, module: string, name: Value, span: Span): Value {
  if (isUnknown(name)) return name;
  const found = typeof name === "string" ? interpreter.library.attribute(module, name) : undefined;
  return found ?? interpreter.unknown("unsupported", span, { what: `${module}.__dict__[]` });
}

function getFromClass(interpreter: Interpreter, type: ClassValue, index: Value, span: Span): Value {
  if (!type.isEnum) return type;
  const member = enumMembers(type).find(
    (one) => one instanceof ObjectValue && one.attributes.get("name") === index,
  );
  if (member !== undefined) return member;
  return isUnknown(index) ? index : interpreter.raise("KeyError", keyText(index), span);
}

function getFromObject(interpreter: Interpreter, object: ObjectValue, index: Value, span: Span): Value {
  const own = callMethod(interpreter, object, "__getitem__", [index], span);
  if (own !== undefined) return own;
  if (object.payload instanceof DictValue && keyOf(index) !== undefined) {
    const missing = object.type.attribute("__missing__");
    if (missing !== undefined && !object.payload.entries.has(keyOf(index) ?? "")) {
      return interpreter.call(missing, new CallArguments([object, index]), span);
    }
  }
  if (object.payload !== undefined) return getItem(interpreter, object.payload, index, span);
  return (
    object.type.unknownBase ??
    interpreter.raise("TypeError", `'${object.type.name}' object is not subscriptable`, span)
  );
}

function getKey(interpreter: Interpreter, dict: DictValue, index: Value, span: Span): Value {
  const key = keyOf(index);
  if (key === undefined)
    return isUnknown(index) ? index : interpreter.unknown("unsupported", span, { what: "dict[]" });
  const entry = dict.find(key, index);
  if (entry !== undefined) return entry.value;
  if (dict.tainted !== undefined) return dict.tainted;
  if (dict.factory !== null) {
    const made = interpreter.call(dict.factory, new CallArguments([]), span);
    dictSet(interpreter, dict, index, made);
    return made;
  }
  const doubt = dict.doubt(index);
  if (doubt !== undefined) return doubt;
  return interpreter.raise("KeyError", typeof index === "string" ? `'${index}'` : keyText(index), span);
}

function getPosition(
  interpreter: Interpreter,
  object: ListValue | TupleValue,
  index: Value,
  span: Span,
): Value {
  const picked = pick(interpreter, object.items, index, span);
  if (!Array.isArray(picked)) return picked;
  return object instanceof ListValue
    ? new ListValue(picked)
    : new TupleValue(picked, undefined, object.isSize);
}

/** One item, or the items of a slice as an array. */
export function pick(
  interpreter: Interpreter,
  items: readonly Value[],
  index: Value,
  span: Span,
): Value | Value[] {
  if (index instanceof SliceValue) {
    const positions = slicePositions(index, items.length);
    if (isUnknown(positions)) return positions;
    interpreter.tick(positions.length >> 4);
    return positions.map((position) => items[position] ?? null);
  }
  const position = positionOf(interpreter, index, span);
  if (isUnknown(position)) return position;
  const at = position < 0 ? position + items.length : position;
  if (at < 0 || at >= items.length) return interpreter.raise("IndexError", "list index out of range", span);
  return items[at] ?? null;
}

function positionOf(interpreter: Interpreter, index: Value, span: Span): number | Unknown {
  if (isUnknown(index)) return index;
  const position = integer(index);
  if (position !== undefined) return position;
  if (index instanceof Tensor) {
    const value = index.values?.length === 1 ? index.values[0] : undefined;
    return value ?? interpreter.unknown("tensorValue", span);
  }
  return interpreter.raise("TypeError", "indices must be integers or slices", span);
}

/** Start, stop and step of a slice over a length, clipped as Python does. Unknown when a bound is not known. */
export function sliceBounds(slice: SliceValue, length: number): [number, number, number] | Unknown {
  const [lower, upper, given] = [boundOf(slice.lower), boundOf(slice.upper), boundOf(slice.step)];
  for (const bound of [lower, upper, given]) if (isUnknown(bound)) return bound;
  const step = integer(given) ?? 1;
  const clip = (bound: Value, otherwise: number): number => {
    const value = integer(bound);
    if (value === undefined) return otherwise;
    const at = value < 0 ? value + length : value;
    return step > 0 ? Math.min(Math.max(at, 0), length) : Math.min(Math.max(at, -1), length - 1);
  };
  return step >= 0
    ? [clip(lower, 0), clip(upper, length), step]
    : [clip(lower, length - 1), clip(upper, -1), step];
}

/** A bound of a slice as an int or None: a tensor of one element is its `__index__`. */
function boundOf(bound: Value): Value {
  if (bound === null || isUnknown(bound) || integer(bound) !== undefined) return bound;
  const value = bound instanceof Tensor && bound.values?.length === 1 ? bound.values[0] : undefined;
  return value ?? new Unknown(message(unknownReasons.tensorValue), undefined);
}

function slicePositions(slice: SliceValue, length: number): number[] | Unknown {
  const bounds = sliceBounds(slice, length);
  if (isUnknown(bounds)) return bounds;
  const [start, stop, step] = bounds;
  const positions: number[] = [];
  if (step > 0) for (let i = start; i < stop; i += step) positions.push(i);
  if (step < 0) for (let i = start; i > stop; i += step) positions.push(i);
  return positions;
}

function getFromRange(interpreter: Interpreter, range: RangeValue, index: Value, span: Span): Value {
  if (index instanceof SliceValue) {
    const bounds = sliceBounds(index, range.length);
    if (isUnknown(bounds)) return bounds;
    const [start, stop, step] = bounds;
    return new RangeValue(range.at(start), range.at(stop), range.step * (step === 0 ? 1 : step));
  }
  const position = positionOf(interpreter, index, span);
  if (isUnknown(position)) return position;
  const at = position < 0 ? position + range.length : position;
  return at >= 0 && at < range.length
    ? range.at(at)
    : interpreter.raise("IndexError", "range index out of range", span);
}

/**
 * `queue[:, ptr : ptr + n] = keys` without a graph, where only a run knows the place or the number that is written: the tensor
 * stays as large as it is, and nothing is made.
 */
function writesSomewhere({ execution }: Interpreter, index: Value, value: Value): boolean {
  if (execution.gradEnabled) return false;
  const parts = index instanceof TupleValue ? index.items : [index];
  if (!parts.every((part) => part instanceof SliceValue || typeof part === "number")) return false;
  const isOpen = ({ lower, upper, step }: SliceValue): boolean => [lower, upper, step].some(isUnknown);
  return isUnknown(value) || parts.some((part) => part instanceof SliceValue && isOpen(part));
}

export function setItem(
  interpreter: Interpreter,
  object: Value,
  index: Value,
  value: Value,
  span: Span,
): void {
  if (object instanceof Tensor) {
    if (writesSomewhere(interpreter, index, value)) object.values = undefined;
    else runOperator(interpreter, "Tensor.__setitem__", new CallArguments([object, index, value]), span);
    return;
  }
  if (object instanceof DictValue) {
    dictSet(interpreter, object, index, value);
    return;
  }
  if (object instanceof ListValue) {
    setPosition(interpreter, object, index, value, span);
    return;
  }
  if (!(object instanceof ObjectValue)) return;
  if (callMethod(interpreter, object, "__setitem__", [index, value], span) !== undefined) return;
  if (object.payload !== undefined) setItem(interpreter, object.payload, index, value, span);
}

function setPosition(
  interpreter: Interpreter,
  list: ListValue,
  index: Value,
  value: Value,
  span: Span,
): void {
  const { references } = interpreter;
  if (index instanceof SliceValue) {
    const bounds = sliceBounds(index, list.items.length);
    const items = itemsOf(interpreter, value, span);
    if (isUnknown(bounds) || isUnknown(items)) return;
    const [start, stop, step] = bounds;
    if (step !== 1) {
      for (let i = start, k = 0; step > 0 ? i < stop : i > stop; i += step, k++) {
        setPosition(interpreter, list, i, items[k] ?? null, span);
      }
      return;
    }
    for (const item of items) references.adopt(list, item);
    for (const removed of list.items.splice(start, Math.max(0, stop - start), ...items))
      references.disown(list, removed);
    return;
  }
  const position = positionOf(interpreter, index, span);
  if (isUnknown(position)) {
    // any of the items may have been replaced
    list.items.fill(position);
    return;
  }
  const at = position < 0 ? position + list.items.length : position;
  if (at < 0 || at >= list.items.length)
    interpreter.raise("IndexError", "list assignment index out of range", span);
  const before = list.items[at] ?? null;
  references.adopt(list, value);
  list.items[at] = value;
  references.disown(list, before);
}

export function deleteItem(interpreter: Interpreter, object: Value, index: Value, span: Span): void {
  if (object instanceof DictValue) {
    if (dictRemove(interpreter, object, index) === undefined && !isUnknown(index)) {
      interpreter.raise("KeyError", keyText(index), span);
    }
    return;
  }
  if (object instanceof ListValue) {
    const slice =
      index instanceof SliceValue ? slicePositions(index, object.items.length) : [integer(index) ?? 0];
    if (isUnknown(slice)) return;
    for (const position of [...slice].sort((a, b) => b - a)) {
      const [removed] = object.items.splice(position < 0 ? position + object.items.length : position, 1);
      if (removed !== undefined) interpreter.references.disown(object, removed);
    }
    return;
  }
  if (!(object instanceof ObjectValue)) return;
  if (callMethod(interpreter, object, "__delitem__", [index], span) !== undefined) return;
  if (object.payload !== undefined) deleteItem(interpreter, object.payload, index, span);
}
