/**
 * The tree of a text, known part by part: after an edit the parts that it left alone are taken over.
 *
 * A text without errors is read in one go, which gives the same nodes as reading its parts. One with errors is read part
 * by part: the parser finds its way out of an error by trying what costs least in all that follows, so that in one go an
 * open bracket would change how functions far below it are read. So is one of which the grammar reads a statement beyond the
 * part that it begins in, which no Python does.
 */
import { moveBy } from "./move";
import { mayCutThrough, sectionStarts } from "./sections";
import type { Comment, Module, Span, Statement } from "./tree";
import { unordered } from "./tree";

/** What was read of a text; offsets count from its beginning. */
export interface ReadText {
  readonly module: Module;
  /** The parser met an error, be it one that was forgiven later. */
  readonly hasError: boolean;
}

export type Reader = (text: string) => ReadText;

interface Section extends Span {
  readonly statements: readonly Statement[];
  readonly comments: readonly Comment[];
  readonly errors: readonly Span[];
}

export class CutModule {
  private constructor(
    readonly text: string,
    readonly module: Module,
    private readonly reader: Reader,
    /** `undefined` until they are asked for, and once they belong to another tree. */
    private sections: readonly Section[] | undefined,
    private isTaken = false,
  ) {}

  static of(text: string, reader: Reader): CutModule {
    const { module, hasError } = reader(text);
    if (!hasError && !mayCutThrough(text, module.body)) return new CutModule(text, module, reader, undefined);
    const spans = spansOf(text);
    const cut = hasError ? undefined : cutUp(module, spans);
    if (cut !== undefined) return new CutModule(text, module, reader, cut);
    const sections = spans.map((span) => readSection(text, span, reader));
    return new CutModule(text, joined(text, sections), reader, sections);
  }

  /** The tree of another text. What is the same in both is taken out of this one, which is of no use afterwards. */
  edited(text: string): CutModule {
    const sections = this.takeSections();
    if (sections === undefined) return CutModule.of(text, this.reader);
    const { start, oldEnd, newEnd } = changeBetween(this.text, text);
    const byStart = new Map(sections.map((section) => [section.start, section]));
    const taken = spansOf(text).map((span) => {
      const isBehind = span.start >= newEnd;
      const distance = isBehind ? newEnd - oldEnd : 0;
      const known = isBehind || span.end <= start ? byStart.get(span.start - distance) : undefined;
      return known?.end === span.end - distance
        ? movedBy(known, distance)
        : readSection(text, span, this.reader);
    });
    return new CutModule(text, joined(text, taken), this.reader, taken);
  }

  private takeSections(): readonly Section[] | undefined {
    if (this.isTaken) return undefined;
    const sections = this.sections ?? cutUp(this.module, spansOf(this.text));
    this.sections = undefined;
    this.isTaken = true;
    return sections;
  }
}

function spansOf(text: string): Span[] {
  const starts = sectionStarts(text);
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? text.length }));
}

function readSection(text: string, { start, end }: Span, reader: Reader): Section {
  const { module } = reader(text.slice(start, end));
  const { body: statements, comments, errors } = module;
  return movedBy({ start: 0, end: end - start, statements, comments, errors }, start);
}

function movedBy(section: Section, distance: number): Section {
  if (distance === 0) return section;
  const { start, end, statements, comments, errors } = section;
  for (const spans of [statements, comments, errors]) moveBy(spans, distance);
  return { start: start + distance, end: end + distance, statements, comments, errors };
}

/** The sections of a tree that was read in one go; `undefined` where a statement does not lie within one of them. */
function cutUp(module: Module, spans: readonly Span[]): readonly Section[] | undefined {
  const { body, comments } = module;
  let statement = 0;
  let comment = 0;
  const sections = spans.map(({ start, end }) => {
    const [firstStatement, firstComment] = [statement, comment];
    while (statement < body.length && (body[statement]?.end ?? end) <= end) statement++;
    while (comment < comments.length && (comments[comment]?.end ?? end) <= end) comment++;
    return {
      start,
      end,
      statements: body.slice(firstStatement, statement),
      comments: comments.slice(firstComment, comment),
      errors: [],
    };
  });
  const isWithin = ({ start, statements }: Section): boolean => (statements[0]?.start ?? start) >= start;
  return statement === body.length && sections.every(isWithin) ? sections : undefined;
}

function joined(text: string, sections: readonly Section[]): Module {
  const module: Module = {
    kind: "Module",
    start: 0,
    end: text.length,
    order: unordered,
    parent: undefined,
    body: sections.flatMap(({ statements }) => statements),
    comments: sections.flatMap(({ comments }) => comments),
    errors: sections.flatMap(({ errors }) => errors),
    memos: new Map(),
  };
  for (const statement of module.body) statement.parent = module;
  return module;
}

/**
 * The one stretch that differs between two texts. Found by comparing them rather than from the edits: a line end may
 * change what a carriage return next to it means.
 */
function changeBetween(oldText: string, newText: string): { start: number; oldEnd: number; newEnd: number } {
  const shorter = Math.min(oldText.length, newText.length);
  let start = 0;
  while (start < shorter && oldText.charCodeAt(start) === newText.charCodeAt(start)) start++;
  let same = 0;
  const longestTail = shorter - start;
  while (
    same < longestTail &&
    oldText.charCodeAt(oldText.length - 1 - same) === newText.charCodeAt(newText.length - 1 - same)
  ) {
    same++;
  }
  return { start, oldEnd: oldText.length - same, newEnd: newText.length - same };
}
