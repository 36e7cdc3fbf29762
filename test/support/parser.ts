/** Starts the parser for tests from the installed packages. */
import { initializeParser } from "../../server/src/python/parse";
import { readParserBinaries } from "../../server/src/workspace/parser-binaries";

let loading: Promise<void> | undefined;

/** Await in a `before` hook of every suite that parses. */
export function loadParser(): Promise<void> {
  loading ??= initializeParser(readParserBinaries());
  return loading;
}
