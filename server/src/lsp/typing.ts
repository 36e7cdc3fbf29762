/**
 * What waits while somebody types: half a word in the header is no mistake yet, `loss.i` no kept graph, a step no missing
 * reset. A finding that is new on the line of the last edit is not told until the typing pauses; what was told already stays,
 * and what is no longer true goes at once.
 */
import type { Edit } from "../python/parse";
import type { Span } from "../python/tree";

/** A finding, recognized after further edits by where it begins. */
interface Mark {
  readonly rule: string;
  readonly start: number;
}

interface Placed {
  readonly rule: string;
  readonly span: Span;
}

export class Typing {
  /** Where the last edit ended; `undefined` while nobody types. */
  private caret: number | undefined;
  private told: readonly Mark[] = [];
  private held: readonly Mark[] = [];

  edited(edits: readonly Edit[]): void {
    for (const edit of edits) {
      this.told = this.told.map((mark) => moved(mark, edit));
      this.held = this.held.map((mark) => moved(mark, edit));
      this.caret = edit.start + edit.text.length;
    }
  }

  /** Nobody types any more. */
  pause(): void {
    this.caret = undefined;
    this.held = [];
  }

  get isHolding(): boolean {
    return this.held.length > 0;
  }

  /** Those of a text's findings that are told now; the same until the next edit or pause. */
  tellable<Finding extends Placed>(findings: readonly Finding[], text: string): readonly Finding[] {
    const { caret } = this;
    const now =
      caret === undefined
        ? findings
        : findings.filter((finding) => !this.waits(finding, lineAt(text, caret)));
    const shown = new Set(now);
    this.told = now.map(markOf);
    this.held = findings.filter((finding) => !shown.has(finding)).map(markOf);
    return now;
  }

  private waits(finding: Placed, line: Span): boolean {
    if (has(this.told, finding)) return false;
    const isTyped = finding.span.start <= line.end && finding.span.end >= line.start;
    return isTyped || has(this.held, finding);
  }
}

function markOf({ rule, span }: Placed): Mark {
  return { rule, start: span.start };
}

function has(marks: readonly Mark[], { rule, span }: Placed): boolean {
  return marks.some((mark) => mark.rule === rule && mark.start === span.start);
}

function moved(mark: Mark, { start, end, text }: Edit): Mark {
  if (mark.start >= end) return { ...mark, start: mark.start + text.length - (end - start) };
  return mark.start > start ? { ...mark, start } : mark;
}

function lineAt(text: string, offset: number): Span {
  const end = text.indexOf("\n", offset);
  return { start: text.lastIndexOf("\n", offset - 1) + 1, end: end < 0 ? text.length : end };
}
