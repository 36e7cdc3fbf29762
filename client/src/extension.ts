/** The extension's entrance where Node is: the language server is a process of its own. */
import path from "node:path";
import type * as vscode from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";
import type { BaseLanguageClient } from "vscode-languageclient/node";
import { followInterpreter } from "./interpreter";
import { startExtension } from "./start";

let client: BaseLanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const module = context.asAbsolutePath(path.join("dist", "launch.js"));
  const server = { module, transport: TransportKind.ipc };
  client = await startExtension(
    context,
    (options) => new LanguageClient("vramlint", "vramlint", server, options),
    followInterpreter,
  );
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
