/**
 * Jupyter notebooks as one Python text: the code cells one after the other, so that names carry over, with a comment
 * of ours between them. That comment stays where it is through fixes and tells the cells apart afterwards.
 */
import { findNodeAtLocation, parseTree } from "jsonc-parser";
import type { Node } from "jsonc-parser";
import { blankCell } from "../python/magics";
import { Source } from "../python/source";
import type { Span } from "../python/tree";
import { printable, problem } from "./problem";
import type { FileProblem } from "./problem";

/** Where something stands in a notebook; all count from 0. */
export interface CellPlace {
  /** Among all cells, those with text too. */
  readonly cell: number;
  /** Line within the cell. */
  readonly line: number;
}

/** A line that nobody writes: a private character makes it ours. */
const boundary = "# \ue000";
/** With the line end before it, where a fix has left one. */
const boundaryLine = /\n?(?<=^|\n)[ \t]*# \ue000\n/;

/** Notebooks hold pictures: their limit is on the code, not on the file, up to this many bytes. */
export const largestNotebook = 64 * 1024 * 1024;

export function isNotebook(name: string): boolean {
  return name.toLowerCase().endsWith(".ipynb");
}

export class Notebook {
  private constructor(
    private readonly json: string,
    /** Positions of the Python cells among all cells. */
    private readonly numbers: readonly number[],
    /** The Python cells as written, joined. */
    readonly text: string,
  ) {}

  /** Reads a notebook of format 4; what is wrong with any other, and a note for one in another language. */
  static read(
    json: string,
    shownPath: string,
  ): { readonly notebook: Notebook } | { readonly problem: FileProblem } {
    let content: unknown;
    try {
      content = JSON.parse(json);
    } catch (error) {
      const detail = printable(error instanceof Error ? error.message : String(error));
      return { problem: problem(shownPath, "notebookNotJson", { detail }) };
    }
    if (isRecord(content) && Array.isArray(content["worksheets"])) {
      return { problem: problem(shownPath, "notebookTooOld") };
    }
    const cells = isRecord(content) ? content["cells"] : undefined;
    if (!isRecord(content) || !Array.isArray(cells)) return { problem: problem(shownPath, "notANotebook") };
    const language = languageOf(content["metadata"]);
    if (language.toLowerCase() !== "python") {
      const values = { language: printable(language) };
      return { problem: problem(shownPath, "notebookLanguage", values, "note") };
    }
    const numbers: number[] = [];
    const texts: string[] = [];
    for (const [number, cell] of (cells as unknown[]).entries()) {
      const text = codeOf(cell);
      if (text === "invalid") return { problem: problem(shownPath, "notebookCell", { number: number + 1 }) };
      if (text === undefined || boundaryLine.test(`\n${text.code}\n`)) continue;
      numbers.push(number);
      texts.push(text.code);
    }
    return { notebook: new Notebook(json, numbers, texts.join(`\n${boundary}\n`)) };
  }

  /** The text as the parser gets it; equal in length. */
  static forParser(written: string): string {
    return written
      .split(new RegExp(`(${boundaryLine.source})`))
      .map((part, index) => (index % 2 === 0 ? blankCell(part) : part))
      .join("");
  }

  /** True when a span lies within one cell of a text. */
  static isWithinCell(written: string, { start, end }: Span): boolean {
    return !written.slice(start, end).includes(boundary) && !isInBoundary(written, start);
  }

  /** Where a line of the joined text stands. */
  static placeOf(source: Source, line: number, notebook: Notebook): CellPlace {
    let cell = 0;
    let first = 0;
    for (let at = 0; at <= line; at++) {
      if (source.lineText(at).trim() !== boundary) continue;
      cell++;
      first = at + 1;
    }
    return { cell: notebook.numbers[cell] ?? cell, line: Math.max(0, line - first) };
  }

