/**
 * A cursor that does not call into the parser's WebAssembly for every step: it reads the whole tree out of the parser's
 * linear memory in one go and then walks over what it read, which takes a fraction of the time. It rests on the layout of
 * tree-sitter's records, which nobody promises, so whoever uses this must be ready to do without: `memoryCursors` gives
 * `undefined` where a probe is not read as the documented cursor reads it.
 *
 * The layout on 32 bits (tree-sitter's `lib/src/subtree.h`, `tree.h`, `parser.h`): a reference to a subtree takes two
 * words. They are the subtree itself where it is a small leaf, which the lowest bit says; of any other the first word is
 * the address of its record. A record's children are the references right before it. Lengths are bytes of UTF-16, and a
 * subtree's padding is what stands between it and the one before.
 */
import type { Language, Tree } from "web-tree-sitter";
import { addressOf, readsAlike, type ClosableCursor, type CursorOpener } from "./cursor";

// A small leaf: marks in the lowest byte of its first word, then the symbol; lengths in the second.
const LEAF = 1;
const LEAF_VISIBLE = 1 << 1;
const LEAF_EXTRA = 1 << 3;
const LEAF_MISSING = 1 << 5;

// A record: in which of its words what is, and the marks among its flags.
const PADDING = 1;
const SIZE = 4;
const CHILD_COUNT = 9;
const SYMBOL = 10;
const FLAGS = 11;
const VISIBLE_CHILD_COUNT = 12;
const DESCENDANT_COUNT = 14;
const PRODUCTION = 16;
const VISIBLE = 1;
const EXTRA = 1 << 2;
const MISSING = 1 << 9;

// A language: in which of its words what is.
const SYMBOL_COUNT = 1;
const ALIAS_COUNT = 2;
const PRODUCTION_COUNT = 7;
const ALIASES_PER_PRODUCTION = 9;
const PUBLIC_SYMBOLS = 19;
const ALIAS_SEQUENCES = 21;

/** Deeper trees are left to another cursor, so that reading may use ordinary recursion. */
const DEEPEST = 1_000;

// What was read of a node: four words, of which the first is its type and these marks.
const WORDS_PER_NODE = 4;
const TYPE = 0xffff;
const IS_MISSING = 1 << 16;
const IS_PARENT = 1 << 17;
const START = 1;
const END = 2;
/** Where the next sibling lies; in the last child `~parent`; 0 in the root. */
const LINK = 3;

/** More than this is given back to the engine after use: 16 MiB, what a quarter of a million nodes take. */
const MOST_WORDS_KEPT = 1 << 22;

const NO_WORDS = new Int32Array(0);

/** What of a language the shape of its trees depends on. */
interface Shapes {
  /** The type that is shown for a symbol. */
  readonly types: Uint16Array;
  /** For each production the symbols that its children are renamed to, 0 for none. */
  readonly aliases: Uint16Array;
  readonly aliasesPerProduction: number;
}

/**
 * `runtime` is the object that `Parser.init` was given, which then holds the memory; `probe` is a small tree of the
 * language to try reading on. What is too deep is left to `other`.
 */
export function memoryCursors(
  runtime: Readonly<Record<string, unknown>>,
  language: Language,
  probe: Tree,
  other: CursorOpener,
): CursorOpener | undefined {
  try {
    const shapes = shapesOf(memoryOf(runtime), addressOf(language) >>> 2);
    let spare: Int32Array = NO_WORDS;
    const open = (tree: Tree): ClosableCursor | undefined => {
      const nodes = readTree(memoryOf(runtime), addressOf(tree) >>> 2, shapes, spare);
      if (nodes === undefined) return undefined;
      spare = NO_WORDS;
      return new MemoryCursor(nodes, () => {
        if (nodes.length <= MOST_WORDS_KEPT) spare = nodes;
      });
    };
    const isRead = readsAlike((tree) => open(tree) ?? unreadable(), probe);
    return isRead ? (tree) => open(tree) ?? other(tree) : undefined;
  } catch {
    return undefined;
  }
}

