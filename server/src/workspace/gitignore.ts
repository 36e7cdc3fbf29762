/** What git ignores: the `.gitignore` files from the repository's root down, and `.git/info/exclude`. */
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import ignore from "ignore";
import type { Ignore } from "ignore";

interface Layer {
  /** The folder whose patterns these are. */
  readonly base: string;
  readonly patterns: Ignore;
}

export class GitIgnore {
  private constructor(private readonly layers: readonly Layer[]) {}

  /** The patterns that hold for what lies at `target`, its own `.gitignore` (for a folder) not among them. */
  static async above(target: string): Promise<GitIgnore> {
    const folders: string[] = [];
    let root: string | undefined;
    for (let folder = path.dirname(target); ; folder = path.dirname(folder)) {
      folders.unshift(folder);
      if (await exists(path.join(folder, ".git"))) root = folder;
      if (root !== undefined || path.dirname(folder) === folder) break;
    }
    // Outside a repository only the folders walked themselves count: a stray file in `/` concerns nobody.
    if (root === undefined || (await exists(path.join(target, ".git")))) return new GitIgnore([]);
    let found = await GitIgnore.ofRepository(root);
    for (const folder of folders) found = found.plus(folder, await textOf(path.join(folder, ".gitignore")));
    return found;
  }

  private static async ofRepository(root: string): Promise<GitIgnore> {
    return new GitIgnore([]).plus(root, await textOf(path.join(root, ".git", "info", "exclude")));
  }

  /** The patterns inside a folder; `entries` spares a look at the disk where it has no `.gitignore`. */
  async within(folder: string, entries: readonly { readonly name: string }[]): Promise<GitIgnore> {
    const isRepository = entries.some(({ name }) => name === ".git");
    const found = isRepository ? await GitIgnore.ofRepository(folder) : this;
    if (!entries.some(({ name }) => name === ".gitignore")) return found;
    return found.plus(folder, await textOf(path.join(folder, ".gitignore")));
  }

  /** Whether git ignores an absolute path. A deeper file of patterns wins over those above it. */
  ignores(target: string, isFolder: boolean): boolean {
    for (const { base, patterns } of this.layers) {
      const relative = path.relative(base, target).split(path.sep).join("/");
      if (relative === "" || relative.startsWith("../") || !ignore.isPathValid(relative)) continue;
      const verdict = patterns.test(isFolder ? `${relative}/` : relative);
      if (verdict.ignored) return true;
      if (verdict.unignored) return false;
    }
    return false;
  }

  private plus(base: string, text: string | undefined): GitIgnore {
    if (text === undefined || text.trim() === "") return this;
    return new GitIgnore([{ base, patterns: ignore().add(text) }, ...this.layers]);
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return undefined;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch {
    return false;
  }
}
