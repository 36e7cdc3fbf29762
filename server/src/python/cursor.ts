/**
 * Ways to go over a syntax tree: the documented one, and one that calls the parser's WebAssembly functions itself (the
 * third, `memory-cursor.ts`, makes no calls at all). The cursor of `web-tree-sitter` copies its state into
 * the parser's memory before each call and back after it, although it is still there from the call before; without
 * that a walk takes half the time. The functions are not documented, so whoever uses this must be ready to do without:
 * `directCursors` gives `undefined` where a function is missing or does not do what it did.
 */
import type { Language, Tree } from "web-tree-sitter";
import type { SyntaxCursor } from "./syntax";

/** A cursor that must be closed after use. No other use of the parser may come in between. */
export interface ClosableCursor extends SyntaxCursor {
  close(): void;
}

/** Opens a cursor on the root of a tree. */
export type CursorOpener = (tree: Tree) => ClosableCursor;

/** The documented way: slower, always there. */
export const openDocumentedCursor: CursorOpener = (tree) => {
  const cursor = tree.walk();
  return Object.assign(cursor, { close: () => cursor.delete() });
};

type TreeFunction = (tree: number) => number;

const FUNCTION_NAMES = {
  rootNode: "_ts_tree_root_node_wasm",
  open: "_ts_tree_cursor_new_wasm",
  close: "_ts_tree_cursor_delete_wasm",
  firstChild: "_ts_tree_cursor_goto_first_child_wasm",
  nextSibling: "_ts_tree_cursor_goto_next_sibling_wasm",
  parent: "_ts_tree_cursor_goto_parent_wasm",
  typeId: "_ts_tree_cursor_current_node_type_id_wasm",
  isMissing: "_ts_tree_cursor_current_node_is_missing_wasm",
  startIndex: "_ts_tree_cursor_start_index_wasm",
  endIndex: "_ts_tree_cursor_end_index_wasm",
} as const;

type CursorFunctions = Readonly<Record<keyof typeof FUNCTION_NAMES, TreeFunction>>;

class DirectCursor implements ClosableCursor {
  private readonly gotoFirst: TreeFunction;
  private readonly gotoNext: TreeFunction;
  private readonly gotoAbove: TreeFunction;
  private readonly typeId: TreeFunction;
  private readonly startOf: TreeFunction;
  private readonly endOf: TreeFunction;

  constructor(
    private readonly functions: CursorFunctions,
    private readonly tree: number,
  ) {
    this.gotoFirst = functions.firstChild;
    this.gotoNext = functions.nextSibling;
    this.gotoAbove = functions.parent;
    this.typeId = functions.typeId;
    this.startOf = functions.startIndex;
    this.endOf = functions.endIndex;
    // Each leaves its result where the next one looks for it.
    functions.rootNode(tree);
    functions.open(tree);
  }

  get nodeTypeId(): number {
    return this.typeId(this.tree);
  }

  get startIndex(): number {
    return this.startOf(this.tree);
  }

  get endIndex(): number {
    return this.endOf(this.tree);
  }

  get nodeIsMissing(): boolean {
    return this.functions.isMissing(this.tree) === 1;
  }

  gotoFirstChild(): boolean {
    return this.gotoFirst(this.tree) === 1;
  }

  gotoNextSibling(): boolean {
    return this.gotoNext(this.tree) === 1;
  }

  gotoParent(): boolean {
    return this.gotoAbove(this.tree) === 1;
  }

  close(): void {
    this.functions.close(this.tree);
  }
}

/**
 * `runtime` is the object that `Parser.init` was given, which then holds the functions; `probe` is a small tree to try
 * them on.
 */
export function directCursors(
  runtime: Readonly<Record<string, unknown>>,
  probe: Tree,
): CursorOpener | undefined {
  const functions = cursorFunctions(runtime);
  if (functions === undefined) return undefined;
  const open: CursorOpener = (tree) => new DirectCursor(functions, addressOf(tree));
  try {
    return readsAlike(open, probe) ? open : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a cursor sees in a tree what the documented one sees. */
export function readsAlike(open: CursorOpener, tree: Tree): boolean {
  return outline(open, tree) === outline(openDocumentedCursor, tree);
}

function cursorFunctions(runtime: Readonly<Record<string, unknown>>): CursorFunctions | undefined {
  const found: Partial<Record<keyof typeof FUNCTION_NAMES, TreeFunction>> = {};
  for (const [key, name] of Object.entries(FUNCTION_NAMES)) {
    const candidate = runtime[name];
    if (typeof candidate !== "function") return undefined;
    found[key as keyof typeof FUNCTION_NAMES] = candidate as TreeFunction;
  }
  return found as CursorFunctions;
}

/** Where in the parser's memory the thing behind an object of `web-tree-sitter` lies, in bytes. */
export function addressOf(object: Tree | Language): number {
  const address = (object as unknown as Readonly<Record<number, unknown>>)[0];
  if (typeof address !== "number" || address === 0) throw new Error("the object has no address");
  return address;
}

/** Level, type and span of every node of a tree. */
export function outline(open: CursorOpener, tree: Tree): string {
  const cursor = open(tree);
  const nodes: string[] = [];
  let level = 0;
  for (;;) {
    const { nodeTypeId, startIndex, endIndex, nodeIsMissing } = cursor;
    nodes.push(`${level} ${nodeTypeId} ${startIndex} ${endIndex} ${nodeIsMissing}`);
    if (cursor.gotoFirstChild()) {
      level++;
      continue;
    }
    while (!cursor.gotoNextSibling()) {
      level--;
      if (cursor.gotoParent()) continue;
      cursor.close();
      return nodes.join("\n");
    }
  }
}
