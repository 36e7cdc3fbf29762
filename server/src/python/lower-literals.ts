/** Numbers and strings. */
import type { Expression, Interpolation, Node, StringLiteral } from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";
import { unescape } from "./escapes";

/** Integers, floats and complex numbers; a Python 2 long (`10L`) is invalid. */
export function lowerNumber(lowering: Lowering): Expression {
  const { start, end } = lowering;
  return number(lowering.text.slice(start, end), start, end);
}

export function number(text: string, start: number, end: number): Expression {
  const digits = text.replaceAll("_", "");
  const last = digits.charAt(digits.length - 1);
  const isRadix = /^0[xob]/i.test(digits);
  if (last === "l" || last === "L")
    return { kind: "Invalid", start, end, order: unordered, parent: undefined, children: [] };
  if (!isRadix && (last === "j" || last === "J"))
    return { kind: "Complex", start, end, order: unordered, parent: undefined };
  const isFloat = !isRadix && /[.eE]/.test(digits);
  const value = Number(digits);
  return isFloat
    ? { kind: "Float", start, end, order: unordered, parent: undefined, value }
    : { kind: "Integer", start, end, order: unordered, parent: undefined, value };
}

/** What stands before the quotes, and the quotes. */
interface Opening {
  readonly isRaw: boolean;
  readonly isBytes: boolean;
  /** True when `{…}` in it are expressions. */
  readonly isInterpolated: boolean;
  /** Length of prefix and quotes. */
  readonly length: number;
  readonly quoteLength: number;
}

/** One literal of what may be several neighbours. */
interface Piece {
  readonly isBytes: boolean;
  readonly parts: (string | Interpolation)[];
}

export function lowerString(lowering: Lowering): Expression {
  const { start, end } = lowering;
  return stringOf(start, end, [lowerPiece(lowering)]);
}

export function lowerConcatenatedString(lowering: Lowering): Expression {
  const { start, end } = lowering;
  const pieces: Piece[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === lowering.types.string) pieces.push(lowerPiece(lowering));
  }
  return stringOf(start, end, pieces);
}

function stringOf(start: number, end: number, pieces: readonly Piece[]): StringLiteral {
  const parts = joinText(pieces.flatMap((piece) => piece.parts));
  const isPlain = parts.every((part) => typeof part === "string");
  const node: StringLiteral = {
    kind: "String",
    start,
    end,
    order: unordered,
    parent: undefined,
    value: isPlain ? parts.join("") : undefined,
    isBytes: pieces[0]?.isBytes ?? false,
    parts: isPlain ? [] : parts,
  };
  for (const part of parts) if (typeof part !== "string") adoptInterpolation(node, part);
  return node;
}

/** Neighbouring texts as one, empty ones left out. */
function joinText(parts: readonly (string | Interpolation)[]): (string | Interpolation)[] {
  const joined: (string | Interpolation)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part === "") continue;
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}

function adoptInterpolation(owner: Node, interpolation: Interpolation): void {
  interpolation.expression.parent = owner;
  for (const field of interpolation.formatFields) adoptInterpolation(owner, field);
}

function lowerPiece(lowering: Lowering): Piece {
  const { start, end, text } = lowering;
  const opening = openingAt(text, start);
  if (!opening.isInterpolated) {
    if (lowering.hasErrors) lowering.collectExtras();
    const raw = text.slice(
      start + opening.length,
      Math.max(start + opening.length, end - opening.quoteLength),
    );
    return { isBytes: opening.isBytes, parts: [cooked(raw, opening)] };
  }
  return { isBytes: false, parts: lowerInterpolatedParts(lowering, opening) };
}

function openingAt(text: string, start: number): Opening {
  let offset = start;
  let isRaw = false;
  let isBytes = false;
  let isInterpolated = false;
  let unit = text.charCodeAt(offset);
  while (unit !== 34 && unit !== 39 && offset < start + 3) {
    const letter = unit | 32;
    if (letter === 114) isRaw = true;
    else if (letter === 98) isBytes = true;
    else if (letter === 102 || letter === 116) isInterpolated = true;
    unit = text.charCodeAt(++offset);
  }
  const isTriple = text.charCodeAt(offset + 1) === unit && text.charCodeAt(offset + 2) === unit;
  // `""` at the end of a text is an empty string, `""""""` an empty triple-quoted one.
  const quoteLength = isTriple ? 3 : 1;
  return { isRaw, isBytes, isInterpolated, length: offset - start + quoteLength, quoteLength };
}

/** Line ends as Python sees them and, unless it is raw, escapes resolved. */
function cooked(text: string, opening: Opening): string {
  const lines = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  return opening.isRaw || !lines.includes("\\") ? lines : unescape(lines, opening.isBytes);
}

/** The texts and replacement fields of an f-string or t-string. */
function lowerInterpolatedParts(lowering: Lowering, opening: Opening): (string | Interpolation)[] {
  const { types, text } = lowering;
  const parts: (string | Interpolation)[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.string_content) {
      parts.push(cooked(text.slice(lowering.start, lowering.end).replace(/\{\{|\}\}/g, halved), opening));
      lowering.collectExtras();
    } else if (type === types.interpolation) {
      parts.push(...lowerInterpolation(lowering));
    }
  }
  return parts;
}

function halved(braces: string): string {
  return braces.charAt(0);
}

/** One `{expression!r:format}`; `{x=}` also gives the text `x=`. */
function lowerInterpolation(lowering: Lowering): (string | Interpolation)[] {
  const { start, end, types, text } = lowering;
  let expression: Expression | undefined;
  let debugText: string | undefined;
  let conversion = "";
  let format = "";
  let hasFormat = false;
  const formatFields: Interpolation[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.type_conversion) {
      conversion = lowering.nodeText.slice(1);
    } else if (type === types.format_specifier) {
      hasFormat = true;
      format = lowering.nodeText.slice(1);
      formatFields.push(...lowerFormatFields(lowering));
    } else if (type === types.equals) {
      debugText = text.slice(start + 1, lowering.end) + spaceAfter(text, lowering.end);
    } else if (types.expressions[type] !== undefined) {
      expression = lowering.expression(type);
    }
  }
  if (expression === undefined) {
    lowering.markInvalid();
    return [];
  }
  if (debugText !== undefined && conversion === "" && !hasFormat) conversion = "r";
  const field: Interpolation = { start, end, expression, format, conversion, formatFields };
  return debugText === undefined ? [field] : [debugText, field];
}

function spaceAfter(text: string, offset: number): string {
  let end = offset;
  while (text.charAt(end) === " ") end++;
  return text.slice(offset, end);
}

function lowerFormatFields(lowering: Lowering): Interpolation[] {
  const fields: Interpolation[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type !== lowering.types.format_expression) continue;
    for (const part of lowerInterpolation(lowering)) if (typeof part !== "string") fields.push(part);
  }
  return fields;
}
