/**
 * What makes a finding the same one after its lines have moved: its rule, the statement it stands in, the function
 * around that, and its place among equals. No line numbers, no wording of ours.
 */
import { createHash } from "node:crypto";
import type { Source } from "../python/source";
import type { Module, Node, Span, Statement } from "../python/tree";
import { statementListsOf } from "../python/walk";
import type { Finding } from "../rules/rule";

export interface FindingKey {
  readonly rule: string;
  /** Classes and functions around the statement, joined by dots; `""` at the top of the file. */
  readonly function: string;
  /** Without comments and layout; only the head of a compound statement. */
  readonly statement: string;
  /** Counts from 1 among the findings of the file that are equal in all else, in source order. */
  readonly occurrence: number;
}

/** The keys of a file's findings, in the order of the findings. */
export function keysOf(module: Module, source: Source, findings: readonly Finding[]): FindingKey[] {
  const seen = new Map<string, number>();
  return findings.map(({ rule, span }) => {
    const place = placeOf(module, source, span);
    const equals = keyText({ rule, ...place, occurrence: 0 });
    const occurrence = (seen.get(equals) ?? 0) + 1;
    seen.set(equals, occurrence);
    return { rule, ...place, occurrence };
  });
}

/** The key as one text, for sets and for sorting: no part of it can run into the next. */
export function keyText({ rule, function: name, statement, occurrence }: FindingKey): string {
  return [rule, name, statement, String(occurrence).padStart(6, "0")].join("\0");
}

/** Texts of keys as they are, with the texts that they had when their function or class had another name. */
export type Renamed = ReadonlyMap<string, string>;

/**
 * Keys that are known but for the name of the function around them: the known one's function is there no longer, and nothing
 * else is different.
 */
export function renamedKeys(
  module: Module,
  keys: readonly FindingKey[],
  known: ReadonlySet<string>,
): Renamed {
  const renamed = new Map<string, string>();
  const texts = new Set(keys.map(keyText));
  const missing = [...known].filter((text) => !texts.has(text));
  const fresh = keys.filter((key) => !known.has(keyText(key)));
  if (missing.length === 0 || fresh.length === 0) return renamed;
  const names = definedNames(module.body);
  const gone = missing.filter((text) => !names.has(functionIn(text))).sort();
  for (const key of fresh) {
    const match = gone.find((text) => keyText({ ...key, function: functionIn(text) }) === text);
    if (match === undefined) continue;
    renamed.set(keyText(key), match);
    gone.splice(gone.indexOf(match), 1);
  }
  return renamed;
}

function functionIn(text: string): string {
  return text.split("\0")[1] ?? "";
}

/** What `function` of a key can be: the names of all functions and classes, and none at the top of the file. */
function definedNames(
  statements: readonly Statement[],
  names: Set<string> = new Set([""]),
): ReadonlySet<string> {
  for (const statement of statements) {
    if (statement.kind === "FunctionDefinition" || statement.kind === "ClassDefinition")
      names.add(enclosingNames(statement));
    for (const list of statementListsOf(statement)) definedNames(list, names);
  }
  return names;
}

/** 32 hexadecimal digits that stand for a key, and for the file where a path is given. */
export function fingerprint(key: FindingKey, path = ""): string {
  return createHash("sha256")
    .update(`${path}\0${keyText(key)}`)
    .digest("hex")
    .slice(0, 32);
}

function placeOf(
  module: Module,
  source: Source,
  { start }: Span,
): Pick<FindingKey, "function" | "statement"> {
  const statement = statementAt(module, start);
  const comment = module.comments.find((candidate) => candidate.start <= start && start < candidate.end);
  return {
    function: enclosingNames(statement),
    statement: shortened(
      comment !== undefined
        ? comment.text.replace(/\s+/g, " ").trim()
        : statement !== undefined
          ? normalised(source.slice(headOf(statement)).replace(/\r\n?/g, "\n"))
          : source.lineText(source.lineOf(start)).trim(),
    ),
  };
}

/** The innermost statement around an offset. */
function statementAt(module: Module, offset: number): Statement | undefined {
  const holds = (span: Span): boolean => span.start <= offset && offset < Math.max(span.end, span.start + 1);
  let found: Statement | undefined;
  let next = module.body.find(holds);
  while (next !== undefined) {
    found = next;
    next = statementListsOf(found).flat().find(holds);
  }
  return found;
}

function headOf(statement: Statement): Span {
  const first = statementListsOf(statement)[0]?.[0];
  return first === undefined ? statement : { start: statement.start, end: first.start };
}

function enclosingNames(statement: Statement | undefined): string {
  const names: string[] = [];
  for (let node: Node | undefined = statement; node !== undefined; node = node.parent) {
    if (node.kind === "FunctionDefinition" || node.kind === "ClassDefinition") names.unshift(node.name.id);
  }
  return names.join(".");
}

/** Beyond this a statement is data, not code. */
const longestRead = 20_000;

/** A string, a comment, white space, a closing bracket behind a comma, or any other character. */
const piece =
  /[rbuft]{0,2}(?:"""(?:[^\\]|\\[^])*?"""|'''(?:[^\\]|\\[^])*?'''|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*')|#[^\r\n]*|(?:\\\r?\n|\s)+|,\s*(?=[)\]}])|[^]/giu;

/** The statement without what a formatter may change: comments, line breaks, spaces, a last comma. */
function normalised(text: string): string {
  if (text.length > longestRead) return text.replace(/\s+/g, " ").trim();
  let result = "";
  let isApart = false;
  for (const [found] of text.matchAll(piece)) {
    if (/^(?:#|\s|\\\r?\n|,\s*$)/.test(found) && found !== ",") {
      isApart = true;
      continue;
    }
    const touchesWord = /[\p{L}\p{N}_]$/u.test(result) && /^[\p{L}\p{N}_]/u.test(found);
    result += isApart && touchesWord ? ` ${found}` : found;
    isApart = false;
  }
  return result;
}

const longest = 160;

/** Long statements keep their beginning for people and a digest of the whole. */
function shortened(text: string): string {
  if (text.length <= longest) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return `${text.slice(0, longest).replace(/\p{Cs}/gu, "")}… ${digest}`;
}
