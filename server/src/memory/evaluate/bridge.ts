/** The border to the operators: Python values to plain arguments and back. */
import type { Span } from "../../python/tree";
import type { Argument, FunctionArgument, Keywords } from "../operators/argument";
import { Tensor } from "../tensor";
import { isUnknown, type Unknown } from "../unknown";
import { CallArguments } from "./arguments";
import { namedTupleType } from "./classes";
import { dictOf, itemsOf } from "./iteration";
import type { Interpreter } from "./interpreter";
import { moduleHandle, objectOf } from "./nn/handle";
import { withLabels } from "./training/labels";
import { computesOnHost } from "./training/host";
import { movedData, placesResult } from "./training/placement";
import { carryValues } from "./known-values";
import { keyText } from "./operations";
import { withExampleFloats } from "./unknown-floats";
import {
  BoundMethod,
  ClassValue,
  DeviceValue,
  DictValue,
  DtypeValue,
  Ellipsis,
  ellipsis,
  Float,
  FunctionValue,
  IteratorValue,
  LibraryName,
  ListValue,
  NativeFunction,
  ObjectValue,
  OpaqueValue,
  PartialValue,
  RangeValue,
  SliceValue,
  TupleValue,
  type Heap,
  type Value,
} from "./values";

/** Nested displays deeper than this are handed over as something no operator looks into. */
const deepest = 20;

export function toArgument(interpreter: Interpreter, value: Value, depth = 0): Argument {
  if (value === null || typeof value !== "object" || value instanceof Tensor || isUnknown(value))
    return value;
  if (value instanceof Float) return { kind: "float", value: value.value };
  if (value instanceof Ellipsis) return { kind: "ellipsis" };
  if (depth > deepest) return { kind: "opaque", what: "nested" };
  return heapToArgument(interpreter, value, depth + 1);
}

function heapToArgument(interpreter: Interpreter, value: Heap, depth: number): Argument {
  const convert = (item: Value): Argument => toArgument(interpreter, item, depth);
  if (value instanceof ListValue || value instanceof TupleValue) return value.items.map(convert);
  if (value instanceof DtypeValue) return { kind: "dtype", dtype: value.dtype };
  if (value instanceof DeviceValue) return { kind: "device", name: value.name };
  if (value instanceof OpaqueValue) return value.argument;
  if (value instanceof SliceValue) {
    return {
      kind: "slice",
      lower: convert(value.lower),
      upper: convert(value.upper),
      step: convert(value.step),
    };
  }
  if (value instanceof RangeValue || value instanceof IteratorValue) {
    const items = itemsOf(interpreter, value, interpreter.callSpan);
    return isUnknown(items) ? items : items.map(convert);
  }
  if (value instanceof DictValue) return value.uncertain ?? dictArgument(value, convert);
  if (value instanceof ObjectValue) return objectToArgument(interpreter, value, convert);
  return functionArgument(interpreter, value) ?? { kind: "opaque", what: interpreter.typeName(value) };
}

function dictArgument(dict: DictValue, convert: (value: Value) => Argument): Argument {
  const entries = [...dict.entries.values()];
  return {
    kind: "dict",
    entries: entries.map((entry) => [keyText(entry.key), convert(entry.value)] as const),
  };
}

function objectToArgument(
  interpreter: Interpreter,
  object: ObjectValue,
  convert: (value: Value) => Argument,
): Argument {
  if (object.module !== undefined) return moduleHandle(interpreter, object);
  if (object.payload !== undefined) return convert(object.payload);
  return { kind: "opaque", what: object.type.name };
}

