/** The extension's entrance: starts the language server, and adds what only VS Code has. */
import path from "node:path";
import * as vscode from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";
import type { LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";
import { registerCommands } from "./commands";
import { followInterpreter } from "./interpreter";
import { TimelinePanels } from "./panel/timeline-panels";
import { RulePages } from "./rule-pages";
import { StatusItem } from "./status-item";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("vramlint", { log: true });
  const pages = new RulePages(context.extensionUri);
  const started = new LanguageClient("vramlint", "vramlint", serverOptions(context), clientOptions(log));
  client = started;
  const status = new StatusItem(started);
  const timelines = new TimelinePanels(started, context.extensionUri);
  context.subscriptions.push(
    log,
    status,
    timelines,
    ...registerCommands(started, log, pages, timelines, context.extensionUri),
  );
  try {
    await started.start();
    const following = await followInterpreter(started);
    if (following !== undefined) context.subscriptions.push(following);
  } catch (error) {
    log.error(error instanceof Error ? error : String(error));
    status.serverFailed();
  }
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function serverOptions(context: vscode.ExtensionContext): ServerOptions {
  const module = context.asAbsolutePath(path.join("dist", "server.js"));
  return { module, transport: TransportKind.ipc };
}

/** Where scripts lie: on disk, unsaved, or where the workspace is. Not the old side of a difference. */
function schemesOfScripts(): string[] {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.scheme);
  return [...new Set(["file", "untitled", ...folders])];
}

function clientOptions(log: vscode.LogOutputChannel): LanguageClientOptions {
  const schemes = schemesOfScripts();
  return {
    documentSelector: [...schemes, "vscode-notebook-cell"].map((scheme) => ({ scheme, language: "python" })),
    outputChannel: log,
    markdown: { isTrusted: { enabledCommands: ["vramlint.showTimeline"] } },
    diagnosticPullOptions: { onChange: true, onTabs: false },
    initializationOptions: {
      commands: ["vramlint.openRulePage", "vramlint.showTimeline", "editor.action.triggerSuggest"],
      status: true,
      schemes,
      rulePage: `command:vramlint.openRulePage?${encodeURIComponent('["{rule}"]')}`.replace(
        "%7Brule%7D",
        "{rule}",
      ),
    },
  };
}
