/**
 * SARIF 2.1.0, for code scanning and other tools: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 * Addresses are relative to the top of the repository, so that a report means the same on every machine.
 */
import { pathToFileURL } from "node:url";
import type {
  ArtifactLocation,
  Fix,
  Location,
  Log,
  Notification,
  Region,
  ReportingDescriptor,
  Result,
} from "sarif";
import { version } from "../../../../package.json";
import { catalogue } from "../../analysis";
import type { CatalogueEntry } from "../../analysis";
import type { Span } from "../../python/tree";
import type { Level } from "../../rules/rule";
import { readRulePage } from "../../workspace/rule-pages";
import type { FixedFile, KeyedFinding } from "../checked-file";
import { fingerprint } from "../finding-key";
import type { Terminal } from "../reporter";
import { placeOf } from "./place";
import type { Report, ReportContext } from "./report";

const schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/** The base that relative addresses are relative to; where it lies is up to whoever reads the report. */
const root = "%SRCROOT%";
/** The fingerprint's name carries the version of what goes into it. */
const fingerprintName = "vramlint/v1";

const sarifLevels: Readonly<Record<Level, "error" | "warning" | "note">> = {
  error: "error",
  warning: "warning",
  information: "note",
  hint: "note",
};

export function sarifReport(context: ReportContext): Report {
  const results: Result[] = [];
  const rules: string[] = [];
  return {
    file(file) {
      for (const finding of file.findings) {
        if (!rules.includes(finding.rule)) rules.push(finding.rule);
        results.push(resultOf(file, finding, rules.indexOf(finding.rule), context));
      }
      return "";
    },
    async end({ problems, succeeded }) {
      const { terminal } = context;
      const log: Log = {
        $schema: schema,
        version: "2.1.0",
        runs: [
          {
            tool: {
              driver: {
                name: "vramlint",
                semanticVersion: version,
                rules: await Promise.all(rules.map((rule) => descriptorOf(rule, terminal))),
              },
            },
            language: terminal.language === "en" ? "en" : "zh-CN",
            columnKind: "utf16CodeUnits",
            originalUriBaseIds: {
              [root]: { description: { text: "The top of the repository, or the folder that was checked." } },
            },
            invocations: [
              {
                executionSuccessful: succeeded,
                toolExecutionNotifications: problems.map(({ message, severity }): Notification => ({
                  level: severity,
                  message: { text: plain(terminal.text(message)) },
                })),
              },
            ],
            results,
          },
        ],
      };
      return `${JSON.stringify(log, undefined, 2)}\n`;
    },
  };
}

function resultOf(
  file: FixedFile,
  finding: KeyedFinding,
  ruleIndex: number,
  { terminal, shared }: ReportContext,
): Result {
  const artifactLocation = addressOf(shared(file.name));
  const location = (span: Span): Location => ({
    physicalLocation: { artifactLocation, region: regionOf(file, span) },
  });
  const related = finding.related.map(({ span, message }, index) => ({
    id: index + 1,
    ...location(span),
    message: { text: plain(terminal.text(message)) },
  }));
  // The edits of a notebook are in its cells, of which SARIF knows nothing.
  const made = file.form === undefined ? finding.fixes : [];
  const fixes = made.map(({ title, edits, safety }): Fix => ({
    description: { text: plain(terminal.text(title)) },
    artifactChanges: [
      {
        artifactLocation,
        replacements: edits.map((edit) => ({
          deletedRegion: regionOf(file, edit),
          insertedContent: { text: edit.text },
        })),
      },
    ],
    properties: { safe: safety === "safe" },
  }));
  return {
    ruleId: finding.rule,
    ruleIndex,
    level: sarifLevels[finding.level],
    message: { text: plain(terminal.text(finding.message)) },
    locations: [location(finding.span)],
    ...(related.length > 0 ? { relatedLocations: related } : {}),
    partialFingerprints: { [fingerprintName]: fingerprint(finding.key) },
    ...(fixes.length > 0 ? { fixes } : {}),
    properties: { level: finding.level },
  };
}

/** SARIF reads `[text](address)` in a message as a link (3.11.6); what a file holds must not make one. */
function plain(text: string): string {
  return text.replace(/\[(?=[^\]]*\]\()/g, "\\[");
}

function regionOf(file: FixedFile, span: Span): Region {
  const { line, column, endLine, endColumn } = placeOf(file, span);
  return { startLine: line, startColumn: column, endLine, endColumn };
}

/** A path as a URI; one outside the repository is absolute. */
function addressOf(path: string): ArtifactLocation {
  if (isAbsolutePath(path)) return { uri: pathToFileURL(path).href };
  return { uri: path.split("/").map(segment).join("/"), uriBaseId: root };
}

function isAbsolutePath(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:\//.test(path);
}

/** A lone surrogate has no UTF-8; a colon in the first part would read as a scheme. */
function segment(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, "\ufffd"));
}

async function descriptorOf(name: string, terminal: Terminal): Promise<ReportingDescriptor> {
  const rule: CatalogueEntry | undefined = catalogue.find((candidate) => candidate.name === name);
  if (rule === undefined) return { id: name };
  const summary = rule.summary[terminal.language];
  const page = await readRulePage(name, terminal.language);
  return {
    id: name,
    shortDescription: { text: summary },
    fullDescription: { text: summary },
    // The whole page, as there is no address that every reader of the report could open.
    ...(page === undefined ? {} : { help: { text: page, markdown: page } }),
    defaultConfiguration: { level: sarifLevels[rule.level] },
    properties: { tags: ["pytorch", "gpu-memory", rule.group] },
  };
}
