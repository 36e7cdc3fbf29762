/** The scripts and notebooks of a workspace as they lie on disk. */
import path from "node:path";
import type { Message } from "../messages/message";
import { checkedEndings, discoverFiles } from "./discover";
import { largestNotebook, Notebook } from "./notebook";
import { problem } from "./problem";
import { readTextFile, sizeLimit } from "./text";

/**
 * Absolute paths below folders, each file once, without what git ignores, installed packages, hidden folders and what
 * `excludes` says. What cannot be looked into is left out.
 */
export async function listScripts(
  folders: readonly string[],
  excludes: (target: string) => boolean,
  isCancelled: () => boolean,
): Promise<readonly string[]> {
  const [first] = folders;
  if (first === undefined) return [];
  const options = { cwd: first, extensions: checkedEndings, excludes, isCancelled };
  return (await discoverFiles(folders, options)).files;
}

export interface ScriptOnDisk {
  /** The Python text as written; of a notebook its cells, joined. */
  readonly written: string;
  readonly notebook: Notebook | undefined;
}

/** Reads a file by its absolute path; what is wrong with it where that is not possible. */
export async function readScript(file: string): Promise<ScriptOnDisk | { readonly problem: Message }> {
  const isNotebook = file.toLowerCase().endsWith(".ipynb");
  const shown = path.basename(file);
  const read = await readTextFile(file, shown, isNotebook ? largestNotebook : undefined);
  if ("problem" in read) return { problem: read.problem.message };
  if (!isNotebook) return { written: read.file.text, notebook: undefined };
  const found = Notebook.read(read.file.text, shown);
  if ("problem" in found) return { problem: found.problem.message };
  const { notebook } = found;
  const size = notebook.text.length;
  if (size > sizeLimit)
    return { problem: problem(shown, "notebookTooLarge", { size, limit: sizeLimit }, "note").message };
  return { written: notebook.text, notebook };
}
