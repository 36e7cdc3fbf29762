/**
 * Edits that rules build their fixes from, and how fixes are applied together. Every helper answers `undefined` where
 * the text is laid out in a way it does not understand (several statements on one line, say): no fix beats a broken
 * one.
 */
import { message } from "../messages/message";
import type { Message } from "../messages/message";
import type { Source } from "../python/source";
import type { Call, Module, Node, Span, Statement } from "../python/tree";
import { walk } from "../python/walk";
import type { Finding, FixSafety, TextEdit } from "./rule";

/** What the title of a fix is shown as: one that needs a look says so. */
export function titleOfFix(title: Message, safety: FixSafety): Message {
  if (safety === "safe") return title;
  return message({ en: "{title} (review)", "zh-cn": "{title}（需复核）" }, { title });
}

export function replaceSpan(span: Span, text: string): TextEdit {
  return { start: span.start, end: span.end, text };
}

export function insertAt(offset: number, text: string): TextEdit {
  return { start: offset, end: offset, text };
}

/** One level of indentation as the file writes it: that of its first indented line, four spaces where it has none. */
export function indentationUnit(source: Source, module: Module): string {
  for (const statement of module.body) {
    const inner = firstInnerStatement(statement);
    if (inner === undefined) continue;
    const unit = source.indentationAt(inner.start);
    if (unit !== "" && source.lineOf(inner.start) !== source.lineOf(statement.start)) return unit;
  }
  return "    ";
}

/** True when nothing but white space stands before the statement on its line. */
export function startsItsLine(source: Source, statement: Span): boolean {
  const line = source.lineOf(statement.start);
  return source.text.slice(source.lineStart(line), statement.start).trim() === "";
}

/**
 * Puts neighbouring statements of one block under `with header:`, one level deeper. Lines that begin inside a string
 * stay as they are. `statements` must be neighbours in source order.
 */
export function wrapInWith(
  source: Source,
  module: Module,
  statements: readonly Statement[],
  header: string,
): TextEdit[] | undefined {
  const first = statements[0];
  const last = statements[statements.length - 1];
  if (first === undefined || last === undefined) return undefined;
  if (!startsItsLine(source, first) || !endsItsLine(source, last)) return undefined;
  const indentation = source.indentationAt(first.start);
  const unit = indentationUnit(source, module);
  const edits = [insertAt(first.start, `with ${header}:${source.lineEnd}${indentation}${unit}`)];
  return [...edits, ...indentLines(source, statements, source.lineOf(first.start) + 1, unit)];
}

/** Indents the lines of statements from `fromLine` on by `unit`; empty lines and lines inside strings stay. */
function indentLines(
  source: Source,
  statements: readonly Statement[],
  fromLine: number,
  unit: string,
): TextEdit[] {
  const last = statements[statements.length - 1];
  if (last === undefined) return [];
  const inStrings = linesThatBeginInStrings(source, statements);
  const edits: TextEdit[] = [];
  for (let line = fromLine; line <= source.lineOf(last.end); line++) {
    if (inStrings.has(line) || source.lineText(line).trim() === "") continue;
    edits.push(insertAt(source.lineStart(line), unit));
  }
  return edits;
}

/** Takes a level of indentation from the lines of statements; `undefined` when a line has less than that. */
export function dedentStatements(
  source: Source,
  module: Module,
  statements: readonly Statement[],
): TextEdit[] | undefined {
  const first = statements[0];
  const last = statements[statements.length - 1];
  if (first === undefined || last === undefined) return undefined;
  if (!startsItsLine(source, first) || !endsItsLine(source, last)) return undefined;
  const unit = indentationUnit(source, module);
  const inStrings = linesThatBeginInStrings(source, statements);
  const edits: TextEdit[] = [];
  for (let line = source.lineOf(first.start); line <= source.lineOf(last.end); line++) {
    const text = source.lineText(line);
    if (inStrings.has(line) || text.trim() === "") continue;
    if (!text.startsWith(unit)) return undefined;
    const start = source.lineStart(line);
    edits.push({ start, end: start + unit.length, text: "" });
  }
  return edits;
}

