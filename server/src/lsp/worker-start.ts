/** The first message to the server's worker; after it both sides speak the language server protocol. */
import type { ParserBinaries } from "../python/parse";

export type WorkerStart = ParserBinaries;
