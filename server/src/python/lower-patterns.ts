/** `match` statements and their patterns. */
import type { Expression, Match, MatchCase, Name, Pattern, Statement } from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";
import { adoptAll, endOfBody, lowerOnlyExpression, tuple, unaryOperation } from "./lower-shared";

export function lowerMatch(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  const subjects: Expression[] = [];
  let hasComma = false;
  let subjectEnd = start;
  let cases: MatchCase[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.block) {
      cases = lowerCases(lowering);
    } else if (type === types.comma) {
      hasComma = true;
      subjectEnd = lowering.end;
    } else if (types.expressions[type] !== undefined) {
      subjects.push(lowering.expression(type));
      subjectEnd = lowering.end;
    }
  }
  const first = subjects[0];
  if (first === undefined) return lowering.invalid(start, end, bodies(cases));
  const subject = hasComma || first.kind === "Starred" ? tuple(first.start, subjectEnd, subjects) : first;
  const node: Match = {
    kind: "Match",
    start,
    end: endOfBody(end, ...cases.map((matchCase) => matchCase.body)),
    order: unordered,
    parent: undefined,
    subject,
    cases,
  };
  subject.parent = node;
  for (const matchCase of cases) {
    adoptAll(node, matchCase.pattern.captures);
    adoptAll(node, matchCase.pattern.reads);
    if (matchCase.guard !== undefined) matchCase.guard.parent = node;
    adoptAll(node, matchCase.body);
  }
  return node;
}

function bodies(cases: readonly MatchCase[]): Statement[] {
  return cases.flatMap((matchCase) => matchCase.body);
}

function lowerCases(lowering: Lowering): MatchCase[] {
  const cases: MatchCase[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === lowering.types.case_clause) cases.push(lowerCase(lowering));
  }
  return cases;
}

function lowerCase(lowering: Lowering): MatchCase {
  const { start, end, types } = lowering;
  const patterns: Pattern[] = [];
  let hasComma = false;
  let guard: Expression | undefined;
  let body: Statement[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.case_pattern) patterns.push(lowerPattern(lowering, type, 0));
    else if (type === types.comma) hasComma = true;
    else if (type === types.if_clause) guard = lowerOnlyExpression(lowering);
    else if (type === types.block) body = lowering.body();
  }
  const first = patterns[0];
  const pattern = first !== undefined && !hasComma ? first : sequence(start, patterns);
  return { start, end: endOfBody(end, body), pattern, guard, body };
}

/** `case a, b:` is one pattern that binds what its parts bind. */
function sequence(start: number, patterns: readonly Pattern[]): Pattern {
  return {
    start: patterns[0]?.start ?? start,
    end: patterns.at(-1)?.end ?? start,
    captures: patterns.flatMap((pattern) => pattern.captures),
    reads: patterns.flatMap((pattern) => pattern.reads),
    value: undefined,
    irrefutable: false,
  };
}

/** What is found while a pattern is gone through. */
interface PatternParts {
  readonly captures: Name[];
  readonly reads: Expression[];
  value: Expression | undefined;
  irrefutable: boolean;
}

/** Levels of patterns inside patterns; what lies deeper binds nothing. */
const PATTERN_DEPTH_LIMIT = 100;

function lowerPattern(lowering: Lowering, type: number, depth: number): Pattern {
  const { start, end } = lowering;
  const parts: PatternParts = { captures: [], reads: [], value: undefined, irrefutable: false };
  readPattern(lowering, type, depth, parts);
  return { start, end, ...parts };
}

/** Reads the pattern of the given type that the cursor stands on into `parts`. */
function readPattern(lowering: Lowering, type: number, depth: number, parts: PatternParts): void {
  const { types } = lowering;
  if (depth > PATTERN_DEPTH_LIMIT) {
    lowering.markInvalid();
    lowering.collectExtras();
    return;
  }
  switch (type) {
    case types.case_pattern: {
      readCasePattern(lowering, depth, parts);
      return;
    }
    case types.underscore:
      parts.irrefutable = true;
      return;
    case types.dotted_name: {
      readDottedName(lowering, parts, true);
      return;
    }
    case types.as_pattern: {
      readAsPattern(lowering, depth, parts);
      return;
    }
    case types.union_pattern: {
      readUnion(lowering, depth, parts);
      return;
    }
    case types.tuple_pattern: {
      readGroup(lowering, depth, parts);
      return;
    }
    case types.splat_pattern: {
      readSplat(lowering, parts);
      return;
    }
    case types.keyword_pattern: {
      readKeyword(lowering, depth, parts);
      return;
    }
    case types.class_pattern:
    case types.dict_pattern:
    case types.list_pattern: {
      readNested(lowering, depth, parts, type === types.class_pattern);
      return;
    }
    case types.complex_pattern: {
      readComplex(lowering, parts);
      return;
    }
    default:
      if (types.expressions[type] !== undefined) readValue(parts, lowering.expression(type));
  }
}

