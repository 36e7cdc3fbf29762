/**
 * What is analysed as one Python text: an open file, or the code cells of an open notebook one after the other. The
 * requests ask a unit where an offset lies in the documents that the client knows, and the other way round.
 */
import type { Position, Range } from "vscode-languageserver";
import type { Edit, ParsedModule } from "../python/parse";
import { parseModule } from "../python/parse";
import { Source } from "../python/source";
import type { Span } from "../python/tree";
import { Typing } from "./typing";

/** A document's part of the unit's text: `[start, end)`. */
export interface Segment extends Span {
  readonly uri: string;
}

export interface Place {
  readonly uri: string;
  readonly range: Range;
}

/** Larger texts are not analysed; in UTF-16 code units, which for source code are about bytes. */
export const largestText = 1024 * 1024;

export abstract class TextUnit {
  /** The client's version of the file or of the notebook. */
  abstract readonly version: number;
  abstract readonly segments: readonly Segment[];
  private tree: ParsedModule | undefined;
  private pendingEdits: Edit[] = [];
  /** Grows with every change of the text, whatever versions the client gives. */
  revision = 0;
  readonly typing = new Typing();

  /** `uri` of the file or the notebook: settings are asked for with it. */
  protected constructor(readonly uri: string) {}

  /** The text as the parser gets it. */
  abstract get text(): string;
  /** The same text as the user has it; equal in length. */
  abstract get writtenText(): string;
  /** The parser's text for other written texts of this unit's documents; equal in length to them with line ends between. */
  abstract forParser(texts: readonly string[]): string;

  get isTooLarge(): boolean {
    return this.text.length > largestText;
  }

  /** The text is that of a notebook's cells, one after the other. */
  get isInCells(): boolean {
    return false;
  }

  /** The tree of the current text, parsed from the last one and the edits since; do not keep it across an await. */
  parsed(): ParsedModule {
    const tree = this.tree === undefined ? parseModule(this.text) : this.catchUp(this.tree);
    this.tree = tree;
    this.pendingEdits = [];
    return tree;
  }

  private catchUp(tree: ParsedModule): ParsedModule {
    if (this.pendingEdits.length === 0) return tree;
    const edited = tree.edit(this.pendingEdits);
    return edited.source.text === this.text ? edited : parseModule(this.text);
  }

  /** Remembers edits of the text for the next parse. */
  protected edited(edits: readonly Edit[]): void {
    this.revision += 1;
    this.typing.edited(edits);
    if (this.tree !== undefined) this.pendingEdits.push(...edits);
  }

  /** The text is a new one: the next parse starts over. */
  protected replaced(): void {
    this.revision += 1;
    this.typing.pause();
    this.tree = undefined;
    this.pendingEdits = [];
  }

  /** Forgets the tree, e.g. after a failure that may have left it half edited. */
  startOver(): void {
    this.tree = undefined;
    this.pendingEdits = [];
  }

  dispose(): void {
    this.replaced();
  }

  /** Where a span lies; one that runs over the end of its document is cut there. */
  locate(span: Span): Place | undefined {
    const segment = this.segments.find(({ start, end }) => start <= span.start && span.start <= end);
    if (segment === undefined) return undefined;
    const source = this.sourceOf(segment);
    const position = (offset: number): Position => {
      const { line, column } = source.positionAt(Math.min(offset, segment.end) - segment.start);
      return { line, character: column };
    };
    return {
      uri: segment.uri,
      range: { start: position(span.start), end: position(Math.max(span.start, span.end)) },
    };
  }

  /** Offset of a position in one of the unit's documents; positions behind a line's end count as its end. */
  offsetAt(uri: string, { line, character }: Position): number | undefined {
    const segment = this.segments.find((candidate) => candidate.uri === uri);
    if (segment === undefined) return undefined;
    const source = this.sourceOf(segment);
    if (line >= source.lineCount) return segment.end;
    const column = Math.max(0, Math.min(character, source.lineText(line).length));
    return segment.start + source.lineStart(Math.max(0, line)) + column;
  }

  private readonly sources = new Map<string, Source>();

  /** A segment's own lines: those of the whole text for a file. */
  private sourceOf(segment: Segment): Source {
    const text = this.segments.length === 1 ? this.text : this.text.slice(segment.start, segment.end);
    const known = this.sources.get(segment.uri);
    if (known?.text === text) return known;
    const source = new Source(text);
    this.sources.set(segment.uri, source);
    return source;
  }
}
