/** Python's builtin types as classes: what calling them makes. */
import { Tensor } from "../../tensor";
import { isUnknown } from "../../unknown";
import type { CallArguments } from "../arguments";
import { textOfValue } from "../format";
import { dictSet, itemsOf } from "../iteration";
import { doubtAttributes } from "../doubted";
import type { Interpreter } from "../interpreter";
import { integer, numeric } from "../numbers";
import { sizeLimit } from "../operations";
import { callMethod, payloadOf, setOf } from "../overloads";
import { unknownFloat } from "../unknown-floats";
import { truthOf } from "../expressions";
import {
  ClassValue,
  DictValue,
  Float,
  ListValue,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  RangeValue,
  SetValue,
  TupleValue,
  type Value,
} from "../values";
import type { Span } from "../../../python/tree";

type Make = (interpreter: Interpreter, args: CallArguments, span: Span | undefined) => Value;

const nowhere: Span = { start: 0, end: 0 };

function makeInt(interpreter: Interpreter, args: CallArguments, span: Span | undefined): Value {
  const value = payloadOf(args.or(0, "x", 0));
  const number = numeric(value);
  if (number !== undefined) {
    const whole = Math.trunc(number);
    return Number.isSafeInteger(whole) ? whole + 0 : interpreter.unknown("number", span);
  }
  if (typeof value === "string")
    return parsedInt(interpreter, value, integer(args.or(1, "base", 10)) ?? 10, span);
  if (value instanceof ObjectValue) {
    const own =
      callMethod(interpreter, value, "__int__", [], span) ??
      callMethod(interpreter, value, "__index__", [], span);
    if (own !== undefined) return own;
  }
  if (value instanceof Tensor) return tensorNumber(interpreter, value, span, Math.trunc);
  return isUnknown(value) ? value : interpreter.raise("TypeError", "int() argument", span);
}

function parsedInt(interpreter: Interpreter, text: string, base: number, span: Span | undefined): Value {
  const plain = text.trim().replace(/_/g, "");
  if (base === 10 && !/^[+-]?\d+$/.test(plain)) {
    return interpreter.raise("ValueError", `invalid literal for int(): '${text}'`, span);
  }
  const number = Number.parseInt(plain.replace(/^0[xXoObB]/, ""), base === 0 ? 10 : base);
  return Number.isNaN(number) ? interpreter.raise("ValueError", "invalid literal for int()", span) : number;
}

function tensorNumber(
  interpreter: Interpreter,
  tensor: Tensor,
  span: Span | undefined,
  convert: (value: number) => number,
): Value {
  const value = tensor.values?.length === 1 ? tensor.values[0] : undefined;
  return value === undefined ? interpreter.unknown("tensorValue", span) : convert(value);
}

function makeFloat(interpreter: Interpreter, args: CallArguments, span: Span | undefined): Value {
  const value = payloadOf(args.or(0, "x", 0));
  const number = numeric(value);
  if (number !== undefined) return new Float(number);
  if (typeof value === "string") {
    const text = value.trim().toLowerCase().replace(/_/g, "");
    const special = /^([+-]?)(inf|infinity|nan)$/.exec(text);
    if (special !== null)
      return new Float(special[2] === "nan" ? NaN : special[1] === "-" ? -Infinity : Infinity);
    const parsed = Number(text);
    return text !== "" && !Number.isNaN(parsed)
      ? new Float(parsed)
      : interpreter.raise("ValueError", `could not convert string to float: '${value}'`, span);
  }
  if (value instanceof ObjectValue) {
    const own = callMethod(interpreter, value, "__float__", [], span);
    if (own !== undefined) return own;
  }
  if (value instanceof Tensor) return unknownFloat(interpreter.unknown("tensorValue", span));
  // whatever it is, this makes a float of it
  return isUnknown(value) ? unknownFloat(value) : interpreter.raise("TypeError", "float() argument", span);
}

function makeStr(interpreter: Interpreter, args: CallArguments): Value {
  return textOfValue(interpreter, args.or(0, "object", ""));
}

function makeBool(interpreter: Interpreter, args: CallArguments, span: Span | undefined): Value {
  return truthOf(interpreter, args.or(0, "x", false), span ?? nowhere);
}

function makeList(interpreter: Interpreter, args: CallArguments, span: Span | undefined): Value {
  if (args.count === 0) return new ListValue([]);
  const items = itemsOf(interpreter, args.at(0) ?? null, span);
  return isUnknown(items) ? items : new ListValue(items);
}

function makeTuple(interpreter: Interpreter, args: CallArguments, span: Span | undefined): Value {
  if (args.count === 0) return new TupleValue([]);
  const items = itemsOf(interpreter, args.at(0) ?? null, span);
  return isUnknown(items) ? items : new TupleValue(items);
}

function makeSet(frozen: boolean): Make {
  return (interpreter, args, span) => {
    if (args.count === 0) return new SetValue(frozen);
    const items = itemsOf(interpreter, args.at(0) ?? null, span);
    if (isUnknown(items)) return items;
    return (
      setOf(items, frozen) ??
      items.find(isUnknown) ??
      interpreter.unknown("unsupported", span, { what: "set" })
    );
  };
}

function makeDict(interpreter: Interpreter, args: CallArguments, span: Span | undefined): Value {
  const dict = new DictValue();
  fillDict(interpreter, dict, args, span);
  return dict;
}

