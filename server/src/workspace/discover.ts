/**
 * Which Python files paths stand for: files as given, folders with everything Python below them, patterns. What git
 * ignores, virtual environments, installed packages, hidden folders and what the project's settings exclude are left
 * out, unless named themselves; links below a folder that lead nowhere are passed over.
 */
import type { Dirent } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import picomatch from "picomatch";
import { GitIgnore } from "./gitignore";
import { errorCode, problem, problemOf } from "./problem";
import type { FileProblem } from "./problem";

/** What the files end in that we check: they are looked for below folders. */
export const checkedEndings: readonly string[] = [".py", ".pyi", ".ipynb"];

export interface Discovery {
  /** Absolute or relative as the paths were, in the order of the paths and sorted below a folder; each file once. */
  readonly files: readonly string[];
  readonly problems: readonly FileProblem[];
}

export interface DiscoverOptions {
  /** What relative paths are relative to. */
  readonly cwd: string;
  /** Endings of the files looked for below folders; `.py` when absent. Files named themselves may end in anything. */
  readonly extensions?: readonly string[];
  /** True for a folder or a file, both absolute, that is left out unless named itself. */
  readonly excludes?: (target: string) => boolean;
  /** Asked between folders: true ends the search with what was found so far. */
  readonly isCancelled?: (() => boolean) | undefined;
  /** Leaves it out even then. */
  readonly forceExclude?: boolean;
}

const skippedFolders: ReadonlySet<string> = new Set(["site-packages", "node_modules", "__pycache__"]);

/** Never throws because of what is on the disk; links are not followed below a folder, so loops do no harm. */
export async function discoverFiles(paths: readonly string[], options: DiscoverOptions): Promise<Discovery> {
  const search = new Search(options);
  for (const given of paths) await search.add(given);
  return { files: search.files, problems: search.problems };
}

class Search {
  readonly files: string[] = [];
  readonly problems: FileProblem[] = [];
  private readonly seen = new Set<string>();
  private readonly extensions: readonly string[];
  private readonly cwd: string;
  private readonly excludes: (target: string) => boolean;
  private readonly isCancelled: () => boolean;
  private readonly isForced: boolean;

  constructor(options: DiscoverOptions) {
    this.isCancelled = options.isCancelled ?? (() => false);
    this.cwd = options.cwd;
    this.excludes = options.excludes ?? (() => false);
    this.isForced = options.forceExclude ?? false;
    this.extensions = options.extensions ?? [".py"];
  }

  async add(given: string): Promise<void> {
    try {
      const found = await stat(this.absolute(given));
      if (found.isDirectory()) await this.walk(given);
      else if (this.isLeftOutThoughNamed(given)) return;
      else if (found.isFile()) await this.take(given);
      else this.problems.push(problem(given, "notAFile"));
    } catch (error) {
      const failure = problemOf(given, error);
      if (await this.isDangling(given)) this.problems.push(problem(given, "danglingLink"));
      else if (isPattern(given)) await this.expand(given);
      else this.problems.push(failure);
    }
  }

