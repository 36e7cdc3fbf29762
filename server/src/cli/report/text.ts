/** The report for people: each finding with its line of source, notes and fixes, and a summary. */
import { reportMessages as texts } from "../../messages/cli";
import { message } from "../../messages/message";
import type { Source } from "../../python/source";
import type { Span } from "../../python/tree";
import type { Finding, Level } from "../../rules/rule";
import { printable } from "../../workspace/problem";
import type { CheckedFile } from "../checked-file";
import type { Colors, Terminal } from "../reporter";
import { sourceFrame } from "./frame";

/** All of one file; `""` for a clean one. */
export function fileReport(file: CheckedFile, terminal: Terminal): string {
  return file.findings.map((finding) => `${findingReport(file, finding, terminal)}\n`).join("");
}

export interface Totals {
  readonly files: number;
  readonly findings: number;
  readonly fixable: number;
  readonly fixed: number;
}

export function summary({ files, findings, fixable, fixed }: Totals, terminal: Terminal): string {
  if (files === 0) return `${terminal.text(message(texts.noFiles))}\n`;
  const sentences = [message(texts.summary, { findings, files })];
  if (fixed > 0) sentences.unshift(message(texts.fixed, { count: fixed }));
  if (fixable > 0) sentences.push(message(texts.fixable, { count: fixable }));
  const gap = terminal.language === "en" ? " " : "";
  return `${sentences.map((sentence) => terminal.text(sentence)).join(gap)}\n`;
}

function findingReport({ name, source }: CheckedFile, finding: Finding, terminal: Terminal): string {
  const { colors } = terminal;
  const level = levelColor(finding.level, colors)(terminal.text(message(texts[finding.level])));
  const where = colors.bold(place(name, source, finding.span));
  const lines = [
    `${where}: ${level}[${finding.rule}] ${printable(terminal.text(finding.message))}`,
    ...sourceFrame(source, finding.span, colors),
    ...finding.related.map(
      ({ span, message: note }) => `  = ${place(name, source, span)}: ${printable(terminal.text(note))}`,
    ),
    ...finding.fixes.map(
      ({ title }) =>
        `  = ${colors.green(terminal.text(message(texts.fix, { title: printable(terminal.text(title)) })))}`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function place(name: string, source: Source, span: Span): string {
  const { line, column } = source.positionAt(span.start);
  return `${printable(name)}:${line + 1}:${column + 1}`;
}

function levelColor(level: Level, colors: Colors): (text: string) => string {
  switch (level) {
    case "error":
      return colors.red;
    case "warning":
      return colors.yellow;
    case "information":
      return colors.blue;
    case "hint":
      return colors.dim;
  }
}
