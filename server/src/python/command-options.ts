/** The options of a script's command line, as `argparse`, `absl.flags` and `click` declare them in calls. */
import type { CommandOption, GivenOption, WordCount } from "./command-line";
import { keyword } from "./keyword";
import { lastName } from "./last-name";
import type { Call, Expression, Module } from "./tree";
import { nodesOf } from "./walk";

export interface DeclaredOption extends CommandOption {
  /** The attribute under which the script finds the value. */
  readonly destination: string;
  readonly call: Call;
}

const flagKinds = /^DEFINE_(integer|float|string|boolean|bool|enum)$/;

/** Names of the functions that declare an option. */
export const declaringNames: readonly string[] = [
  "add_argument",
  "DEFINE_integer",
  "DEFINE_float",
  "DEFINE_string",
  "DEFINE_boolean",
  "DEFINE_bool",
  "DEFINE_enum",
];

/** Every option that a file declares, in source order. */
export function optionsOf(module: Module): DeclaredOption[] {
  return nodesOf(module).flatMap((node) =>
    node.kind === "Call" && declaringNames.includes(lastName(node.callee) ?? "")
      ? (declaredOption(node) ?? [])
      : [],
  );
}

/** `parser.add_argument("-b", "--batch-size", …)`, `flags.DEFINE_integer("batch_size", …)`, `click.option("--batch-size")`. */
export function declaredOption(call: Call): DeclaredOption | undefined {
  const names = call.positional.flatMap((argument) => textOf(argument) ?? []);
  const kind = flagKinds.exec(lastName(call.callee) ?? "")?.[1];
  if (kind !== undefined) return absoluteFlag(call, names[0], kind);
  const destination = textOf(keyword(call, "dest")) ?? destinationOf(names);
  if (destination === undefined) return undefined;
  const isSwitch = textOf(keyword(call, "action")) !== undefined || isTrue(keyword(call, "is_flag"));
  const negated = isBooleanOptional(call) ? names.map((name) => name.replace(/^--/, "--no-")) : [];
  const takes = isSwitch || negated.length > 0 ? wordsOfAction(call) : countOf(keyword(call, "nargs"));
  return { names: [...names, ...negated], takes, destination, call };
}

function absoluteFlag(call: Call, name: string | undefined, kind: string): DeclaredOption | undefined {
  if (name === undefined) return undefined;
  const isSwitch = kind.startsWith("bool");
  const names = isSwitch ? [`--${name}`, `--no${name}`] : [`--${name}`];
  return { names, takes: isSwitch ? 0 : 1, destination: name, call };
}

/** `batch_size` for `-b`, `--batch-size`: the first long name, else the first. */
export function destinationOf(names: readonly string[]): string | undefined {
  const name = names.find((one) => one.startsWith("--")) ?? names[0];
  return name?.replace(/^-+/, "").replaceAll("-", "_");
}

/** `action=argparse.BooleanOptionalAction`: every long option has a counterpart with `--no-`. */
function isBooleanOptional(call: Call): boolean {
  const action = keyword(call, "action");
  return action !== undefined && lastName(action) === "BooleanOptionalAction";
}

function wordsOfAction(call: Call): WordCount {
  const action = textOf(keyword(call, "action"));
  return action === "store" || action === "append" || action === "extend"
    ? countOf(keyword(call, "nargs"))
    : 0;
}

function countOf(nargs: Expression | undefined): WordCount {
  if (nargs?.kind === "Integer") return nargs.value;
  const text = textOf(nargs);
  return text === "?" || text === "*" || text === "+" ? text : 1;
}

/** The value that the words give, where the declaration says how they are read; undefined where only a run can know. */
export function givenValue(
  { call, takes }: DeclaredOption,
  { name, words }: GivenOption,
): number | string | boolean | undefined {
  if (takes === 0) return switchValue(call, name, words);
  const [word, other] = words;
  if (takes !== 1 || word === undefined || other !== undefined) return undefined;
  const kind = flagKinds.exec(lastName(call.callee) ?? "")?.[1] ?? typeName(call);
  if (kind === undefined || kind === "str" || kind === "string" || kind === "enum") return word;
  if (kind === "int" || kind === "integer") return /^[-+]?\d+$/.test(word) ? Number(word) : undefined;
  return kind === "float" && word.trim() !== "" && !Number.isNaN(Number(word)) ? Number(word) : undefined;
}

function switchValue(call: Call, name: string, words: readonly string[]): boolean | undefined {
  const isAbsolute = flagKinds.test(lastName(call.callee) ?? "");
  if (isAbsolute && words.length > 0) return /^(true|t|1|yes|y)$/i.test(words[0] ?? "");
  if (isAbsolute) return !name.startsWith("--no") || textOf(call.positional[0]) === name.slice(2);
  if (isBooleanOptional(call)) return !name.startsWith("--no-");
  const action = textOf(keyword(call, "action"));
  if (action === "store_true" || isTrue(keyword(call, "is_flag"))) return true;
  return action === "store_false" ? false : undefined;
}

/** The function that reads the words: `type=int`; click takes that of a literal default where there is none. */
function typeName(call: Call): string | undefined {
  const type = keyword(call, "type");
  if (type !== undefined) return lastName(type) ?? "?";
  if (lastName(call.callee) !== "option") return undefined;
  const kinds: Readonly<Record<string, string>> = { Integer: "int", Float: "float", String: "str" };
  return kinds[keyword(call, "default")?.kind ?? ""] ?? "?";
}

function textOf(expression: Expression | undefined): string | undefined {
  return expression?.kind === "String" ? expression.value : undefined;
}

function isTrue(expression: Expression | undefined): boolean {
  return expression?.kind === "Boolean" && expression.value;
}

/** The words that a declaration lists as `choices`. */
export function choicesOf({ call }: DeclaredOption): readonly string[] {
  const choices = keyword(call, "choices");
  if (choices?.kind !== "List" && choices?.kind !== "Tuple") return [];
  return choices.elements.flatMap((element) => textOf(element) ?? []);
}

/** Whether the words are none that the declaration takes: `--batch-size many` of an option that reads whole numbers. */
export function isRefused(option: DeclaredOption, given: GivenOption): boolean {
  if (option.takes !== 1) return false;
  const [word] = given.words;
  if (word === undefined) return true;
  const choices = choicesOf(option);
  if (choices.length > 0) return !choices.includes(word);
  const type = typeName(option.call);
  return (type === "int" || type === "float") && givenValue(option, given) === undefined;
}
