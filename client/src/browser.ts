/** The extension's entrance in a browser: the language server is a worker. */
import * as vscode from "vscode";
import { BrowserMessageReader, BrowserMessageWriter, LanguageClient } from "vscode-languageclient/browser";
import type { BaseLanguageClient, MessageTransports } from "vscode-languageclient/browser";
import type { WorkerStart } from "../../server/src/lsp/worker-start";
import { startExtension } from "./start";

/** What of the browser is used here; the compiler knows Node's globals only. */
interface BrowserWorker {
  postMessage(message: unknown): void;
  terminate(): void;
}
declare const Worker: new (address: string) => BrowserWorker;

let client: BaseLanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const server = new ServerWorker(context.extensionUri);
  context.subscriptions.push(server);
  client = await startExtension(
    context,
    (options) => new LanguageClient("vramlint", "vramlint", () => server.start(), options),
  );
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

/** One at a time: a worker goes on after its client has left, until it is ended. */
class ServerWorker implements vscode.Disposable {
  private worker: BrowserWorker | undefined;
  private readonly folder: vscode.Uri;

  constructor(extension: vscode.Uri) {
    this.folder = vscode.Uri.joinPath(extension, "dist");
  }

  async start(): Promise<MessageTransports> {
    this.dispose();
    // Read here: the worker knows no address that leads to the extension's files.
    const [runtime, grammar] = await Promise.all([
      vscode.workspace.fs.readFile(this.fileOf("web-tree-sitter.wasm")),
      vscode.workspace.fs.readFile(this.fileOf("tree-sitter-python.wasm")),
    ]);
    const worker = new Worker(this.fileOf("server.js").toString(true));
    const first: WorkerStart = { runtime, grammar };
    worker.postMessage(first);
    this.worker = worker;
    // Not the worker itself: what VS Code gives for one is no instance of `Worker`, which the client asks for.
    return { reader: new BrowserMessageReader(worker), writer: new BrowserMessageWriter(worker) };
  }

  dispose(): void {
    this.worker?.terminate();
    this.worker = undefined;
  }

  private fileOf(name: string): vscode.Uri {
    return vscode.Uri.joinPath(this.folder, name);
  }
}
