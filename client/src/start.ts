/** What the extension does wherever it runs: starts the language server, and adds what only VS Code has. */
import * as vscode from "vscode";
import type { BaseLanguageClient, LanguageClientOptions } from "vscode-languageclient";
import { registerCommands } from "./commands";
import { TimelinePanels } from "./panel/timeline-panels";
import { RulePages } from "./rule-pages";
import { ScriptInFront } from "./script-in-front";
import { StatusItem } from "./status-item";

/** How the place it runs in starts a server: a process of Node, or a worker of a browser. */
export type CreateClient = (options: LanguageClientOptions) => BaseLanguageClient;

/** Returns the client whether its server has started or not: the status says which. */
export async function startExtension(
  context: vscode.ExtensionContext,
  create: CreateClient,
  afterStart?: (client: BaseLanguageClient) => Promise<vscode.Disposable | undefined>,
): Promise<BaseLanguageClient> {
  const log = vscode.window.createOutputChannel("vramlint", { log: true });
  const pages = new RulePages(context.extensionUri);
  const client = create(clientOptions(log));
  const status = new StatusItem(client);
  const front = new ScriptInFront();
  const timelines = new TimelinePanels(client, front, context.extensionUri);
  context.subscriptions.push(
    log,
    pages,
    status,
    timelines,
    front,
    ...registerCommands(client, log, pages, timelines, front, context.extensionUri),
  );
  try {
    await client.start();
  } catch (error) {
    log.error(error instanceof Error ? error : String(error));
    status.serverFailed();
    return client;
  }
  log.info(startText(context.extension));
  try {
    const following = await afterStart?.(client);
    if (following !== undefined) context.subscriptions.push(following);
  } catch (error) {
    // The server runs without what another extension could have told it.
    log.warn(error instanceof Error ? error.message : String(error));
  }
  return client;
}

/** What a report of a defect has to begin with. */
function startText({ packageJSON }: vscode.Extension<unknown>): string {
  const { version } = packageJSON as { readonly version: string };
  return `vramlint ${version} has started in VS Code ${vscode.version}; at the level Debug each check is logged with its time`;
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
