/** What the client is asked to tell of: changed settings of the editor, and files that change on disk. */
import {
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  type Connection,
  type Disposable,
  type FileSystemWatcher,
} from "vscode-languageserver";

const settingsFiles = "{vramlint,pyproject}.toml";

export async function watchConfiguration(connection: Connection): Promise<void> {
  try {
    await connection.client.register(DidChangeConfigurationNotification.type, { section: "vramlint" });
  } catch (error) {
    connection.console.warn(`the client does not tell of changed settings: ${String(error)}`);
  }
}

export async function watchWorkspace(connection: Connection): Promise<void> {
  await watch(connection, [
    { globPattern: `**/${settingsFiles}` },
    { globPattern: "**/*.{py,pyi,ipynb,json,yaml,yml}" },
  ]);
}

/** Settings files above the workspace's folders, which hold for what lies in them too. */
export class WatchAbove {
  private current: Disposable | undefined;
  private watched = "";

  constructor(private readonly connection: Connection) {}

  async follow(folders: readonly string[]): Promise<void> {
    const above = foldersAbove(folders);
    if (above.join(" ") === this.watched) return;
    this.watched = above.join(" ");
    const before = this.current;
    const watchers = above.map((baseUri) => ({ globPattern: { baseUri, pattern: settingsFiles } }));
    this.current = watchers.length === 0 ? undefined : await watch(this.connection, watchers);
    before?.dispose();
  }
}

async function watch(connection: Connection, watchers: FileSystemWatcher[]): Promise<Disposable | undefined> {
  try {
    return await connection.client.register(DidChangeWatchedFilesNotification.type, { watchers });
  } catch (error) {
    connection.console.warn(`the client does not watch files: ${String(error)}`);
    return undefined;
  }
}

/**
 * The folders above those of the workspace, but for the root of a disk, and those that lie in a folder of the workspace.
 * Addresses without a slash at their end.
 */
export function foldersAbove(folders: readonly string[]): string[] {
  const inWorkspace = folders.map((folder) => folder.replace(/\/$/, ""));
  const above = new Set<string>();
  for (const folder of inWorkspace) {
    if (!folder.startsWith("file://")) continue;
    for (let at = parentOf(folder); at !== undefined; at = parentOf(at)) above.add(at);
  }
  const isWatched = (uri: string): boolean =>
    inWorkspace.some((folder) => uri === folder || uri.startsWith(`${folder}/`));
  return [...above].filter((uri) => !isWatched(uri)).sort();
}

function parentOf(uri: string): string | undefined {
  const parent = uri.slice(0, uri.lastIndexOf("/"));
  const path = parent.replace(/^file:\/\/[^/]*/, "");
  return /^(\/[a-z](:|%3a))?$/i.test(path) ? undefined : parent;
}
