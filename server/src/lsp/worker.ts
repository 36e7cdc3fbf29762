/**
 * The language server as a worker of a browser. There is no disk: no settings files, no other files, so imports stay
 * unresolved and a check is of one file.
 */
import {
  BrowserMessageReader,
  BrowserMessageWriter,
  createConnection,
  ProposedFeatures,
} from "vscode-languageserver/browser";
import { version } from "../../../package.json";
import type { ServerHost } from "./host";
import { startServer } from "./server";
import type { WorkerStart } from "./worker-start";

/** What of a worker's global scope is used here; the compiler knows Node's only. */
declare const self: { onmessage: ((event: { readonly data: WorkerStart }) => void) | null };

function hostOf(binaries: WorkerStart): ServerHost {
  return {
    version,
    loadParser: () => Promise.resolve(binaries),
    // The client says how they open.
    rulePage: () => undefined,
    now: () => performance.now(),
  };
}

// The connection takes the handler's place at once, so that no message of the protocol is lost.
self.onmessage = ({ data }) => {
  const connection = createConnection(
    ProposedFeatures.all,
    new BrowserMessageReader(self),
    new BrowserMessageWriter(self),
  );
  startServer(connection, hostOf(data));
};
