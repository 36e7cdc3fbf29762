import assert from "node:assert/strict";
import { Typing } from "../../../server/src/lsp/typing";

/** A text that is typed, whose findings are where words stand. */
class Script {
  private readonly typing = new Typing();
  constructor(private text: string) {}

  type(behind: string, keys: string): this {
    let at = this.text.indexOf(behind) + behind.length;
    for (const key of keys) {
      this.replace(at, at, key);
      at += 1;
    }
    return this;
  }

  remove(piece: string): this {
    const start = this.text.indexOf(piece);
    this.replace(start, start + piece.length, "");
    return this;
  }

  pause(): this {
    this.typing.pause();
    return this;
  }

  /** The words that are told of, in their order. */
  told(...words: string[]): string[] {
    const findings = words.flatMap((word) =>
      [...this.text.matchAll(new RegExp(word, "g"))].map(({ index }) => ({
        rule: word,
        span: { start: index, end: index + word.length },
      })),
    );
    return this.typing.tellable(findings, this.text).map(({ rule }) => rule);
  }

  private replace(start: number, end: number, text: string): void {
    this.text = this.text.slice(0, start) + text + this.text.slice(end);
    this.typing.edited([{ start, end, text }]);
  }
}

describe("findings while somebody types", () => {
  it("are all told in a text that was just opened", () => {
    assert.deepEqual(new Script("bad\nworse\n").told("bad", "worse"), ["bad", "worse"]);
  });

  it("wait on the line of the last edit, until a pause", () => {
    const script = new Script("one\n\n").type("one\n", "bad");
    assert.deepEqual(script.told("bad", "one"), ["one"]);
    assert.deepEqual(script.pause().told("bad", "one"), ["bad", "one"]);
  });

  it("go on waiting when the next line is begun", () => {
    const script = new Script("one\n").type("one\n", "bad");
    assert.deepEqual(script.told("bad"), []);
    assert.deepEqual(script.type("bad", "\nnext").told("bad"), []);
    assert.deepEqual(script.pause().told("bad"), ["bad"]);
  });

  it("stay where they were told before, wherever edits move them", () => {
    const script = new Script("one bad two\n");
    assert.deepEqual(script.told("bad"), ["bad"]);
    assert.deepEqual(script.type("one", " more").told("bad"), ["bad"]);
    assert.deepEqual(script.type("two", " bad").told("bad"), ["bad"], "the second is new");
    assert.deepEqual(script.remove("one ").told("bad"), ["bad"]);
    assert.deepEqual(script.pause().told("bad"), ["bad", "bad"]);
  });

  it("on other lines are told at once", () => {
    const script = new Script("one\ntwo\n").type("two", " bad");
    assert.deepEqual(script.told("one"), ["one"]);
  });

  it("that are gone are gone", () => {
    const script = new Script("bad\n");
    assert.deepEqual(script.told("bad"), ["bad"]);
    assert.deepEqual(script.remove("ad").told("bad"), []);
    assert.deepEqual(script.type("b", "ad").told("bad"), []);
  });
});
