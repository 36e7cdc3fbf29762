/** What the server asks of the place it runs in. The Node entry gives one; a browser build would give another. */
import type { Language } from "../messages/message";
import type { ParserBinaries } from "../python/parse";

export interface ServerHost {
  readonly version: string;
  loadParser(): Promise<ParserBinaries>;
  /** The address of a rule's page in a language, if it has one here. */
  rulePage(rule: string, language: Language): string | undefined;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
}