function unreadable(): never {
  throw new Error("the tree cannot be read out of the parser's memory");
}

/** The memory in words. The view dies when the memory grows, so that it is taken anew for every tree. */
function memoryOf(runtime: Readonly<Record<string, unknown>>): Uint32Array {
  const words = runtime["HEAPU32"];
  if (!(words instanceof Uint32Array)) throw new Error("the parser's memory cannot be seen");
  return words;
}

function shapesOf(words: Uint32Array, language: number): Shapes {
  const field = (index: number): number => words[language + index] ?? 0;
  const copy = (address: number, length: number): Uint16Array =>
    new Uint16Array(words.buffer, address, length).slice();
  const aliasesPerProduction = field(ALIASES_PER_PRODUCTION) & 0xffff;
  return {
    types: copy(field(PUBLIC_SYMBOLS), field(SYMBOL_COUNT) + field(ALIAS_COUNT)),
    aliases: copy(field(ALIAS_SEQUENCES), field(PRODUCTION_COUNT) * aliasesPerProduction),
    aliasesPerProduction,
  };
}

/** Four words a node; `undefined` when the tree is not for reading. The root is the first of a tree's fields. */
function readTree(
  words: Uint32Array,
  tree: number,
  shapes: Shapes,
  spare: Int32Array,
): Int32Array | undefined {
  const root = words[tree] as number;
  return (root & LEAF) === 0 ? new TreeReader(words, shapes, root >>> 2, spare).read() : undefined;
}

/** Reads one tree: what of it is visible, in source order, parents before their children. */
class TreeReader {
  private readonly nodes: Int32Array;
  /** Words written so far. */
  private used = 0;
  /** Where in the text reading has come to, in bytes. */
  private position: number;
  /** Set where the tree is too deep, or has more nodes than it says. */
  private isGivenUp = false;

  /** `root` is the root's record; `spare` is written to when it is large enough. */
  constructor(
    private readonly words: Uint32Array,
    private readonly shapes: Shapes,
    private readonly root: number,
    spare: Int32Array,
  ) {
    const descendants = this.word(root + CHILD_COUNT) > 0 ? this.word(root + DESCENDANT_COUNT) : 0;
    const length = (descendants + 1) * WORDS_PER_NODE;
    this.nodes = spare.length >= length ? spare : new Int32Array(length);
    this.position = this.word(root + PADDING);
  }

  /** Four words a node; `undefined` when reading was given up. */
  read(): Int32Array | undefined {
    const { root } = this;
    this.write(this.word(root + SYMBOL) & TYPE, this.word(root + SIZE));
    if (this.word(root + CHILD_COUNT) > 0) this.readChildren(root, 0, 0);
    this.endChildren(0);
    return this.isGivenUp ? undefined : this.nodes;
  }

  private word(index: number): number {
    return this.words[index] as number;
  }

  /** Reads the children of a record; those that are visible become children of the node `parent`. */
  private readChildren(record: number, parent: number, depth: number): void {
    if (depth > DEEPEST) {
      this.isGivenUp = true;
      return;
    }
    const { words } = this;
    const { aliases, aliasesPerProduction } = this.shapes;
    const production = this.word(record + PRODUCTION) >>> 16;
    const first = record - 2 * this.word(record + CHILD_COUNT);
    let alias = production * aliasesPerProduction;
    for (let reference = first; reference < record && !this.isGivenUp; reference += 2) {
      const word = words[reference] as number;
      const isLeaf = (word & LEAF) !== 0;
      const isExtra = isLeaf ? (word & LEAF_EXTRA) !== 0 : (this.word((word >>> 2) + FLAGS) & EXTRA) !== 0;
      // Nothing is renamed by production 0, and what may stand anywhere is no part of a production.
      const renamed = production === 0 || isExtra ? 0 : (aliases[alias++] as number);
      // A parent's padding is that of its first child.
      const isFirst = reference === first;
      if (isLeaf) this.readLeaf(word, this.word(reference + 1), isFirst, renamed, parent);
      else this.readRecord(word >>> 2, isFirst, renamed, parent, depth);
    }
  }

