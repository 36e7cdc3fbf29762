/** The open files and notebooks, kept in step with the client. */
import type {
  Connection,
  DidChangeNotebookDocumentParams,
  DidOpenNotebookDocumentParams,
  TextDocumentItem,
} from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import { FileUnit } from "./file-unit";
import { NotebookUnit } from "./notebook-unit";
import type { TextUnit } from "./text-unit";

export interface DocumentListener {
  /** Opened, or its text changed. */
  changed(unit: TextUnit): void;
  saved(unit: TextUnit): void;
  /** `documents` are the addresses that are gone with it: the file itself or the cells. */
  closed(unit: TextUnit, documents: readonly string[]): void;
  /** Cells that left a notebook that stays open. */
  cellsRemoved(documents: readonly string[]): void;
}

export class Documents {
  private readonly units = new Map<string, TextUnit>();
  private readonly notebookOfCell = new Map<string, string>();

  constructor(private readonly listener: DocumentListener) {}

  /** The unit that a document of the client belongs to: itself, or the notebook of a cell. */
  unitOf(uri: string): TextUnit | undefined {
    return this.units.get(this.notebookOfCell.get(uri) ?? uri);
  }

  all(): TextUnit[] {
    return [...this.units.values()];
  }

  /** A defect in one message is logged and leaves the server alive. */
  listen(connection: Connection): void {
    const contained =
      <Params>(handle: (params: Params) => void) =>
      (params: Params): void => {
        try {
          handle(params);
        } catch (error) {
          connection.console.error(`a document message could not be handled: ${describe(error)}`);
        }
      };
    connection.onDidOpenTextDocument(contained(({ textDocument }) => this.open(textDocument)));
    connection.onDidChangeTextDocument(
      contained(({ textDocument, contentChanges }) => {
        const unit = this.units.get(textDocument.uri);
        if (!(unit instanceof FileUnit)) return;
        unit.change(contentChanges, textDocument.version);
        this.listener.changed(unit);
      }),
    );
    connection.onDidSaveTextDocument(contained(({ textDocument }) => this.save(textDocument.uri)));
    connection.onDidCloseTextDocument(
      contained(({ textDocument }) => this.close(textDocument.uri, [textDocument.uri])),
    );
    const notebooks = connection.notebooks.synchronization;
    notebooks.onDidOpenNotebookDocument(contained((params) => this.openNotebook(params)));
    notebooks.onDidChangeNotebookDocument(contained((params) => this.changeNotebook(params)));
    notebooks.onDidSaveNotebookDocument(contained(({ notebookDocument }) => this.save(notebookDocument.uri)));
    notebooks.onDidCloseNotebookDocument(
      contained(({ notebookDocument, cellTextDocuments }) => {
        const cells = cellTextDocuments.map(({ uri }) => uri);
        for (const uri of cells) this.notebookOfCell.delete(uri);
        this.close(notebookDocument.uri, cells);
      }),
    );
  }

  private open(item: TextDocumentItem): void {
    if (item.languageId !== "python") return;
    this.units.get(item.uri)?.dispose();
    const unit = new FileUnit(item.uri, item.languageId, item.version, item.text);
    this.units.set(item.uri, unit);
    this.listener.changed(unit);
  }

  private save(uri: string): void {
    const unit = this.units.get(uri);
    if (unit !== undefined) this.listener.saved(unit);
  }

  private close(uri: string, documents: readonly string[]): void {
    const unit = this.units.get(uri);
    if (unit === undefined) return;
    this.units.delete(uri);
    unit.dispose();
    this.listener.closed(unit, documents);
  }

  private openNotebook({ notebookDocument, cellTextDocuments }: DidOpenNotebookDocumentParams): void {
    this.units.get(notebookDocument.uri)?.dispose();
    const unit = new NotebookUnit(notebookDocument.uri, notebookDocument.version);
    this.units.set(notebookDocument.uri, unit);
    this.addCells(unit, 0, 0, cellTextDocuments);
    this.listener.changed(unit);
  }

  private changeNotebook({ notebookDocument, change }: DidChangeNotebookDocumentParams): void {
    const unit = this.units.get(notebookDocument.uri);
    if (!(unit instanceof NotebookUnit)) return;
    unit.version = notebookDocument.version;
    const structure = change.cells?.structure;
    if (structure !== undefined) {
      const { start, deleteCount } = structure.array;
      this.addCells(
        unit,
        start,
        deleteCount,
        structure.didOpen ?? [],
        structure.array.cells?.map((cell) => cell.document),
      );
      const gone = (structure.didClose ?? []).map(({ uri }) => uri);
      for (const uri of gone) this.notebookOfCell.delete(uri);
      this.listener.cellsRemoved(gone);
    }
    for (const { document, changes } of change.cells?.textContent ?? []) {
      unit.changeCell(document.uri, changes, document.version);
    }
    this.listener.changed(unit);
  }

  /** `order` names the cells that stand at `start` now; those that were only moved are not sent again. */
  private addCells(
    unit: NotebookUnit,
    start: number,
    removed: number,
    opened: readonly TextDocumentItem[],
    order: readonly string[] = opened.map(({ uri }) => uri),
  ): void {
    const fresh = new Map(
      opened.map((item) => [
        item.uri,
        TextDocument.create(item.uri, item.languageId, item.version, item.text),
      ]),
    );
    for (const uri of fresh.keys()) this.notebookOfCell.set(uri, unit.uri);
    unit.splice(start, removed, order, fresh);
  }
}

export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
