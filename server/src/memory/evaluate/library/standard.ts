/** `functools`, `operator`, `copy`, `collections`, and the rest of the standard library as far as models use it. */
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { findAttribute, getAttribute, setAttribute } from "../attributes";
import type { Interpreter } from "../interpreter";
import { deepCopy, shallowCopy } from "../copying";
import { binaryOperation, truthOf } from "../expressions";
import { dictSet, itemsOf } from "../iteration";
import { integer } from "../numbers";
import { keyOf } from "../operations";
import { getItem } from "../subscripts";
import { unknownFloat } from "../unknown-floats";
import {
  BoundMethod,
  ClassValue,
  DictValue,
  FunctionValue,
  ListValue,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  PartialValue,
  PropertyValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { AutoValue } from "./enums";
import { namedtuple } from "./namedtuples";
import type { BinaryOperator, Span } from "../../../python/tree";

const nowhere: Span = { start: 0, end: 0 };

/** Gives back what it is called with first: a decorator that changes nothing. */
export const identity: Native = (_, args) => args.at(0) ?? null;

/** A decorator that may be used with or without arguments and changes nothing. */
export const transparentDecorator: Native = (_, args) => {
  const first = args.at(0);
  const decorates = [
    FunctionValue,
    NativeFunction,
    BoundMethod,
    ClassValue,
    MethodWrapper,
    PropertyValue,
    PartialValue,
    ObjectValue,
  ];
  const isGiven =
    first !== undefined && (isUnknown(first) || decorates.some((kind) => first instanceof kind));
  if (isGiven) return first;
  return new NativeFunction("decorator", identity);
};

export const nothing: Native = () => null;

/** A partial of a partial is one, as in Python: its `func` is the inner one's. */
const partial: Native = (_, args) => {
  const callee = args.at(0) ?? null;
  const given = args.withoutFirst();
  if (!(callee instanceof PartialValue)) return new PartialValue(callee, given);
  const { positional, keywords, unknownKeywords } = callee.args;
  const merged = new CallArguments(
    [...positional, ...given.positional],
    new Map([...keywords, ...given.keywords]),
    given.unknownKeywords ?? unknownKeywords,
  );
  return new PartialValue(callee.callee, merged);
};

/** `functools.update_wrapper`: the wrapper takes over the name and the attributes of what it wraps. */
function wrap(interpreter: Interpreter, wrapper: Value, wrapped: Value): Value {
  if (!(wrapper instanceof FunctionValue)) return wrapper;
  const taken = new Map<string, Value>(wrapped instanceof FunctionValue ? wrapped.attributes : []);
  for (const name of ["__name__", "__qualname__", "__module__", "__doc__"]) {
    const value = findAttribute(interpreter, wrapped, name, undefined);
    if (value !== undefined && !isUnknown(value)) taken.set(name, value);
  }
  taken.set("__wrapped__", wrapped);
  for (const [name, value] of taken) setAttribute(interpreter, wrapper, name, value, undefined);
  return wrapper;
}

const reduce: Native = (interpreter, args, span) => {
  const items = itemsOf(interpreter, args.at(1) ?? null, span);
  if (isUnknown(items)) return items;
  const { references } = interpreter;
  const mark = references.mark();
  const [first, ...rest] = args.at(2) === undefined ? items : [args.at(2) ?? null, ...items];
  if (first === undefined) return interpreter.raise("TypeError", "reduce() of empty iterable", span);
  let total: Value = first;
  for (const item of rest) {
    interpreter.tick();
    total = interpreter.call(args.at(0) ?? null, new CallArguments([total, item]), span);
    references.settle(mark, total);
  }
  return total;
};

const defaultdict: Native = (interpreter, args, span) => {
  const dict = new DictValue();
  dict.factory = args.at(0) ?? null;
  const source = args.at(1);
  if (source instanceof DictValue) {
    for (const entry of source.entries.values()) dictSet(interpreter, dict, entry.key, entry.value);
  } else if (source !== undefined) {
    const pairs = itemsOf(interpreter, source, span);
    if (isUnknown(pairs)) dict.tainted = pairs;
    else {
      for (const pair of pairs) {
        if (pair instanceof TupleValue)
          dictSet(interpreter, dict, pair.items[0] ?? null, pair.items[1] ?? null);
      }
    }
  }
  return dict;
};

const counter: Native = (interpreter, args, span) => {
  const dict = new DictValue();
  dict.factory = new NativeFunction("zero", () => 0);
  if (args.at(0) === undefined) return dict;
  const items = itemsOf(interpreter, args.at(0) ?? null, span);
  if (isUnknown(items)) {
    dict.tainted = items;
    return dict;
  }
  for (const item of items) {
    const before = dict.entries.get(keyOf(item) ?? "")?.value;
    dictSet(interpreter, dict, item, typeof before === "number" ? before + 1 : 1);
  }
  return dict;
};

function operator(symbol: BinaryOperator): Native {
  return (interpreter, args, span) =>
    binaryOperation(interpreter, symbol, args.at(0) ?? null, args.at(1) ?? null, span ?? nowhere);
}

const itemgetter: Native = (_, args) => {
  const keys = args.positional;
  return new NativeFunction("itemgetter", (interpreter, inner, span) => {
    const picked = keys.map((key) => getItem(interpreter, inner.at(0) ?? null, key, span ?? nowhere));
    return picked.length === 1 ? (picked[0] ?? null) : new TupleValue(picked);
  });
};

const attrgetter: Native = (_, args) => {
  const path = args.at(0);
  return new NativeFunction("attrgetter", (interpreter, inner, span) => {
    let value: Value = inner.at(0) ?? null;
    for (const name of typeof path === "string" ? path.split(".") : [])
      value = getAttribute(interpreter, value, name, span);
    return value;
  });
};

const namespace: Native = (interpreter, args) => {
  const object = new ObjectValue(new ClassValue("SimpleNamespace", []));
  for (const [name, value] of args.keywords) {
    interpreter.references.adopt(object, value);
    object.attributes.set(name, value);
  }
  return object;
};

const property: Native = (_, args): Value =>
  new PropertyValue(args.or(0, "fget", null), args.or(1, "fset", null));

/** Decorators and types that live among the builtins. */
export const builtinDecorators: Readonly<Record<string, Native>> = {
  property,
  staticmethod: (_, args) => new MethodWrapper("static", args.at(0) ?? null),
  classmethod: (_, args) => new MethodWrapper("class", args.at(0) ?? null),
};

const cast: Native = (_, args) => args.at(1) ?? null;

/** A value of the operating system or of chance: nobody can know it here. */
const notKnown: Native = (interpreter, _, span) => interpreter.unknown("call", span, { name: "os" });

const drawn =
  (name: string): Native =>
  (interpreter, _, span) =>
    interpreter.unknown("chance", span, { name });

const drawnFloat =
  (name: string): Native =>
  (interpreter, _, span) =>
    unknownFloat(interpreter.unknown("chance", span, { name }));

const environment: Native = (interpreter, args, span) => {
  const otherwise = args.get(1, "default");
  return otherwise === undefined
    ? null
    : (otherwise ?? interpreter.unknown("call", span, { name: "os.environ.get" }));
};

const not: Native = (interpreter, args, span) => {
  const answer = truthOf(interpreter, args.at(0) ?? null, span ?? nowhere);
  return typeof answer === "boolean" ? !answer : answer;
};

export const standardFunctions: Readonly<Record<string, Native>> = {
  "functools.partial": partial,
  "functools.partialmethod": partial,
  "functools.reduce": reduce,
  "functools.lru_cache": transparentDecorator,
  "functools.cache": transparentDecorator,
  "functools.wraps": (_, args) => {
    const wrapped = args.at(0) ?? null;
    return new NativeFunction(
      "wraps",
      (interpreter, inner) => wrap(interpreter, inner.at(0) ?? null, wrapped),
      [wrapped],
    );
  },
  "functools.update_wrapper": (interpreter, args) =>
    wrap(interpreter, args.at(0) ?? null, args.at(1) ?? null),
  "functools.singledispatch": identity,
  "functools.total_ordering": identity,
  "functools.cached_property": (_, args) => new PropertyValue(args.at(0) ?? null, null, true),
  "collections.defaultdict": defaultdict,
  "collections.Counter": counter,
  "collections.namedtuple": namedtuple,
  "collections.deque": (interpreter, args, span) => {
    const [given, most] = [args.or(0, "iterable", null), args.or(1, "maxlen", null)];
    const items = given === null ? [] : itemsOf(interpreter, given, span);
    if (isUnknown(items)) return items;
    const length = most === null ? Infinity : integer(most);
    if (length === undefined) return args.unknown() ?? interpreter.unknown("call", span, { name: "deque" });
    return new ListValue(length === 0 ? [] : items.slice(-length), length);
  },
  "copy.deepcopy": (interpreter, args) => deepCopy(interpreter, args.at(0) ?? null),
  "copy.copy": (_, args) => shallowCopy(args.at(0) ?? null),
  "enum.auto": () => new AutoValue(0),
  "enum.unique": identity,
  "types.SimpleNamespace": namespace,
  "abc.abstractmethod": identity,
  "abc.abstractproperty": property,
  "typing.cast": cast,
  "typing.overload": identity,
  "typing.final": identity,
  "typing.no_type_check": identity,
  "typing.runtime_checkable": identity,
  "typing.TypeVar": nothing,
  "typing.NewType": cast,
  "typing_extensions.override": identity,
  "typing.override": identity,
  "operator.add": operator("+"),
  "operator.sub": operator("-"),
  "operator.mul": operator("*"),
  "operator.truediv": operator("/"),
  "operator.floordiv": operator("//"),
  "operator.mod": operator("%"),
  "operator.pow": operator("**"),
  "operator.not_": not,
  "operator.itemgetter": itemgetter,
  "operator.attrgetter": attrgetter,
  "os.environ.get": environment,
  "os.getenv": environment,
  "os.cpu_count": notKnown,
  "os.makedirs": nothing,
  "time.time": notKnown,
  "time.perf_counter": notKnown,
  "random.seed": nothing,
  ...Object.fromEntries(
    ["randint", "randrange", "choice"].map((name) => [`random.${name}`, drawn(`random.${name}`)]),
  ),
  ...Object.fromEntries(
    ["random", "uniform", "gauss", "betavariate", "normalvariate"].map((name) => [
      `random.${name}`,
      drawnFloat(`random.${name}`),
    ]),
  ),
  "numpy.random.seed": nothing,
  "sys.exit": nothing,
  "gc.collect": () => 0,
  "wandb.watch": nothing,
  "wandb.log": nothing,
  "wandb.init": nothing,
  "torchinfo.summary": nothing,
  "torchsummary.summary": nothing,
  "warnings.warn": nothing,
  "warnings.filterwarnings": nothing,
  "warnings.simplefilter": nothing,
  "logging.basicConfig": nothing,
  "logging.info": nothing,
  "logging.debug": nothing,
  "logging.warning": nothing,
  "logging.error": nothing,
};
