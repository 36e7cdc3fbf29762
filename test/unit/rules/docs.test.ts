/**
 * The rules' pages: same parts in both languages, and their examples are true: the bad one reports the rule and nothing
 * else, the good one is silent, a safe fix makes the bad one silent.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { rules } from "../../../server/src/rules/registry";
import { findingsIn, fixedText } from "../../support/check";
import { loadParser } from "../../support/parser";

const headings = {
  "doc.md": [
    "What it finds",
    "Why it matters",
    "Bad",
    "Good",
    "Fix",
    "When it stays quiet",
    "When to ignore it",
  ],
  "doc.zh-cn.md": ["检查内容", "为什么重要", "错误示例", "正确示例", "修复", "何时不报告", "何时忽略"],
} as const;

interface Page {
  readonly title: string;
  readonly sections: ReadonlyMap<string, string>;
}

function readPage(rule: string, file: string): Page {
  const absolute = path.join(__dirname, "../../../server/src/rules", rule, file);
  assert.ok(existsSync(absolute), `${rule}/${file} is missing`);
  const text = readFileSync(absolute, "utf8");
  const [head = "", ...parts] = text.split(/^## /m);
  return {
    title: /^# (.+)$/m.exec(head)?.[1] ?? "",
    sections: new Map(
      parts.map((part) => {
        const end = part.indexOf("\n");
        return [part.slice(0, end).trim(), part.slice(end + 1)];
      }),
    ),
  };
}

function codeIn(section: string | undefined): string[] {
  return [...(section ?? "").matchAll(/^```python\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? "");
}

describe("the rules' pages", () => {
  before(loadParser);

  for (const rule of rules) {
    describe(rule.name, () => {
      for (const [file, expected] of Object.entries(headings)) {
        it(`${file} has all parts`, () => {
          const page = readPage(rule.name, file);
          assert.equal(page.title, rule.name);
          assert.deepEqual([...page.sections.keys()], [...expected]);
          for (const [heading, text] of page.sections)
            assert.notEqual(text.trim(), "", `${heading} is empty`);
        });
      }

      it("has a summary that is a sentence", () => {
        assert.match(rule.summary.en, /[^.]\.$/);
        assert.match(rule.summary["zh-cn"], /[^。]。$/);
      });

      it("shows the same examples in both languages", () => {
        const [english, chinese] = Object.keys(headings).map((file) =>
          [...readPage(rule.name, file).sections.values()].flatMap(codeIn),
        );
        assert.deepEqual(chinese, english);
      });

      it("has bad examples that report and good ones that do not", () => {
        const page = readPage(rule.name, "doc.md");
        const bad = codeIn(page.sections.get("Bad"));
        const good = codeIn(page.sections.get("Good"));
        assert.ok(bad.length > 0 && good.length > 0);
        for (const code of bad) {
          const findings = findingsIn(code);
          assert.deepEqual([...new Set(findings.map((finding) => finding.rule))], [rule.name], code);
          const everyHasSafeFix = findings.every(({ fixes }) =>
            fixes.some(({ safety }) => safety === "safe"),
          );
          if (everyHasSafeFix)
            assert.deepEqual(findingsIn(fixedText(code)), [], "the safe fix does not silence it");
        }
        for (const code of good) {
          assert.deepEqual(
            findingsIn(code).map((finding) => finding.rule),
            [],
            code,
          );
        }
      });
    });
  }
});
