import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { Language, Parser } from "web-tree-sitter";
import { directCursors, openDocumentedCursor } from "../../../server/src/python/cursor";
import { memoryCursors } from "../../../server/src/python/memory-cursor";
import { outlinesOf } from "../../../server/src/python/parse";
import { fixtures } from "../../support/fixtures";
import { loadParser } from "../../support/parser";

const SOURCES: Readonly<Record<string, string>> = {
  "sound source":
    "class A:\n    def f(self, *a, **k):  # b\n        return [x for x in a if x > 0], f'{k!r:>{a}}'\n",
  "source with errors": "def f(:\n    a = = b\n    (c\nclass\n",
  "something missing": "a = f(b, c)\nd = (",
  "nested brackets": "(".repeat(3000) + "a" + ")".repeat(3000),
  "a long chain": "a" + ".b()".repeat(3000),
  "a long list": `[${"a, ".repeat(20_000)}]`,
  "long tokens": `# ${"é".repeat(1000)}\n${"a".repeat(1000)} = '${"b".repeat(100_000)}'${"\n".repeat(1000)}c`,
  "another language": readFileSync(path.join(__dirname, "lower.test.ts"), "utf8"),
  "an error and nothing else": ")",
  "white space": " \n\t\n",
  nothing: "",
};

describe("cursors", () => {
  let language: Language;
  let parser: Parser;

  before(loadParser);
  before(async () => {
    const grammar = readFileSync(require.resolve("tree-sitter-python/tree-sitter-python.wasm"));
    language = await Language.load(grammar);
    parser = new Parser();
    parser.setLanguage(language);
  });
  after(() => parser.delete());

  for (const [name, source] of Object.entries(SOURCES)) {
    it(`see the same tree: ${name}`, () => {
      const { documented, direct, memory } = outlinesOf(source);
      assert.equal(direct, documented);
      assert.equal(memory, documented);
    });
  }

  it("see the same tree in every fixture, whole and damaged", () => {
    const damage = fc.tuple(
      fc.constantFrom(...fixtures()),
      fc.nat(5_000),
      fc.nat(30),
      fc.constantFrom("", "(", "'", "f'{", ":", "\n", "\n  ", "é😀", "\\\n", "# ", "match x:", "\0"),
    );
    const agree = (text: string): void => {
      const { documented, direct, memory } = outlinesOf(text);
      assert.ok(documented === direct && documented === memory, text);
    };
    for (const { text } of fixtures()) agree(text);
    fc.assert(
      fc.property(damage, ([{ text }, at, length, inserted]) =>
        agree(text.slice(0, at) + inserted + text.slice(at + length)),
      ),
      { numRuns: 300 },
    );
  });

  it("are refused when a function is missing or does something else", () => {
    const probe = parser.parse("a = 1");
    assert.ok(probe);
    assert.equal(directCursors({}, probe), undefined);
    const ended = new Proxy({}, { get: () => () => 0 });
    assert.equal(directCursors(ended, probe), undefined);
    const throwing = new Proxy({}, { get: () => () => assert.fail() });
    assert.equal(directCursors(throwing, probe), undefined);
    probe.delete();
  });

  it("are refused when the memory cannot be seen or holds something else", () => {
    const probe = parser.parse("a = 1");
    assert.ok(probe);
    const refused = [{}, { HEAPU32: [] }, { HEAPU32: new Uint32Array(1 << 24) }];
    refused.push({ HEAPU32: new Uint32Array(1 << 24).fill(0x2000) });
    refused.push({ HEAPU32: new Uint32Array(1 << 24).map((_, index) => index * 40503) });
    for (const runtime of refused)
      assert.equal(memoryCursors(runtime, language, probe, openDocumentedCursor), undefined);
    probe.delete();
  });
});
