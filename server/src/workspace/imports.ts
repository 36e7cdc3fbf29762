/**
 * The files behind imports: `package/module.py`, `package/__init__.py`, relative imports, and the folders that Python would
 * look in when the script is run: its own, and those above it up to the root of the workspace (each with its `src`). Reads,
 * never writes. Texts open in the editor count before those on disk.
 */
import { readFileSync, statSync, type Stats } from "node:fs";
import path from "node:path";
import type { ImportedModule, ResolveImport } from "../python/resolve-import";
import { parseModule, type ParsedModule } from "../python/parse";
import { Source } from "../python/source";
import type { Module } from "../python/tree";
import { needsTorch } from "./installed-packages";
import { decodePython, sizeLimit } from "./text";

/** A file as it stands in an editor. */
export interface OpenFile {
  readonly text: string;
}

/** Where a file stands that imports others. */
export interface ImportPlace {
  /** The workspace's folder; without it only the script's folder and what its packages lie in count. */
  readonly root?: string | undefined;
  readonly openFile?: ((file: string) => OpenFile | undefined) | undefined;
  /** `site-packages` folders; packages in them count that are built on PyTorch. */
  readonly packages?: readonly string[] | undefined;
  /** What is known of the disk; a new one looks at everything anew. */
  readonly disk?: Disk | undefined;
}

/** Which files and folders there are, each looked at once: for runs in which nobody changes them. */
export class Disk {
  private readonly known = new Map<string, Stats | undefined>();
  private readonly answers = new Map<string, object>();

  stats(place: string): Stats | undefined {
    if (!this.known.has(place)) this.known.set(place, statsNow(place));
    return this.known.get(place);
  }

  /** One object for all scripts whose imports are looked for in the same folders. */
  answersIn(folders: readonly string[]): object {
    const key = folders.join("\0");
    const known = this.answers.get(key) ?? {};
    this.answers.set(key, known);
    return known;
  }
}

/** Asks the disk each time. */
const liveDisk = { stats: statsNow };

/** The imports of one file as they were followed during one analysis. */
export interface FollowedImports {
  readonly resolve: ResolveImport;
  /**
   * The text of a JSON or YAML file of the workspace that the script names, relative to its folder or one above it; undefined
   * when it is not there, too large, or another one in different places.
   */
  readonly readBeside: (name: string) => string | undefined;
  /** False once one of the answers would be another one: a file was changed, came or went. */
  isCurrent(): boolean;
  /** What was asked for so far. */
  files(): ImportedFiles;
}

/** What one file imports from its workspace. */
export interface ImportedFiles {
  /** Paths of the files that were found, installed packages not among them. */
  readonly found: readonly string[];
  /** Dotted names of modules of which no file was found. */
  readonly missing: readonly string[];
}

interface Parsed {
  /** Of the file on disk when it was read last; `undefined` for a text that was never saved. */
  readonly stats: Stats | undefined;
  readonly text: string;
  readonly imported: LazyModule;
}

/** Parsed files by path, shared by all who resolve; those used longest ago go first. */
const parsedFiles = new Map<string, Parsed>();
let parsedLength = 0;
/** Those that went, as long as somebody else still holds their tree. */
const stillHeld = new Map<string, WeakRef<LazyModule>>();
/** Characters of all texts together: a tree takes some fifty bytes a character. */
const mostParsed = 6 * 1024 * 1024;

/** Folders above the script that are looked in at most. */
const mostParents = 8;

/**
 * A resolver for the imports of one file; a new one each time the file is analysed, so that an answer does not change
 * meanwhile.
 */
export function importResolver(file: string, place: ImportPlace = {}): ResolveImport {
  return followImports(file, place).resolve;
}

