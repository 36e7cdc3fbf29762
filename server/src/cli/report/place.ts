/** Where things are, as every report counts: lines and columns from 1, columns in UTF-16 units. */
import type { Span } from "../../python/tree";
import type { CheckedFile } from "../checked-file";

export interface Place {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  /** The first column behind the span. */
  readonly endColumn: number;
}

export function placeOf({ source }: Pick<CheckedFile, "source">, span: Span): Place {
  const start = source.positionAt(span.start);
  const end = source.positionAt(span.end);
  return {
    line: start.line + 1,
    column: start.column + 1,
    endLine: end.line + 1,
    endColumn: end.column + 1,
  };
}
