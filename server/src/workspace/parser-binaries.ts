/** The parser's two WebAssembly files: beside the bundle in `dist/`, in `node_modules` when run from source. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ParserBinaries } from "../python/parse";

const runtimeFile = "web-tree-sitter.wasm";
const grammarFile = "tree-sitter-python.wasm";

/** Throws with the path when a file is missing: nothing works without them, and only a broken installation lacks them. */
export function readParserBinaries(): ParserBinaries {
  return {
    runtime: readFileSync(locate("web-tree-sitter", runtimeFile)),
    grammar: readFileSync(locate("tree-sitter-python", grammarFile)),
  };
}

function locate(packageName: string, file: string): string {
  const beside = path.join(__dirname, file);
  if (existsSync(beside)) return beside;
  for (let folder = __dirname; ; folder = path.dirname(folder)) {
    const installed = path.join(folder, "node_modules", packageName, file);
    if (existsSync(installed)) return installed;
    if (path.dirname(folder) === folder) throw new Error(`${beside} is missing: reinstall vramlint`);
  }
}
