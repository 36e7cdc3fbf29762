/** The built worker as a browser runs it: in a realm that has nothing of Node, at the other end of a message port. */
import { readFileSync } from "node:fs";
import path from "node:path";
import vm from "node:vm";
import { MessageChannel, moveMessagePortToContext } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  createProtocolConnection,
} from "vscode-languageserver/node";
import type { DataCallback, Disposable, Message, ProtocolConnection } from "vscode-languageserver/node";
import type { WorkerStart } from "../../../server/src/lsp/worker-start";

const dist = process.env["VRAMLINT_DIST"] ?? path.join(__dirname, "../../../dist");

class PortReader extends AbstractMessageReader {
  constructor(private readonly port: MessagePort) {
    super();
  }

  listen(callback: DataCallback): Disposable {
    this.port.on("message", callback);
    return { dispose: () => this.port.off("message", callback) };
  }
}

class PortWriter extends AbstractMessageWriter {
  constructor(private readonly port: MessagePort) {
    super();
  }

  write(message: Message): Promise<void> {
    this.port.postMessage(message);
    return Promise.resolve();
  }

  end(): void {
    this.port.close();
  }
}

/** What the worker's global scope has beside the language's own: nothing that reads files or starts programs. */
function browserScope(): vm.Context {
  return vm.createContext({
    performance: { now: () => performance.now() },
    ...{ setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask },
    ...{ console, TextDecoder, TextEncoder, URL, AbortController },
  });
}

export interface WorkerClient {
  readonly connection: ProtocolConnection;
  end(): void;
}

/** Before `initialize`; the parser is sent as the extension does. */
export function startWorker(): WorkerClient {
  const { port1: near, port2: far } = new MessageChannel();
  const context = browserScope();
  context["port"] = moveMessagePortToContext(far, context);
  vm.runInContext(
    "var self = port; self.addEventListener = () => {}; self.self = self; self.location = { href: 'blob:worker' };",
    context,
  );
  vm.runInContext(readFileSync(path.join(dist, "server.js"), "utf8"), context);
  vm.runInContext("port.start?.()", context);
  const start: WorkerStart = {
    runtime: readFileSync(path.join(dist, "web-tree-sitter.wasm")),
    grammar: readFileSync(path.join(dist, "tree-sitter-python.wasm")),
  };
  near.postMessage(start);
  const connection = createProtocolConnection(new PortReader(near), new PortWriter(near));
  connection.listen();
  return {
    connection,
    end() {
      connection.dispose();
      near.close();
    },
  };
}
