/** `argparse`: `parse_args()` gives a namespace of the defaults. */
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { findAttribute } from "../attributes";
import { itemsOf } from "../iteration";
import type { Interpreter } from "../interpreter";
import { ClassValue, ObjectValue, TupleValue, type Native, type Value } from "../values";

const parserType = new ClassValue("ArgumentParser", []);
const groupType = new ClassValue("ArgumentGroup", []);
const namespaceType = new ClassValue("Namespace", []);

/** Where a parser keeps its defaults; names of Python cannot hold the blank. */
const defaultsKey = " defaults";

function defaultsOf(parser: Value): ObjectValue | undefined {
  if (!(parser instanceof ObjectValue)) return undefined;
  const defaults = parser.attributes.get(defaultsKey);
  return defaults instanceof ObjectValue ? defaults : undefined;
}

function makeParser(type: ClassValue, defaults: ObjectValue): ObjectValue {
  const parser = new ObjectValue(type);
  parser.attributes.set(defaultsKey, defaults);
  return parser;
}

const addArgument: Native = (interpreter, args) => {
  const defaults = defaultsOf(args.at(0) ?? null);
  const flags = args.positional.slice(1).filter((flag) => typeof flag === "string");
  const given = args.keywords.get("dest");
  const long = flags.find((flag) => flag.startsWith("--")) ?? flags[0];
  const name = typeof given === "string" ? given : long?.replace(/^-+/, "").replace(/-/g, "_");
  if (defaults === undefined || name === undefined) return null;
  const value = defaultOf(interpreter, name, flags, args);
  interpreter.references.adopt(defaults, value);
  defaults.attributes.set(name, value);
  return null;
};

function defaultOf(
  interpreter: Interpreter,
  name: string,
  flags: readonly string[],
  args: CallArguments,
): Value {
  const otherwise = args.keywords.get("default");
  if (otherwise !== undefined) return typed(interpreter, otherwise, args.keywords.get("type"));
  const action = args.keywords.get("action");
  if (action === "store_true") return false;
  if (action === "store_false") return true;
  const isRequired = args.keywords.get("required") === true || flags.every((flag) => !flag.startsWith("-"));
  return isRequired ? interpreter.unknown("parameter", interpreter.callSpan, { name }) : null;
}

/** argparse runs `type` on defaults that are strings. */
function typed(interpreter: Interpreter, value: Value, type: Value | undefined): Value {
  if (typeof value !== "string" || type === undefined || type === null) return value;
  return interpreter.call(type, new CallArguments([value]), interpreter.callSpan);
}

const setDefaults: Native = (interpreter, args) => {
  const defaults = defaultsOf(args.at(0) ?? null);
  for (const [name, value] of args.keywords) {
    if (defaults === undefined) continue;
    interpreter.references.adopt(defaults, value);
    defaults.attributes.set(name, value);
  }
  return null;
};

const parseArguments: Native = (_, args) => {
  const namespace = new ObjectValue(namespaceType);
  for (const [name, value] of defaultsOf(args.at(0) ?? null)?.attributes ?? [])
    namespace.attributes.set(name, value);
  return namespace;
};

const group: Native = (_, args) => {
  const defaults = defaultsOf(args.at(0) ?? null);
  return makeParser(groupType, defaults ?? new ObjectValue(namespaceType));
};

const methods: Readonly<Record<string, Native>> = {
  add_argument: addArgument,
  set_defaults: setDefaults,
  add_argument_group: group,
  add_mutually_exclusive_group: group,
  parse_args: parseArguments,
  parse_known_args: (interpreter, args, span) =>
    new TupleValue([parseArguments(interpreter, args, span), new TupleValue([])]),
  print_help: () => null,
  get_default: (interpreter, args, span) => {
    const [parser, name] = [defaultsOf(args.at(0) ?? null), args.at(1)];
    return parser === undefined || typeof name !== "string"
      ? null
      : (findAttribute(interpreter, parser, name, span) ?? null);
  },
};

for (const type of [parserType, groupType]) type.addMethods(methods);

export const argparseFunctions: Readonly<Record<string, Native>> = {
  "argparse.ArgumentParser": (interpreter, args, span) => {
    const defaults = new ObjectValue(namespaceType);
    const parents = itemsOf(interpreter, args.keywords.get("parents") ?? new TupleValue([]), span);
    if (isUnknown(parents)) return parents;
    for (const parent of parents) {
      for (const [name, value] of defaultsOf(parent)?.attributes ?? []) {
        interpreter.references.adopt(defaults, value);
        defaults.attributes.set(name, value);
      }
    }
    return makeParser(parserType, defaults);
  },
  "argparse.Namespace": (_, args) => {
    const namespace = new ObjectValue(namespaceType);
    for (const [name, value] of args.keywords) namespace.attributes.set(name, value);
    return namespace;
  },
};
