/** A source text with its lines. Offsets are UTF-16 code units; lines and columns count from 0. */

export interface Position {
  readonly line: number;
  readonly column: number;
}

export class Source {
  private lineStarts: Int32Array | undefined;

  constructor(readonly text: string) {}

  /** Number of lines; a text without a line end has one. */
  get lineCount(): number {
    return this.starts().length;
  }

  /** The offset where a line begins; lines past the end give the text's length. */
  lineStart(line: number): number {
    return this.starts()[line] ?? this.text.length;
  }

  /** The line an offset lies on; offsets past the end belong to the last line. */
  lineOf(offset: number): number {
    const starts = this.starts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  positionAt(offset: number): Position {
    const clamped = Math.max(0, Math.min(offset, this.text.length));
    const line = this.lineOf(clamped);
    return { line, column: clamped - this.lineStart(line) };
  }

  /** The text of a line without its line end. */
  lineText(line: number): string {
    return this.text.slice(this.lineStart(line), this.lineStart(line + 1)).replace(/[\r\n]+$/, "");
  }

  /** The white space that the line of an offset begins with. */
  indentationAt(offset: number): string {
    return /^[ \t\f]*/.exec(this.lineText(this.lineOf(offset)))?.[0] ?? "";
  }

  slice(span: { readonly start: number; readonly end: number }): string {
    return this.text.slice(span.start, span.end);
  }

  /** The line end that the text uses first: `\n`, `\r\n` or `\r`; `\n` where it has none. */
  get lineEnd(): string {
    return /\r\n|\n|\r/.exec(this.text)?.[0] ?? "\n";
  }

  private starts(): Int32Array {
    this.lineStarts ??= lineStartsOf(this.text);
    return this.lineStarts;
  }
}

function lineStartsOf(text: string): Int32Array {
  const starts = [0];
  for (let offset = 0; offset < text.length; offset++) {
    const unit = text.charCodeAt(offset);
    if (unit === 10 || (unit === 13 && text.charCodeAt(offset + 1) !== 10)) starts.push(offset + 1);
  }
  return Int32Array.from(starts);
}
