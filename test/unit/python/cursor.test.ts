import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { Language, Parser } from "web-tree-sitter";
import { directCursors } from "../../../server/src/python/cursor";
import { parseTimings } from "../../../server/src/python/parse";
import { walk } from "../../../server/src/python/walk";
import type { Module } from "../../../server/src/python/tree";
import { loadParser } from "../../support/parser";

const MODEL_SOURCE = readFileSync(path.join(__dirname, "lower.test.ts"), "utf8");

const SOURCES: Readonly<Record<string, string>> = {
  "sound source":
    "class A:\n    def f(self, *a, **k):  # b\n        return [x for x in a if x > 0], f'{k!r:>{a}}'\n",
  "source with errors": "def f(:\n    a = = b\n    (c\nclass\n",
  "nested brackets": "(".repeat(3000) + "a" + ")".repeat(3000),
  "another language": MODEL_SOURCE,
  nothing: "",
};

function outline(module: Module): string[] {
  const nodes: string[] = [];
  walk(module, { enter: ({ kind, start, end }) => void nodes.push(`${kind} ${start} ${end}`) });
  return [...nodes, JSON.stringify(module.comments), JSON.stringify(module.errors)];
}

describe("direct cursor", () => {
  before(loadParser);

  for (const [name, source] of Object.entries(SOURCES)) {
    it(`gives the same tree as the documented one: ${name}`, () => {
      const fast = parseTimings(source, "fastest");
      const documented = parseTimings(source, "documented");
      assert.deepEqual(outline(fast.module), outline(documented.module));
    });
  }

  it("is refused when a function is missing or does something else", async () => {
    const grammar = readFileSync(require.resolve("tree-sitter-python/tree-sitter-python.wasm"));
    const parser = new Parser();
    parser.setLanguage(await Language.load(grammar));
    const probe = parser.parse("a = 1");
    assert.ok(probe);
    assert.equal(directCursors({}, probe), undefined);
    const ended = new Proxy({}, { get: () => () => 0 });
    assert.equal(directCursors(ended, probe), undefined);
    const throwing = new Proxy({}, { get: () => () => assert.fail() });
    assert.equal(directCursors(throwing, probe), undefined);
    probe.delete();
    parser.delete();
  });
});
