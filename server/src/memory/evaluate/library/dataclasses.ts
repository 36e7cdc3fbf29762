/** `dataclasses`. */
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { setAttribute } from "../attributes";
import { dictOf } from "../iteration";
import { callMethod } from "../overloads";
import {
  ClassValue,
  DictValue,
  Heap,
  ListValue,
  NativeFunction,
  ObjectValue,
  TupleValue,
  type FieldDefinition,
  type Native,
  type Value,
} from "../values";
import { annotatedFields } from "./namedtuples";

/** `field(…)` until the class is finished. */
class FieldValue extends Heap {
  constructor(
    readonly otherwise: Value | undefined,
    readonly factory: Value | undefined,
    readonly inInit: boolean,
  ) {
    super();
  }

  *held(): Iterable<Value> {
    if (this.otherwise !== undefined) yield this.otherwise;
    if (this.factory !== undefined) yield this.factory;
  }
}

const field: Native = (_, args) =>
  new FieldValue(args.get(9, "default"), args.get(9, "default_factory"), args.get(9, "init") !== false);

const dataclass: Native = (interpreter, args, span) => {
  const type = args.at(0);
  if (type === undefined) return new NativeFunction("dataclass", dataclass);
  if (!(type instanceof ClassValue) || type.node === undefined) {
    return args.unknown() ?? interpreter.unknown("call", span, { name: "dataclass" });
  }
  const fields = new Map<string, FieldDefinition>();
  for (const base of [...type.mro].slice(1).reverse()) {
    for (const inherited of base.fields ?? []) fields.set(inherited.name, inherited);
  }
  for (const { name, value } of annotatedFields(type, type.node)) {
    const isField = value instanceof FieldValue;
    const own: FieldDefinition = {
      name,
      default: isField ? value.otherwise : value,
      factory: isField ? value.factory : undefined,
      inInit: isField ? value.inInit : true,
    };
    fields.set(name, own);
    if (!isField) continue;
    if (own.default === undefined) type.attributes.delete(name);
    else type.attributes.set(name, own.default);
  }
  type.fields = [...fields.values()];
  if (!type.attributes.has("__init__"))
    type.attributes.set("__init__", new NativeFunction("__init__", initialize));
  return type;
};

/** The `__init__` that `@dataclass` writes. */
const initialize: Native = (interpreter, args, span) => {
  const object = args.at(0);
  if (!(object instanceof ObjectValue)) return null;
  const fields = object.type.find((type) => type.fields) ?? [];
  const given = args.withoutFirst();
  const names = fields.filter((one) => one.inInit).map((one) => one.name);
  for (const name of given.keywords.keys()) {
    if (!names.includes(name))
      interpreter.raise("TypeError", `__init__() got an unexpected keyword argument '${name}'`, span);
  }
  if (given.positional.length > names.length)
    interpreter.raise("TypeError", "__init__() takes fewer arguments", span);
  for (const one of fields) {
    const value = valueFor(one, given, names.indexOf(one.name));
    if (value !== undefined) setAttribute(interpreter, object, one.name, value, span);
    else if (one.factory !== undefined) {
      setAttribute(
        interpreter,
        object,
        one.name,
        interpreter.call(one.factory, new CallArguments([]), span),
        span,
      );
    } else if (one.inInit) {
      interpreter.raise("TypeError", `__init__() missing required argument '${one.name}'`, span);
    }
  }
  callMethod(interpreter, object, "__post_init__", [], span);
  return null;
};

function valueFor(one: FieldDefinition, given: CallArguments, position: number): Value | undefined {
  const own = position < 0 ? undefined : given.get(position, one.name);
  return own ?? (own === null ? null : (given.unknownKeywords ?? one.default));
}

const replace: Native = (interpreter, args, span) => {
  const object = args.at(0);
  if (!(object instanceof ObjectValue))
    return args.unknown() ?? interpreter.unknown("call", span, { name: "replace" });
  const fields = object.type.find((type) => type.fields) ?? [];
  const keywords = new Map<string, Value>();
  for (const one of fields) if (one.inInit) keywords.set(one.name, object.attributes.get(one.name) ?? null);
  for (const [name, value] of args.keywords) keywords.set(name, value);
  return interpreter.call(object.type, new CallArguments([], keywords, args.unknownKeywords), span);
};

function plain(value: Value, depth: number): Value {
  if (depth > 20) return value;
  if (value instanceof ListValue) return new ListValue(value.items.map((item) => plain(item, depth + 1)));
  if (value instanceof TupleValue && value.type === undefined) {
    return new TupleValue(value.items.map((item) => plain(item, depth + 1)));
  }
  if (value instanceof DictValue) {
    const dict = new DictValue();
    for (const [key, entry] of value.entries)
      dict.entries.set(key, { key: entry.key, value: plain(entry.value, depth + 1) });
    return dict;
  }
  const fields = value instanceof ObjectValue ? value.type.find((type) => type.fields) : undefined;
  if (!(value instanceof ObjectValue) || fields === undefined) return value;
  return dictOf(
    fields.map((one) => [one.name, plain(value.attributes.get(one.name) ?? null, depth + 1)] as const),
  );
}

const fieldsOf: Native = (interpreter, args, span) => {
  const given = args.at(0) ?? null;
  if (isUnknown(given)) return given;
  const type = given instanceof ObjectValue ? given.type : given;
  const fields = type instanceof ClassValue ? type.find((one) => one.fields) : undefined;
  if (fields === undefined) return interpreter.unknown("call", span, { name: "fields" });
  const kind = new ClassValue("Field", []);
  return new TupleValue(
    fields.map((one) => {
      const object = new ObjectValue(kind);
      object.attributes.set("name", one.name);
      object.attributes.set("default", one.default ?? null);
      return object;
    }),
  );
};

export const dataclassFunctions: Readonly<Record<string, Native>> = {
  "dataclasses.dataclass": dataclass,
  "dataclasses.field": field,
  "dataclasses.replace": replace,
  "dataclasses.asdict": (_, args) => plain(args.at(0) ?? null, 0),
  "dataclasses.astuple": (_, args) => {
    const dict = plain(args.at(0) ?? null, 0);
    return dict instanceof DictValue
      ? new TupleValue([...dict.entries.values()].map((entry) => entry.value))
      : dict;
  },
  "dataclasses.fields": fieldsOf,
  "dataclasses.is_dataclass": (_, args) => {
    const given = args.at(0);
    const type = given instanceof ObjectValue ? given.type : given;
    return type instanceof ClassValue && type.find((one) => one.fields) !== undefined;
  },
};
