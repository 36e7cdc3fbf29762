/**
 * The one way in which tests ask what the product finds: the same `analyze` that the server and the command line call.
 */
import assert from "node:assert/strict";
import { analyze } from "../../server/src/analysis";
import type { AnalysisOptions } from "../../server/src/analysis";
import { parseModule } from "../../server/src/python/parse";
import { Source } from "../../server/src/python/source";
import { applyEdits, safeEdits } from "../../server/src/rules/fix";
import type { Finding } from "../../server/src/rules/rule";
import { describeMarks, marksOf } from "./marks";
import type { Mark } from "./marks";

/** The findings in a text; the parser must be loaded. A rule that throws fails the test. */
export function findingsIn(text: string, options: AnalysisOptions = {}): readonly Finding[] {
  const parsed = parseModule(text);
  const analysis = analyze(parsed, options);
  for (const { rule, error } of analysis.failures) {
    throw new Error(
      `${rule} broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  }
  return analysis.findings;
}

export function marksOfFindings(text: string, findings: readonly Finding[]): Mark[] {
  const source = new Source(text);
  return findings.map(({ rule, span }) => ({ line: source.lineOf(span.start) + 1, rule }));
}

/** Runs one rule over a marked text: findings must be on the marked lines and nowhere else. */
export function checkRule(rule: string, marked: string): readonly Finding[] {
  const findings = findingsIn(marked, { select: [rule] });
  const expected = marksOf(marked).filter((mark) => mark.rule === rule);
  assert.deepEqual(describeMarks(marksOfFindings(marked, findings)), describeMarks(expected));
  return findings;
}

/** The text after all safe fixes, applied until none is left. Fails when they do not come to an end. */
export function fixedText(text: string, options: AnalysisOptions = {}): string {
  let current = text;
  for (let round = 0; round < 20; round++) {
    const edits = safeEdits(findingsIn(current, options));
    if (edits.length === 0) return current;
    current = applyEdits(current, edits);
  }
  throw new Error("the fixes do not converge");
}
