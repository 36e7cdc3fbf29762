/** What a baseline must keep knowing while a file is worked on, and what of it may reach a file and come back. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { formatBaseline, parseBaseline } from "../../server/src/cli/baseline";
import type { BaselineEntry } from "../../server/src/cli/baseline";
import { keysOf, keyText } from "../../server/src/cli/finding-key";
import { parseModule } from "../../server/src/python/parse";
import { findingsIn } from "../support/check";
import { fixtures } from "../support/fixtures";
import type { Fixture } from "../support/fixtures";
import { loadParser } from "../support/parser";

function keysIn(text: string): string[] {
  const findings = findingsIn(text);
  const parsed = parseModule(text);
  return keysOf(parsed.module, parsed.source, findings).map(keyText).sort();
}

/** Offsets of the statements at the top of a file that stand alone: no comment of ours can be about them. */
function placesIn(text: string): number[] {
  const parsed = parseModule(text);
  return parsed.module.body
    .map(({ start }) => start)
    .filter((start) => start > 0 && /(?:^|\n)[^\n#]*\n$/.test(text.slice(0, start)));
}

interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** The text with lines put before some of its statements. */
function withInsertions(text: string, insertions: readonly Insertion[]): string {
  const places = placesIn(text);
  const chosen = insertions
    .map(({ at, text: inserted }) => ({ offset: places[Math.floor(at * places.length)], inserted }))
    .filter((one): one is { offset: number; inserted: string } => one.offset !== undefined)
    .sort((a, b) => b.offset - a.offset);
  let result = text;
  for (const { offset, inserted } of chosen) {
    result = result.slice(0, offset) + inserted + result.slice(offset);
  }
  return result;
}

const fraction = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

/** A function with one finding of its own. */
const addition = `

def added_by_a_colleague(batches):
    import torch
    for batch in batches:
        torch.cuda.empty_cache()
`;

describe("a baseline, whatever is done to the file", () => {
  let flawed: readonly Fixture[] = [];
  before(async () => {
    await loadParser();
    flawed = fixtures("rules").filter(({ text }) => findingsIn(text).length > 0);
    assert.ok(flawed.length > 40);
  });

  const anyFlawed = fc.nat();
  const fixtureAt = (index: number): Fixture => {
    const fixture = flawed[index % flawed.length];
    assert.ok(fixture);
    return fixture;
  };

  it("knows every finding after lines were put between the statements", () => {
    const insertion = fc.record({
      at: fraction,
      text: fc.constantFrom(
        "\n",
        "\n\n\n",
        "# a note\n",
        "unrelated = 1\n",
        "def unrelated():\n    pass\n\n\n",
      ),
    });
    fc.assert(
      fc.property(anyFlawed, fc.array(insertion, { minLength: 1, maxLength: 4 }), (index, insertions) => {
        const { text } = fixtureAt(index);
        assert.deepEqual(keysIn(withInsertions(text, insertions)), keysIn(text));
      }),
      { numRuns: 150 },
    );
  });

  it("knows every finding whatever ends the lines", () => {
    for (const { name, text } of flawed) {
      assert.deepEqual(keysIn(text.replaceAll("\n", "\r\n")), keysIn(text), name);
    }
  });

  it("calls nothing new but what was added", () => {
    for (const { name, text } of flawed) {
      const known = new Set(keysIn(text));
      const after = keysIn(text + addition);
      const isNew = after.filter((key) => !known.has(key));
      assert.equal(isNew.length, 1, `${name}: ${isNew.join("\n")}`);
      assert.match(isNew[0] ?? "", /^empty-cache-in-loop\0added_by_a_colleague\0/);
      assert.equal(after.length, known.size + 1, name);
    }
  });
});

describe("the file of a baseline", () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 20 }),
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.constantFrom("", "\0", "<<<<<<< ours", "a\n=======\nb", "\u2028", '"\\', "\ud83d\ude00"),
  );
  const entry: fc.Arbitrary<BaselineEntry> = fc.record({
    path: text,
    rule: text,
    function: text,
    statement: text,
    occurrence: fc.integer({ min: 1, max: 999_999 }),
  });
  const entries = fc.array(entry, { maxLength: 12 });

  it("holds every entry once and gives it back", () => {
    fc.assert(
      fc.property(entries, (given) => {
        const written = formatBaseline([...given, ...given]);
        const back = parseBaseline(written, "baseline.json");
        assert.ok(Array.isArray(back), JSON.stringify(back));
        assert.equal(formatBaseline(back), written);
        const texts = (list: readonly BaselineEntry[]): string[] => [
          ...new Set(list.map((one) => JSON.stringify([one.path, keyText(one)]))),
        ];
        assert.deepEqual(texts(back).sort(), texts(given).sort());
        assert.equal(back.length, texts(given).length);
      }),
    );
  });

  it("does not depend on the order in which findings came", () => {
    fc.assert(
      fc.property(
        entries.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
        ),
        ([list, shuffled]) => {
          assert.equal(formatBaseline(shuffled), formatBaseline(list));
        },
      ),
    );
  });

  it("merges line by line: what two branches add is what both hold together", () => {
    const lines = (list: readonly BaselineEntry[]): string[] =>
      formatBaseline(list)
        .split("\n")
        .filter((line) => line.startsWith("    "))
        .map((line) => line.replace(/,$/, ""));
    fc.assert(
      fc.property(entries, entries, entries, (common, ours, theirs) => {
        const merged = new Set([...lines([...common, ...ours]), ...lines([...common, ...theirs])]);
        assert.deepEqual(lines([...common, ...ours, ...theirs]).sort(), [...merged].sort());
      }),
    );
  });
});
