/** What of a file is told and fixed: all of it, or only what lies on changed lines and is not known already. */
import type { LineRange } from "../directives/logical-lines";
import type { Source } from "../python/source";
import type { Span } from "../python/tree";
import type { TextEdit } from "../rules/rule";

/** Plain data, so that it can be handed to another thread. */
export interface FileFilter {
  /** Changed lines of the source; all lines when absent. */
  readonly lines?: readonly LineRange[];
  /** Texts of the keys of findings that the baseline knows. */
  readonly known?: ReadonlySet<string>;
}

export const unfiltered: FileFilter = {};

/** True when a span has a part on one of the lines. */
export function isOnLines(lines: readonly LineRange[] | undefined, source: Source, span: Span): boolean {
  if (lines === undefined) return true;
  const first = source.lineOf(span.start);
  const last = source.lineOf(Math.max(span.start, span.end - 1));
  return lines.some(({ from, to }) => from <= last && first <= to);
}

/** The changed lines after a fix: where they went, and the lines that the fix itself wrote. */
export function shiftedLines(
  lines: readonly LineRange[],
  edits: readonly TextEdit[],
  before: Source,
  after: Source,
): LineRange[] {
  const ordered = [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  const shift = (offset: number): number =>
    ordered
      .filter(({ end }) => end <= offset)
      .reduce((sum, { start, end, text }) => sum + text.length - (end - start), offset);
  const range = (start: number, end: number): LineRange => ({
    from: after.lineOf(start),
    to: after.lineOf(Math.max(start, end - 1)),
  });
  const moved = lines.map(({ from, to }) =>
    range(shift(before.lineStart(from)), shift(before.lineStart(to + 1))),
  );
  let growth = 0;
  for (const { start, end, text } of ordered) {
    if (text !== "") moved.push(range(start + growth, start + growth + text.length));
    growth += text.length - (end - start);
  }
  return moved;
}

/** Lines as git counts them (by line feeds only) as lines of the source, which a lone carriage return ends too. */
export function linesOfSource(gitLines: readonly LineRange[], source: Source): readonly LineRange[] {
  if (!/\r(?!\n)/.test(source.text)) return gitLines;
  const starts = [0];
  for (let end = source.text.indexOf("\n"); end >= 0; end = source.text.indexOf("\n", end + 1)) {
    starts.push(end + 1);
  }
  return gitLines.map(({ from, to }) => ({
    from: source.lineOf(starts[from] ?? source.text.length),
    to: source.lineOf(Math.max(0, (starts[to + 1] ?? source.text.length + 1) - 1)),
  }));
}
