/** Methods of Python's builtin types. */
import { isUnknown } from "../../unknown";
import {
  BoundMethod,
  DictValue,
  Float,
  IteratorValue,
  ListValue,
  NativeFunction,
  PropertyValue,
  SetValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { getItem, setItem } from "../subscripts";
import { lengthOf } from "./functions";
import { dictMethods, setMethods } from "./mappings";
import { listMethods, tupleMethods } from "./sequences";
import { stringMethods } from "./strings";

const integerMethods: Readonly<Record<string, Native>> = {
  bit_length: (_, args) => {
    const value = args.at(0);
    return typeof value === "number" ? Math.abs(value).toString(2).replace(/^0$/, "").length : 0;
  },
  conjugate: (_, args) => args.at(0) ?? 0,
};

const floatMethods: Readonly<Record<string, Native>> = {
  is_integer: (_, args) => {
    const value = args.at(0);
    return value instanceof Float && Number.isInteger(value.value);
  },
};

const propertyMethods: Readonly<Record<string, Native>> = {
  setter: (_, args) => {
    const property = args.at(0);
    return property instanceof PropertyValue
      ? new PropertyValue(property.getter, args.at(1) ?? null, property.cached)
      : null;
  },
  deleter: (_, args) => args.at(0) ?? null,
  getter: (_, args) => {
    const property = args.at(0);
    return property instanceof PropertyValue ? new PropertyValue(args.at(1) ?? null, property.setter) : null;
  },
};

const generatorMethods: Readonly<Record<string, Native>> = {
  __next__: (interpreter, args, span) => interpreter.library.call("builtins.next", args, span),
  close: () => null,
};

/** What `super().__getitem__(key)` in a class derived from a container reaches, and code that asks by name. */
const itemMethods: Readonly<Record<string, Native>> = {
  __getitem__: (interpreter, args, span) =>
    getItem(interpreter, args.at(0) ?? null, args.at(1) ?? null, span ?? { start: 0, end: 0 }),
  __setitem__: (interpreter, args, span) => {
    setItem(
      interpreter,
      args.at(0) ?? null,
      args.at(1) ?? null,
      args.at(2) ?? null,
      span ?? { start: 0, end: 0 },
    );
    return null;
  },
  __len__: (interpreter, args, span) => lengthOf(interpreter, args.at(0) ?? null, span),
};

function isContainer(value: Value): boolean {
  return value instanceof DictValue || value instanceof ListValue || value instanceof TupleValue;
}

const bound = new Map<Native, NativeFunction>();

function tableFor(value: Value): Readonly<Record<string, Native>> | undefined {
  if (typeof value === "string") return stringMethods;
  if (typeof value === "number" || typeof value === "boolean") return integerMethods;
  if (value instanceof Float) return floatMethods;
  if (value instanceof ListValue) return listMethods;
  if (value instanceof TupleValue) return tupleMethods;
  if (value instanceof DictValue) return dictMethods;
  if (value instanceof SetValue) return setMethods;
  if (value instanceof PropertyValue) return propertyMethods;
  return value instanceof IteratorValue ? generatorMethods : undefined;
}

/** A method of a builtin value, bound to it; undefined when there is none of that name. */
export function methodOf(value: Value, name: string): Value | undefined {
  if (isUnknown(value)) return value;
  const table = tableFor(value);
  const own = table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
  const method =
    own ?? (isContainer(value) && Object.hasOwn(itemMethods, name) ? itemMethods[name] : undefined);
  if (method === undefined) return undefined;
  let native = bound.get(method);
  if (native === undefined) {
    native = new NativeFunction(name, method);
    bound.set(method, native);
  }
  return new BoundMethod(value, native);
}

const tablesByType: Readonly<Record<string, Readonly<Record<string, Native>>>> = {
  str: stringMethods,
  int: integerMethods,
  bool: integerMethods,
  float: floatMethods,
  list: { ...itemMethods, ...listMethods },
  tuple: { ...itemMethods, ...tupleMethods },
  dict: { ...itemMethods, ...dictMethods },
  set: setMethods,
};

/** Whether instances of a builtin type have the method: `split` of `str`. */
export function hasMethod(type: string, name: string): boolean {
  const table = Object.hasOwn(tablesByType, type) ? tablesByType[type] : undefined;
  return table !== undefined && Object.hasOwn(table, name);
}
