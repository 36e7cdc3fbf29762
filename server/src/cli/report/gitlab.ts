/**
 * GitLab's Code Quality report, the form of Code Climate that merge requests show.
 * https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 */
import type { Level } from "../../rules/rule";
import { fingerprint } from "../finding-key";
import { placeOf } from "./place";
import type { Report, ReportContext } from "./report";

const severities: Readonly<Record<Level, "critical" | "major" | "minor" | "info">> = {
  error: "critical",
  warning: "major",
  information: "minor",
  hint: "info",
};

interface Issue {
  readonly description: string;
  readonly check_name: string;
  /** Must differ between issues and stay the same between runs. */
  readonly fingerprint: string;
  readonly severity: (typeof severities)[Level];
  readonly location: {
    readonly path: string;
    readonly positions: { readonly begin: Position; readonly end: Position };
  };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

export function gitlabReport({ terminal, shared }: ReportContext): Report {
  const issues: Issue[] = [];
  return {
    file(file) {
      const path = shared(file.name);
      for (const finding of file.findings) {
        const { line, column, endLine, endColumn } = placeOf(file, finding.span);
        issues.push({
          description: terminal.text(finding.message),
          check_name: finding.rule,
          fingerprint: fingerprint(finding.key, path),
          severity: severities[finding.level],
          location: {
            path,
            positions: { begin: { line, column }, end: { line: endLine, column: endColumn } },
          },
        });
      }
      return "";
    },
    end: () => `${JSON.stringify(issues, undefined, 2)}\n`,
  };
}