  /** The line of the notebook's own file that a line of a cell stands on, from 0. */
  fileLineOf({ cell, line }: CellPlace): number {
    const value = this.sourceNode(cell);
    const at = value?.type === "array" ? (value.children?.[line] ?? value) : value;
    return this.file.lineOf(at?.offset ?? 0);
  }

  /** The notebook's file with another joined text: nothing but the sources of changed cells changes. */
  withText(written: string): string {
    const cells = written.split(boundaryLine);
    const before = this.text.split(boundaryLine);
    if (cells.length !== before.length) return this.json;
    let result = "";
    let from = 0;
    for (const [index, text] of cells.entries()) {
      const value = this.sourceNode(this.numbers[index] ?? 0);
      if (value === undefined || text === before[index]) continue;
      result += this.json.slice(from, value.offset) + this.rewritten(value, text);
      from = value.offset + value.length;
    }
    return result + this.json.slice(from);
  }

  /** A cell's source in the form that it had: a list of lines laid out as before, or one string. */
  private rewritten(value: Node, text: string): string {
    if (value.type !== "array") return this.quoted(text);
    const raw = this.json.slice(value.offset, value.offset + value.length);
    const children = value.children ?? [];
    const [first, second] = children;
    const last = children[children.length - 1];
    if (first === undefined || last === undefined || text === "")
      return text === "" ? "[]" : `[${this.quoted(text)}]`;
    const open = this.json.slice(value.offset, first.offset);
    const close = raw.slice(last.offset + last.length - value.offset);
    const between =
      second === undefined
        ? `,${open.slice(1)}`
        : this.json.slice(first.offset + first.length, second.offset);
    // Lines that stay keep the escapes that they had.
    const known = new Map(
      children.map((child) => [child.value, this.json.slice(child.offset, child.offset + child.length)]),
    );
    const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    return open + lines.map((line) => known.get(line) ?? this.quoted(line)).join(between) + close;
  }

  /** A file that escapes everything beyond ASCII goes on to do so. */
  private quoted(text: string): string {
    const quoted = JSON.stringify(text);
    if (!/\\u[0-9a-fA-F]{4}/.test(this.json) || /[^\0-\x7f]/.test(this.json)) return quoted;
    return quoted.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }

  private sourceNode(cell: number): Node | undefined {
    this.tree ??= parseTree(this.json);
    return this.tree && findNodeAtLocation(this.tree, ["cells", cell, "source"]);
  }

  private get file(): Source {
    return (this.knownFile ??= new Source(this.json));
  }

  private tree: Node | undefined;
  private knownFile: Source | undefined;
}

function isInBoundary(written: string, offset: number): boolean {
  const start = written.lastIndexOf("\n", offset - 1) + 1;
  return written.slice(start).split("\n", 1)[0]?.trim() === boundary;
}

/** The code of a Python cell; `undefined` for other cells. */
function codeOf(cell: unknown): { readonly code: string } | "invalid" | undefined {
  if (!isRecord(cell)) return "invalid";
  if (cell["cell_type"] !== "code") return undefined;
  const metadata = isRecord(cell["metadata"]) ? cell["metadata"] : {};
  const vscode = isRecord(metadata["vscode"]) ? metadata["vscode"] : {};
  if (typeof vscode["languageId"] === "string" && vscode["languageId"] !== "python") return undefined;
  const { source } = cell;
  if (typeof source === "string") return { code: source };
  if (!Array.isArray(source) || !source.every((line) => typeof line === "string")) return "invalid";
  return { code: source.join("") };
}

/** As written; Python where the notebook does not say. */
function languageOf(metadata: unknown): string {
  const about = isRecord(metadata) ? metadata : {};
  const kernel = isRecord(about["kernelspec"]) ? about["kernelspec"] : {};
  const info = isRecord(about["language_info"]) ? about["language_info"] : {};
  const named = [info["name"], kernel["language"]].find((name) => typeof name === "string" && name !== "");
  return typeof named === "string" ? named : "python";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
