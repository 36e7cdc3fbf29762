/**
 * `re`, as far as names of layers and models are taken apart with it. Patterns are JavaScript's where the two languages
 * agree; what differs, and what could take long, is not evaluated.
 */
import { ListValue, NativeFunction, ObjectValue, TupleValue } from "../values";
import { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { dictOf } from "../iteration";
import { integer } from "../numbers";
import type { Native, Value } from "../values";
import { libraryClass } from "./library-class";

/** Constructs of Python's that JavaScript reads otherwise or not at all. */
const foreign = /\(\?(?:P[=>]|#|\(|[aiLmsux-]+[:)])|\\[AZ]|\[\[|[*+?}]\+|\\N/;
/** Classes such as `\w` and the end `$` differ outside of plain one-line text. */
const plainText = /^[\x20-\x7e\t]*$/;
/** Steps that a match may take at most: the text's length to the power of the repetitions. */
const mostSteps = 1_000_000;
const longestPattern = 500;

const understoodFlags = { ignoreCase: 2, multiline: 8, dotAll: 16, unicode: 32, ascii: 256 };

const patternClass = libraryClass("Pattern", {});
const matchClass = libraryClass("Match", {});

function translated(pattern: string, flags: number): RegExp | undefined {
  const { ignoreCase, multiline, dotAll, unicode, ascii } = understoodFlags;
  if ((flags & ~(ignoreCase | multiline | dotAll | unicode | ascii)) !== 0) return undefined;
  if (pattern.length > longestPattern || foreign.test(pattern) || mayExplode(pattern)) return undefined;
  const letters = `${flags & ignoreCase ? "i" : ""}${flags & multiline ? "m" : ""}${flags & dotAll ? "s" : ""}`;
  try {
    return new RegExp(pattern.replaceAll("(?P<", "(?<"), `gu${letters}`);
  } catch {
    return undefined;
  }
}

/** Whether a repeated group holds a repetition or alternatives: time may then grow exponentially with the text. */
function mayExplode(pattern: string): boolean {
  const choices = [false];
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const one = pattern[i] ?? "";
    if (one === "\\") i++;
    else if (inClass) inClass = one !== "]";
    else if (one === "[") inClass = true;
    else if (one === "(") choices.push(false);
    else if (one === ")") {
      const hasChoice = choices.pop() ?? false;
      if (hasChoice && /[*+{]/.test(pattern[i + 1] ?? "")) return true;
      if (hasChoice) choices[choices.length - 1] = true;
    } else if (/[*+{|]/.test(one)) choices[choices.length - 1] = true;
  }
  return false;
}

/** Whether matching is sure to end soon. */
function isQuick(expression: RegExp, text: string): boolean {
  const repetitions = expression.source.match(/(?<!\\)[*+?]|\{\d*,\d*\}/g)?.length ?? 0;
  return Math.max(text.length, 2) ** Math.max(1, repetitions) <= mostSteps;
}

const compiled = new WeakMap<ObjectValue, RegExp>();

function expressionOf(pattern: Value | undefined, flags: Value | undefined): RegExp | undefined {
  if (pattern instanceof ObjectValue) return compiled.get(pattern);
  const bits = flags === undefined ? 0 : integer(flags);
  return typeof pattern === "string" && bits !== undefined ? translated(pattern, bits) : undefined;
}

type Run = (
  interpreter: Interpreter,
  expression: RegExp,
  text: string,
  args: CallArguments,
) => Value | undefined;

/** Name, position of the text among the arguments, position of the flags, what it does. */
interface Row {
  readonly text: number;
  readonly flags: number;
  readonly run: Run;
}

/** The same expression, bound to the beginning or to the whole of the text. */
function bound(expression: RegExp, kind: "match" | "fullmatch"): RegExp {
  const flags = expression.flags.replace("g", "").replace("m", "");
  return new RegExp(`^(?:${expression.source})${kind === "fullmatch" ? "$" : ""}`, flags);
}

function matchOf(found: RegExpExecArray | null): Value {
  if (found === null) return null;
  const object = new ObjectValue(matchClass);
  const groups = found.map((group): Value => (group as string | undefined) ?? null);
  const named = Object.entries(found.groups ?? {}).map(
    ([name, group]) => [name, (group as string | undefined) ?? null] as const,
  );
  const byKey = (key: Value): Value | undefined =>
    typeof key === "string" ? named.find(([name]) => name === key)?.[1] : groups[integer(key) ?? -1];
  const methods: Readonly<Record<string, Native>> = {
    group: (interpreter, args, span) => {
      const keys = args.positional.length === 0 ? [0] : args.positional;
      const picked = keys.map((key) => byKey(key));
      if (picked.includes(undefined)) return interpreter.raise("IndexError", "no such group", span);
      return picked.length === 1 ? (picked[0] ?? null) : new TupleValue(picked.map((one) => one ?? null));
    },
    groups: () => new TupleValue(groups.slice(1)),
    groupdict: () => dictOf(named),
    start: () => found.index,
    end: () => found.index + found[0].length,
    span: () => new TupleValue([found.index, found.index + found[0].length]),
  };
  for (const [name, method] of Object.entries(methods))
    object.attributes.set(name, new NativeFunction(name, method));
  return object;
}

function splitText(expression: RegExp, text: string, most: number): string[] {
  const parts: (string | null)[] = [];
  let from = 0;
  let count = 0;
  for (const found of text.matchAll(expression)) {
    if (most > 0 && count >= most) break;
    parts.push(
      text.slice(from, found.index),
      ...found.slice(1).map((group) => (group as string | undefined) ?? null),
    );
    from = found.index + found[0].length;
    count++;
  }
  return [...parts, text.slice(from)] as string[];
}

const findall: Run = (_, expression, text) => {
  const found = [...text.matchAll(expression)].map((match): Value => {
    const groups = match.slice(1).map((group): Value => (group as string | undefined) ?? "");
    if (groups.length === 0) return match[0];
    return groups.length === 1 ? (groups[0] ?? "") : new TupleValue(groups);
  });
  return new ListValue(found);
};

/** `\1` and `\g<name>` in a replacement. */
function replacement(template: string, match: RegExpExecArray): string | undefined {
  const missing: string[] = [];
  const text = template.replaceAll(
    /\\(?:g<(\w+)>|(.))/gs,
    (_, group: string | undefined, one: string | undefined) => {
      if (one === "\\") return "\\";
      const key = group ?? one ?? "";
      const value = /^\d+$/.test(key) ? match[Number(key)] : match.groups?.[key];
      if (value === undefined) missing.push(key);
      return value ?? "";
    },
  );
  return missing.length === 0 ? text : undefined;
}

function substitute(position: number): Run {
  return (interpreter, expression, text, args) => {
    const given = args.get(position, "repl") ?? null;
    const most = integer(args.or(position + 2, "count", 0)) ?? 0;
    let result = "";
    let from = 0;
    let count = 0;
    for (const match of text.matchAll(expression)) {
      if (most > 0 && count++ >= most) break;
      const made: Value | undefined =
        typeof given === "string"
          ? replacement(given, match)
          : interpreter.call(given, new CallArguments([matchOf(match)]), undefined);
      if (typeof made !== "string") return undefined;
      result += text.slice(from, match.index) + made;
      from = match.index + match[0].length;
    }
    return result + text.slice(from);
  };
}

/** Positions as in `re.f(pattern, string, flags)`. */
const rows: Readonly<Record<string, Row>> = {
  match: { text: 1, flags: 2, run: (_, expression, text) => matchOf(bound(expression, "match").exec(text)) },
  fullmatch: {
    text: 1,
    flags: 2,
    run: (_, expression, text) => matchOf(bound(expression, "fullmatch").exec(text)),
  },
  search: {
    text: 1,
    flags: 2,
    run: (_, expression, text) =>
      matchOf(new RegExp(expression.source, expression.flags.replace("g", "")).exec(text)),
  },
  findall: { text: 1, flags: 2, run: findall },
  split: {
    text: 1,
    flags: 3,
    run: (_, expression, text, args) =>
      new ListValue(splitText(expression, text, integer(args.or(2, "maxsplit", 0)) ?? 0)),
  },
  sub: { text: 2, flags: 4, run: substitute(1) },
};

function call(name: string, row: Row): Native {
  return (interpreter, args, span) => {
    const expression = expressionOf(args.get(0, "pattern"), args.get(row.flags, "flags"));
    const text = args.get(row.text, "string");
    const result =
      expression !== undefined &&
      typeof text === "string" &&
      plainText.test(text) &&
      isQuick(expression, text)
        ? row.run(interpreter, expression, text, args)
        : undefined;
    return (
      result ?? (result === null ? null : (args.unknown() ?? interpreter.unknown("call", span, { name })))
    );
  };
}

for (const [name, row] of Object.entries(rows)) {
  // `pattern.sub(repl, string)` takes the pattern's place with the receiver
  patternClass.attributes.set(name, new NativeFunction(name, call(`re.Pattern.${name}`, row)));
}

const compile: Native = (interpreter, args, span) => {
  const expression = expressionOf(args.get(0, "pattern"), args.get(1, "flags"));
  if (expression === undefined)
    return args.unknown() ?? interpreter.unknown("call", span, { name: "re.compile" });
  const object = new ObjectValue(patternClass);
  object.attributes.set("pattern", args.get(0, "pattern") ?? null);
  compiled.set(object, expression);
  return object;
};

export const regularExpressionFunctions: Readonly<Record<string, Native>> = {
  ...Object.fromEntries(Object.entries(rows).map(([name, row]) => [`re.${name}`, call(`re.${name}`, row)])),
  "re.compile": compile,
  "re.escape": (interpreter, args, span) => {
    const text = args.at(0);
    if (typeof text !== "string")
      return args.unknown() ?? interpreter.unknown("call", span, { name: "re.escape" });
    return text.replaceAll(/[^\w]/g, String.raw`\$&`);
  },
};

/** `re.RegexFlag`. */
const flagValues: Readonly<Record<string, number>> = {
  I: 2,
  IGNORECASE: 2,
  M: 8,
  MULTILINE: 8,
  S: 16,
  DOTALL: 16,
  U: 32,
  UNICODE: 32,
  A: 256,
  ASCII: 256,
};

export const regularExpressionConstants: Readonly<Record<string, () => Value>> = Object.fromEntries(
  Object.entries(flagValues).map(([name, value]) => [`re.${name}`, (): Value => value]),
);
