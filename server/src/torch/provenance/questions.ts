/**
 * Questions about values that are being answered now. One question leads to others, in this file or in one it imports, and
 * may come back to itself: all files share what is open.
 */
import { severed, unknown, type Carried, type Path } from "./value";

/** What an answer rests on when it came back to no open question. */
const settled = Number.POSITIVE_INFINITY;
const depthLimit = 60;
/** What asking all callers of a function counts for. */
const costOfCallers = 10;

export interface Remembered {
  readonly value: Carried;
  /** The depth of the open question that it came back to; `settled` for a final answer. */
  readonly restsOn: number;
}

class OpenQuestions {
  private provisional: { readonly restsOn: number; readonly forget: () => void }[] = [];
  /** The outermost open question that the one being computed has come back to. */
  private restsOn = settled;
  private depth = 0;

  /**
   * Asks each question once. A question that comes back to one still open gets `severed` there (around a circle nothing
   * new comes in); what was concluded from that is kept only until the open question is answered, so that no answer
   * depends on which question came first.
   */
  remember<Key>(
    memory: Map<Key, Map<string, Remembered>>,
    key: Key,
    path: Path,
    compute: () => Carried,
  ): Carried {
    const at = path.join("\u0000");
    const byPath = memory.get(key) ?? new Map<string, Remembered>();
    memory.set(key, byPath);
    const before = byPath.get(at);
    if (before !== undefined) {
      this.restsOn = Math.min(this.restsOn, before.restsOn);
      return before.value;
    }
    if (this.depth > depthLimit || path.length > 6) return unknown;
    const depth = ++this.depth;
    const restedOn = this.restsOn;
    const provisionalBefore = this.provisional.length;
    this.restsOn = settled;
    byPath.set(at, { value: severed, restsOn: depth });
    const value = this.whileOpen(compute, () => byPath.delete(at));
    this.depth = depth - 1;
    this.forgetFrom(provisionalBefore, depth);
    const restsOn = this.restsOn >= depth ? settled : this.restsOn;
    byPath.set(at, { value, restsOn });
    if (restsOn !== settled) this.provisional.push({ restsOn, forget: () => byPath.delete(at) });
    this.restsOn = Math.min(restedOn, restsOn);
    return value;
  }

  /** Something that costs more than one question. Too deep: not known. */
  deeper(compute: () => Carried): Carried {
    if (this.depth > depthLimit) return unknown;
    this.depth += costOfCallers;
    const value = this.whileOpen(compute);
    this.depth -= costOfCallers;
    return value;
  }

  /** A rule that breaks in the middle must leave nothing open for the others. */
  private whileOpen(compute: () => Carried, undo?: () => void): Carried {
    try {
      return compute();
    } catch (error) {
      undo?.();
      this.provisional.forEach(({ forget }) => forget());
      this.provisional = [];
      this.restsOn = settled;
      this.depth = 0;
      throw error;
    }
  }

  /** Drops what was concluded since `start` while the question at `depth` was open. */
  private forgetFrom(start: number, depth: number): void {
    for (const answer of this.provisional.splice(start)) {
      if (answer.restsOn >= depth) answer.forget();
      else this.provisional.push(answer);
    }
  }
}

export const openQuestions = new OpenQuestions();
