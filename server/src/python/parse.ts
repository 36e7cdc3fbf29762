/**
 * The only file, with `cursor.ts`, that touches tree-sitter: text in, our tree out.
 */
import { Language, Parser, type Tree } from "web-tree-sitter";
import type { Module } from "./tree";
import { directCursors, openDocumentedCursor, outline, type CursorOpener } from "./cursor";
import { memoryCursors } from "./memory-cursor";
import { EXPRESSION_HANDLERS } from "./lower-expressions";
import { OPERATORS } from "./lower-operators";
import { STATEMENT_HANDLERS } from "./lower-statements";
import { lowerModule } from "./lower";
import { CutModule, type ReadText } from "./cut-module";
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
  /**
   * Parses the text after the edits (each relative to the text the one before left). What did not change is not read again:
   * its nodes move into the new tree, so that the tree of this one is of no use afterwards.
   */
  edit(edits: readonly Edit[]): ParsedModule;
}

interface Engine {
  readonly parser: Parser;
  readonly types: SyntaxTypes;
  readonly cursors: Cursors;
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
  const cursors = findCursors(parser, language, runtime);
  return { parser, types, cursors, openCursor: cursors.memory ?? cursors.direct ?? cursors.documented };
}

/** The ways to read a tree, slowest first; those that do not read the probe as the first one does are left out. */
interface Cursors {
  readonly documented: CursorOpener;
  readonly direct?: CursorOpener;
  readonly memory?: CursorOpener;
}

/**
 * Every shape that a tree can have: small leaves and large ones, tokens of the grammar's own scanner, renamed nodes, nodes
 * that do not show with children that do, comments and continued lines between them, text beyond ASCII, errors, and what
 * is missing.
 */
const PROBE = [
  "# é 😀",
  "@a.b",
  "async def 名前(self, *a: int, k=None, **b) -> list[int] | None:  # c",
  "    'é' f'{k!r:>{a}} {b=}' \\",
  "        rb'\\n'",
  "    if a is not b and c not in d or not e:",
  `        return [${"x".repeat(300)} for x, *y in z if (yield)], {**k: 1}, a[1:, ::2]`,
  "    with (a as b, c): print(b, *c, d=1)",
  "match a:",
  "    case {'k': [b, *_]} | C(d=-1.5) if f: pass",
  "    # last",
  "print >>a, b",
  "def f(:",
  "    a = = b",
  "class",
  `g(${"(".repeat(20)}1${")".repeat(20)}, `,
].join("\n");

function findCursors(
  parser: Parser,
  language: Language,
  runtime: Readonly<Record<string, unknown>>,
): Cursors {
  const documented = openDocumentedCursor;
  const probe = parser.parse(PROBE);
  if (probe === null) return { documented };
  const direct = directCursors(runtime, probe);
  const memory = memoryCursors(runtime, language, probe, direct ?? documented);
  probe.delete();
  return { documented, ...(direct && { direct }), ...(memory && { memory }) };
}

/** Never throws on bad source: errors leave `Invalid` nodes. Throws when `initializeParser` was not awaited. */
export function parseModule(text: string): ParsedModule {
  return new Parsed(new Source(text), CutModule.of(parsableText(text), readText));
}

function requireEngine(): Engine {
  if (engine === undefined) throw new Error("initializeParser must be awaited before parseModule");
  return engine;
}

function parseText(text: string): Tree {
  const tree = requireEngine().parser.parse(text);
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

  constructor(
    readonly source: Source,
    private readonly cut: CutModule,
  ) {
    this.module = cut.module;
  }

  edit(edits: readonly Edit[]): ParsedModule {
    let text = this.source.text;
    for (const { start, end, text: inserted } of edits)
      text = text.slice(0, start) + inserted + text.slice(end);
    return new Parsed(new Source(text), this.cut.edited(parsableText(text)));
  }
}

function readText(text: string): ReadText {
  const { types, openCursor } = requireEngine();
  const tree = parseText(text);
  const { hasError } = tree.rootNode;
  const cursor = openCursor(tree);
  try {
    return { module: lowerModule(cursor, text, types, hasError), hasError };
  } finally {
    cursor.close();
    tree.delete();
  }
}

/** What each of the cursors sees of a text's tree, for tests; one that was refused sees nothing. */
export function outlinesOf(text: string): Readonly<Record<keyof Cursors, string | undefined>> {
  const { documented, direct, memory } = requireEngine().cursors;
  const tree = parseText(parsableText(text));
  const see = (open: CursorOpener | undefined): string | undefined => open && outline(open, tree);
  const outlines = { documented: see(documented), direct: see(direct), memory: see(memory) };
  tree.delete();
  return outlines;
}
