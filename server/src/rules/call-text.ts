/** Edits inside the brackets of a call, and the quotes that a file writes. */
import type { Source } from "../python/source";
import type { Call, Expression } from "../python/tree";
import { insertAt } from "./fix";
import type { TextEdit } from "./rule";

/** A string in the quotes that the file prefers. */
export function quoted(source: Source, text: string): string {
  const double = source.text.split('"').length;
  return source.text.split("'").length > double ? `'${text}'` : `"${text}"`;
}

/** True when no brackets of its own are around an argument: its span is all that is written of it. */
export function isBare(source: Source, call: Call, argument: Expression): boolean {
  const before = source.text.slice(call.argumentList.start, argument.start).trimEnd();
  const after = source.text.slice(argument.end, call.argumentList.end).trimStart();
  // The bracket of the call itself, a comma, or the sign of a keyword.
  const opens = before === "(" || /[,=]$/.test(before);
  return opens && /^[,)#]/.test(after);
}

/** `text` (`name=value`) as a new argument behind `argument`; `undefined` where the layout is not understood. */
export function insertBehindArgument(
  source: Source,
  call: Call,
  argument: Expression,
  text: string,
): TextEdit | undefined {
  if (argument.kind === "Starred" || !isBare(source, call, argument)) return undefined;
  return insertAt(argument.end, `, ${text}`);
}

/** `text` before everything else in the brackets. */
export function insertFirstArgument(source: Source, call: Call, text: string): TextEdit | undefined {
  let first = call.argumentList.start + 1;
  while (/\s/.test(source.text.charAt(first))) first++;
  const next = source.text.charAt(first);
  if (next === "#") return undefined;
  return insertAt(first, next === ")" ? text : `${text}, `);
}
