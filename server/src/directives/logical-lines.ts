/** Which lines belong together: a simple statement, or the head of a compound one with its decorators. */
import type { Source } from "../python/source";
import type { Module, Span, Statement } from "../python/tree";
import { eachStatement } from "./statements";

/** Lines count from 0, both ends included. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

export class LogicalLines {
  private readonly ranges: readonly LineRange[];

  constructor(
    module: Module,
    private readonly source: Source,
  ) {
    const ranges: LineRange[] = [];
    eachStatement(module.body, (statement) => ranges.push(this.rangeOf(statement)));
    this.ranges = ranges;
  }

  /** The logical line that a line is part of; the line itself where there is none (`else:`, comments). */
  containing(line: number): LineRange {
    // Statements do not overlap but for those on one line, of which the last is taken.
    const range = this.ranges[this.indexBehind(line) - 1];
    return range !== undefined && range.to >= line ? range : { from: line, to: line };
  }

  /** From a comment on a line of its own to the end of the statement that it is part of or that comes next. */
  fromOwnLine(line: number): LineRange {
    const around = this.containing(line);
    if (around.from < line) return around;
    return { from: line, to: this.ranges[this.indexBehind(line)]?.to ?? line };
  }

  /** Index of the first range that begins behind a line. */
  private indexBehind(line: number): number {
    let low = 0;
    let high = this.ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.ranges[middle]?.from ?? Infinity) <= line) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private rangeOf(statement: Statement): LineRange {
    const from = this.source.lineOf(statement.start);
    // It may reach to the end of the file: nothing on its other lines is known to belong together.
    if (statement.kind === "Invalid") return { from, to: from };
    const body = bodyOf(statement);
    const first = body?.[0];
    if (first === undefined) return { from, to: this.source.lineOf(statement.end) };
    let to = this.source.lineOf(first.start);
    const headEnd = Math.max(from, this.source.lineOf(headEndOf(statement)));
    while (to > headEnd && (to === this.source.lineOf(first.start) || this.isBlank(to))) to--;
    return { from, to };
  }

  private isBlank(line: number): boolean {
    return /^\s*(?:#|$)/.test(this.source.lineText(line));
  }
}

function bodyOf(statement: Statement): readonly Statement[] | undefined {
  switch (statement.kind) {
    case "If":
    case "For":
    case "While":
    case "With":
    case "Try":
    case "FunctionDefinition":
    case "ClassDefinition":
      return statement.body;
    case "Match":
      return statement.cases[0]?.body;
    default:
      return undefined;
  }
}

/** Where the last expression of a compound statement's head ends. */
function headEndOf(statement: Statement): number {
  switch (statement.kind) {
    case "If":
    case "While":
      return statement.test.end;
    case "For":
      return statement.iterable.end;
    case "With":
      return lastEnd(statement.items, statement.start);
    case "FunctionDefinition":
      return statement.returns?.end ?? lastEnd(statement.parameters, statement.name.end);
    case "ClassDefinition":
      return lastEnd([...statement.bases, ...statement.keywords], statement.name.end);
    case "Match":
      return statement.subject.end;
    default:
      return statement.start;
  }
}

function lastEnd(spans: readonly Span[], otherwise: number): number {
  return spans.reduce((end, span) => Math.max(end, span.end), otherwise);
}
