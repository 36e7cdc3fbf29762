/** The line of source that a finding is about, with marks under it. */
import type { Source } from "../../python/source";
import type { Span } from "../../python/tree";
import { printable } from "../../workspace/problem";
import type { Colors } from "../reporter";

const tabWidth = 4;
/** Columns shown of a long line. */
const widest = 140;
/** Columns shown before the marks of a long line. */
const lead = 40;

/** Three lines: an empty one, the source, the marks; spans over several lines are marked to the end of the
 * first. `shownLine` is the number that stands before it. */
export function sourceFrame(source: Source, span: Span, colors: Colors, shownLine: number): string[] {
  const { line, column } = source.positionAt(span.start);
  const text = source.lineText(line);
  const end = Math.min(text.length, column + Math.max(1, span.end - span.start));
  const cells = cellsOf(text);
  const from = cells.findIndex(({ end: cellEnd }) => cellEnd > column);
  const marked = cells.filter((cell) => cell.end > column && cell.start < end);
  const first = from < 0 ? cells.length : from;

  const start = window(cells, first);
  const shown = clip(cells, start);
  const before = widthOf(cells.slice(start, first));
  const marks = Math.max(1, Math.min(widthOf(marked), widest - before));
  const number = String(shownLine);
  const gutter = " ".repeat(number.length);
  const ellipsis = start > 0 ? "…" : "";
  return [
    colors.blue(`${gutter} |`),
    `${colors.blue(`${number} |`)} ${ellipsis}${shown}`.trimEnd(),
    `${colors.blue(`${gutter} |`)} ${" ".repeat(before + ellipsis.length)}${colors.red("^".repeat(marks))}`,
  ];
}

/** A character as it is shown: what, how wide, and which columns of the source it stands for. */
interface Cell {
  readonly shown: string;
  readonly width: number;
  readonly start: number;
  readonly end: number;
}

function cellsOf(line: string): Cell[] {
  const cells: Cell[] = [];
  let start = 0;
  let width = 0;
  for (const character of line) {
    const shown = character === "\t" ? " ".repeat(tabWidth - (width % tabWidth)) : printable(character);
    const cell = { shown, width: displayWidth(shown), start, end: start + character.length };
    cells.push(cell);
    start = cell.end;
    width += cell.width;
  }
  return cells;
}

/** Where to begin so that the marks are within sight. */
function window(cells: readonly Cell[], first: number): number {
  if (widthOf(cells) <= widest || widthOf(cells.slice(0, first)) <= widest - lead) return 0;
  let start = first;
  for (let width = 0; start > 0 && width < lead; start--) width += cells[start - 1]?.width ?? 0;
  return start;
}

function clip(cells: readonly Cell[], start: number): string {
  let width = 0;
  let text = "";
  for (const cell of cells.slice(start)) {
    width += cell.width;
    if (width > widest) return `${text}…`;
    text += cell.shown;
  }
  return text;
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { width }) => sum + width, 0);
}

/** Blocks of East Asian wide characters (UAX #11, W and F) and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Columns that a text takes in a terminal. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{M}/u.test(character)) continue;
    width += wide.test(character) ? 2 : 1;
  }
  return width;
}

/** The text filled with spaces to a width in columns. */
export function padTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}
