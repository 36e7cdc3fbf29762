/** The first message to the server's worker; after it both sides speak the language server protocol. */
import type { ParserBinaries } from "../python/parse";

export interface WorkerStart extends ParserBinaries {
  /** The address of the folder with the rules' pages. */
  readonly pages: string;
}
