/**
 * JUnit's XML, which Jenkins and most other systems read: a suite a file, a case a finding. What does not fail the run
 * does not fail its case either.
 */
import { reportMessages as texts } from "../../messages/cli";
import { message } from "../../messages/message";
import { printable } from "../../workspace/problem";
import type { FixedFile, KeyedFinding } from "../checked-file";
import { isAtLeast } from "../levels";
import { placeOf } from "./place";
import type { Report, ReportContext } from "./report";

export function junitReport(context: ReportContext): Report {
  const suites: string[] = [];
  let tests = 0;
  let failures = 0;
  return {
    file(file) {
      const failing = file.findings.filter(({ level }) => isAtLeast(level, context.failOn)).length;
      const count = Math.max(1, file.findings.length);
      tests += count;
      failures += failing;
      const name = context.shared(file.name);
      const cases =
        file.findings.length === 0
          ? [`    <testcase${attributes({ classname: name, name: "vramlint", file: name })}/>`]
          : file.findings.map((finding) => caseOf(file, finding, context));
      suites.push(
        `  <testsuite${attributes({ name, tests: count, failures: failing, errors: 0, skipped: 0 })}>`,
        ...cases,
        "  </testsuite>",
      );
      return "";
    },
    end({ problems }) {
      const errors = problems
        .filter(({ severity }) => severity === "error")
        .map((problem) => context.terminal.text(problem.message));
      const all = { name: "vramlint", tests: tests + errors.length, failures, errors: errors.length };
      const lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        `<testsuites${attributes(all)}>`,
        ...suites,
        ...errorSuite(errors),
        "</testsuites>",
      ];
      return `${lines.join("\n")}\n`;
    },
  };
}

function caseOf(file: FixedFile, finding: KeyedFinding, { terminal, failOn, shared }: ReportContext): string {
  const { line, column } = placeOf(file, finding.span);
  const name = shared(file.name);
  const text = terminal.text(finding.message);
  const level = terminal.text(message(texts[finding.level]));
  const head = { classname: name, name: `${finding.rule} (${line}:${column})`, file: name, line };
  const related = finding.related.map(({ span, message: note }) => {
    const place = placeOf(file, span);
    return `${name}:${place.line}:${place.column}: ${terminal.text(note)}`;
  });
  const body = content(
    [`${name}:${line}:${column}: ${level}[${finding.rule}] ${text}`, ...related].join("\n"),
  );
  const inside = isAtLeast(finding.level, failOn)
    ? `<failure${attributes({ message: text, type: `${finding.level}: ${finding.rule}` })}>${body}</failure>`
    : `<system-out>${body}</system-out>`;
  return `    <testcase${attributes(head)}>\n      ${inside}\n    </testcase>`;
}

/** What could not be checked. */
function errorSuite(errors: readonly string[]): string[] {
  if (errors.length === 0) return [];
  const head = { name: "vramlint", tests: errors.length, failures: 0, errors: errors.length, skipped: 0 };
  const cases = errors.map(
    (text, index) =>
      `    <testcase${attributes({ classname: "vramlint", name: String(index + 1) })}>\n` +
      `      <error${attributes({ message: text })}/>\n    </testcase>`,
  );
  return [`  <testsuite${attributes(head)}>`, ...cases, "  </testsuite>"];
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(printable(String(value))).replaceAll('"', "&quot;")}"`)
    .join("");
}

/** Lines stay lines. */
function content(text: string): string {
  return text
    .split("\n")
    .map((line) => escaped(printable(line)))
    .join("\n");
}

/** U+FFFE and U+FFFF are no characters of XML; the others that are none are written out by `printable`. */
function escaped(text: string): string {
  return text
    .replace(/[\ufffe\uffff]/g, (sign) => (sign === "\ufffe" ? "\\u{fffe}" : "\\u{ffff}"))
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
