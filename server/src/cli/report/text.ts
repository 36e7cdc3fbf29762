/** The report for people: each finding with its line of source, notes and fixes, and a summary. */
import { reportMessages as texts } from "../../messages/cli";
import { message } from "../../messages/message";
import type { Message } from "../../messages/message";
import type { Span } from "../../python/tree";
import type { Finding, Level } from "../../rules/rule";
import { printable } from "../../workspace/problem";
import type { CheckedFile } from "../checked-file";
import type { Colors, Terminal } from "../reporter";
import { sourceFrame } from "./frame";
import { cellPlaceOf } from "./place";
import type { BaselineTotals, Report, ReportContext, Totals } from "./report";

export function textReport({ terminal }: ReportContext): Report {
  return {
    file: (file) => fileReport(file, terminal),
    end: (totals) => (totals.files > 0 || totals.succeeded ? summary(totals, terminal) : ""),
  };
}

/** All of one file; `""` for a clean one. */
function fileReport(file: CheckedFile, terminal: Terminal): string {
  return file.findings.map((finding) => `${findingReport(file, finding, terminal)}\n`).join("");
}

export function summary(totals: Totals, terminal: Terminal): string {
  const { files, unchanged, findings, fixable, fixed, baseline } = totals;
  const found = baseline === undefined ? texts.summary : texts.summaryNew;
  const none = unchanged > 0 ? message(texts.noneChanged, { files: unchanged }) : message(texts.noFiles);
  const sentences = [files === 0 ? none : message(found, { findings, files })];
  if (fixed > 0) sentences.unshift(message(texts.fixed, { count: fixed }));
  if (fixable > 0) sentences.push(message(texts.fixable, { count: fixable }));
  if (baseline !== undefined) sentences.push(...baselineSentences(baseline));
  const gap = terminal.language === "en" ? " " : "";
  return `${sentences.map((sentence) => terminal.text(sentence)).join(gap)}\n`;
}

function baselineSentences({ known, stale, written }: BaselineTotals): Message[] {
  const sentences: Message[] = [];
  if (known > 0) sentences.push(message(texts.known, { count: known }));
  if (stale > 0) sentences.push(message(texts.stale, { count: stale }));
  if (written !== undefined) {
    const { path, added, removed } = written;
    sentences.push(message(texts.baselineWritten, { path: printable(path), added, removed }));
  }
  return sentences;
}

function findingReport(file: CheckedFile, finding: Finding, terminal: Terminal): string {
  const { colors } = terminal;
  const level = levelColor(finding.level, colors)(terminal.text(message(texts[finding.level])));
  const where = colors.bold(placeText(file, finding.span));
  const lines = [
    `${where}: ${level}[${finding.rule}] ${printable(terminal.text(finding.message))}`,
    ...sourceFrame(file.source, finding.span, colors, cellPlaceOf(file, finding.span).line),
    ...finding.related.map(
      ({ span, message: note }) => `  = ${placeText(file, span)}: ${printable(terminal.text(note))}`,
    ),
    ...finding.fixes.map(
      ({ title }) =>
        `  = ${colors.green(terminal.text(message(texts.fix, { title: printable(terminal.text(title)) })))}`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function placeText(file: CheckedFile, span: Span): string {
  const { cell, line, column } = cellPlaceOf(file, span);
  return `${lineStart(file.name)}:${cell === undefined ? "" : `cell ${cell}:`}${line}:${column}`;
}

/** A name at the beginning of a line; one that a CI system's log would take for a command gets a folder in front. */
function lineStart(name: string): string {
  return `${/^\s*(?:::|##)/.test(name) ? "./" : ""}${printable(name)}`;
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