function readValue(parts: PatternParts, value: Expression): void {
  parts.value = value;
  parts.reads.push(value);
}

/** The wrapper around any pattern; a minus before a number stands in it by itself. */
function readCasePattern(lowering: Lowering, depth: number, parts: PatternParts): void {
  const { types } = lowering;
  let minus: number | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.minus) {
      minus = lowering.start;
    } else if (minus !== undefined && (type === types.integer || type === types.float)) {
      const operand = lowering.expression(type);
      readValue(parts, unaryOperation(minus, operand.end, "-", operand));
    } else {
      readPattern(lowering, type, depth + 1, parts);
    }
  }
}

/** A single name is a capture, a dotted one a value; a class's name is read either way. */
function readDottedName(lowering: Lowering, parts: PatternParts, mayCapture: boolean): void {
  let path: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type !== lowering.types.identifier) continue;
    const name = lowering.name();
    path = path === undefined ? name : attributeOf(path, name);
  }
  if (path === undefined) return;
  if (path.kind !== "Name" || !mayCapture) {
    if (mayCapture) parts.value = path;
    parts.reads.push(path);
    return;
  }
  parts.irrefutable = true;
  if (path.id !== "_") parts.captures.push(path);
}

function attributeOf(object: Expression, attribute: Name): Expression {
  const node: Expression = {
    kind: "Attribute",
    start: object.start,
    end: attribute.end,
    order: unordered,
    parent: undefined,
    object,
    attribute,
  };
  object.parent = node;
  attribute.parent = node;
  return node;
}

/** Adds what `inner` binds and reads, not what it is. */
function take(parts: PatternParts, inner: Pattern): void {
  parts.captures.push(...inner.captures);
  parts.reads.push(...inner.reads);
}

function readAsPattern(lowering: Lowering, depth: number, parts: PatternParts): void {
  const { types } = lowering;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.case_pattern) {
      const inner = lowerPattern(lowering, type, depth + 1);
      take(parts, inner);
      parts.irrefutable = inner.irrefutable;
    } else if (type === types.identifier) {
      parts.captures.push(lowering.name());
    }
  }
}

function readUnion(lowering: Lowering, depth: number, parts: PatternParts): void {
  let minus: number | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === lowering.types.minus) {
      minus = lowering.start;
      continue;
    }
    const inner = lowerPattern(lowering, type, depth + 1);
    const { value } = inner;
    if (minus !== undefined && value !== undefined) {
      parts.reads.push(unaryOperation(minus, value.end, "-", value));
    } else take(parts, inner);
    if (inner.irrefutable) parts.irrefutable = true;
    minus = undefined;
  }
}

/** `(pattern)` is the pattern itself; only a comma makes it a sequence. */
function readGroup(lowering: Lowering, depth: number, parts: PatternParts): void {
  const { types } = lowering;
  let only: Pattern | undefined;
  let isSequence = false;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.comma) isSequence = true;
    if (type !== types.case_pattern) continue;
    only = lowerPattern(lowering, type, depth + 1);
    take(parts, only);
  }
  if (isSequence || only === undefined) return;
  parts.value = only.value;
  parts.irrefutable = only.irrefutable;
}

function readSplat(lowering: Lowering, parts: PatternParts): void {
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type !== lowering.types.identifier) continue;
    const name = lowering.name();
    if (name.id !== "_") parts.captures.push(name);
  }
}

/** `name=pattern` in a class pattern: the name is an attribute's. */
function readKeyword(lowering: Lowering, depth: number, parts: PatternParts): void {
  let isPattern = false;
  let minus: number | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === lowering.types.equals) isPattern = true;
    else if (type === lowering.types.minus) minus = lowering.start;
    else if (isPattern) {
      const inner = lowerPattern(lowering, type, depth + 1);
      if (minus === undefined || inner.value === undefined) take(parts, inner);
      else parts.reads.push(unaryOperation(minus, inner.value.end, "-", inner.value));
    }
  }
}

/** Sequences, mappings and classes: the patterns inside bind; a class's name is read. */
function readNested(lowering: Lowering, depth: number, parts: PatternParts, isClass: boolean): void {
  const { types } = lowering;
  let isFirst = true;
  let minus: number | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (isClass && isFirst && type === types.dotted_name) readDottedName(lowering, parts, false);
    else if (type === types.minus) minus = lowering.start;
    else {
      const inner = lowerPattern(lowering, type, depth + 1);
      if (minus === undefined || inner.value === undefined) take(parts, inner);
      else parts.reads.push(unaryOperation(minus, inner.value.end, "-", inner.value));
      minus = undefined;
    }
    isFirst = false;
  }
}

/** `-1 + 2j`: a value that is no number for us. */
function readComplex(lowering: Lowering, parts: PatternParts): void {
  const { start, end } = lowering;
  lowering.collectExtras();
  readValue(parts, { kind: "Complex", start, end, order: unordered, parent: undefined });
}
