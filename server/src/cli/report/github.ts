/**
 * Workflow commands of GitHub Actions, one a finding: the runner shows them at their lines in the pull request.
 * https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
import { printable } from "../../workspace/problem";
import type { Level } from "../../rules/rule";
import { placeOf } from "./place";
import type { Report, ReportContext } from "./report";
import { summary } from "./text";

const commands: Readonly<Record<Level, string>> = {
  error: "error",
  warning: "warning",
  information: "notice",
  hint: "notice",
};

/** Annotations as they are found; the summary is an ordinary line of the log. */
export function githubReport({ terminal, shared }: ReportContext): Report {
  return {
    file(file) {
      return file.findings
        .map((finding) => {
          const { line, column, endLine, endColumn } = placeOf(file, finding.span);
          const properties = {
            title: `vramlint (${finding.rule})`,
            file: shared(file.name),
            line,
            endLine,
            // Columns are taken only for spans within a line.
            ...(line === endLine ? { col: column, endColumn: Math.max(column, endColumn - 1) } : {}),
          };
          const listed = Object.entries(properties).map(
            ([name, value]) => `${name}=${property(String(value))}`,
          );
          const text = content(`${finding.rule}: ${terminal.text(finding.message)}`);
          return `::${commands[finding.level]} ${listed.join(",")}::${text}\n`;
        })
        .join("");
    },
    end: (totals) => (totals.files > 0 || totals.succeeded ? summary(totals, terminal) : ""),
  };
}

/** As the runner's own toolkit escapes what follows `::`. */
function content(text: string): string {
  return withoutControls(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return content(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Line ends are escaped as the runner wants it; other control characters would only upset the log. */
function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, (sign) =>
    sign === "\n" || sign === "\r" ? sign : printable(sign),
  );
}
