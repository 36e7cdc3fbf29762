/** Python signatures as data: parsing of `input, dim=None, *, dtype=None` and binding of call arguments to it. */
import type { Message } from "../../messages/message";
import { float, isSequence, type Argument, type Keywords } from "./argument";
import { argumentMissing, unexpectedArgument } from "./reasons";

interface Parameter {
  readonly name: string;
  readonly keywordOnly: boolean;
  /** Undefined when the argument is required. */
  readonly default_: Argument | undefined;
}

export interface Signature {
  /** Name behind the star of `*size`; `""` when surplus positional arguments are an error. */
  readonly rest: string;
  /** Whether keywords that are not named are accepted and ignored (`**kwargs`). */
  readonly open: boolean;
  /** Names of those that positional arguments can be for. */
  readonly positional: readonly string[];
  /** Every name with its default, null where it has none. */
  readonly defaults: Readonly<Record<string, Argument>>;
  /** Names without a default, and how many positional arguments give each. */
  readonly required: readonly { readonly name: string; readonly place: number }[];
}

export interface Bound {
  readonly values: Record<string, Argument>;
  readonly rest: readonly Argument[];
}

const parsed = new Map<string, Signature>();

export function parseSignature(text: string): Signature {
  let signature = parsed.get(text);
  if (signature === undefined) {
    signature = parse(text);
    parsed.set(text, signature);
  }
  return signature;
}

function parse(text: string): Signature {
  const parameters: Parameter[] = [];
  let rest = "";
  let open = false;
  let keywordOnly = false;
  for (const part of splitTopLevel(text)) {
    if (part === "") continue;
    if (part.startsWith("**")) {
      open = true;
    } else if (part.startsWith("*")) {
      rest = part.slice(1);
      keywordOnly = true;
    } else {
      const equals = part.indexOf("=");
      const name = equals < 0 ? part : part.slice(0, equals);
      const default_ = equals < 0 ? undefined : parseDefault(part.slice(equals + 1));
      parameters.push({ name, keywordOnly, default_ });
    }
  }
  const positional = parameters.filter((one) => !one.keywordOnly).map(({ name }) => name);
  const place = (name: string): number => positional.indexOf(name) + 1 || Infinity;
  return {
    rest,
    open,
    positional,
    defaults: Object.fromEntries(parameters.map(({ name, default_ }) => [name, default_ ?? null])),
    required: parameters
      .filter(({ default_ }) => default_ === undefined)
      .map(({ name }) => ({ name, place: place(name) })),
  };
}

/** Splits at commas outside brackets. */
function splitTopLevel(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let current = "";
  for (const character of text) {
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (character === "," && depth === 0) {
      parts.push(current.trim());
      current = "";
    } else {
      current += character;
    }
  }
  parts.push(current.trim());
  return parts;
}

function parseDefault(text: string): Argument {
  if (text === "None") return null;
  if (text === "True") return true;
  if (text === "False") return false;
  if (text.startsWith("'")) return text.slice(1, -1);
  if (text.startsWith("(")) return splitTopLevel(text.slice(1, -1)).filter(Boolean).map(parseDefault);
  return /[.e]/.test(text) ? float(Number(text)) : Number(text);
}

/** Functions call their first parameter `input` (or, as numpy does, `x`) where methods have `self`; `axis` is `dim`. */
const spellings: Readonly<Record<string, string>> = {
  input: "self",
  self: "input",
  axis: "dim",
  keepdims: "keepdim",
};

function spelling({ defaults }: Signature, name: string): string {
  if (Object.hasOwn(defaults, name)) return name;
  const other = spellings[name];
  return other !== undefined && Object.hasOwn(defaults, other) ? other : name;
}

const nothingLeft: readonly Argument[] = [];

/** Binds as Python does. A message instead when an argument is missing or surplus. */
export function bind(
  operator: string,
  signature: Signature,
  positional: readonly Argument[],
  keywords: Keywords,
): Bound | Message {
  const { positional: accepting, defaults, required } = signature;
  const values = { ...defaults };
  const taken = Math.min(positional.length, accepting.length);
  for (let i = 0; i < taken; i++) values[accepting[i] ?? ""] = positional[i] ?? null;
  const rest = positional.length > taken ? positional.slice(taken) : nothingLeft;
  if (rest.length > 0 && signature.rest === "") return unexpectedArgument(operator, `#${positional.length}`);
  const given: string[] = [];
  for (const written of Object.keys(keywords)) {
    const name = spelling(signature, written);
    const value = keywords[written] ?? null;
    const place = accepting.indexOf(name);
    const isFree = Object.hasOwn(defaults, name) && !given.includes(name) && (place < 0 || place >= taken);
    if (!isFree && name === signature.rest && isSequence(value)) return { values, rest: value };
    if (!isFree && !signature.open) return unexpectedArgument(operator, name);
    values[name] = value;
    given.push(name);
  }
  for (const { name, place } of required)
    if (place > taken && !given.includes(name)) return argumentMissing(operator, name);
  return { values, rest };
}
