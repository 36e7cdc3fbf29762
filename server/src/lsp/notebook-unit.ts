/** The Python cells of an open notebook, analysed as one text in the order in which they stand. */
import { TextDocument } from "vscode-languageserver-textdocument";
import type { TextDocumentContentChangeEvent } from "vscode-languageserver";
import { blankCell } from "../python/magics";
import { TextUnit } from "./text-unit";
import type { Segment } from "./text-unit";

export class NotebookUnit extends TextUnit {
  private cells: TextDocument[] = [];
  private readonly left = new Map<string, TextDocument>();
  private combined:
    { readonly written: string; readonly text: string; readonly segments: Segment[] } | undefined;

  constructor(
    uri: string,
    public version: number,
  ) {
    super(uri);
  }

  override get isInCells(): boolean {
    return true;
  }

  get text(): string {
    return this.assembled().text;
  }

  get writtenText(): string {
    return this.assembled().written;
  }

  get segments(): readonly Segment[] {
    return this.assembled().segments;
  }

  forParser(texts: readonly string[]): string {
    return texts.map(blankCell).join("\n");
  }

  /** The cells' addresses, in order. */
  get cellUris(): readonly string[] {
    return this.cells.map(({ uri }) => uri);
  }

  /**
   * The protocol's change of the cell array: `removed` cells leave at `start`, those of `order` come in there. A cell
   * that was only moved is not in `opened`; its text is kept from before. A moved cell may leave and come back in two
   * changes, so the texts of cells that left stay known while the notebook is open.
   */
  splice(
    start: number,
    removed: number,
    order: readonly string[],
    opened: ReadonlyMap<string, TextDocument>,
  ): void {
    const added: TextDocument[] = [];
    for (const uri of order) {
      const cell = opened.get(uri) ?? this.left.get(uri) ?? this.cells.find((known) => known.uri === uri);
      if (cell !== undefined) added.push(cell);
    }
    for (const cell of this.cells.splice(start, removed, ...added)) this.left.set(cell.uri, cell);
    this.cellsChanged();
  }

  changeCell(uri: string, changes: readonly TextDocumentContentChangeEvent[], version: number): void {
    this.cells = this.cells.map((cell) =>
      cell.uri === uri ? TextDocument.update(cell, [...changes], version) : cell,
    );
    this.cellsChanged();
  }

  private cellsChanged(): void {
    this.combined = undefined;
    this.replaced();
  }

  private assembled() {
    this.combined ??= assemble(this.cells);
    return this.combined;
  }
}

/** The cells with a line end between them. */
function assemble(cells: readonly TextDocument[]) {
  const segments: Segment[] = [];
  let written = "";
  let forParser = "";
  for (const [index, cell] of cells.entries()) {
    if (index > 0) {
      written += "\n";
      forParser += "\n";
    }
    const text = cell.getText();
    segments.push({ uri: cell.uri, start: written.length, end: written.length + text.length });
    written += text;
    forParser += blankCell(text);
  }
  return { written, text: forParser, segments };
}
