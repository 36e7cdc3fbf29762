/**
 * Answers to questions that lead to others and may come back to themselves: what an expression is, what a value carries.
 * Each is answered once and kept, but only when it is final: an answer found while a question was still open that it came
 * back to is dropped with that question, so that no answer depends on which question was asked first.
 */

/** Rests on no open question: deeper than any. */
const settled = 0x3fff_ffff;
/** The depth of a question that nobody asked on the way to another. */
const outermost = 1;

/**
 * A question that is being answered, or its answer when that was concluded while a question was open that it came back to.
 * Linked, not in an array: newer versions of V8 leave in an array what was popped off it, and whatever a long-lived array
 * still points to is copied by collection after collection.
 */
class Pending<Value> {
  constructor(
    private readonly answers: Answers<never, Value>,
    private readonly key: unknown,
    public value: Value,
    /** The depth of the outermost open question that it rests on: its own as long as it is open itself. */
    public restsOn: number,
    public outer: Pending<unknown> | undefined,
  ) {}

  forget(): void {
    this.answers.delete(this.key as never);
  }
}

/** A final answer that there is nothing. */
const nothing = Symbol("nothing");

type Kept<Value> = Value | Pending<Value> | typeof nothing;

/**
 * The answers to one kind of question: final ones, and those of questions that are open or were concluded from them. A
 * `NodeTable` where they are about nodes of one file, a `Map` elsewhere.
 */
export interface Answers<Key, Value> {
  get(key: Key): Kept<Value> | undefined;
  set(key: Key, answer: Kept<Value>): unknown;
  delete(key: Key): unknown;
}

/** Kinds of questions that lead to one another, of all files, are answered by one of these. */
export class OpenQuestions {
  private provisional: Pending<unknown>[] = [];
  private innermost: Pending<unknown> | undefined;
  /** The outermost open question that the one being answered has come back to. */
  private restsOn = settled;

  /** How many questions are open, one inside the other. */
  get depth(): number {
    return this.innermost?.restsOn ?? 0;
  }

  /** The answer as it is known, or computed; `whileOpen` for whoever comes back to the question before it is answered. */
  answer<Key, Value>(
    answers: Answers<Key, Value>,
    key: Key,
    whileOpen: Value,
    compute: (key: Key) => Value,
  ): Value {
    const known = answers.get(key);
    if (known === undefined) return this.compute(answers, key, whileOpen, compute);
    if (known === nothing) return undefined as Value;
    if (!(known instanceof Pending)) return known;
    this.restsOn = Math.min(this.restsOn, known.restsOn);
    return known.value;
  }

  /** Whether the answer is known and will stay as it is. */
  isSettled<Key, Value>(answers: Answers<Key, Value>, key: Key): boolean {
    const known = answers.get(key);
    return known !== undefined && !(known instanceof Pending);
  }

  /** Says that the question being answered was not followed to its end, for it lay too deep: asked alone it may be. */
  cutOff(): void {
    this.restsOn = Math.min(this.restsOn, outermost);
  }

  private compute<Key, Value>(
    answers: Answers<Key, Value>,
    key: Key,
    whileOpen: Value,
    compute: (key: Key) => Value,
  ): Value {
    const restedOn = this.restsOn;
    const provisionalBefore = this.provisional.length;
    const outer = this.innermost;
    const depth = this.depth + 1;
    const question = new Pending<Value>(answers, key, whileOpen, depth, outer);
    this.innermost = question;
    this.restsOn = settled;
    answers.set(key, question);
    const value = this.guarded(compute, key);
    this.innermost = outer;
    this.forgetFrom(provisionalBefore, depth);
    const restsOn = this.restsOn >= depth ? settled : this.restsOn;
    if (restsOn === settled) answers.set(key, value ?? nothing);
    else this.keepForNow(question, value, restsOn);
    this.restsOn = Math.min(restedOn, restsOn);
    return value;
  }

  private keepForNow<Value>(question: Pending<Value>, value: Value, restsOn: number): void {
    question.value = value;
    question.restsOn = restsOn;
    question.outer = undefined;
    this.provisional.push(question);
  }

  /** A rule that breaks in the middle must leave nothing open for the others. */
  private guarded<Key, Value>(compute: (key: Key) => Value, key: Key): Value {
    try {
      return compute(key);
    } catch (error) {
      for (let open = this.innermost; open !== undefined; open = open.outer) open.forget();
      for (const answer of this.provisional) answer.forget();
      this.innermost = undefined;
      this.provisional = [];
      this.restsOn = settled;
      throw error;
    }
  }

  /** Drops what was concluded since `start` while the question at `depth` was open. */
  private forgetFrom(start: number, depth: number): void {
    if (this.provisional.length === start) return;
    for (const answer of this.provisional.splice(start)) {
      if (answer.restsOn >= depth) answer.forget();
      else this.provisional.push(answer);
    }
  }
}

/** What expressions are, what classes they are instances of, who calls a function. */
export const objectQuestions = new OpenQuestions();
