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
import type { Comment, Module, Node, Span, Statement } from "./tree";
import { unordered } from "./tree";
import { nodesIfListed } from "./walk";

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
    return new CutModule(text, joined(text, taken, nodesIfListed(this.module)), this.reader, taken);
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

/** `nodesBefore`: all nodes of the tree that some of the sections were taken from, where they were listed. */
function joined(text: string, sections: readonly Section[], nodesBefore?: readonly Node[]): Module {
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
    nodesBefore,
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
  const start = sameFor(shorter, (from, to) => oldText.slice(from, to) === newText.slice(from, to));
  const [oldLength, newLength] = [oldText.length, newText.length];
  const same = sameFor(
    shorter - start,
    (from, to) =>
      oldText.slice(oldLength - to, oldLength - from) === newText.slice(newLength - to, newLength - from),
  );
  return { start, oldEnd: oldLength - same, newEnd: newLength - same };
}

/** How far two texts are the same: stretch by stretch, which is compared in one go, then in halves of the one that differs. */
function sameFor(longest: number, isSame: (from: number, to: number) => boolean): number {
  let same = 0;
  for (let step = 4_096; step >= 1; step /= 2) {
    while (same + step <= longest && isSame(same, same + step)) same += step;
  }
  return same;
}