/** The same with a memory of what was followed. */
export function followImports(file: string, place: ImportPlace): FollowedImports {
  let folders: readonly string[] | undefined;
  const inWorkspace = { ...place, packages: undefined };
  const find = ({ dotted, level, from, within }: Question): ImportedModule | undefined => {
    folders ??= searchFolders(file, place);
    return moduleFor(dotted, level, from ?? file, folders, within === undefined ? place : inWorkspace);
  };
  const known = new Map<string, Answer>();
  const read = new Map<string, string | undefined>();
  const resolve: ResolveImport = (dotted, level, from, within) => {
    const key = `${within ?? ""} ${level} ${dotted} ${from ?? ""}`;
    let answer = known.get(key);
    if (answer === undefined) {
      const question = { dotted, level, from, within };
      answer = { question, found: find(question) };
      known.set(key, answer);
    }
    return answer.found;
  };
  return {
    resolve: Object.assign(resolve, { answers: place.disk?.answersIn(searchFolders(file, place)) }),
    readBeside(name) {
      const texts = placesOf(name, file, place).flatMap((one) => {
        if (!read.has(one)) read.set(one, readSmall(one));
        return read.get(one) ?? [];
      });
      const [text] = texts;
      // Which of several is meant depends on where the script is started.
      return texts.every((other) => other === text) ? text : undefined;
    },
    isCurrent() {
      folders = undefined;
      if ([...read].some(([beside, text]) => readSmall(beside) !== text)) return false;
      return [...known.values()].every(({ question, found }) => find(question)?.source === found?.source);
    },
    files() {
      const answers = [...known.values()];
      const found = answers.flatMap(({ found: file }) =>
        file === undefined || file.isInstalled ? [] : [file.key],
      );
      const missing = answers.flatMap(({ question, found: file }) =>
        file === undefined ? [question.dotted] : [],
      );
      return { found: [...new Set(found)], missing: [...new Set(missing)] };
    },
  };
}

/** Where a file may lie that a script names: scripts are started in their own folder or in one above it, in the workspace. */
function placesOf(name: string, file: string, place: ImportPlace): string[] {
  const own = path.dirname(path.resolve(file));
  const root = place.root === undefined ? undefined : path.resolve(place.root);
  if (root === undefined || !isWithin(own, root)) {
    const beside = path.resolve(own, name);
    return isWithin(beside, own) ? [beside] : [];
  }
  const places: string[] = [];
  let folder = own;
  for (let i = 0; i < mostParents; i++) {
    const at = path.resolve(folder, name);
    if (isWithin(at, root) && !places.includes(at)) places.push(at);
    if (folder === root) break;
    folder = path.dirname(folder);
  }
  return places;
}

