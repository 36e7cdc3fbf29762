/** Python's builtin functions. */
import { Tensor } from "../../tensor";
import type { Unknown } from "../../unknown";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { doubtAttributes } from "../doubted";
import { findAttribute, getAttribute, setAttribute, deleteAttribute } from "../attributes";
import { isInstance } from "../classes";
import { PythonError } from "../errors";
import { binaryOperation, truthOf } from "../expressions";
import { formatValue, representation } from "../format";
import { dictSet, itemsOf, iterate, iterated, stopped } from "../iteration";
import type { Interpreter } from "../interpreter";
import { batchOf, isLoader } from "../library/batches";
import { integer, isFloat, numeric, roundHalfEven, roundTo } from "../numbers";
import { compare, keyOf } from "../operations";
import { openFile } from "../library/configuration-files";
import { callMethod, payloadOf } from "../overloads";
import {
  BoundMethod,
  ClassValue,
  DictValue,
  Float,
  FunctionValue,
  IteratorValue,
  LibraryName,
  ListValue,
  NativeFunction,
  ObjectValue,
  PartialValue,
  RangeValue,
  SetValue,
  SliceValue,
  SuperValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import type { Span } from "../../../python/tree";

/** `len(value)`. */
export function lengthOf(interpreter: Interpreter, value: Value, span: Span | undefined): Value {
  if (typeof value === "string") return Array.from(value).length;
  if (value instanceof ListValue || value instanceof TupleValue) return value.items.length;
  if (value instanceof DictValue) return value.uncertain ?? value.entries.size;
  if (value instanceof SetValue) return value.entries.size;
  if (value instanceof RangeValue) return value.length;
  if (isUnknown(value)) return value;
  if (value instanceof Tensor)
    return value.shape[0] ?? interpreter.raise("TypeError", "len() of a 0-d tensor", span);
  if (value instanceof ObjectValue) {
    const own = callMethod(interpreter, value, "__len__", [], span);
    if (own !== undefined) return own;
    if (value.payload !== undefined) return lengthOf(interpreter, value.payload, span);
  }
  if (value instanceof ClassValue && value.isEnum)
    return (itemsOf(interpreter, value, span) as Value[]).length;
  return interpreter.unknown("unsupported", span, { what: `len(${interpreter.typeName(value)})` });
}

function iterator(source: Iterable<Value>, ...held: Value[]): IteratorValue {
  return new IteratorValue(source[Symbol.iterator](), held);
}

const enumerate: Native = (interpreter, args, span) => {
  const given = iterated(interpreter, args.or(0, "iterable", null), span);
  const items = iterate(interpreter, given, span);
  if (isUnknown(items)) return items;
  const start = integer(args.or(1, "start", 0)) ?? 0;
  return iterator(enumerated(items, start), given);
};

function* enumerated(items: Iterable<Value>, start: number): Iterable<Value> {
  let index = start;
  for (const item of items) yield new TupleValue([index++, item]);
}

const zip: Native = (interpreter, args, span) => {
  const sources = args.positional.map((value) => iterated(interpreter, value, span));
  const iterators: Iterator<Value>[] = [];
  for (const source of sources) {
    const items = iterate(interpreter, source, span);
    if (isUnknown(items)) return items;
    iterators.push(items[Symbol.iterator]());
  }
  return iterator(zipped(iterators), ...sources);
};

function* zipped(iterators: readonly Iterator<Value>[]): Iterable<Value> {
  if (iterators.length === 0) return;
  for (;;) {
    const items: Value[] = [];
    for (const one of iterators) {
      const next = one.next();
      if (next.done === true) return;
      items.push(next.value);
    }
    yield new TupleValue(items);
  }
}

const map: Native = (interpreter, args, span) => {
  const callee = args.at(0) ?? null;
  const source = zip(interpreter, args.withoutFirst(), span);
  if (!(source instanceof IteratorValue)) return source;
  return iterator(mapped(interpreter, callee, source, span), callee, source);
};

function* mapped(
  interpreter: Interpreter,
  callee: Value,
  source: IteratorValue,
  span: Span | undefined,
): Iterable<Value> {
  for (let next = source.source.next(); next.done !== true; next = source.source.next()) {
    interpreter.tick();
    const items = next.value instanceof TupleValue ? next.value.items : [];
    yield interpreter.call(callee, new CallArguments(items), span);
  }
}

const filter: Native = (interpreter, args, span) => {
  const test = args.at(0) ?? null;
  const given = args.at(1) ?? null;
  const items = itemsOf(interpreter, given, span);
  if (isUnknown(items)) return items;
  const kept: Value[] = [];
  for (const item of items) {
    const answer = test === null ? item : interpreter.call(test, new CallArguments([item]), span);
    const wanted = truthOf(interpreter, answer, span ?? nowhere);
    if (isUnknown(wanted)) return wanted;
    if (wanted) kept.push(item);
  }
  return iterator(kept, ...kept);
};

const nowhere: Span = { start: 0, end: 0 };

const reversed: Native = (interpreter, args, span) => {
  const given = args.at(0) ?? null;
  const own =
    given instanceof ObjectValue ? callMethod(interpreter, given, "__reversed__", [], span) : undefined;
  if (own !== undefined) return own;
  const items = itemsOf(interpreter, given, span);
  return isUnknown(items) ? items : iterator(items.reverse(), ...items);
};

const sorted: Native = (interpreter, args, span) => {
  const items = itemsOf(interpreter, args.or(0, "iterable", null), span);
  if (isUnknown(items)) return items;
  const order = sortedItems(interpreter, items, args.or(9, "key", null), args.or(9, "reverse", false), span);
  return isUnknown(order) ? order : new ListValue(order);
};

/** The items in Python's order; stable. */
export function sortedItems(
  interpreter: Interpreter,
  items: readonly Value[],
  key: Value,
  reverse: Value,
  span: Span | undefined,
): Value[] | Unknown {
  const keyed = items.map((item) => ({
    item,
    key: key === null ? item : interpreter.call(key, new CallArguments([item]), span),
  }));
  const unordered: unknown[] = [];
  const direction = reverse === true ? -1 : 1;
  keyed.sort((a, b) => {
    const order = compare(payloadOf(a.key), payloadOf(b.key));
    if (order === undefined) unordered.push(a);
    return direction * (order ?? 0);
  });
  if (unordered.length === 0) return keyed.map((entry) => entry.item);
  return items.find(isUnknown) ?? interpreter.unknown("unsupported", span, { what: "sorted" });
}

function extreme(name: "min" | "max"): Native {
  const sign = name === "min" ? -1 : 1;
  return (interpreter, args, span) => {
    const given =
      args.positional.length === 1 ? itemsOf(interpreter, args.at(0) ?? null, span) : [...args.positional];
    if (isUnknown(given)) return given;
    const key = args.keywords.get("key") ?? null;
    let best: Value | undefined;
    let bestKey: Value = null;
    for (const item of given) {
      if (isUnknown(item)) return item;
      const own = key === null ? item : interpreter.call(key, new CallArguments([item]), span);
      const order: number | undefined = best === undefined ? sign : compare(own, bestKey);
      if (order === undefined) return interpreter.unknown("unsupported", span, { what: name });
      if (order * sign > 0 || best === undefined) {
        best = item;
        bestKey = own;
      }
    }
    if (best !== undefined) return best;
    const otherwise = args.keywords.get("default");
    if (otherwise !== undefined) return otherwise;
    return interpreter.raise("ValueError", `${name}() of an empty sequence`, span);
  };
}

const sum: Native = (interpreter, args, span) => {
  const items = iterate(interpreter, args.or(0, "iterable", null), span);
  if (isUnknown(items)) return items;
  const { references } = interpreter;
  const mark = references.mark();
  let total: Value = args.or(1, "start", 0);
  for (const item of items) {
    interpreter.tick();
    total = binaryOperation(interpreter, "+", total, item, span ?? nowhere);
    references.settle(mark, total);
  }
  return total;
};

function quantifier(decisive: boolean): Native {
  return (interpreter, args, span) => {
    const items = itemsOf(interpreter, args.at(0) ?? null, span);
    if (isUnknown(items)) return items;
    let unknown: Unknown | undefined;
    for (const item of items) {
      const answer = truthOf(interpreter, item, span ?? nowhere);
      if (isUnknown(answer)) unknown = answer;
      else if (answer === decisive) return decisive;
    }
    return unknown ?? !decisive;
  };
}

const abs: Native = (interpreter, args, span) => {
  const value = args.at(0) ?? null;
  if (value instanceof Tensor) return interpreter.library.call("torch.abs", args, span);
  const number = numeric(value);
  if (number !== undefined) return value instanceof Float ? new Float(Math.abs(number)) : Math.abs(number);
  return isUnknown(value) ? value : interpreter.unknown("call", span, { name: "abs" });
};

const round: Native = (interpreter, args, span) => {
  const value = args.at(0) ?? null;
  const digits = args.or(1, "ndigits", null);
  const number = numeric(value);
  if (number === undefined) {
    if (value instanceof Tensor) return interpreter.library.call("torch.round", args, span);
    return isUnknown(value) ? value : interpreter.unknown("call", span, { name: "round" });
  }
  if (digits === null)
    return Number.isFinite(number) ? roundHalfEven(number) : interpreter.unknown("number", span);
  const places = integer(digits);
  if (places === undefined)
    return isUnknown(digits) ? digits : interpreter.unknown("call", span, { name: "round" });
  const rounded = roundTo(number, places);
  return isFloat(value) ? new Float(rounded) : rounded;
};

const pow: Native = (interpreter, args, span) =>
  binaryOperation(interpreter, "**", args.at(0) ?? null, args.at(1) ?? null, span ?? nowhere);

const divmod: Native = (interpreter, args, span) => {
  const [left, right] = [args.at(0) ?? null, args.at(1) ?? null];
  const whole = binaryOperation(interpreter, "//", left, right, span ?? nowhere);
  const rest = binaryOperation(interpreter, "%", left, right, span ?? nowhere);
  return new TupleValue([whole, rest]);
};

const next: Native = (interpreter, args, span) => {
  const given = args.at(0) ?? null;
  if (given instanceof IteratorValue) {
    const item = given.source.next();
    if (item.done !== true) return item.value;
    return args.at(1) !== undefined ? (args.at(1) ?? null) : interpreter.raise("StopIteration", "", span);
  }
  if (isLoader(given)) return batchOf(interpreter, given, span);
  if (given instanceof ObjectValue) {
    const own = stopped(interpreter, "StopIteration", () =>
      callMethod(interpreter, given, "__next__", [], span),
    );
    if (own !== undefined) return own;
    if (args.at(1) !== undefined) return args.at(1) ?? null;
  }
  return isUnknown(given) ? given : interpreter.unknown("call", span, { name: "next" });
};

const iter: Native = (interpreter, args, span) => {
  const given = args.at(0) ?? null;
  // What an iterator over a loader gives next is a batch like any other.
  if (given instanceof IteratorValue || isLoader(given)) return given;
  const source = iterated(interpreter, given, span);
  const items = iterate(interpreter, source, span);
  return isUnknown(items) ? items : iterator(items, source);
};

const getattr: Native = (interpreter, args, span) => {
  const [object, name] = [args.at(0) ?? null, args.at(1) ?? null];
  if (typeof name !== "string")
    return isUnknown(name) ? name : interpreter.unknown("call", span, { name: "getattr" });
  const otherwise = args.at(2);
  if (otherwise === undefined) return getAttribute(interpreter, object, name, span);
  const found = stopped(interpreter, "AttributeError", () => findAttribute(interpreter, object, name, span));
  if (found !== undefined) return found;
  return otherwise;
};

const hasattr: Native = (interpreter, args, span) => {
  const [object, name] = [args.at(0) ?? null, args.at(1) ?? null];
  if (typeof name !== "string")
    return isUnknown(name) ? name : interpreter.unknown("call", span, { name: "hasattr" });
  if (object instanceof LibraryName) return interpreter.library.has(object.path, name, span);
  const found = stopped(interpreter, "AttributeError", () => findAttribute(interpreter, object, name, span));
  return found !== undefined && isUnknown(found) ? found : found !== undefined;
};

const setattr: Native = (interpreter, args, span) => {
  const name = args.at(1) ?? null;
  if (typeof name === "string") setAttribute(interpreter, args.at(0) ?? null, name, args.at(2) ?? null, span);
  else if (isUnknown(name)) {
    interpreter.note(name);
    const object = args.at(0);
    if (object instanceof ObjectValue) doubtAttributes(object, name);
  }
  return null;
};

const delattr: Native = (interpreter, args, span) => {
  const name = args.at(1) ?? null;
  if (typeof name === "string") deleteAttribute(interpreter, args.at(0) ?? null, name, span);
  return null;
};

const isinstance: Native = (interpreter, args, span) =>
  isInstance(interpreter, args.at(0) ?? null, args.at(1) ?? null) ??
  args.unknown() ??
  interpreter.unknown("call", span, { name: "isinstance" });

const issubclass: Native = (interpreter, args, span) => {
  const [type, of] = [args.at(0) ?? null, args.at(1) ?? null];
  const others = of instanceof TupleValue ? of.items : [of];
  if (type instanceof ClassValue && others.every((other) => other instanceof ClassValue)) {
    return others.some((other) => other instanceof ClassValue && type.isSubclassOf(other));
  }
  return args.unknown() ?? interpreter.unknown("call", span, { name: "issubclass" });
};

const callable: Native = (_, args) => {
  const value = args.at(0) ?? null;
  if (isUnknown(value)) return value;
  if (value instanceof ObjectValue)
    return value.module !== undefined || value.type.attribute("__call__") !== undefined;
  return [FunctionValue, NativeFunction, BoundMethod, ClassValue, PartialValue, LibraryName].some(
    (type) => value instanceof type,
  );
};

const superFunction: Native = (interpreter, args, span) => {
  const frame = interpreter.frame.function;
  const after = args.at(0) ?? enclosingClass(interpreter);
  const receiver = args.at(1) ?? methodReceiver(interpreter) ?? frame.receiver;
  if (after instanceof ClassValue && (receiver instanceof ObjectValue || receiver instanceof ClassValue)) {
    return new SuperValue(after, receiver);
  }
  return interpreter.unknown("call", span, { name: "super" });
};

/** The class of the method that runs, also from functions inside it. */
function enclosingClass(interpreter: Interpreter): ClassValue | undefined {
  for (
    let frame: typeof interpreter.frame | undefined = interpreter.frame;
    frame !== undefined;
    frame = frame.parent
  ) {
    if (frame.callee?.definingClass !== undefined) return frame.callee.definingClass;
  }
  return undefined;
}

function methodReceiver(interpreter: Interpreter): Value | undefined {
  for (
    let frame: typeof interpreter.frame | undefined = interpreter.frame;
    frame !== undefined;
    frame = frame.parent
  ) {
    if (frame.callee?.definingClass !== undefined) return frame.receiver;
  }
  return undefined;
}

const slice: Native = (_, args) =>
  args.positional.length === 1
    ? new SliceValue(null, args.at(0) ?? null, null)
    : new SliceValue(args.at(0) ?? null, args.at(1) ?? null, args.at(2) ?? null);

const repr: Native = (interpreter, args) => representation(interpreter, args.at(0) ?? null);

const format: Native = (interpreter, args) => {
  const specification = args.at(1) ?? "";
  return formatValue(interpreter, args.at(0) ?? null, typeof specification === "string" ? specification : "");
};

const ignore: Native = () => null;

const hash: Native = (interpreter, args, span) => {
  const key = keyOf(args.at(0) ?? null);
  return key === undefined ? interpreter.unknown("call", span, { name: "hash" }) : key.length;
};

const vars: Native = (interpreter, args, span) => {
  const object = args.at(0) ?? null;
  if (object instanceof ObjectValue) return interpreter.library.objectDict(object);
  return isUnknown(object) ? object : interpreter.unknown("call", span, { name: "vars" });
};

/**
 * `dir(object)`: what is not known is which names there are, but of one name it can be asked, as in
 * `"silu" in dir(torch.nn.functional)`.
 */
const dir: Native = (interpreter, args, span) => {
  const object = args.at(0);
  if (object === undefined || isUnknown(object))
    return object ?? interpreter.unknown("call", span, { name: "dir" });
  const names = new DictValue();
  const reason = interpreter.unknown("call", span, { name: "dir" });
  const has = (name: Value): Value =>
    typeof name === "string" ? hasattr(interpreter, new CallArguments([object, name]), span) : reason;
  names.registry = {
    fill: (name) => {
      if (has(name) === true) dictSet(interpreter, names, name, name);
    },
    doubt: (name) => (has(name) === false ? undefined : reason),
    reason,
  };
  return names;
};

const globals: Native = (interpreter) => interpreter.library.frameDict(interpreter.globals);
const locals: Native = (interpreter) => interpreter.library.frameDict(interpreter.frame);

const chr: Native = (interpreter, args, span) => {
  const code = integer(args.at(0) ?? null);
  return code !== undefined && code >= 0 && code < 0x110000
    ? String.fromCodePoint(code)
    : interpreter.raise("ValueError", "chr()", span);
};

const ord: Native = (interpreter, args, span) => {
  const text = args.at(0);
  return typeof text === "string"
    ? (text.codePointAt(0) ?? 0)
    : interpreter.raise("TypeError", "ord()", span);
};

/** Whether an error is the Python exception named. */
export function isPythonError(error: unknown): error is PythonError {
  return error instanceof PythonError;
}

export const builtinFunctions: Readonly<Record<string, Native>> = {
  abs,
  all: quantifier(false),
  any: quantifier(true),
  callable,
  chr,
  delattr,
  dir,
  divmod,
  enumerate,
  filter,
  format,
  getattr,
  globals,
  hasattr,
  hash,
  id: hash,
  isinstance,
  issubclass,
  iter,
  len: (interpreter, args, span) => lengthOf(interpreter, args.at(0) ?? null, span),
  locals,
  map,
  max: extreme("max"),
  min: extreme("min"),
  next,
  ord,
  pow,
  print: ignore,
  repr,
  reversed,
  round,
  setattr,
  open: openFile,
  slice,
  sorted,
  sum,
  super: superFunction,
  vars,
  zip,
};
