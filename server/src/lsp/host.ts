/** What the server asks of the place it runs in: `main.ts` gives it under Node, `worker.ts` in a browser. */
import type { Language, Message } from "../messages/message";
import type { ParserBinaries } from "../python/parse";
import type { FollowedImports, OpenFile } from "../workspace/imports";
import type { Notebook } from "../workspace/notebook";
import type { SettingsSource } from "./project-files";

/** What the client has open around a document. */
export interface Surroundings {
  /** Addresses of the workspace's folders. */
  readonly folders: readonly string[];
  /** The files that are open when it is called: their texts count before those on disk. */
  readonly open: () => readonly (OpenFile & { readonly uri: string })[];
  /** The interpreter that the user has chosen, or its environment's folder. */
  readonly python: string | undefined;
}

/** A script or a notebook as it lies on disk. */
export interface DiskScript {
  /** The Python text as written; of a notebook its cells, joined. */
  readonly written: string;
  readonly notebook: Notebook | undefined;
}

/** The files of the workspace, whether they are open or not. */
export interface WorkspaceFiles {
  /** Addresses of the scripts and notebooks below folders, without what git and the project's settings leave out. */
  list(folders: readonly string[], isCancelled: () => boolean): Promise<readonly string[]>;
  /** What is wrong with it where it cannot be read. */
  read(uri: string): Promise<DiskScript | { readonly problem: Message }>;
}

export interface ServerHost {
  readonly version: string;
  loadParser(): Promise<ParserBinaries>;
  /** The address of a rule's page in a language, if it has one here; for clients that do not say how it opens. */
  rulePage(rule: string, language: Language): string | undefined;
  /** The settings files of projects; absent where there is no disk. */
  readonly settings?: SettingsSource;
  /** Absent where there is no disk. */
  readonly files?: WorkspaceFiles;
  /** Follows the imports of a document to other files, which it names by addresses; absent where there is no disk. */
  followImports?(uri: string, surroundings: Surroundings): FollowedImports | undefined;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
}
