/** What must hold on every fixture and on mutations of it. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseModule } from "../../server/src/python/parse";
import { buildScopes } from "../../server/src/python/scope";
import type { Name } from "../../server/src/python/tree";
import { applyEdits, safeEdits } from "../../server/src/rules/fix";
import type { TextEdit } from "../../server/src/rules/rule";
import { findingsIn, fixedText, marksOfFindings } from "../support/check";
import { fixtures } from "../support/fixtures";
import { describeMarks } from "../support/marks";
import { loadParser } from "../support/parser";

const all = fixtures();
const clean = [...fixtures("rules"), ...fixtures("reported"), ...fixtures("example")];

function errorsIn(text: string): number {
  const parsed = parseModule(text);
  return parsed.module.errors.length;
}

function marks(text: string): string[] {
  return describeMarks(marksOfFindings(text, findingsIn(text)));
}

/** `import torch` becomes `import torch as renamed`, and every reference to it with it; undefined where that is not all. */
function renameTorch(text: string): string | undefined {
  const parsed = parseModule(text);
  const scopes = buildScopes(parsed.module);
  const bindings = scopes.lookupIn(scopes.module, "torch");
  const [binding] = bindings;
  if (bindings.length !== 1 || binding?.node.kind !== "Import" || binding.importPath !== "torch")
    return undefined;
  const statement = binding.node;
  if (parsed.source.slice(statement) !== "import torch") return undefined;
  const references: readonly Name[] = scopes.referencesTo(scopes.module, "torch");
  const edits: TextEdit[] = references.map(({ start, end }) => ({ start, end, text: "renamed" }));
  edits.push({ start: statement.end, end: statement.end, text: " as renamed" });
  return applyEdits(text, edits);
}

describe("properties of every fixture", () => {
  before(loadParser);

  it("has fixtures to look at", () => assert.ok(clean.length > 50));

  for (const { name, text } of all) {
    it(`${name}: findings lie inside the text, in order`, () => {
      let last = 0;
      for (const { span, related, fixes } of findingsIn(text)) {
        const places = [
          span,
          ...related.map((location) => location.span),
          ...fixes.flatMap(({ edits }) => edits),
        ];
        for (const { start, end } of places) assert.ok(start >= 0 && start <= end && end <= text.length);
        assert.ok(span.start >= last);
        last = span.start;
      }
    });
  }

  for (const { name, text } of clean) {
    it(`${name}: line ends change nothing`, () => {
      const expected = marks(text);
      assert.deepEqual(marks(text.replaceAll("\n", "\r\n")), expected, "CRLF");
      assert.deepEqual(marks(text.replaceAll("\n", "\r")), expected, "CR");
    });

    it(`${name}: a renamed import changes nothing`, () => {
      const renamed = renameTorch(text);
      if (renamed !== undefined) assert.deepEqual(marks(renamed), marks(text));
    });

    it(`${name}: fixes converge, break nothing and remove what they fix`, () => {
      const errors = errorsIn(text);
      for (const finding of findingsIn(text)) {
        for (const fix of finding.fixes) {
          const fixed = applyEdits(text, fix.edits);
          assert.ok(errorsIn(fixed) <= errors, `"${fix.title.text.en}" leaves a syntax error:\n${fixed}`);
          const before = findingsIn(text).filter(({ rule }) => rule === finding.rule).length;
          const after = findingsIn(fixed);
          const same = after.filter(({ rule }) => rule === finding.rule).length;
          assert.ok(
            same < before,
            `${finding.rule} is still reported after "${fix.title.text.en}":\n${fixed}`,
          );
          const total = findingsIn(text).length;
          assert.ok(after.length < total, `a fix of ${finding.rule} adds a finding:\n${fixed}`);
        }
      }
      assert.deepEqual(safeEdits(findingsIn(fixedText(text))), []);
    });
  }
});

describe("properties of mutated fixtures", () => {
  before(loadParser);

  const mutation = fc.record({
    fixture: fc.constantFrom(...all),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(120),
    text: fc.constantFrom(
      "",
      "(",
      ")",
      "[",
      '"',
      '"""',
      "'",
      ":",
      "\n",
      "\n    ",
      "\t",
      "=",
      "#",
      "\\",
      "\0",
      "é",
      "😀",
      "def ",
      "with ",
      "await ",
    ),
  });

  it("never throws and never points outside the text", () => {
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), ([first, ...others]) => {
        if (first === undefined) return;
        let { text } = first.fixture;
        for (const { at, length, text: inserted } of [first, ...others]) {
          const start = Math.floor(at * text.length);
          text = text.slice(0, start) + inserted + text.slice(start + length);
        }
        for (const { span } of findingsIn(text)) assert.ok(span.start <= span.end && span.end <= text.length);
      }),
      { numRuns: 300 },
    );
  });

  it("survives being cut anywhere, as while it is typed", () => {
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.double({ min: 0, max: 1, noNaN: true }), ({ text }, at) => {
        findingsIn(text.slice(0, Math.floor(at * text.length)));
      }),
      { numRuns: 300 },
    );
  });
});
