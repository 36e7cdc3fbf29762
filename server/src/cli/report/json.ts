/**
 * The report for programs. Lines and columns count from 1, `endColumn` is the first column behind the span; columns
 * count UTF-16 code units, as editors and the language server protocol do. In a notebook `cell` counts all cells from 1,
 * and lines are those of the cell.
 */
import { render } from "../../messages/message";
import type { Language } from "../../messages/message";
import type { Span } from "../../python/tree";
import type { Finding } from "../../rules/rule";
import type { CheckedFile } from "../checked-file";
import { cellPlaceOf } from "./place";
import type { CellPlace } from "./place";
import type { Report, ReportContext } from "./report";

interface JsonPlace extends CellPlace {
  readonly file: string;
}

interface JsonFinding extends JsonPlace {
  readonly rule: string;
  readonly level: Finding["level"];
  readonly message: string;
  readonly related: readonly (JsonPlace & { readonly message: string })[];
  readonly fixes: readonly { readonly title: string; readonly safe: boolean }[];
}

/** One object at the end, so that what is written is always whole. */
export function jsonReport({ terminal }: ReportContext): Report {
  const findings: JsonFinding[] = [];
  return {
    file(file) {
      findings.push(...jsonFindings(file, terminal.language));
      return "";
    },
    end({ files, baseline }) {
      const known = baseline === undefined ? {} : { known: baseline.known, stale: baseline.stale };
      return `${JSON.stringify({ findings, files, ...known }, undefined, 2)}\n`;
    },
  };
}

function jsonFindings(file: CheckedFile, language: Language): JsonFinding[] {
  return file.findings.map((finding) => ({
    ...jsonPlace(file, finding.span),
    rule: finding.rule,
    level: finding.level,
    message: render(finding.message, language),
    related: finding.related.map(({ span, message }) => ({
      ...jsonPlace(file, span),
      message: render(message, language),
    })),
    fixes: finding.fixes.map(({ title, safety }) => ({
      title: render(title, language),
      safe: safety === "safe",
    })),
  }));
}

function jsonPlace(file: CheckedFile, span: Span): JsonPlace {
  return { file: file.name, ...cellPlaceOf(file, span) };
}
