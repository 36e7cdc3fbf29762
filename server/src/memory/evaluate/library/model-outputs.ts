/**
 * `ModelOutput`, what the models of transformers return: a dataclass that is a dict of those of its fields that are not None
 * as well. Source: transformers/utils/generic.py of 4.57 and 5.24.
 */
import { getAttribute, storeAttribute } from "../attributes";
import { dictOf } from "../iteration";
import { getItem } from "../subscripts";
import {
  ClassValue,
  NativeFunction,
  ObjectValue,
  PropertyValue,
  TupleValue,
  ListValue,
  type Native,
  type Value,
} from "../values";
import { isUnknown } from "../../unknown";

const paths = /^transformers\.(utils\.(generic\.)?|file_utils\.|modeling_outputs\.)?ModelOutput$/;

const classes = new WeakSet<ClassValue>();

/** Whether a value is what a model of transformers gave. */
export function isModelOutput(value: Value): value is ObjectValue {
  return value instanceof ObjectValue && value.type.mro.some((type) => classes.has(type));
}

/** The fields that are not None, in the order of the class. */
export function outputEntries(output: ObjectValue): (readonly [string, Value])[] {
  const fields = output.type.find((type) => type.fields)?.map(({ name }) => name) ?? [];
  const others = [...output.attributes.keys()].filter((name) => !fields.includes(name));
  return [...fields, ...others].flatMap((name) => {
    const value = output.attributes.get(name) ?? null;
    return value === null ? [] : [[name, value] as const];
  });
}

/** A method of the output; what is no output gives None. */
function method(run: (output: ObjectValue, ...rest: Parameters<Native>) => Value): Native {
  return (interpreter, args, span) => {
    const output = args.at(0);
    return output instanceof ObjectValue ? run(output, interpreter, args, span) : null;
  };
}

const valuesOf = (output: ObjectValue): TupleValue =>
  new TupleValue(outputEntries(output).map(([, value]) => value));

const nowhere = { start: 0, end: 0 };

const methods: Readonly<Record<string, Native>> = {
  to_tuple: method(valuesOf),
  values: method(valuesOf),
  keys: method((output) => new ListValue(outputEntries(output).map(([name]) => name))),
  __iter__: method((output) => new ListValue(outputEntries(output).map(([name]) => name))),
  items: method(
    (output) => new ListValue(outputEntries(output).map(([name, value]) => new TupleValue([name, value]))),
  ),
  __len__: method((output) => outputEntries(output).length),
  __contains__: method((output, _, args) => outputEntries(output).some(([name]) => name === args.at(1))),
  get: method(
    (output, _, args) =>
      outputEntries(output).find(([name]) => name === args.at(1))?.[1] ?? args.or(2, "default", null),
  ),
  __getitem__: method((output, interpreter, args, span) => {
    const key = args.at(1) ?? null;
    if (isUnknown(key)) return key;
    if (typeof key !== "string") return getItem(interpreter, valuesOf(output), key, span ?? nowhere);
    const found = outputEntries(output).find(([name]) => name === key);
    if (found !== undefined) return found[1];
    return key === "past_key_values"
      ? getAttribute(interpreter, output, key, span)
      : interpreter.raise("KeyError", key, span);
  }),
  __setitem__: method((output, interpreter, args) => {
    const key = args.at(1);
    if (typeof key === "string") storeAttribute(interpreter, output, key, args.at(2) ?? null);
    return null;
  }),
};

/** The name that version 4 has for what is called `cache` from 5.2x on. */
const oldCacheName = new PropertyValue(
  new NativeFunction(
    "past_key_values",
    method((output) => output.attributes.get("past_key_values") ?? output.attributes.get("cache") ?? null),
  ),
);

/** The class at a path; undefined for other paths. */
export function modelOutputClass(path: string): ClassValue | undefined {
  if (!paths.test(path)) return undefined;
  const type = new ClassValue("ModelOutput", []);
  type.addMethods(methods);
  type.attributes.set("past_key_values", oldCacheName);
  classes.add(type);
  return type;
}

/** As `dict(output)`. */
export function outputDict(output: ObjectValue): Value {
  return dictOf(outputEntries(output));
}
