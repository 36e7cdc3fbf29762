/**
 * The files behind imports: `package/module.py`, `package/__init__.py`, relative imports, and the folders that Python would
 * look in when the script is run: its own, and those above it up to the root of the workspace. Reads, never writes.
 */
import { readFileSync, statSync, type Stats } from "node:fs";
import path from "node:path";
import type { ImportedModule, ResolveImport } from "../python/resolve-import";
import { parseModule } from "../python/parse";
import type { Module } from "../python/tree";
import { decodePython, sizeLimit } from "./text";

interface Parsed {
  readonly modified: number;
  readonly size: number;
  readonly module: Module;
}

/** Parsed files by path, shared by all who resolve; the oldest go first. */
const parsedFiles = new Map<string, Parsed>();
const mostParsed = 400;

/** Folders above the script that are looked in at most, where no root is known. */
const mostParents = 8;

/**
 * A resolver for the imports of one file; a new one each time the file is analysed, so that an answer does not change
 * meanwhile. `root` is the workspace's folder; without it only the script's folder and what its packages lie in count.
 */
export function importResolver(file: string, root?: string): ResolveImport {
  const folders = searchFolders(file, root);
  const known = new Map<string, ImportedModule | undefined>();
  return (dotted, level, from) => {
    const question = `${level} ${dotted} ${from ?? ""}`;
    if (!known.has(question)) known.set(question, resolve(dotted, level, from ?? file, folders));
    return known.get(question);
  };
}

function searchFolders(file: string, root: string | undefined): string[] {
  const folders: string[] = [];
  let folder = path.dirname(path.resolve(file));
  const last = root === undefined ? undefined : path.resolve(root);
  for (let i = 0; i < mostParents; i++) {
    folders.push(folder);
    const parent = path.dirname(folder);
    const isInside = last === undefined ? isFile(path.join(folder, "__init__.py")) : folder !== last;
    if (!isInside || parent === folder) break;
    folder = parent;
  }
  return folders;
}

function resolve(
  dotted: string,
  level: number,
  from: string,
  folders: readonly string[],
): ImportedModule | undefined {
  const parts = dotted === "" ? [] : dotted.split(".");
  if (level > 0) {
    let folder = path.dirname(path.resolve(from));
    for (let i = 1; i < level; i++) folder = path.dirname(folder);
    return moduleAt(path.join(folder, ...parts));
  }
  for (const folder of folders) {
    const found = moduleAt(path.join(folder, ...parts));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A package or module; a folder without `__init__.py` is a package with nothing in it. */
function moduleAt(place: string): ImportedModule | undefined {
  for (const candidate of [path.join(place, "__init__.py"), `${place}.py`]) {
    const module = parsed(candidate);
    if (module !== undefined) return { module, key: candidate };
  }
  return isFolder(place) ? { module: emptyModule(), key: path.join(place, "__init__.py") } : undefined;
}

let empty: Module | undefined;

function emptyModule(): Module {
  if (empty === undefined) {
    const made = parseModule("");
    made.dispose();
    empty = made.module;
  }
  return empty;
}

function parsed(file: string): Module | undefined {
  const stats = statOf(file);
  if (stats?.isFile() !== true || stats.size > sizeLimit) return undefined;
  const known = parsedFiles.get(file);
  if (known?.modified === stats.mtimeMs && known.size === stats.size) return known.module;
  const module = readModule(file);
  if (module === undefined) return undefined;
  parsedFiles.delete(file);
  parsedFiles.set(file, { modified: stats.mtimeMs, size: stats.size, module });
  const [oldest] = parsedFiles.keys();
  if (parsedFiles.size > mostParsed && oldest !== undefined) parsedFiles.delete(oldest);
  return module;
}

function readModule(file: string): Module | undefined {
  try {
    const decoded = decodePython(readFileSync(file), file);
    if ("problem" in decoded) return undefined;
    const made = parseModule(decoded.file.text);
    made.dispose();
    return made.module;
  } catch {
    // Gone or unreadable since it was looked at: as if it were not there.
    return undefined;
  }
}

function isFile(file: string): boolean {
  return statOf(file)?.isFile() === true;
}

function isFolder(folder: string): boolean {
  return statOf(folder)?.isDirectory() === true;
}

function statOf(place: string): Stats | undefined {
  try {
    return statSync(place, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
