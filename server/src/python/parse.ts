/**
 * The only file, with `cursor.ts`, that touches tree-sitter: text in, our tree out.
 */
import { Edit as TreeEdit, Language, Parser, type Tree } from "web-tree-sitter";
import type { Module } from "./tree";
import { directCursors, openDocumentedCursor, type CursorOpener } from "./cursor";
import { EXPRESSION_HANDLERS } from "./lower-expressions";
import { OPERATORS } from "./lower-operators";
import { STATEMENT_HANDLERS } from "./lower-statements";
import { lowerModule } from "./lower";
import { Source } from "./source";
import { resolveTypes, type SyntaxTypes } from "./syntax";

/** The two WebAssembly files, read by whoever may read files (`workspace/` or a test). */
export interface ParserBinaries {
  /** `web-tree-sitter.wasm` */
  readonly runtime: Uint8Array;
  /** `tree-sitter-python.wasm` */
  readonly grammar: Uint8Array;
}

/** A change of the text as editors send it: `[start, end)` of the old text became `text`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface ParsedModule {
  readonly source: Source;
  readonly module: Module;
  /** Parses the text after the edits (each relative to the text the one before left), reusing what did not change; this one is disposed. */
  edit(edits: readonly Edit[]): ParsedModule;
  /** Frees the parser's memory. The lowered tree stays usable. */
  dispose(): void;
}

interface Engine {
  readonly parser: Parser;
  readonly types: SyntaxTypes;
  readonly openCursor: CursorOpener;
}

let starting: Promise<Engine> | undefined;
let engine: Engine | undefined;

/** Must be awaited once before `parseModule`; later calls are free. */
export async function initializeParser(binaries: ParserBinaries): Promise<void> {
  starting ??= startEngine(binaries);
  try {
    engine = await starting;
  } catch (error) {
    starting = undefined;
    throw error;
  }
}

async function startEngine(binaries: ParserBinaries): Promise<Engine> {
  const runtime: Record<string, unknown> = { wasmBinary: binaries.runtime };
  await Parser.init(runtime);
  const language = await Language.load(binaries.grammar);
  const parser = new Parser();
  parser.setLanguage(language);
  const types = resolveTypes(language, {
    statements: STATEMENT_HANDLERS,
    expressions: EXPRESSION_HANDLERS,
    operators: OPERATORS,
  });
  return { parser, types, openCursor: chooseCursor(parser, runtime) };
}

/** Holds a leaf and a node of several children, and something missing. */
const PROBE = "a = f(b, c)\nd = (";

function chooseCursor(parser: Parser, runtime: Readonly<Record<string, unknown>>): CursorOpener {
  const probe = parser.parse(PROBE);
  if (probe === null) return openDocumentedCursor;
  const direct = directCursors(runtime, probe);
  probe.delete();
  return direct ?? openDocumentedCursor;
}

/** Never throws on bad source: errors leave `Invalid` nodes. Throws when `initializeParser` was not awaited. */
export function parseModule(text: string): ParsedModule {
  const parsable = parsableText(text);
  return new Parsed(new Source(text), parsable, parseText(parsable, undefined));
}

function requireEngine(): Engine {
  if (engine === undefined) throw new Error("initializeParser must be awaited before parseModule");
  return engine;
}

function parseText(text: string, old: Tree | undefined): Tree {
  const { parser } = requireEngine();
  const tree = parser.parse(text, old ?? null);
  if (tree === null) throw new Error("the parser has no language");
  return tree;
}

/**
 * The text as the grammar can read it, of the same length: it knows no line end of a lone carriage return, and takes
 * a NUL for the end of the text.
 */
export function parsableText(text: string): string {
  const lines = text.includes("\r") ? text.replace(/\r(?!\n)/g, "\n") : text;
  return lines.includes("\0") ? lines.replaceAll("\0", "\x01") : lines;
}

class Parsed implements ParsedModule {
  readonly module: Module;
  private tree: Tree | undefined;

  constructor(
    readonly source: Source,
    private readonly parsable: string,
    tree: Tree,
  ) {
    this.tree = tree;
    this.module = lowerTree(tree, parsable);
  }

  edit(edits: readonly Edit[]): ParsedModule {
    let text = this.source.text;
    for (const { start, end, text: inserted } of edits)
      text = text.slice(0, start) + inserted + text.slice(end);
    const source = new Source(text);
    const parsable = parsableText(text);
    const tree = this.reparse(source, parsable);
    this.dispose();
    return new Parsed(source, parsable, tree);
  }

  /**
   * Where the parser recovers from an error it may take another way than from scratch, so only a tree without errors
   * is taken over.
   */
  private reparse(source: Source, parsable: string): Tree {
    if (this.tree === undefined) return parseText(parsable, undefined);
    this.tree.edit(changeBetween(this.source, this.parsable, source, parsable));
    const tree = parseText(parsable, this.tree);
    if (!tree.rootNode.hasError) return tree;
    tree.delete();
    return parseText(parsable, undefined);
  }

  dispose(): void {
    this.tree?.delete();
    this.tree = undefined;
  }
}

function lowerTree(tree: Tree, text: string, open?: CursorOpener): Module {
  const { types, openCursor } = requireEngine();
  const { hasError } = tree.rootNode;
  const cursor = (open ?? openCursor)(tree);
  try {
    return lowerModule(cursor, text, types, hasError);
  } finally {
    cursor.close();
  }
}

/**
 * The one stretch that differs between two texts. Found by comparing them rather than from the edits: a line end may
 * change what a carriage return next to it means.
 */
function changeBetween(oldSource: Source, oldText: string, newSource: Source, newText: string): TreeEdit {
  const shorter = Math.min(oldText.length, newText.length);
  let start = 0;
  while (start < shorter && oldText.charCodeAt(start) === newText.charCodeAt(start)) start++;
  let same = 0;
  const longestTail = shorter - start;
  while (
    same < longestTail &&
    oldText.charCodeAt(oldText.length - 1 - same) === newText.charCodeAt(newText.length - 1 - same)
  ) {
    same++;
  }
  const oldEnd = oldText.length - same;
  const newEnd = newText.length - same;
  return new TreeEdit({
    startIndex: start,
    oldEndIndex: oldEnd,
    newEndIndex: newEnd,
    startPosition: pointAt(oldSource, start),
    oldEndPosition: pointAt(oldSource, oldEnd),
    newEndPosition: pointAt(newSource, newEnd),
  });
}

function pointAt(source: Source, offset: number): { row: number; column: number } {
  const { line, column } = source.positionAt(offset);
  return { row: line, column };
}

/** How long parsing and lowering a text take, in milliseconds, for benchmarks. */
export interface ParseTimings {
  readonly parse: number;
  readonly lower: number;
  readonly module: Module;
}

/** Parses and lowers once, with the time of either; `documented` uses only what tree-sitter documents. */
export function parseTimings(text: string, cursor: "fastest" | "documented" = "fastest"): ParseTimings {
  const parsable = parsableText(text);
  const begin = performance.now();
  const tree = parseText(parsable, undefined);
  const parsed = performance.now();
  const module = lowerTree(tree, parsable, cursor === "documented" ? openDocumentedCursor : undefined);
  const lowered = performance.now();
  tree.delete();
  return { parse: parsed - begin, lower: lowered - parsed, module };
}