function isWithin(target: string, folder: string): boolean {
  return target === folder || target.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

interface Question {
  readonly dotted: string;
  readonly level: number;
  readonly from: string | undefined;
  readonly within: "workspace" | undefined;
}

interface Answer {
  readonly question: Question;
  readonly found: ImportedModule | undefined;
}

function searchFolders(file: string, place: ImportPlace): string[] {
  const folders: string[] = [];
  let folder = path.dirname(path.resolve(file));
  const last = place.root === undefined ? undefined : path.resolve(place.root);
  const isInRoot = last !== undefined && (folder === last || folder.startsWith(last + path.sep));
  for (let i = 0; i < mostParents; i++) {
    folders.push(folder);
    const sources = path.join(folder, "src");
    if (isFolder(sources, place)) folders.push(sources);
    const parent = path.dirname(folder);
    const isInside = isInRoot ? folder !== last : isFile(path.join(folder, "__init__.py"), place);
    if (!isInside || parent === folder) break;
    folder = parent;
  }
  return folders;
}

function moduleFor(
  dotted: string,
  level: number,
  from: string,
  folders: readonly string[],
  place: ImportPlace,
): ImportedModule | undefined {
  const parts = dotted === "" ? [] : dotted.split(".");
  if (level > 0) {
    let folder = path.dirname(path.resolve(from));
    for (let i = 1; i < level; i++) folder = path.dirname(folder);
    return moduleAt(path.join(folder, ...parts), place);
  }
  for (const folder of folders) {
    const found = moduleAt(path.join(folder, ...parts), place);
    if (found !== undefined) return found;
  }
  for (const folder of place.packages ?? []) {
    const found = needsTorch(folder, parts[0] ?? "")
      ? moduleAt(path.join(folder, ...parts), place)
      : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A package or module; a folder without `__init__.py` is a package with nothing in it. */
function moduleAt(target: string, place: ImportPlace): ImportedModule | undefined {
  for (const candidate of [path.join(target, "__init__.py"), `${target}.py`]) {
    const imported = parsed(candidate, place);
    if (imported !== undefined) return imported;
  }
  return isFolder(target, place) ? { ...emptyModule(), key: path.join(target, "__init__.py") } : undefined;
}

let empty: Pick<ImportedModule, "module" | "source"> | undefined;

function emptyModule(): Pick<ImportedModule, "module" | "source"> {
  if (empty === undefined) {
    const { module, source } = parseModule("");
    empty = { module, source };
  }
  return empty;
}

function parsed(file: string, place: ImportPlace): ImportedModule | undefined {
  const open = place.openFile?.(file);
  if (open !== undefined) return parsedOpen(file, open);
  const stats = diskOf(place).stats(file);
  if (stats?.isFile() !== true || stats.size > sizeLimit) return undefined;
  const known = parsedFiles.get(file);
  if (known?.stats?.mtimeMs === stats.mtimeMs && known.stats.size === stats.size) {
    // Put at the end again: what is used often stays.
    parsedFiles.delete(file);
    parsedFiles.set(file, known);
    return known.imported;
  }
  const text = readText(file);
  if (text === undefined) return undefined;
  if (known?.text === text) return remember(file, { ...known, stats });
  const held = stillHeld.get(file)?.deref();
  if (held?.source.text === text) return remember(file, { stats, text, imported: held });
  return remember(file, { stats, text, imported: new LazyModule(text, file) });
}

/** A large package is read to find a name in it; parsed is what has the name. */
class LazyModule implements ImportedModule {
  readonly source: Source;
  readonly isInstalled?: true;
  /** Undefined as long as nobody has asked for the tree. */
  parsed: ParsedModule | undefined;

  constructor(
    private readonly text: string,
    readonly key: string,
  ) {
    this.source = new Source(text);
    if (/[\\/]site-packages[\\/]/.test(key)) this.isInstalled = true;
  }

  get module(): Module {
    return (this.parsed ??= parseModule(this.text)).module;
  }
}

/**
 * Parses a file that is to be checked, or hands `use` the tree that is there because another file imports it: not for
 * trees that are to be edited. What others found out about the tree is forgotten before and after, since whoever checks
 * a file asks from another place, and what is kept would keep all of the check.
 */
export function withTreeOf<Result>(
  file: string,
  text: string,
  use: (parsed: ParsedModule) => Result,
): Result {
  const imported = parsedFiles.get(file)?.imported ?? stillHeld.get(file)?.deref();
  if (imported?.parsed === undefined || imported.source.text !== text) return use(parseModule(text));
  const { memos } = imported.parsed.module;
  memos.clear();
  try {
    return use(imported.parsed);
  } finally {
    memos.clear();
  }
}

function parsedOpen(file: string, open: OpenFile): ImportedModule {
  const known = parsedFiles.get(file);
  if (known?.text === open.text) return known.imported;
  // A tree of its own: that of the editor's file changes with the next edit.
  const imported = new LazyModule(open.text, file);
  return remember(file, { stats: undefined, text: open.text, imported });
}

function remember(file: string, entry: Parsed): ImportedModule {
  forget(file);
  parsedFiles.set(file, entry);
  parsedLength += entry.text.length;
  for (const oldest of parsedFiles.keys()) {
    if (parsedLength <= mostParsed || oldest === file) break;
    forget(oldest);
  }
  return entry.imported;
}

function forget(file: string): void {
  const entry = parsedFiles.get(file);
  if (entry === undefined) return;
  parsedLength -= entry.text.length;
  parsedFiles.delete(file);
  stillHeld.set(file, new WeakRef(entry.imported));
}

/** Configurations are small; what is larger is data. */
const largestConfiguration = 256 * 1024;

function readSmall(file: string): string | undefined {
  if (!/\.(json|ya?ml)$/i.test(file)) return undefined;
  return (statsNow(file)?.size ?? Infinity) > largestConfiguration ? undefined : readText(file);
}

function readText(file: string): string | undefined {
  try {
    const decoded = decodePython(readFileSync(file), file);
    return "problem" in decoded ? undefined : decoded.file.text;
  } catch {
    // Gone or unreadable since it was looked at: as if it were not there.
    return undefined;
  }
}

function isFile(file: string, place: ImportPlace): boolean {
  return diskOf(place).stats(file)?.isFile() === true;
}

function isFolder(folder: string, place: ImportPlace): boolean {
  return diskOf(place).stats(folder)?.isDirectory() === true;
}

function diskOf({ disk }: ImportPlace): Pick<Disk, "stats"> {
  return disk ?? liveDisk;
}

function statsNow(place: string): Stats | undefined {
  try {
    return statSync(place, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
