/** `typing.NamedTuple` classes and `collections.namedtuple`. */
import type { ClassDefinition } from "../../../python/tree";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { dictOf, itemsOf } from "../iteration";
import { keyText } from "../operations";
import {
  ClassValue,
  MethodWrapper,
  NativeFunction,
  TupleValue,
  type Construct,
  type FieldDefinition,
  type Native,
  type Value,
} from "../values";

const construct: Construct = (interpreter, type, args, span) => {
  const fields = type.find((one) => one.fields) ?? [];
  const items: Value[] = [];
  for (const [i, field] of fields.entries()) {
    const own = args.get(i, field.name);
    const given = own === undefined ? (args.unknownKeywords ?? field.default) : own;
    if (given === undefined)
      return interpreter.raise("TypeError", `missing required argument '${field.name}'`, span);
    items.push(given);
  }
  return new TupleValue(items, type);
};

const methods: Readonly<Record<string, Native>> = {
  _asdict: (_, args) => {
    const tuple = args.at(0);
    if (!(tuple instanceof TupleValue)) return null;
    const fields = tuple.type?.find((one) => one.fields) ?? [];
    return dictOf(fields.map((field, i) => [field.name, tuple.items[i] ?? null] as const));
  },
  _replace: (_, args) => {
    const tuple = args.at(0);
    if (!(tuple instanceof TupleValue)) return null;
    const fields = tuple.type?.find((one) => one.fields) ?? [];
    return new TupleValue(
      fields.map((field, i) => args.keywords.get(field.name) ?? tuple.items[i] ?? null),
      tuple.type,
    );
  },
};

function finish(type: ClassValue, fields: readonly FieldDefinition[]): void {
  type.fields = fields;
  type.construct = construct;
  type.attributes.set("_fields", new TupleValue(fields.map((field) => field.name)));
  type.addMethods(methods);
  type.attributes.set(
    "_make",
    new MethodWrapper(
      "class",
      new NativeFunction("_make", (interpreter, args, span) => {
        const items = itemsOf(interpreter, args.at(1) ?? null, span);
        return isUnknown(items) ? items : interpreter.call(type, new CallArguments(items), span);
      }),
    ),
  );
}

/** The annotated names of a class body, in order, with the values they were given. */
export function annotatedFields(
  type: ClassValue,
  node: ClassDefinition,
): { name: string; value: Value | undefined }[] {
  const found: { name: string; value: Value | undefined }[] = [];
  for (const statement of node.body) {
    if (statement.kind !== "AnnotatedAssign" || statement.target.kind !== "Name") continue;
    const { annotation } = statement;
    const head = annotation.kind === "Subscript" ? annotation.object : annotation;
    const word = head.kind === "Attribute" ? head.attribute.id : head.kind === "Name" ? head.id : "";
    if (word === "ClassVar") continue;
    const name = statement.target.id;
    found.push({
      name,
      value: statement.value === undefined ? undefined : (type.attributes.get(name) ?? null),
    });
  }
  return found;
}

export function finishNamedTuple(type: ClassValue, node: ClassDefinition): void {
  const fields = annotatedFields(type, node).map(({ name, value }) => ({
    name,
    default: value,
    factory: undefined,
    inInit: true,
  }));
  for (const field of fields) type.attributes.delete(field.name);
  finish(type, fields);
}

/** `collections.namedtuple(name, fields, defaults=…)`. */
export const namedtuple: Native = (interpreter, args, span) => {
  const [name, given] = [args.or(0, "typename", "tuple"), args.or(1, "field_names", null)];
  const names =
    typeof given === "string" ? given.split(/[\s,]+/).filter(Boolean) : itemsOf(interpreter, given, span);
  if (isUnknown(names)) return names;
  const defaults = args.keywords.has("defaults")
    ? itemsOf(interpreter, args.keywords.get("defaults") ?? null, span)
    : [];
  if (isUnknown(defaults)) return defaults;
  const type = new ClassValue(typeof name === "string" ? name : "tuple", []);
  const first = names.length - defaults.length;
  finish(
    type,
    names.map((each, i) => {
      return {
        name: keyText(each),
        default: i >= first ? defaults[i - first] : undefined,
        factory: undefined,
        inInit: true,
      };
    }),
  );
  return type;
};