/**
 * Removes a statement with its line. A comment behind it stays on a line of its own; the only statement of a block
 * becomes `pass`. `siblings` is the block that holds it.
 */
export function deleteStatement(
  source: Source,
  statement: Statement,
  siblings: readonly Statement[],
): TextEdit | undefined {
  if (!startsItsLine(source, statement)) return undefined;
  if (siblings.length <= 1) return replaceSpan(statement, "pass");
  const lastLine = source.lineOf(statement.end);
  const rest = source.text.slice(statement.end, source.lineStart(lastLine + 1));
  const separator = /^[ \t]*;[ \t]*/.exec(rest);
  if (separator) return replaceSpan({ start: statement.start, end: statement.end + separator[0].length }, "");
  const beforeComment = /^[ \t]*(?=#)/.exec(rest);
  if (beforeComment) {
    return replaceSpan({ start: statement.start, end: statement.end + beforeComment[0].length }, "");
  }
  if (rest.trim() !== "") return undefined;
  return replaceSpan(
    { start: source.lineStart(source.lineOf(statement.start)), end: source.lineStart(lastLine + 1) },
    "",
  );
}

/**
 * A statement with the comment behind it, and the edit that removes both: for moving it. Only a statement that has its
 * lines to itself can be moved.
 */
export function takeStatement(
  source: Source,
  statement: Statement,
  siblings: readonly Statement[],
): { readonly text: string; readonly removal: TextEdit } | undefined {
  if (!startsItsLine(source, statement) || !endsItsLine(source, statement)) return undefined;
  const lastLine = source.lineOf(statement.end);
  const lineStart = source.lineStart(lastLine);
  const end = lineStart + source.lineText(lastLine).trimEnd().length;
  const text = source.text.slice(statement.start, end);
  if (siblings.length <= 1) return { text, removal: replaceSpan({ start: statement.start, end }, "pass") };
  const start = source.lineStart(source.lineOf(statement.start));
  return { text, removal: replaceSpan({ start, end: source.lineStart(lastLine + 1) }, "") };
}

/** A new line `text` before a statement, with its indentation. */
export function insertLineBefore(source: Source, statement: Span, text: string): TextEdit | undefined {
  if (!startsItsLine(source, statement)) return undefined;
  return insertAt(statement.start, `${text}${source.lineEnd}${source.indentationAt(statement.start)}`);
}

/** A new line `text` behind a statement, with its indentation. */
export function insertLineAfter(source: Source, statement: Span, text: string): TextEdit | undefined {
  if (!startsItsLine(source, statement) || !endsItsLine(source, statement)) return undefined;
  const line = source.lineOf(statement.end);
  const end = source.lineStart(line) + source.lineText(line).length;
  return insertAt(end, `${source.lineEnd}${source.indentationAt(statement.start)}${text}`);
}

/** The line `statement` (`import torch`) behind the imports at the top of the file, or behind its docstring. */
export function insertImport(source: Source, module: Module, statement: string): TextEdit {
  let anchor: Statement | undefined;
  for (const candidate of module.body) {
    if (candidate.kind === "Import" || candidate.kind === "ImportFrom") anchor = candidate;
    else if (!(anchor === undefined && isDocstring(candidate))) break;
    else anchor = candidate;
  }
  if (anchor !== undefined) {
    const line = source.lineOf(anchor.end);
    const end = source.lineStart(line) + source.lineText(line).length;
    return insertAt(end, `${source.lineEnd}${statement}`);
  }
  const first = module.body[0];
  return insertAt(
    first === undefined ? 0 : source.lineStart(source.lineOf(first.start)),
    `${statement}${source.lineEnd}`,
  );
}

/** Takes an argument out of a call, with the comma that separates it. */
export function deleteArgument(source: Source, call: Call, argument: Span): TextEdit {
  const list = call.argumentList;
  const isOnly = call.positional.length + call.keywords.length + call.keywordSpreads.length === 1;
  if (isOnly && !source.slice(list).includes("#")) return replaceSpan(list, "()");
  const commaBefore = /,\s*$/.exec(source.text.slice(list.start + 1, argument.start));
  if (commaBefore) {
    return replaceSpan({ start: argument.start - commaBefore[0].length, end: argument.end }, "");
  }
  const commaAfter = /^[ \t]*,\s*/.exec(source.text.slice(argument.end, list.end - 1));
  return replaceSpan({ start: argument.start, end: argument.end + (commaAfter?.[0].length ?? 0) }, "");
}

/** Puts an argument behind all others of a call; `undefined` where the last one cannot be seen to end. */
export function appendArgument(source: Source, call: Call, text: string): TextEdit | undefined {
  const list = call.argumentList;
  const ends = [...call.positional, ...call.keywords, ...call.keywordSpreads].map(({ end }) => end);
  if (ends.length === 0) return replaceSpan(list, `(${text})`);
  const last = Math.max(...ends);
  // The brackets of a bare generator are those of the call.
  if (last >= list.end) return undefined;
  const rest = source.text.slice(last, list.end - 1);
  // Brackets around the last argument are not part of its node.
  const brackets = /^(\s*\))*/.exec(rest)?.[0].length ?? 0;
  if (!/^\s*(,\s*)?(#|$)/.test(rest.slice(brackets))) return undefined;
  return insertAt(last + brackets, `, ${text}`);
}

/**
 * The text after the edits. Edits that are equal count once (two fixes may add the same import); insertions at one
 * place keep their order. Overlapping edits are the caller's mistake and throw.
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const ordered = unique(edits)
    .map((edit, index) => ({ edit, index }))
    .sort((a, b) => a.edit.start - b.edit.start || a.edit.end - b.edit.end || a.index - b.index);
  let result = "";
  let offset = 0;
  for (const { edit } of ordered) {
    if (edit.start < offset) throw new RangeError("edits overlap");
    result += text.slice(offset, edit.start) + edit.text;
    offset = edit.end;
  }
  return result + text.slice(offset);
}

/**
 * The edits of all safe fixes that can be applied together: the first safe fix of each finding, those that touch what an
 * earlier one touches left for the next round.
 */
export function safeEdits(findings: readonly Finding[]): TextEdit[] {
  const accepted: TextEdit[] = [];
  for (const finding of findings) {
    const fix = finding.fixes.find(({ safety }) => safety === "safe");
    if (fix === undefined) continue;
    const fresh = fix.edits.filter((edit) => !accepted.some((other) => equal(edit, other)));
    if (fresh.some((edit) => accepted.some((other) => touches(edit, other)))) continue;
    accepted.push(...fresh);
  }
  return accepted;
}

function unique(edits: readonly TextEdit[]): TextEdit[] {
  return edits.filter((edit, index) => edits.findIndex((other) => equal(edit, other)) === index);
}

function equal(a: TextEdit, b: TextEdit): boolean {
  return a.start === b.start && a.end === b.end && a.text === b.text;
}

/** Edits that share a place, ends included: their order would matter. */
function touches(a: TextEdit, b: TextEdit): boolean {
  return a.start <= b.end && b.start <= a.end;
}

function endsItsLine(source: Source, statement: Span): boolean {
  const line = source.lineOf(statement.end);
  const rest = source.text.slice(statement.end, source.lineStart(line + 1)).trim();
  return rest === "" || rest.startsWith("#");
}

function isDocstring(statement: Statement): boolean {
  return statement.kind === "ExpressionStatement" && statement.expression.kind === "String";
}

function firstInnerStatement(statement: Statement): Statement | undefined {
  switch (statement.kind) {
    case "FunctionDefinition":
    case "ClassDefinition":
    case "If":
    case "For":
    case "While":
    case "With":
    case "Try":
      return statement.body[0];
    default:
      return undefined;
  }
}

function linesThatBeginInStrings(source: Source, roots: readonly Node[]): Set<number> {
  const lines = new Set<number>();
  for (const root of roots) {
    walk(root, {
      enter(node) {
        if (node.kind !== "String") return;
        for (let line = source.lineOf(node.start) + 1; line <= source.lineOf(node.end); line++)
          lines.add(line);
      },
    });
  }
  return lines;
}
