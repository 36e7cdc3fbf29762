/** A script or a notebook that nobody has open, looked at once. */
import { Source } from "../python/source";
import type { Span } from "../python/tree";
import { Notebook } from "../workspace/notebook";
import type { DiskScript } from "./host";
import { TextUnit } from "./text-unit";
import type { Place, Segment } from "./text-unit";

export class DiskUnit extends TextUnit {
  /** The client has none. */
  readonly version = 0;
  readonly text: string;
  private source: Source | undefined;

  constructor(
    uri: string,
    private readonly script: DiskScript,
  ) {
    super(uri);
    this.text = this.forParser([script.written]);
  }

  override get isInCells(): boolean {
    return this.script.notebook !== undefined;
  }

  get writtenText(): string {
    return this.script.written;
  }

  forParser(texts: readonly string[]): string {
    const written = texts.join("\n");
    return this.script.notebook === undefined ? written : Notebook.forParser(written);
  }

  get segments(): readonly Segment[] {
    return [{ uri: this.uri, start: 0, end: this.text.length }];
  }

  /** A notebook's places are lines of its own file. */
  override locate(span: Span): Place | undefined {
    const { notebook } = this.script;
    if (notebook === undefined) return super.locate(span);
    const line = notebook.fileLineOf(this.placeIn(notebook, span));
    const position = { line, character: 0 };
    return { uri: this.uri, range: { start: position, end: position } };
  }

  /** The cell of a notebook, as people count all of its cells; `undefined` in a script. */
  cellOf(span: Span): number | undefined {
    const { notebook } = this.script;
    return notebook && this.placeIn(notebook, span).cell + 1;
  }

  private placeIn(notebook: Notebook, { start }: Span) {
    this.source ??= new Source(this.script.written);
    return Notebook.placeOf(this.source, this.source.lineOf(start), notebook);
  }
}
