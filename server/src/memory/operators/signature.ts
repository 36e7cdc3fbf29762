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
  readonly parameters: readonly Parameter[];
  /** Name behind the star of `*size`; `""` when surplus positional arguments are an error. */
  readonly rest: string;
  /** Whether keywords that are not named are accepted and ignored (`**kwargs`). */
  readonly open: boolean;
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
  return { parameters, rest, open };
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

function spelling(signature: Signature, name: string): string {
  if (signature.parameters.some((parameter) => parameter.name === name)) return name;
  const other = spellings[name];
  return other !== undefined && signature.parameters.some((parameter) => parameter.name === other)
    ? other
    : name;
}

/** Binds as Python does. A message instead when an argument is missing or surplus. */
export function bind(
  operator: string,
  signature: Signature,
  positional: readonly Argument[],
  keywords: Keywords,
): Bound | Message {
  const values: Record<string, Argument> = {};
  const accepting = signature.parameters.filter((parameter) => !parameter.keywordOnly);
  positional.slice(0, accepting.length).forEach((value, i) => {
    const parameter = accepting[i];
    if (parameter !== undefined) values[parameter.name] = value;
  });
  const rest = positional.slice(accepting.length);
  if (rest.length > 0 && signature.rest === "") return unexpectedArgument(operator, `#${positional.length}`);
  for (const [given, value] of Object.entries(keywords)) {
    const name = spelling(signature, given);
    const known = signature.parameters.some((parameter) => parameter.name === name);
    if (known && !(name in values)) values[name] = value;
    else if (name === signature.rest && isSequence(value)) return { values, rest: value };
    else if (!signature.open) return unexpectedArgument(operator, name);
    else values[name] = value;
  }
  for (const parameter of signature.parameters) {
    if (parameter.name in values) continue;
    if (parameter.default_ === undefined) return argumentMissing(operator, parameter.name);
    values[parameter.name] = parameter.default_;
  }
  return { values, rest };
}
