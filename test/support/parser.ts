/** Starts the parser for tests from the installed packages. */
import { readFileSync } from "node:fs";
import { initializeParser } from "../../server/src/python/parse";

let loading: Promise<void> | undefined;

/** Await in a `before` hook of every suite that parses. */
export function loadParser(): Promise<void> {
  loading ??= initializeParser({
    runtime: readFileSync(require.resolve("web-tree-sitter/web-tree-sitter.wasm")),
    grammar: readFileSync(require.resolve("tree-sitter-python/tree-sitter-python.wasm")),
  });
  return loading;
}
