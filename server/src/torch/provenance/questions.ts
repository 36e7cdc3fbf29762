/**
 * Questions about values that are being answered now. One question leads to others, in this file or in one it imports, and
 * may come back to itself: all files share what is open.
 */
import { OpenQuestions, type Answers } from "../open-questions";
import { severed, unknown, type Carried, type Path } from "./value";

const depthLimit = 60;
/** What asking all callers of a function counts for. */
const costOfCallers = 10;
const longestPath = 6;

/** What is known of things, and of what lies at a path inside them. */
export class AnswersByPath<Key> {
  private readonly parts = new Map<Key, Answers<string, Carried>>();

  constructor(readonly wholes: Answers<Key, Carried>) {}

  partsOf(key: Key): Answers<string, Carried> {
    let known = this.parts.get(key);
    if (known === undefined) this.parts.set(key, (known = new Map()));
    return known;
  }
}

class ValueQuestions {
  private readonly open = new OpenQuestions();
  private callersAsked = 0;

  /**
   * Asks each question once. One that comes back to a question still open gets `severed` there: around a circle nothing
   * new comes in.
   */
  remember<Key>(
    memory: AnswersByPath<Key>,
    key: Key,
    path: Path,
    compute: (key: Key, path: Path) => Carried,
  ): Carried {
    if (path.length === 0) {
      return this.open.answer(memory.wholes, key, severed, () => this.compute(key, path, compute));
    }
    return this.open.answer(memory.partsOf(key), path.join("\u0000"), severed, () =>
      path.length > longestPath ? unknown : this.compute(key, path, compute),
    );
  }

  private compute<Key>(key: Key, path: Path, compute: (key: Key, path: Path) => Carried): Carried {
    return this.isTooDeep(this.open.depth - 1) ? this.cutOff() : compute(key, path);
  }

  /** Something that costs more than one question. Too deep: not known. */
  deeper(compute: () => Carried): Carried {
    if (this.isTooDeep(this.open.depth)) return this.cutOff();
    this.callersAsked++;
    try {
      return compute();
    } finally {
      this.callersAsked--;
    }
  }

  private isTooDeep(depth: number): boolean {
    return depth + this.callersAsked * costOfCallers > depthLimit;
  }

  private cutOff(): Carried {
    this.open.cutOff();
    return unknown;
  }
}

export const openQuestions = new ValueQuestions();
