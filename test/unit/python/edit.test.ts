import assert from "node:assert/strict";
import * as fc from "fast-check";
import { parseModule, type Edit, type ParsedModule } from "../../../server/src/python/parse";
import { fixtures } from "../../support/fixtures";
import { loadParser } from "../../support/parser";

/** All that a parsed module holds. */
function snapshot({ source, module }: ParsedModule): string {
  const shown = (name: string, value: unknown): unknown => {
    if (name === "parent" || name === "memos") return undefined;
    return typeof value === "bigint" ? String(value) : value;
  };
  return `${source.text}\n${JSON.stringify(module, shown, 1)}`;
}

function applied(text: string, edits: readonly Edit[]): string {
  return edits.reduce(
    (old, { start, end, text: inserted }) => old.slice(0, start) + inserted + old.slice(end),
    text,
  );
}

function assertSameAsFullParse(text: string, steps: readonly (readonly Edit[])[]): void {
  let parsed = parseModule(text);
  let expected = text;
  for (const edits of steps) {
    parsed = parsed.edit(edits);
    expected = applied(expected, edits);
    const full = parseModule(expected);
    const [actual, wanted] = [snapshot(parsed), snapshot(full)];
    assert.equal(actual, wanted);
  }
}

const TEXT = [
  "import torch",
  "",
  "class Net:",
  "    def forward(self, x):  # why",
  "        with torch.no_grad():",
  "            y = f'{x!r:>{10}} é😀'",
  "        return [a for a in y if a > 0]",
  "",
  "for i in range(10):",
  "    loss = net(i)",
  "    total += loss",
  "",
].join("\n");

/** What people type: whole statements, halves of them, brackets, quotes, line ends. */
const SNIPPETS = [
  ...Array.from("()[]{}'\":,.=#\\ \t\n\r😀é"),
  ...[
    "\r\n",
    "    ",
    "def f(a):\n    pass\n",
    "if a:\n",
    "else:\n",
    "x = 1\n",
    "'''",
    "f'{",
    "}'",
    "lambda x: ",
    "\n\n",
  ],
  ...[
    "a and ",
    "# note\n",
    "\n    ",
    "return ",
    "async ",
    "@d\n",
    " = ",
    "match x:\n    case 1: pass\n",
    "*",
    "**k",
    "0",
  ],
];

/** An edit of a text of unknown length: places are parts of a thousand. */
const roughEdit = fc.record({
  place: fc.integer({ min: 0, max: 1000 }),
  deleted: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 3 }) },
    fc.integer({ min: 0, max: 80 }),
  ),
  inserted: fc.oneof(
    fc.constantFrom(...SNIPPETS, ""),
    fc.array(fc.constantFrom(...SNIPPETS), { maxLength: 4 }).map((parts) => parts.join("")),
  ),
});

type RoughEdit = typeof roughEdit extends fc.Arbitrary<infer Value> ? Value : never;

function placed(text: string, rough: RoughEdit): Edit {
  const start = Math.floor((text.length * rough.place) / 1000);
  return { start, end: Math.min(text.length, start + rough.deleted), text: rough.inserted };
}

function placedSteps(text: string, rough: readonly (readonly RoughEdit[])[]): Edit[][] {
  let current = text;
  return rough.map((step) =>
    step.map((one) => {
      const edit = placed(current, one);
      current = applied(current, [edit]);
      return edit;
    }),
  );
}

describe("editing", () => {
  before(loadParser);

  const cases: Readonly<Record<string, readonly Edit[]>> = {
    "a letter": [{ start: 10, end: 10, text: "x" }],
    "a line before everything": [{ start: 0, end: 0, text: "# a\n" }],
    "indentation of a body": [{ start: TEXT.indexOf("    loss"), end: TEXT.indexOf("loss"), text: "" }],
    "a quote that swallows the rest": [{ start: 20, end: 20, text: "'''" }],
    "all of it": [{ start: 0, end: TEXT.length, text: "a = 1" }],
    "nothing left": [{ start: 0, end: TEXT.length, text: "" }],
    "several at once": [
      { start: 0, end: 6, text: "from x import" },
      { start: 40, end: 45, text: "" },
      { start: 3, end: 3, text: "é😀" },
    ],
    "after characters beyond the basic plane": [
      { start: TEXT.indexOf("😀") + 2, end: TEXT.indexOf("😀") + 2, text: " b" },
    ],
  };
  for (const [name, edits] of Object.entries(cases)) {
    it(`gives the tree of a full parse: ${name}`, () => assertSameAsFullParse(TEXT, [edits]));
  }

  it("gives the tree of a full parse when a line end joins a carriage return", () => {
    assertSameAsFullParse("a = 1\rb = 2\rc = 3", [
      [{ start: 6, end: 6, text: "\n" }],
      [{ start: 5, end: 6, text: "" }],
    ]);
  });

  it("gives the tree of a full parse, keystroke by keystroke", () => {
    const steps = Array.from(TEXT).reduce<Edit[][]>((done, character) => {
      const at = done.reduce((length, [edit]) => length + (edit?.text.length ?? 0), 0);
      return [...done, [{ start: at, end: at, text: character }]];
    }, []);
    assertSameAsFullParse("", steps);
  });

  for (const lineEnd of ["\n", "\r\n", "\r"]) {
    it(`gives the tree of a full parse after any edits of a text with ${JSON.stringify(lineEnd)}`, () => {
      const text = TEXT.replaceAll("\n", lineEnd);
      const anySteps = fc.array(fc.array(roughEdit, { minLength: 1, maxLength: 3 }), {
        minLength: 1,
        maxLength: 5,
      });
      fc.assert(
        fc.property(anySteps, (rough) => assertSameAsFullParse(text, placedSteps(text, rough))),
        { numRuns: 150 },
      );
    });
  }

  it("starts over where the tree was taken by another edit", () => {
    const parsed = parseModule("a = 1");
    parsed.edit([{ start: 4, end: 5, text: "2" }]);
    assert.equal(snapshot(parsed.edit([{ start: 0, end: 1, text: "b" }])), snapshot(parseModule("b = 1")));
  });

  it("takes over the nodes of what it leaves alone", () => {
    const text = "def f():\n    a\n\n\ndef g():\n    b\n\n\ndef h():\n    c\n";
    const parsed = parseModule(text);
    const [f, g, h] = parsed.module.body;
    const edited = parsed.edit([{ start: text.indexOf("b"), end: text.indexOf("b"), text: "(" }]);
    const [sameF, otherG, sameH] = edited.module.body;
    assert.deepEqual([sameF === f, otherG === g, sameH === h], [true, false, true]);
    assert.equal(sameH?.parent, edited.module);
  });

  for (const { name, text } of fixtures()) {
    it(`gives the tree of a full parse after a line before everything: ${name}`, () => {
      assertSameAsFullParse(text, [[{ start: 0, end: 0, text: "# a\n" }]]);
    });

    it(`gives the tree of a full parse after a bracket in the middle: ${name}`, () => {
      const middle = text.indexOf("\n", text.length / 2) + 1;
      assertSameAsFullParse(text, [
        [{ start: middle, end: middle, text: "(" }],
        [{ start: middle, end: middle + 1, text: "" }],
      ]);
    });
  }
});