function functionArgument(interpreter: Interpreter, value: Heap): FunctionArgument | undefined {
  const isFunction =
    value instanceof FunctionValue ||
    value instanceof NativeFunction ||
    value instanceof BoundMethod ||
    value instanceof PartialValue ||
    value instanceof ClassValue ||
    (value instanceof LibraryName && interpreter.library.isCallable(value.path));
  if (!isFunction) return undefined;
  const name =
    value instanceof LibraryName
      ? value.path
      : value instanceof ClassValue
        ? (value.path ?? builtinPath(interpreter, value))
        : undefined;
  return {
    kind: "function",
    name,
    call: (positional, keywords) => ownedResult(interpreter, value, positional, keywords),
  };
}

/** `float`, `int`, `bool` themselves: operators take them for dtypes. */
function builtinPath(interpreter: Interpreter, type: ClassValue): string | undefined {
  return interpreter.library.types.get(type.name) === type ? `builtins.${type.name}` : undefined;
}

/** Calls a Python value from an operator, which owns the tensors that come back. */
export function ownedResult(
  interpreter: Interpreter,
  callee: Value,
  positional: readonly Argument[],
  keywords: Keywords,
): Argument {
  const { references } = interpreter;
  const mark = references.mark();
  const result = interpreter.call(
    callee,
    fromArguments(interpreter, positional, keywords),
    interpreter.callSpan,
  );
  const argument = toArgument(interpreter, result);
  interpreter.execution.retainAll(argument);
  references.releaseTo(mark);
  return argument;
}

/** Arguments that an operator lends to Python code. */
export function fromArguments(
  interpreter: Interpreter,
  positional: readonly Argument[],
  keywords: Keywords,
): CallArguments {
  return new CallArguments(
    positional.map((argument) => fromArgument(interpreter, argument)),
    new Map(Object.entries(keywords).map(([name, argument]) => [name, fromArgument(interpreter, argument)])),
  );
}

export function fromArgument(interpreter: Interpreter, argument: Argument): Value {
  if (
    argument === null ||
    typeof argument !== "object" ||
    argument instanceof Tensor ||
    isUnknown(argument)
  ) {
    return argument;
  }
  if (isSequence(argument)) return new TupleValue(argument.map((item) => fromArgument(interpreter, item)));
  switch (argument.kind) {
    case "float":
      return new Float(argument.value);
    case "dtype":
      return new DtypeValue(argument.dtype);
    case "device":
      return new DeviceValue(argument.name);
    case "slice":
      return new SliceValue(
        fromArgument(interpreter, argument.lower),
        fromArgument(interpreter, argument.upper),
        fromArgument(interpreter, argument.step),
      );
    case "ellipsis":
      return ellipsis;
    case "named-tuple":
      return new TupleValue(
        argument.values.map((value) => fromArgument(interpreter, value)),
        namedTupleType(argument.names),
      );
    case "dict":
      return dictOf(argument.entries.map(([key, value]) => [key, fromArgument(interpreter, value)] as const));
    case "function":
      return new NativeFunction(argument.name ?? "function", (inner, args) => {
        const [positional, keywords] = toArguments(inner, args);
        return owned(inner, argument.call(positional, keywords));
      });
    case "module":
      return objectOf(argument) ?? new OpaqueValue(argument);
    default:
      return new OpaqueValue(argument);
  }
}

function isSequence(argument: Argument): argument is readonly Argument[] {
  return Array.isArray(argument);
}

export function toArguments(
  interpreter: Interpreter,
  args: CallArguments,
): [Argument[], Record<string, Argument>] {
  const keywords: Record<string, Argument> = {};
  if (args.keywords.size > 0)
    for (const [name, value] of args.keywords) keywords[name] = toArgument(interpreter, value);
  const { length } = args.positional;
  const positional = new Array<Argument>(length);
  for (let i = 0; i < length; i++) positional[i] = toArgument(interpreter, args.positional[i] ?? null);
  return [positional, keywords];
}

/** A value whose tensors are handed over to the evaluator, which keeps them as temporaries. */
export function owned(interpreter: Interpreter, argument: Argument): Value {
  own(interpreter, argument);
  return fromArgument(interpreter, argument);
}