  private readLeaf(marks: number, lengths: number, isFirst: boolean, renamed: number, parent: number): void {
    const size = lengths >>> 24;
    if (!isFirst) this.position += (lengths >>> 16) & 0xff;
    if ((marks & LEAF_VISIBLE) !== 0 || renamed !== 0) {
      const node = this.add(renamed === 0 ? (marks >>> 8) & 0xff : renamed, size, parent);
      if ((marks & LEAF_MISSING) !== 0) this.mark(node, IS_MISSING);
    }
    this.position += size;
  }

  private readRecord(record: number, isFirst: boolean, renamed: number, parent: number, depth: number): void {
    const flags = this.word(record + FLAGS);
    const size = this.word(record + SIZE);
    if (!isFirst) this.position += this.word(record + PADDING);
    const end = this.position + size;
    const hasChildren = this.word(record + CHILD_COUNT) > 0;
    if ((flags & VISIBLE) !== 0 || renamed !== 0) {
      const node = this.add(renamed === 0 ? this.word(record + SYMBOL) & TYPE : renamed, size, parent);
      if ((flags & MISSING) !== 0) this.mark(node, IS_MISSING);
      if (hasChildren) {
        this.readChildren(record, node, depth + 1);
        this.endChildren(node);
      }
    } else if (hasChildren && this.word(record + VISIBLE_CHILD_COUNT) > 0) {
      this.readChildren(record, parent, depth + 1);
    }
    this.position = end;
  }

  /** Writes the next node as the last child of `parent` so far. */
  private add(symbol: number, size: number, parent: number): number {
    const { nodes } = this;
    const node = this.used;
    this.write(symbol, size);
    // While a parent is open its link is its last child.
    const before = nodes[parent + LINK] as number;
    if (before !== 0) nodes[before + LINK] = node;
    nodes[parent + LINK] = node;
    this.mark(parent, IS_PARENT);
    return node;
  }

  private write(symbol: number, size: number): void {
    const { nodes, used } = this;
    if (used === nodes.length) this.isGivenUp = true;
    nodes[used] = this.shapes.types[symbol] ?? symbol;
    nodes[used + START] = this.position >>> 1;
    nodes[used + END] = (this.position + size) >>> 1;
    nodes[used + LINK] = 0;
    this.used = used + WORDS_PER_NODE;
  }

  private mark(node: number, mark: number): void {
    this.nodes[node] = (this.nodes[node] as number) | mark;
  }

  /** Links the last child of a node to it. */
  private endChildren(node: number): void {
    const { nodes } = this;
    const last = nodes[node + LINK] as number;
    if (last !== 0) nodes[last + LINK] = ~node;
    nodes[node + LINK] = 0;
  }
}

class MemoryCursor implements ClosableCursor {
  private node = 0;

  constructor(
    private readonly nodes: Int32Array,
    readonly close: () => void,
  ) {}

  get nodeTypeId(): number {
    return this.word(0) & TYPE;
  }

  get startIndex(): number {
    return this.word(START);
  }

  get endIndex(): number {
    return this.word(END);
  }

  get nodeIsMissing(): boolean {
    return (this.word(0) & IS_MISSING) !== 0;
  }

  gotoFirstChild(): boolean {
    if ((this.word(0) & IS_PARENT) === 0) return false;
    this.node += WORDS_PER_NODE;
    return true;
  }

  gotoNextSibling(): boolean {
    const link = this.word(LINK);
    if (link <= 0) return false;
    this.node = link;
    return true;
  }

  gotoParent(): boolean {
    while (this.gotoNextSibling());
    const link = this.word(LINK);
    if (link === 0) return false;
    this.node = ~link;
    return true;
  }

  private word(index: number): number {
    return this.nodes[this.node + index] as number;
  }
}
