/** Where things are, as every report counts: lines and columns from 1, columns in UTF-16 units. */
import type { Source } from "../../python/source";
import type { Span } from "../../python/tree";
import { Notebook } from "../../workspace/notebook";
import type { CheckedFile } from "../checked-file";

export interface Place {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  /** The first column behind the span. */
  readonly endColumn: number;
}

/** What a place is read from. */
export type Placed = Pick<CheckedFile, "source" | "form">;

export interface CellPlace extends Place {
  /** The cell of a notebook, counted from 1 among all its cells; lines are those of the cell. */
  readonly cell?: number;
}

/** For reports that know of nothing but files: of a notebook, the whole line of its file. */
export function placeOf({ source, form }: Placed, span: Span): Place {
  const { line, column, endLine, endColumn } = sourcePlaceOf(source, span);
  if (form === undefined) return { line, column, endLine, endColumn };
  const lineOf = (at: number): number =>
    form.notebook.fileLineOf(Notebook.placeOf(source, at - 1, form.notebook)) + 1;
  return { line: lineOf(line), column: 1, endLine: lineOf(endLine), endColumn: 2 };
}

/** For reports that can name a cell. */
export function cellPlaceOf({ source, form }: Placed, span: Span): CellPlace {
  const place = sourcePlaceOf(source, span);
  if (form === undefined) return place;
  const start = Notebook.placeOf(source, place.line - 1, form.notebook);
  return {
    ...place,
    cell: start.cell + 1,
    line: start.line + 1,
    endLine: start.line + 1 + place.endLine - place.line,
  };
}

function sourcePlaceOf(source: Source, span: Span): Place {
  const start = source.positionAt(span.start);
  const end = source.positionAt(span.end);
  return {
    line: start.line + 1,
    column: start.column + 1,
    endLine: end.line + 1,
    endColumn: end.column + 1,
  };
}