function own(interpreter: Interpreter, argument: Argument): void {
  if (argument instanceof Tensor) interpreter.references.own(argument);
  else if (argument === null || typeof argument !== "object" || isUnknown(argument)) return;
  else if (isSequence(argument)) for (const item of argument) own(interpreter, item);
  else if (argument.kind === "named-tuple") for (const item of argument.values) own(interpreter, item);
  else if (argument.kind === "dict") for (const [, item] of argument.entries) own(interpreter, item);
}

/** Steps that running an operator counts for. */
const operatorCost = 10;

/** Runs an operator on Python values. What it does not understand costs the answer something, and is noted. */
export function callOperator(interpreter: Interpreter, name: string, positional: readonly Value[]): Value {
  return runOperator(interpreter, name, new CallArguments(positional));
}

export function runOperator(
  interpreter: Interpreter,
  name: string,
  given: CallArguments,
  span?: Span,
): Value {
  interpreter.tick(operatorCost);
  const labelled = withLabels(interpreter, name, given);
  const weighed = withExampleFloats(name, labelled);
  const args = weighed ?? labelled;
  const moved = interpreter.training === undefined ? undefined : movedData(interpreter, name, args);
  if (moved !== undefined) return moved;
  if (args.unknownKeywords !== undefined) return noteResult(interpreter, args.unknownKeywords);
  const [positional, keywords] = toArguments(interpreter, args);
  const location =
    span === undefined || interpreter.isHidden
      ? interpreter.location
      : { span, modulePath: interpreter.modulePath };
  const { execution } = interpreter;
  const compute = (): Argument => execution.call(name, positional, keywords, location);
  const result = computesOnHost(interpreter, args) ? execution.inHostMemory(compute) : compute();
  if (result instanceof Tensor && placesResult(name, keywords)) interpreter.placed.add(result.storage);
  if (isUnknown(result)) {
    // Data that is read from somewhere: who computes with it will say so.
    const isData = interpreter.training !== undefined && toTensor.has(name);
    return (
      (isData ? unknownIn(positional) : undefined) ?? noteResult(interpreter, result, positional, keywords)
    );
  }
  if (weighed === undefined) carryValues(name, positional, result);
  else if (result instanceof Tensor) result.values = undefined;
  if (positional.some(isArray)) return owned(interpreter, asArray(interpreter, name, positional, result));
  return owned(interpreter, result);
}

function isArray(value: Argument): boolean {
  return value instanceof Tensor ? value.isArray : isSequence(value) && value.some(isArray);
}

/** Operators that make a tensor of an array. */
const toTensor = new Set([
  "torch.tensor",
  "torch.as_tensor",
  "torch.asarray",
  "torch.Tensor",
  "torch.FloatTensor",
]);

/** What an operator makes of arrays is an array: numpy divides whole numbers in double precision. */
function asArray(
  interpreter: Interpreter,
  name: string,
  operands: readonly Argument[],
  result: Argument,
): Argument {
  if (!(result instanceof Tensor) || toTensor.has(name)) return result;
  const isSingle = operands.some((value) => value instanceof Tensor && value.dtype === "float32");
  if (result.dtype !== "float32" || isSingle) {
    result.isArray = true;
    return result;
  }
  const wide = interpreter.execution.input(result.shape, "float64");
  wide.values = result.values;
  wide.isArray = true;
  interpreter.execution.release(result);
  return wide;
}

/** What was not understood costs the answer something. Where an argument is to blame, its own reason says it best. */
export function noteResult(
  interpreter: Interpreter,
  unknown: Unknown,
  positional: readonly Argument[] = [],
  keywords: Keywords = {},
): Unknown {
  return interpreter.note(unknownIn([...positional, ...Object.values(keywords)]) ?? unknown);
}

function unknownIn(values: readonly Argument[]): Unknown | undefined {
  for (const value of values) {
    const found = isUnknown(value)
      ? value
      : Array.isArray(value)
        ? unknownIn(value as readonly Argument[])
        : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
