/** What the server asks of the place it runs in. The Node entry gives one; a browser build would give another. */
import type { Language } from "../messages/message";
import type { ParserBinaries } from "../python/parse";
import type { ResolveImport } from "../python/resolve-import";
import type { SettingsSource } from "./project-files";

export interface ServerHost {
  readonly version: string;
  loadParser(): Promise<ParserBinaries>;
  /** The address of a rule's page in a language, if it has one here. */
  rulePage(rule: string, language: Language): string | undefined;
  /** The settings files of projects; absent where there is no disk. */
  readonly settings?: SettingsSource;
  /** Finds the files behind the imports of a document; absent where there is no disk. */
  resolverOf?(uri: string): ResolveImport | undefined;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
}