/** `dict(…)` and `dict.update(…)`: pairs or another dict, then keywords. */
export function fillDict(
  interpreter: Interpreter,
  dict: DictValue,
  args: CallArguments,
  span: Span | undefined,
): void {
  const given = args.at(0);
  if (given !== undefined) {
    const source = payloadOf(given);
    if (source instanceof DictValue) {
      for (const entry of source.entries.values()) dictSet(interpreter, dict, entry.key, entry.value);
      dict.tainted ??= source.uncertain;
    } else fillFromPairs(interpreter, dict, source, span);
  }
  for (const [name, value] of args.keywords) dictSet(interpreter, dict, name, value);
  dict.tainted ??= args.unknownKeywords;
  const { owner, tainted } = dict;
  if (owner !== undefined && tainted !== undefined) doubtAttributes(owner, tainted);
}

function fillFromPairs(
  interpreter: Interpreter,
  dict: DictValue,
  source: Value,
  span: Span | undefined,
): void {
  const pairs = itemsOf(interpreter, source, span);
  if (isUnknown(pairs)) {
    dict.tainted ??= pairs;
    return;
  }
  for (const pair of pairs) {
    const parts = itemsOf(interpreter, pair, span);
    if (isUnknown(parts)) dict.tainted ??= parts;
    else dictSet(interpreter, dict, parts[0] ?? null, parts[1] ?? null);
  }
}

function makeRange(interpreter: Interpreter, args: CallArguments, span: Span | undefined): Value {
  const numbers: number[] = [];
  for (const value of args.positional) {
    const number =
      integer(value) ?? (value instanceof Tensor && value.values?.length === 1 ? value.values[0] : undefined);
    if (number === undefined) {
      if (isUnknown(value)) return value;
      if (value instanceof Tensor) return interpreter.unknown("tensorValue", span);
      return interpreter.raise(
        "TypeError",
        `'${interpreter.typeName(value)}' object cannot be interpreted as an integer`,
        span,
      );
    }
    numbers.push(number);
  }
  const [first = 0, second, step = 1] = numbers;
  if (step === 0) return interpreter.raise("ValueError", "range() arg 3 must not be zero", span);
  return second === undefined ? new RangeValue(0, first, 1) : new RangeValue(first, second, step);
}

const makers: Readonly<Record<string, Make>> = {
  int: makeInt,
  float: makeFloat,
  str: makeStr,
  bool: makeBool,
  list: makeList,
  tuple: makeTuple,
  set: makeSet(false),
  frozenset: makeSet(true),
  dict: makeDict,
  range: makeRange,
};

/** Types whose instances can be changed: a subclass's `__init__` fills an empty one. */
const fillers: Readonly<Record<string, Make>> = { list: makeList, dict: makeDict, set: makeSet(false) };

/** The builtin types by name. Instances of classes derived from them carry the builtin value as their payload. */
export function builtinTypes(): Map<string, ClassValue> {
  const types = new Map<string, ClassValue>();
  for (const [name, make] of Object.entries(makers)) {
    const type = new ClassValue(name, []);
    type.construct = (interpreter, made, args, span) =>
      made === type ? make(interpreter, args, span) : derived(interpreter, made, make, args, span);
    const filler = fillers[name];
    if (filler !== undefined) type.attributes.set("__init__", payloadInit(filler));
    types.set(name, type);
  }
  types.set("object", new ClassValue("object", []));
  types.set("bytes", new ClassValue("bytes", []));
  types.set("complex", new ClassValue("complex", []));
  const dict = types.get("dict");
  dict?.attributes.set("fromkeys", new MethodWrapper("class", new NativeFunction("fromkeys", fromKeys)));
  return types;
}

function derived(
  interpreter: Interpreter,
  type: ClassValue,
  make: Make,
  args: CallArguments,
  span: Span | undefined,
): Value {
  const object = new ObjectValue(type);
  object.span = span;
  interpreter.references.keep(object);
  const init = type.attribute("__init__");
  const isMutable = [...Object.values(fillers)].includes(make) || make === makeList || make === makeDict;
  if (!isMutable) {
    object.payload = make(interpreter, args, span);
    return object;
  }
  object.payload = emptyOf(type);
  if (init !== undefined) interpreter.call(init, args.withReceiver(object), span);
  return object;
}

function emptyOf(type: ClassValue): Value {
  const names = type.mro.map((one) => one.name);
  if (names.includes("dict")) return new DictValue();
  return names.includes("list") ? new ListValue([]) : new SetValue();
}

/** `dict.__init__(self, …)` on an object derived from dict, and likewise for list and set. */
function payloadInit(make: Make): NativeFunction {
  return new NativeFunction("__init__", (interpreter, args, span) => {
    const object = args.at(0);
    if (!(object instanceof ObjectValue)) return null;
    if (object.payload instanceof DictValue) {
      fillDict(interpreter, object.payload, args.withoutFirst(), span);
      return null;
    }
    const made = make(interpreter, args.withoutFirst(), span);
    interpreter.references.adopt(object, made);
    object.payload = made;
    return null;
  });
}

function fromKeys(interpreter: Interpreter, args: CallArguments, span: Span | undefined): Value {
  const keys = itemsOf(interpreter, args.at(1) ?? null, span);
  if (isUnknown(keys)) return keys;
  const dict = new DictValue();
  if (keys.length > sizeLimit) return interpreter.unknown("size", span);
  for (const key of keys) dictSet(interpreter, dict, key, args.at(2) ?? null);
  return dict;
}
