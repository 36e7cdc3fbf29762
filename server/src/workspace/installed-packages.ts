/**
 * The sources of installed packages that are built on PyTorch, e.g. torchvision: a model that such a package makes is
 * evaluated from the very version that the script will run with. Reads, never writes, and never starts Python.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** Folders above the script that are looked in at most for a virtual environment. */
const mostParents = 8;
/** The names that a virtual environment's folder is mostly given. */
const environmentNames = [".venv", "venv", "env", ".env"];

/** Variables that an activated environment sets, and what they name. */
const environmentVariables = ["VIRTUAL_ENV", "CONDA_PREFIX"];

export interface InstalledPlace {
  /** The workspace's folder. */
  readonly root?: string | undefined;
  /** The interpreter that runs the script, or its environment's folder. */
  readonly python?: string | undefined;
  readonly variables?: Readonly<Record<string, string | undefined>>;
}

/**
 * The `site-packages` folders that a script's imports come from: of `python` (an interpreter or an environment's folder)
 * where it is known; else of the virtual environment beside the script or above it, up to `root`; else of the environment
 * that is activated. Empty when there is none.
 */
export function sitePackagesOf(
  file: string,
  { root, python, variables = {} }: InstalledPlace = {},
): readonly string[] {
  const chosen = python === undefined ? [] : sitePackagesIn(environmentOf(python));
  if (chosen.length > 0) return chosen;
  for (const folder of foldersAbove(file, root)) {
    for (const name of environmentNames) {
      const environment = path.join(folder, name);
      if (!isFile(path.join(environment, "pyvenv.cfg"))) continue;
      const found = sitePackagesIn(environment);
      if (found.length > 0) return found;
    }
  }
  for (const name of environmentVariables) {
    const environment = variables[name];
    const found = environment === undefined || environment === "" ? [] : sitePackagesIn(environment);
    if (found.length > 0) return found;
  }
  return [];
}

function foldersAbove(file: string, root: string | undefined): string[] {
  const folders: string[] = [];
  const last = root === undefined ? undefined : path.resolve(root);
  let folder = path.dirname(path.resolve(file));
  for (let i = 0; i < mostParents; i++) {
    folders.push(folder);
    const parent = path.dirname(folder);
    if (folder === last || parent === folder) break;
    folder = parent;
  }
  return folders;
}

/** The environment's folder behind `…/bin/python` or `…\Scripts\python.exe`; a folder is one itself. */
function environmentOf(python: string): string {
  if (isFolder(python)) return python;
  const folder = path.dirname(python);
  return /^(bin|scripts)$/i.test(path.basename(folder)) ? path.dirname(folder) : folder;
}

/** `lib/python3.12/site-packages`; on Windows `Lib\site-packages`. */
function sitePackagesIn(environment: string): string[] {
  const direct = path.join(environment, "Lib", "site-packages");
  if (isFolder(direct)) return [direct];
  const library = path.join(environment, "lib");
  return entriesOf(library)
    .filter((name) => /^(python|pypy)3/.test(name))
    .map((name) => path.join(library, name, "site-packages"))
    .filter(isFolder);
}

/** Packages that need PyTorch, by folder; read once while the folder does not change. */
const known = new Map<string, { readonly modified: number; readonly packages: ReadonlySet<string> }>();

/**
 * Whether a package in a `site-packages` folder says in its metadata that it needs PyTorch. Others make no models; reading
 * them would cost time.
 */
export function needsTorch(folder: string, name: string): boolean {
  const modified = statOf(folder)?.mtimeMs;
  if (modified === undefined || name === "") return false;
  let entry = known.get(folder);
  if (entry?.modified !== modified) {
    entry = { modified, packages: packagesOnTorch(folder) };
    known.set(folder, entry);
  }
  return entry.packages.has(name);
}

function packagesOnTorch(folder: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const entry of entriesOf(folder)) {
    const distribution = /^(?<name>.+?)-[^-]+\.dist-info$/.exec(entry)?.groups?.["name"];
    if (distribution === undefined) continue;
    const information = path.join(folder, entry);
    // https://packaging.python.org/en/latest/specifications/core-metadata/#requires-dist-multiple-use
    if (!/^Requires-Dist:\s*torch\b(?![-._])/im.test(textOf(path.join(information, "METADATA")))) continue;
    found.add(distribution.toLowerCase().replaceAll(/[-.]/g, "_"));
    for (const name of textOf(path.join(information, "top_level.txt")).split(/\s+/)) found.add(name);
  }
  found.delete("");
  return found;
}

/** Metadata may hold a whole README; what is longer than this is no metadata. */
const longestMetadata = 2 * 1024 * 1024;

function textOf(file: string): string {
  try {
    return (statOf(file)?.size ?? Infinity) > longestMetadata ? "" : readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function isFile(file: string): boolean {
  return statOf(file)?.isFile() === true;
}

function isFolder(folder: string): boolean {
  return statOf(folder)?.isDirectory() === true;
}

function statOf(place: string) {
  try {
    return statSync(place, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
