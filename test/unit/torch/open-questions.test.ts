/** Answers to questions that lead to one another are kept when they are final, and no sooner. */
import assert from "node:assert/strict";
import { OpenQuestions, type Answers } from "../../../server/src/torch/open-questions";

/** Answers a name with all names that its questions lead to; counts how often each is computed. */
class Reachable {
  readonly computed: string[] = [];
  private readonly open = new OpenQuestions();
  private readonly answers: Answers<string, ReadonlySet<string>> = new Map();

  constructor(private readonly leadsTo: Readonly<Record<string, readonly string[]>>) {}

  from(name: string): ReadonlySet<string> {
    return this.open.answer(this.answers, name, new Set(), () => {
      this.computed.push(name);
      const next = this.leadsTo[name];
      if (next === undefined) throw new Error(`nobody knows ${name}`);
      return new Set(next.flatMap((one) => [one, ...this.from(one)]));
    });
  }

  isSettled(name: string): boolean {
    return this.open.isSettled(this.answers, name);
  }

  get depth(): number {
    return this.open.depth;
  }
}

function sorted(names: ReadonlySet<string>): string[] {
  return [...names].sort();
}

describe("questions that lead to one another", () => {
  it("are answered once", () => {
    const questions = new Reachable({ a: ["b", "c"], b: ["c"], c: [] });
    assert.deepEqual(sorted(questions.from("a")), ["b", "c"]);
    assert.deepEqual(sorted(questions.from("b")), ["c"]);
    assert.deepEqual(questions.computed, ["a", "b", "c"]);
  });

  it("are answered once when there is nothing to say", () => {
    const open = new OpenQuestions();
    const answers: Answers<string, string | undefined> = new Map();
    let asked = 0;
    const ask = (): string | undefined =>
      open.answer(answers, "a", undefined, () => {
        asked++;
        return undefined;
      });
    assert.equal(ask(), undefined);
    assert.equal(ask(), undefined);
    assert.equal(asked, 1);
    assert.ok(open.isSettled(answers, "a"));
  });

  it("have the same answers whichever of a circle is asked first", () => {
    const circle = { a: ["b"], b: ["c", "d"], c: ["a"], d: [] };
    for (const first of ["a", "b", "c"]) {
      const questions = new Reachable(circle);
      questions.from(first);
      // What was concluded inside the circle rested on the open question and is dropped with it.
      for (const name of ["a", "b", "c"])
        assert.deepEqual(sorted(questions.from(name)), ["a", "b", "c", "d"], `${name} after ${first}`);
      assert.ok(questions.isSettled("d"));
    }
  });

  it("leave nothing open when one of them breaks", () => {
    const questions = new Reachable({ a: ["b"], b: ["a", "x"], c: ["b"] });
    assert.throws(() => questions.from("c"), /nobody knows x/);
    assert.equal(questions.depth, 0);
    for (const name of ["a", "b", "c"]) assert.ok(!questions.isSettled(name));
    assert.throws(() => questions.from("c"), /nobody knows x/);
  });

  it("that were cut off are asked again when they are asked alone", () => {
    const open = new OpenQuestions();
    const answers: Answers<number, number> = new Map();
    const longest = 3;
    const below = (left: number): number =>
      open.answer(answers, left, 0, () => {
        if (left === 0) return 0;
        if (open.depth > longest) {
          open.cutOff();
          return 0;
        }
        return 1 + below(left - 1);
      });
    assert.equal(below(5), longest);
    assert.ok(!open.isSettled(answers, 2));
    assert.equal(below(2), 2);
    assert.ok(open.isSettled(answers, 2));
  });
});