  /** Folders wait on a stack of our own: their depth is the user's, the call stack is not. */
  private async walk(root: string, accepts: (entryPath: string) => boolean = () => true): Promise<void> {
    if (this.isLeftOutThoughNamed(root)) return;
    const pending: { readonly folder: string; readonly ignore: GitIgnore }[] = [
      { folder: root, ignore: await GitIgnore.above(this.absolute(root)) },
    ];
    // Whoever names an excluded folder wants what is in it.
    const excludes = this.excludes(this.absolute(root)) ? () => false : this.excludes;
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (this.isCancelled()) return;
      const { folder } = next;
      let entries: Dirent[];
      try {
        entries = await readdir(this.absolute(folder), { withFileTypes: true });
      } catch (error) {
        this.problems.push(folder === root ? problemOf(folder, error) : problemBelow(folder, error));
        continue;
      }
      if (folder !== root && entries.some(({ name }) => name === "pyvenv.cfg")) continue;
      const ignore = await next.ignore.within(this.absolute(folder), entries);
      const folders: typeof pending = [];
      for (const entry of entries.sort(byName)) {
        const entryPath = folder === "." ? entry.name : path.join(folder, entry.name);
        const absolute = this.absolute(entryPath);
        const isLeftOut = (isFolder: boolean): boolean =>
          ignore.ignores(absolute, isFolder) || excludes(absolute);
        if (entry.isDirectory()) {
          if (!isSkipped(entry.name) && !isLeftOut(true)) folders.push({ folder: entryPath, ignore });
        } else if (this.isWanted(entry) && accepts(entryPath) && !isLeftOut(false)) {
          await this.takeEntry(entry, entryPath);
        }
      }
      pending.push(...folders.reverse());
    }
  }

  private isWanted(entry: Dirent): boolean {
    return !entry.name.startsWith(".") && this.extensions.some((extension) => entry.name.endsWith(extension));
  }

  private async takeEntry(entry: Dirent, entryPath: string): Promise<void> {
    if (!entry.isFile() && !entry.isSymbolicLink()) return;
    try {
      if ((await stat(this.absolute(entryPath))).isFile()) await this.take(entryPath);
    } catch (error) {
      // A link to nowhere holds no code that could be missed; editors and data folders leave them about.
      if (entry.isSymbolicLink() && leadsNowhere.has(errorCode(error) ?? "")) return;
      this.problems.push(problemBelow(entryPath, error));
    }
  }

  private async take(file: string): Promise<void> {
    const identity = await realpath(this.absolute(file));
    if (this.seen.has(identity)) return;
    this.seen.add(identity);
    this.files.push(file);
  }

  /** A pattern stands for the files and folders below its fixed beginning that match it. */
  private async expand(pattern: string): Promise<void> {
    const { base, glob } = picomatch.scan(pattern.replaceAll("\\", "/"));
    const root = base === "" ? "." : base;
    const before = this.files.length + this.problems.length;
    if (glob !== "" && (await this.isFolder(root))) {
      if (this.isLeftOutThoughNamed(root)) return;
      const matches = picomatch([glob, `${glob}/**`]);
      const belowRoot = (entryPath: string): string =>
        path.relative(root, entryPath).split(path.sep).join("/");
      await this.walk(root, (entryPath) => matches(belowRoot(entryPath)));
    }
    if (this.files.length + this.problems.length === before) this.problems.push(problem(pattern, "noMatch"));
  }

  private async isFolder(given: string): Promise<boolean> {
    try {
      return (await stat(this.absolute(given))).isDirectory();
    } catch {
      return false;
    }
  }

  private async isDangling(given: string): Promise<boolean> {
    try {
      return (await lstat(this.absolute(given))).isSymbolicLink();
    } catch {
      return false;
    }
  }

  private isLeftOutThoughNamed(given: string): boolean {
    return this.isForced && this.excludes(this.absolute(given));
  }

  private absolute(given: string): string {
    return path.resolve(this.cwd, given);
  }
}

/** What is wrong with something that was just listed: one reason is a name that no text can hold. */
function problemBelow(entryPath: string, error: unknown): FileProblem {
  const failure = problemOf(entryPath, error);
  return errorCode(error) === "ENOENT" && entryPath.includes("\ufffd")
    ? problem(entryPath, "nameNotUtf8")
    : failure;
}

/** What the file system says of a link whose target is gone, lies below a file, or is the link itself. */
const leadsNowhere: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

function isSkipped(folder: string): boolean {
  return folder.startsWith(".") || skippedFolders.has(folder);
}

function isPattern(given: string): boolean {
  return /[*?[{]|[@!+]\(/.test(given);
}

function byName(a: Dirent, b: Dirent): number {
  return byCodeUnits(a.name, b.name);
}

/** The same order on every machine, whatever its locale. */
function byCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
