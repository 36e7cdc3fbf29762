/** `isinstance` for builtin types, for PyTorch's types and for the abstract types of `typing` and `collections.abc`. */
import { Tensor } from "../../tensor";
import type { Interpreter } from "../interpreter";
import {
  BoundMethod,
  ClassValue,
  DeviceValue,
  DictValue,
  DtypeValue,
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
  TupleValue,
  type Value,
} from "../values";

type Predicate = (value: Value, interpreter: Interpreter) => boolean;

const isInt: Predicate = (value) => typeof value === "number" || typeof value === "boolean";
const isNumber: Predicate = (value, interpreter) => isInt(value, interpreter) || value instanceof Float;
const isMapping: Predicate = (value) => value instanceof DictValue;
const isSequence: Predicate = (value) =>
  typeof value === "string" ||
  value instanceof ListValue ||
  value instanceof TupleValue ||
  value instanceof RangeValue;
const isIterable: Predicate = (value, interpreter) =>
  isSequence(value, interpreter) ||
  value instanceof DictValue ||
  value instanceof SetValue ||
  value instanceof IteratorValue ||
  value instanceof Tensor ||
  (value instanceof ObjectValue && value.type.attribute("__iter__") !== undefined);
const isCallable: Predicate = (value) =>
  [FunctionValue, NativeFunction, BoundMethod, PartialValue, ClassValue].some(
    (type) => value instanceof type,
  ) ||
  (value instanceof ObjectValue &&
    (value.module !== undefined || value.type.attribute("__call__") !== undefined));

const builtin: Readonly<Record<string, Predicate>> = {
  int: isInt,
  float: (value) => value instanceof Float,
  bool: (value) => typeof value === "boolean",
  str: (value) => typeof value === "string",
  list: (value) => value instanceof ListValue,
  tuple: (value) => value instanceof TupleValue,
  dict: isMapping,
  set: (value) => value instanceof SetValue && !value.frozen,
  frozenset: (value) => value instanceof SetValue && value.frozen,
  range: (value) => value instanceof RangeValue,
  object: () => true,
};

const isParameter: Predicate = (value, interpreter) =>
  value instanceof Tensor && interpreter.parameterTensors.has(value);

const abstract: Readonly<Record<string, Predicate>> = {
  "torch.Tensor": (value) => value instanceof Tensor,
  "torch.FloatTensor": (value) => value instanceof Tensor && value.dtype === "float32",
  "torch.LongTensor": (value) => value instanceof Tensor && value.dtype === "int64",
  "torch.nn.Parameter": isParameter,
  "torch.nn.parameter.Parameter": isParameter,
  "torch.device": (value) => value instanceof DeviceValue,
  "torch.dtype": (value) => value instanceof DtypeValue,
  // made while a program is traced
  "torch.fx.Proxy": () => false,
  "torch.Size": (value) => value instanceof TupleValue && value.isSize,
  "numbers.Number": isNumber,
  "numbers.Real": isNumber,
  "numbers.Integral": isInt,
  "functools.partial": (value) => value instanceof PartialValue,
  "types.FunctionType": (value) => value instanceof FunctionValue,
  "types.NoneType": (value) => value === null,
  "types.slice": (value) => value instanceof SliceValue,
  "builtins.type": (value) => value instanceof ClassValue,
  "builtins.slice": (value) => value instanceof SliceValue,
};

for (const room of ["typing", "collections.abc"]) {
  const rows: Readonly<Record<string, Predicate>> = {
    Iterable: isIterable,
    Sequence: isSequence,
    MutableSequence: (value) => value instanceof ListValue,
    Mapping: isMapping,
    MutableMapping: isMapping,
    Collection: isIterable,
    Sized: isIterable,
    Callable: isCallable,
    Iterator: (value) => value instanceof IteratorValue,
    Generator: (value) => value instanceof IteratorValue,
    Set: (value) => value instanceof SetValue,
  };
  for (const [name, predicate] of Object.entries(rows)) {
    (abstract as Record<string, Predicate>)[`${room}.${name}`] = predicate;
  }
}
Object.assign(abstract, {
  "typing.List": builtin.list,
  "typing.Tuple": builtin.tuple,
  "typing.Dict": builtin.dict,
});

/** Modules whose classes ask for what a value can do, not for what it was made as. */
const structural = /^(typing|typing_extensions|collections|numbers|types|builtins|abc|numpy|torch)\./;

/** Whether a value is surely no instance of a class that is not read: nothing it was made as has that name. */
function cannotBe(value: Value, path: string): boolean {
  const name = path.split(".").at(-1) ?? path;
  if (structural.test(path) || !/^[A-Z]/.test(name)) return false;
  if (value === null) return true;
  if (!(value instanceof ObjectValue)) return false;
  return value.type.mro.every((one) => one.name !== name && one.unknownBase === undefined);
}

/** Undefined when it is not known. */
export function isInstanceOf(interpreter: Interpreter, value: Value, type: Value): boolean | undefined {
  if (type === null) return value === null;
  if (type instanceof LibraryName)
    return abstract[type.path]?.(value, interpreter) ?? (cannotBe(value, type.path) ? false : undefined);
  if (type instanceof NativeFunction) return abstract[`builtins.${type.name}`]?.(value, interpreter);
  if (!(type instanceof ClassValue)) return undefined;
  const own =
    value instanceof ObjectValue ? value.type : value instanceof TupleValue ? value.type : undefined;
  if (own !== undefined && own.isSubclassOf(type)) return true;
  const isBuiltin = interpreter.library.types.get(type.name) === type;
  if (isBuiltin) return isBuiltinInstance(interpreter, value, type);
  if (own !== undefined && own.find((one) => one.unknownBase) !== undefined) return undefined;
  return false;
}

function isBuiltinInstance(interpreter: Interpreter, value: Value, type: ClassValue): boolean {
  if (value instanceof ObjectValue) return type.name === "object" || value.type.isSubclassOf(type);
  return builtin[type.name]?.(value, interpreter) ?? false;
}
