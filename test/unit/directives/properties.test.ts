/** What holds for any text: no exception, spans within it, fixes that can be applied and come to an end. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { readHeader } from "../../../server/src/directives/header";
import { headerExamples, headerKeys } from "../../../server/src/directives/keys";
import { applySuppressions } from "../../../server/src/directives/suppressions";
import type { Setting } from "../../../server/src/memory/setup";
import { message, render } from "../../../server/src/messages/message";
import { parseModule } from "../../../server/src/python/parse";
import type { Finding } from "../../../server/src/rules/rule";
import { applied, startParser } from "./helpers";

const pieces = [
  ...headerKeys,
  ...headerKeys.map((key) => headerExamples[key]),
  ..."=,;:[](){}<>*\"' \t\r\n#-.中，＝".split(""),
  "# vram: ",
  "B",
  "T=128",
  "float32[",
  "ignore",
  "ignore[loss]",
  "disable[loss]",
  "enable[loss]",
  "ignore-file[loss, los]",
  " -- why",
  "LOSS()\n",
  "if x:\n    LOSS()\n",
  '"""doc"""\n',
  "import torch\n",
  "\n# vram: ",
  "8GiB",
  "16:1GiB",
];
const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((chosen) => chosen.join(""));
const rules = { all: ["loss", "suppression-unused", "suppression-unknown-rule"], ran: () => true };

function findingsAbout(text: string): Finding[] {
  const losses = [...text.matchAll(/LOSS/g)].map(({ index }) => ({
    rule: "loss",
    level: "error" as const,
    span: { start: index, end: index + 4 },
    message: message({ en: "loss", "zh-cn": "损失" }),
    related: [],
    fixes: [],
  }));
  return applySuppressions(parseModule(text), losses, rules);
}

describe("directives in any text", () => {
  before(startParser);

  it("have spans within the text, messages in both languages, and edits that apply", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const { diagnostics, entries, setup } = readHeader(parseModule(text));
        const reported = [
          ...diagnostics.map(({ span, message: said, fix }) => ({ span, said, fixes: fix ? [fix] : [] })),
          ...findingsAbout(text).map(({ span, message: said, fixes }) => ({ span, said, fixes })),
        ];
        for (const { span, said, fixes } of reported) {
          assert.ok(0 <= span.start && span.start < span.end && span.end <= text.length);
          assert.notEqual(render(said, "en"), "");
          assert.notEqual(render(said, "zh-cn"), "");
          for (const { edits } of fixes) assert.notEqual(applied(text, edits), text);
        }
        for (const { start, end, keySpan } of entries) {
          assert.ok(start <= keySpan.start && keySpan.end <= end && end <= text.length);
        }
        const settings = Object.values(setup) as readonly Setting<unknown>[];
        for (const { span } of settings) assert.ok(span && span.start < span.end);
      }),
      { numRuns: 500 },
    );
  });

  it("mean the same with any line end", () => {
    const told = (text: string): string[] => [
      ...readHeader(parseModule(text)).diagnostics.map(({ message: said }) => render(said, "en")),
      ...findingsAbout(text).map(({ rule, message: said }) => `${rule}: ${render(said, "en")}`),
    ];
    fc.assert(
      fc.property(texts, (mixed) => {
        const text = mixed.replace(/\r\n?/g, "\n");
        assert.deepEqual(told(text.replaceAll("\n", "\r\n")), told(text));
      }),
      { numRuns: 300 },
    );
  });

  it("have safe fixes that come to an end and leave nothing safe to fix", () => {
    fc.assert(
      fc.property(texts, (start) => {
        let text = start;
        for (let round = 0; round <= start.length; round++) {
          const fix = findingsAbout(text)
            .flatMap(({ fixes }) => fixes)
            .find(({ safety }) => safety === "safe");
          if (fix === undefined) return;
          text = applied(text, fix.edits);
        }
        assert.fail("the fixes do not end");
      }),
      { numRuns: 300 },
    );
  });
});
