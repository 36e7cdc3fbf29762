/**
 * The report for programs. Lines and columns count from 1, `endColumn` is the first column behind the span; columns
 * count UTF-16 code units, as editors and the language server protocol do.
 */
import { render } from "../../messages/message";
import type { Language } from "../../messages/message";
import type { Source } from "../../python/source";
import type { Span } from "../../python/tree";
import type { Finding } from "../../rules/rule";
import type { CheckedFile } from "../checked-file";

interface JsonPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export interface JsonFinding extends JsonPlace {
  readonly rule: string;
  readonly level: Finding["level"];
  readonly message: string;
  readonly related: readonly (JsonPlace & { readonly message: string })[];
  readonly fixes: readonly { readonly title: string; readonly safe: boolean }[];
}

export function jsonFindings({ name, source, findings }: CheckedFile, language: Language): JsonFinding[] {
  return findings.map((finding) => ({
    ...jsonPlace(name, source, finding.span),
    rule: finding.rule,
    level: finding.level,
    message: render(finding.message, language),
    related: finding.related.map(({ span, message }) => ({
      ...jsonPlace(name, source, span),
      message: render(message, language),
    })),
    fixes: finding.fixes.map(({ title, safety }) => ({
      title: render(title, language),
      safe: safety === "safe",
    })),
  }));
}

export function jsonReport(findings: readonly JsonFinding[], files: number): string {
  return `${JSON.stringify({ findings, files }, undefined, 2)}\n`;
}

function jsonPlace(file: string, source: Source, span: Span): JsonPlace {
  const start = source.positionAt(span.start);
  const end = source.positionAt(span.end);
  return {
    file,
    line: start.line + 1,
    column: start.column + 1,
    endLine: end.line + 1,
    endColumn: end.column + 1,
  };
}
