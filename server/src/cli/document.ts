/** A file as it is checked: Python as it stands, or the cells of a notebook as one text. */
import { diffArrays } from "diff";
import type { LineRange } from "../directives/logical-lines";
import { Source } from "../python/source";
import { isNotebook, largestNotebook, Notebook } from "../workspace/notebook";
import type { FileProblem } from "../workspace/problem";
import { problem } from "../workspace/problem";
import { sizeLimit } from "../workspace/text";
import type { TextForm } from "./checked-file";
import { linesOfSource } from "./file-filter";
import type { FileChange } from "./git";

export interface Document {
  /** The Python text as the user has it. */
  readonly text: string;
  /** Only of notebooks. */
  readonly form: TextForm | undefined;
  /** What the file holds once its Python text is another one. */
  fileText(text: string): string;
}

/** The limit for reading a file: a notebook's is on its code, which is measured later. */
export function readLimit(name: string, asked: number | undefined): number | undefined {
  return isNotebook(name) ? Math.max(asked ?? 0, largestNotebook) : asked;
}

export function documentOf(
  name: string,
  fileText: string,
  limit = sizeLimit,
): Document | { readonly problem: FileProblem } {
  if (!isNotebook(name)) return { text: fileText, form: undefined, fileText: (text) => text };
  const read = Notebook.read(fileText, name);
  if ("problem" in read) return read;
  const { notebook } = read;
  if (notebook.text.length > limit) {
    return { problem: problem(name, "notebookTooLarge", { size: notebook.text.length, limit }, "note") };
  }
  const form: TextForm = {
    notebook,
    forParser: (written) => Notebook.forParser(written),
    allows: (written, edit) => Notebook.isWithinCell(written, edit),
  };
  return { text: notebook.text, form, fileText: (text) => notebook.withText(text) };
}

/** Lines of the Python text that git says have changed; all of them when absent. */
export function changedLinesOf(
  name: string,
  change: FileChange,
  { text, form }: Document,
): readonly LineRange[] | undefined {
  if (change === "all") return undefined;
  if ("lines" in change) return linesOfSource(change.lines, new Source(text));
  const read = form && Notebook.read(Buffer.from(change.before).toString("utf8"), name);
  return read === undefined || "problem" in read ? undefined : addedLines(read.notebook.text, text);
}

/** Beyond so many edits two texts have nothing to do with each other, and comparing them takes long. */
const mostEdits = 10_000;

/** The lines of a text that another has not. */
function addedLines(before: string, after: string): readonly LineRange[] | undefined {
  const parts = diffArrays(linesIn(before), linesIn(after), { maxEditLength: mostEdits });
  const lines: LineRange[] = [];
  let line = 0;
  for (const { value, added, removed } of parts ?? []) {
    if (removed) continue;
    if (added) lines.push({ from: line, to: line + value.length - 1 });
    line += value.length;
  }
  return parts && lines;
}

function linesIn(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}
