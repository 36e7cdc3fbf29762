/** TOML as a tree of plain values that know where they stand. */
import { parseTOML, ParseError } from "toml-eslint-parser";
import type { AST } from "toml-eslint-parser";
import type { Span } from "../python/tree";

export type TomlValue =
  | TomlTable
  | { readonly kind: "array"; readonly items: readonly TomlValue[]; readonly span: Span }
  | { readonly kind: "string"; readonly value: string; readonly span: Span }
  /** Numbers, booleans, dates, arrays of tables: nothing that our settings know. */
  | { readonly kind: "other"; readonly span: Span };

export interface TomlTable {
  readonly kind: "table";
  readonly entries: Map<string, TomlEntry>;
  readonly span: Span;
}

export interface TomlEntry {
  /** The key's own part: `b` of `a.b`. */
  readonly key: Span;
  readonly value: TomlValue;
}

export interface TomlError {
  /** In English, as the parser says it. */
  readonly detail: string;
  readonly offset: number;
}

/** Offsets are those of the text; a byte order mark in front is allowed. Never throws because of the text. */
export function parseToml(text: string): { readonly root: TomlTable } | { readonly error: TomlError } {
  try {
    const program = parseTOML(text.replace(/^\ufeff/, " "));
    return { root: rootOf(program) };
  } catch (error) {
    if (error instanceof ParseError) return { error: { detail: error.message, offset: error.index } };
    // Nesting deeper than the parser's own call stack.
    if (error instanceof RangeError) return { error: { detail: error.message, offset: 0 } };
    throw error;
  }
}

function rootOf(program: AST.TOMLProgram): TomlTable {
  const [top] = program.body;
  const root = newTable(spanOf(program));
  for (const node of top.body) {
    if (node.type === "TOMLKeyValue") {
      place(root, node.key.keys, valueOf(node.value));
      continue;
    }
    if (node.kind === "array" || node.resolvedKey.some((part) => typeof part === "number")) {
      place(root, node.key.keys, { kind: "other", span: spanOf(node.key) });
      continue;
    }
    const table = tableAt(root, node.key.keys);
    for (const { key, value } of node.body) if (table) place(table, key.keys, valueOf(value));
  }
  return root;
}

function valueOf(node: AST.TOMLContentNode): TomlValue {
  const span = spanOf(node);
  switch (node.type) {
    case "TOMLArray":
      return { kind: "array", items: node.elements.map(valueOf), span };
    case "TOMLInlineTable": {
      const table = newTable(span);
      for (const { key, value } of node.body) place(table, key.keys, valueOf(value));
      return table;
    }
    case "TOMLValue":
      return node.kind === "string" ? { kind: "string", value: node.value, span } : { kind: "other", span };
  }
}

type Keys = AST.TOMLKey["keys"];

/** Puts a value where a dotted key says; the parser has refused keys that are given twice. */
function place(table: TomlTable, keys: Keys, value: TomlValue): void {
  const last = keys[keys.length - 1];
  if (last === undefined) return;
  const parent = tableAt(table, keys.slice(0, -1));
  const name = nameOf(last);
  if (parent && !parent.entries.has(name)) parent.entries.set(name, { key: spanOf(last), value });
}

/** The table that a dotted key leads to, made on the way; `undefined` where something else stands there. */
function tableAt(table: TomlTable, keys: Keys): TomlTable | undefined {
  let found = table;
  for (const key of keys) {
    const name = nameOf(key);
    const entry = found.entries.get(name) ?? { key: spanOf(key), value: newTable(spanOf(key)) };
    found.entries.set(name, entry);
    if (entry.value.kind !== "table") return undefined;
    found = entry.value;
  }
  return found;
}

function newTable(span: Span): TomlTable {
  return { kind: "table", entries: new Map(), span };
}

function nameOf(key: Keys[number]): string {
  return key.type === "TOMLBare" ? key.name : key.value;
}

function spanOf({ range: [start, end] }: { readonly range: AST.Range }): Span {
  return { start, end };
}
