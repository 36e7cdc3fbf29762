/** A file as it is checked: Python as it stands, or the cells of a notebook as one text. */
import type { LineRange } from "../directives/logical-lines";
import { Source } from "../python/source";
import { largestNotebook, Notebook } from "../workspace/notebook";
import type { FileProblem } from "../workspace/problem";
import { problem } from "../workspace/problem";
import { sizeLimit } from "../workspace/text";
import type { TextForm } from "./checked-file";
import { linesOfSource } from "./file-filter";

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

/** Lines of the file that git says have changed, as lines of the Python text. */
export function linesOfDocument(
  gitLines: readonly LineRange[],
  { text, form }: Document,
): readonly LineRange[] {
  const source = new Source(text);
  if (form === undefined) return linesOfSource(gitLines, source);
  const lines: LineRange[] = [];
  for (let line = 0; line < source.lineCount; line++) {
    const at = form.notebook.fileLineOf(Notebook.placeOf(source, line, form.notebook));
    if (gitLines.some(({ from, to }) => from <= at && at <= to)) lines.push({ from: line, to: line });
  }
  return lines;
}

function isNotebook(name: string): boolean {
  return name.toLowerCase().endsWith(".ipynb");
}
