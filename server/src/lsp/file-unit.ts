/** An open file, kept up to date with the client's edits. */
import type { TextDocumentContentChangeEvent } from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { Edit } from "../python/parse";
import { TextUnit } from "./text-unit";
import type { Segment } from "./text-unit";

export class FileUnit extends TextUnit {
  private document: TextDocument;

  constructor(uri: string, languageId: string, version: number, text: string) {
    super(uri);
    this.document = TextDocument.create(uri, languageId, version, text);
  }

  get version(): number {
    return this.document.version;
  }

  get text(): string {
    return this.document.getText();
  }

  get writtenText(): string {
    return this.text;
  }

  forParser(texts: readonly string[]): string {
    return texts.join("\n");
  }

  get segments(): readonly Segment[] {
    return [{ uri: this.uri, start: 0, end: this.text.length }];
  }

  /** Each change is relative to the text that the one before left. */
  change(changes: readonly TextDocumentContentChangeEvent[], version: number): void {
    for (const change of changes) {
      const edit = this.editOf(change);
      this.document = TextDocument.update(this.document, [change], version);
      if (edit === undefined) this.replaced();
      else this.edited([edit]);
    }
    if (changes.length === 0) this.document = TextDocument.update(this.document, [], version);
  }

  /** `undefined` for a change that replaces the whole text. */
  private editOf(change: TextDocumentContentChangeEvent): Edit | undefined {
    if (!("range" in change)) return undefined;
    const from = this.document.offsetAt(change.range.start);
    const to = this.document.offsetAt(change.range.end);
    return { start: Math.min(from, to), end: Math.max(from, to), text: change.text };
  }
}
