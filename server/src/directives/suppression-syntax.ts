/** Takes `ignore[rule, rule] -- reason` apart. */
import { part, trimmed } from "./comments";
import type { DirectiveComment, Text } from "./comments";
import { headerKeys } from "./keys";
import { nearest } from "./nearest";
import { split, withAsciiPunctuation } from "./split";

export const suppressionWords = ["ignore", "ignore-file", "disable", "enable"] as const;
export type SuppressionWord = (typeof suppressionWords)[number];

const wordMeanings: Readonly<Record<string, SuppressionWord>> = {
  ignore_file: "ignore-file",
  ignorefile: "ignore-file",
  "file-ignore": "ignore-file",
  "ignore-line": "ignore",
  "ignore-next-line": "ignore",
  "disable-line": "ignore",
  "disable-next-line": "ignore",
  "disable-file": "ignore-file",
  noqa: "ignore",
  suppress: "ignore",
  skip: "ignore",
  off: "disable",
  on: "enable",
};

export type SuppressionProblem = "unknown-word" | "names-no-rule" | "malformed";

export interface SuppressionComment {
  readonly comment: DirectiveComment;
  /** The word as written, with its place. */
  readonly written: Text;
  /** The word, or the one probably meant. */
  readonly word: SuppressionWord;
  /** Rule names as written, without empty ones. */
  readonly rules: readonly Text[];
  readonly problem: SuppressionProblem | undefined;
}

/** Whether a comment's body is a suppression or something that was probably meant as one. */
export function looksLikeSuppression(body: Text): boolean {
  return wordOf(withAsciiPunctuation(body.text)) !== undefined;
}

/** `undefined` for header lines and everything else that is no suppression. */
export function parseSuppression(comment: DirectiveComment): SuppressionComment | undefined {
  const body = { text: withAsciiPunctuation(comment.body.text), start: comment.body.start };
  const found = wordOf(body.text);
  if (found === undefined) return undefined;
  const written = part(body, 0, found.written.length);
  const rest = part(body, found.written.length);
  const match = /^\s*\[([^[\]]*)\]\s*(?:--.*)?$/.exec(rest.text);
  const listStart = rest.text.indexOf("[") + 1;
  const list = match ? part(rest, listStart, listStart + (match[1] ?? "").length) : undefined;
  const rules = list
    ? split(list, ",")
        .pieces.map(trimmed)
        .filter(({ text }) => text !== "")
    : [];
  const base = { comment, written, word: found.word, rules };
  if (found.written.toLowerCase() !== found.word) return { ...base, problem: "unknown-word" };
  if (match) return { ...base, problem: rules.length === 0 ? "names-no-rule" : undefined };
  const namesNoRule = /^\s*(?:\[\s*)?(?:--.*)?$/.test(rest.text);
  return { ...base, problem: namesNoRule ? "names-no-rule" : "malformed" };
}

interface FoundWord {
  readonly written: string;
  readonly word: SuppressionWord;
}

/**
 * The suppression word that a body begins with. A misspelt one counts only where a bracket follows or nothing does, and
 * never where it is a key of the header.
 */
function wordOf(body: string): FoundWord | undefined {
  const match = /^([A-Za-z][\w-]*)\s*(.?)/.exec(body);
  const written = match?.[1];
  if (written === undefined) return undefined;
  const lower = written.toLowerCase();
  const exact = suppressionWords.find((word) => word === lower);
  const next = match?.[2] ?? "";
  if (exact !== undefined) return next === "=" ? undefined : { written, word: exact };
  if (headerKeys.some((key) => key === lower) || !(next === "[" || next === "")) return undefined;
  const near = nearest(lower, suppressionWords, wordMeanings);
  const word = suppressionWords.find((candidate) => candidate === near);
  return word === undefined ? undefined : { written, word };
}
