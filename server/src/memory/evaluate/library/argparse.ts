/** `argparse`: `parse_args()` gives a namespace of what the command line says, and of the defaults. */
import { readCommandLine } from "../../../python/command-line";
import type { CommandOption, GivenOption, WordCount } from "../../../python/command-line";
import { destinationOf } from "../../../python/command-options";
import { isUnknown, type Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { findAttribute } from "../attributes";
import { itemsOf } from "../iteration";
import type { Interpreter } from "../interpreter";
import { integer } from "../numbers";
import {
  ClassValue,
  LibraryName,
  ListValue,
  ObjectValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";

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

/** How a parser reads one argument. */
interface Argument extends CommandOption {
  readonly destination: string;
  readonly type: Value;
  readonly action: "store" | "true" | "false" | "const" | "negatable" | "other";
  /** What an option without its word stands for. */
  readonly constant: Value;
  readonly isRequired: boolean;
  /** Words for a header that would give it. */
  readonly example: string;
}

/** Of each parser, by the object that keeps its defaults: groups share those of their parser. */
const declared = new WeakMap<ObjectValue, Argument[]>();

function argumentsOf(defaults: ObjectValue | undefined): Argument[] {
  if (defaults === undefined) return [];
  let known = declared.get(defaults);
  if (known === undefined) declared.set(defaults, (known = []));
  return known;
}

const addArgument: Native = (interpreter, args) => {
  const defaults = defaultsOf(args.at(0) ?? null);
  const argument = argumentOf(args);
  if (defaults === undefined || argument === undefined) return null;
  argumentsOf(defaults).push(argument);
  const value = defaultOf(interpreter, argument, args);
  interpreter.references.adopt(defaults, value);
  defaults.attributes.set(argument.destination, value);
  return null;
};

const actions: Readonly<Record<string, Argument["action"]>> = {
  store: "store",
  store_true: "true",
  store_false: "false",
  store_const: "const",
};

function argumentOf(args: CallArguments): Argument | undefined {
  const names = args.positional.slice(1).filter((flag) => typeof flag === "string");
  const given = args.keywords.get("dest");
  const destination = typeof given === "string" ? given : destinationOf(names);
  if (destination === undefined) return undefined;
  const action = actionOf(args.keywords.get("action"));
  const takes = action === "store" || action === "other" ? countOf(args.keywords.get("nargs")) : 0;
  const isPositional = names.every((name) => !name.startsWith("-"));
  const negated = action === "negatable" ? names.map((name) => name.replace(/^--/, "--no-")) : [];
  return {
    names: [...names, ...negated],
    takes,
    destination,
    action,
    type: args.keywords.get("type") ?? null,
    constant: args.keywords.get("const") ?? null,
    isRequired: isPositional ? takes !== "?" && takes !== "*" : args.keywords.get("required") === true,
    example: exampleWords(names, args.keywords.get("choices"), args.keywords.get("type")),
  };
}

function actionOf(action: Value | undefined): Argument["action"] {
  if (action === undefined) return "store";
  if (action instanceof LibraryName && action.path === "argparse.BooleanOptionalAction") return "negatable";
  return (typeof action === "string" ? actions[action] : undefined) ?? "other";
}

function countOf(nargs: Value | undefined): WordCount {
  if (nargs === "?" || nargs === "*" || nargs === "+") return nargs;
  return integer(nargs ?? null) ?? 1;
}

/** `--arch resnet50`, with a value for the user to change. */
function exampleWords(names: readonly string[], choices: Value | undefined, type: Value | undefined): string {
  const name = names.find((one) => one.startsWith("--")) ?? names[0] ?? "";
  const [choice] = choices instanceof ListValue || choices instanceof TupleValue ? choices.items : [];
  const numbers: Readonly<Record<string, string>> = { int: "10", float: "0.1" };
  const number = type instanceof ClassValue ? numbers[type.name] : undefined;
  const value = typeof choice === "string" || typeof choice === "number" ? String(choice) : number;
  const word = value ?? name.replace(/^-+/, "").toUpperCase().replaceAll("-", "_");
  return name.startsWith("-") ? `${name} ${word}` : word;
}

function defaultOf(interpreter: Interpreter, { action, takes, type }: Argument, args: CallArguments): Value {
  const otherwise = args.keywords.get("default");
  if (otherwise !== undefined) return typed(interpreter, otherwise, type);
  if (action === "true") return false;
  if (action === "false") return true;
  const isPositional = args.positional.slice(1).every((flag) => typeof flag === "string" && !/^-/.test(flag));
  return isPositional && takes === "*" ? new ListValue([]) : null;
}

/** argparse runs `type` on words and on defaults that are strings. */
function typed(interpreter: Interpreter, value: Value, type: Value): Value {
  if (typeof value !== "string" || type === null) return value;
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

/** What the words say of an argument. */
function givenOf(interpreter: Interpreter, argument: Argument, { name, words }: GivenOption): Value {
  const { action, takes, type, constant } = argument;
  if (action === "true" || action === "false") return action === "true";
  if (action === "negatable") return !name.startsWith("--no-");
  if (action === "const") return constant;
  const unclear = (): Value => interpreter.unknown("unsupported", interpreter.callSpan, { what: name });
  if (action === "other") return unclear();
  const values = words.map((word) => typed(interpreter, word, type));
  if (takes === "?") return values[0] ?? constant;
  if (takes === 1) return values[0] ?? unclear();
  return new ListValue(values);
}

/** The words that a parser reads: those it is handed, else the script's command line. */
function wordsFor(interpreter: Interpreter, args: CallArguments): readonly string[] | Unknown {
  const handed = args.get(1, "args") ?? null;
  if (handed === null) return interpreter.world.commandLine ?? [];
  const items = itemsOf(interpreter, handed, interpreter.callSpan);
  if (isUnknown(items)) return items;
  const unclear = items.find((item) => typeof item !== "string");
  if (unclear !== undefined) {
    const reason = interpreter.unknown("unsupported", interpreter.callSpan, { what: "parse_args" });
    return isUnknown(unclear) ? unclear : reason;
  }
  return items.filter((item) => typeof item === "string");
}

function parse(
  interpreter: Interpreter,
  args: CallArguments,
): { values: ObjectValue; rest: readonly string[] } {
  const defaults = defaultsOf(args.at(0) ?? null);
  const known = argumentsOf(defaults);
  const into = args.get(2, "namespace");
  const values = into instanceof ObjectValue ? into : new ObjectValue(namespaceType);
  const words = wordsFor(interpreter, args);
  const set = (name: string, value: Value): void => {
    interpreter.references.adopt(values, value);
    values.attributes.set(name, value);
  };
  for (const [name, value] of defaults?.attributes ?? []) if (!values.attributes.has(name)) set(name, value);
  if (isUnknown(words)) {
    for (const { destination } of known) set(destination, words);
    return { values, rest: [] };
  }
  const { given, rest } = readCommandLine(words, known);
  const missing = known.filter((argument) => argument.isRequired && !given.has(argument));
  const keys = `args=${missing.map(({ example }) => example).join(" ")}`;
  for (const argument of missing) {
    const name = argument.names.find((one) => one.startsWith("--")) ?? argument.destination;
    set(argument.destination, interpreter.unknown("commandLine", interpreter.callSpan, { name, keys }));
  }
  for (const [argument, option] of given) set(argument.destination, givenOf(interpreter, argument, option));
  return { values, rest };
}

const parseArguments: Native = (interpreter, args) => parse(interpreter, args).values;

const parseKnownArguments: Native = (interpreter, args) => {
  const { values, rest } = parse(interpreter, args);
  return new TupleValue([values, new ListValue([...rest])]);
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
  parse_known_args: parseKnownArguments,
  parse_intermixed_args: parseArguments,
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
      argumentsOf(defaults).push(...argumentsOf(defaultsOf(parent)));
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
