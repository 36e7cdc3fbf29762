/**
 * The findings that a team lives with for now. One entry a line, sorted, without line numbers: what two branches add
 * merges as text does, and the same entry twice counts once.
 */
import { usageMessages as texts } from "../messages/cli";
import { message } from "../messages/message";
import type { Message } from "../messages/message";
import { printable } from "../workspace/problem";
import { keyText } from "./finding-key";
import type { FindingKey } from "./finding-key";

export interface BaselineEntry extends FindingKey {
  /** Relative to the folder of the baseline, with `/`. */
  readonly path: string;
}

/** The form of the file; another number is another form. */
export const baselineVersion = 1;

export function formatBaseline(entries: readonly BaselineEntry[]): string {
  const lines = new Map(entries.map((entry) => [entryText(entry), lineOf(entry)]));
  const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => `    ${line}`);
  const list = sorted.length === 0 ? "[]" : `[\n${sorted.join(",\n")}\n  ]`;
  return `{\n  "vramlintBaseline": ${baselineVersion},\n  "findings": ${list}\n}\n`;
}

/** What no other entry has. */
export function entryText(entry: BaselineEntry): string {
  return `${entry.path}\0${keyText(entry)}`;
}

function lineOf({ path, rule, function: name, statement, occurrence }: BaselineEntry): string {
  return JSON.stringify({ path, rule, function: name, statement, occurrence });
}

/** Never throws; `name` is what messages call the file. */
export function parseBaseline(text: string, name: string): BaselineEntry[] | { readonly mistake: Message } {
  const path = printable(name);
  const conflict = conflictLine(text);
  if (conflict !== undefined) return { mistake: message(texts.baselineConflict, { path, line: conflict }) };
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    const detail = printable(error instanceof Error ? error.message : String(error));
    return { mistake: message(texts.baselineNotJson, { path, detail }) };
  }
  if (!isRecord(content) || content["vramlintBaseline"] === undefined) {
    return { mistake: message(texts.notABaseline, { path }) };
  }
  const version = content["vramlintBaseline"];
  if (version !== baselineVersion) {
    const values = { path, version: printable(JSON.stringify(version)), known: baselineVersion };
    return { mistake: message(texts.baselineVersion, values) };
  }
  const { findings } = content;
  if (!Array.isArray(findings)) return { mistake: message(texts.notABaseline, { path }) };
  const entries: BaselineEntry[] = [];
  for (const [index, candidate] of (findings as unknown[]).entries()) {
    if (!isEntry(candidate)) {
      return { mistake: message(texts.baselineEntry, { path, number: index + 1 }) };
    }
    entries.push(candidate);
  }
  return entries;
}

/** The line of the first marker that an unfinished merge leaves, from 1. */
function conflictLine(text: string): number | undefined {
  const index = text.split(/\r?\n/).findIndex((line) => /^(?:<{7}|\|{7}|={7}|>{7})(?: |$)/.test(line));
  return index < 0 ? undefined : index + 1;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEntry(value: unknown): value is BaselineEntry {
  if (!isRecord(value)) return false;
  return (
    ["path", "rule", "function", "statement"].every((key) => typeof value[key] === "string") &&
    Number.isSafeInteger(value["occurrence"])
  );
}
