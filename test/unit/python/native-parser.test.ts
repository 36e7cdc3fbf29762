/**
 * The grammar as WebAssembly, which the product uses, against the same grammar as native code: both must build the
 * same syntax tree of every Python file there is among the tests. Where the source has errors the two may recover
 * from them in different ways, being of different releases; then both must have seen one.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import NativeParser from "tree-sitter";
import nativePython from "tree-sitter-python";
import { Language, Parser } from "web-tree-sitter";
import { loadParser } from "../../support/parser";

const ROOT = path.join(__dirname, "../../..");

function pythonFiles(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".py"))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

/** Constructs that training scripts seldom hold. */
const SNIPPETS: readonly string[] = [
  "match a:\n    case [b, *c] | {'d': 1, **e} if f: pass\n    case G(h, i=-1.5 + 2j) as j: pass\n    case _: pass\n",
  "type X[T: int, *Ts, **P] = dict[T, P]\ndef f[T](a: T, /, *, b: int | None = None) -> T: ...\nclass A[T](B): ...\n",
  "try:\n    a\nexcept* B as c:\n    d\nexcept (E, F): pass\nelse: g\nfinally: h\n",
  "async def f():\n    async with a as b, c: pass\n    async for d in e: await g\n    return [h async for h in i]\n",
  "f'{a!r:>{b}.{c}} {d=} {{e}} {f'{g}'}' rb'\\n' t'{h}'\n",
  "with (a as b, c(d) as (e, f)): pass\nwith (a, b) as c: pass\n",
  "print >>a, b\nexec 'a' in b\nprint 'c'\nraise A, 'b'\n",
  "é = '😀'; 名前 = é  # 𝐱\nx: a[int] | b | None = lambda *c, d=1, **e: (yield)\n",
  "a = b = c; a, *b = c,; a @= b; a: int\nglobal a, b\nnonlocal c\ndel a, b[0]\nassert a, b\n",
  "if a:\n\tb\n        c\nelif d: e\nelse:\n  f\n\fg\n",
  "def f(:\n    a = = b\n    (c\nclass\n",
];

interface Cursor {
  readonly nodeType: string;
  readonly nodeIsNamed: boolean;
  readonly startIndex: number;
  readonly endIndex: number;
  gotoFirstChild(): boolean;
  gotoNextSibling(): boolean;
  gotoParent(): boolean;
}

/** Level, type and span of every node, in order. */
function nodesOf(cursor: Cursor): string[] {
  const nodes: string[] = [];
  let level = 0;
  for (;;) {
    const { nodeType, nodeIsNamed, startIndex, endIndex } = cursor;
    nodes.push(`${level} ${nodeIsNamed ? nodeType : JSON.stringify(nodeType)} ${startIndex}-${endIndex}`);
    if (cursor.gotoFirstChild()) {
      level++;
      continue;
    }
    while (!cursor.gotoNextSibling()) {
      if (!cursor.gotoParent()) return nodes;
      level--;
    }
  }
}

describe("WebAssembly and native parser", () => {
  const native = new NativeParser();
  let parser: Parser;

  before(async () => {
    await loadParser();
    const grammar = readFileSync(require.resolve("tree-sitter-python/tree-sitter-python.wasm"));
    parser = new Parser();
    parser.setLanguage(await Language.load(grammar));
    native.setLanguage(nativePython);
  });

  after(() => parser.delete());

  function assertSameTree(text: string): void {
    // In pieces: the binding refuses a string beyond 32 KiB at once.
    const nativeTree = native.parse((index) => text.slice(index, index + 4096));
    const tree = parser.parse(text);
    assert.ok(tree);
    const { hasError } = tree.rootNode;
    const cursor = tree.walk();
    const nodes = nodesOf(cursor);
    cursor.delete();
    tree.delete();
    assert.equal(hasError, nativeTree.rootNode.hasError);
    if (!hasError) assert.deepEqual(nodes, nodesOf(nativeTree.walk()));
  }

  for (const [index, snippet] of SNIPPETS.entries()) {
    it(`agree on snippet ${index + 1}`, () => assertSameTree(snippet));
  }

  for (const folder of ["test-fixtures", "test/goldens/models"]) {
    it(`agree on the files in ${folder}`, () => {
      const files = pythonFiles(folder);
      assert.ok(files.length > 0);
      for (const file of files) {
        assert.doesNotThrow(() => assertSameTree(readFileSync(file, "utf8")), `different: ${file}`);
      }
    });
  }
});
