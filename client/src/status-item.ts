/**
 * The entry in VS Code's language status: what became of the file in front. Whether it was analysed is also known to the
 * manifest, which offers the timeline then and not over any Python file.
 */
import * as vscode from "vscode";
import { State } from "vscode-languageclient";
import type { BaseLanguageClient } from "vscode-languageclient";
import { statusMethod } from "../../server/src/lsp/status";
import type { DocumentState, StatusParams } from "../../server/src/lsp/status";

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.languages.createLanguageStatusItem("vramlint", { language: "python" });
  private readonly states = new Map<string, StatusParams>();
  private readonly subscriptions: readonly { dispose(): unknown }[];
  private hasFailed = false;
  /** What the menus were told last. */
  private isScript = false;

  constructor(private readonly client: BaseLanguageClient) {
    this.item.name = "vramlint";
    this.subscriptions = [
      this.item,
      client.onNotification(statusMethod, (status: StatusParams) => {
        this.states.set(status.uri, status);
        this.show();
      }),
      client.onDidChangeState(({ newState }) => {
        if (newState === State.Running) this.hasFailed = false;
        else this.states.clear();
        this.show();
      }),
      vscode.window.onDidChangeActiveTextEditor(() => this.show()),
      vscode.window.onDidChangeActiveNotebookEditor(() => this.show()),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.states.delete(uri.toString())),
    ];
    this.show();
  }

  serverFailed(): void {
    this.hasFailed = true;
    this.show();
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private show(): void {
    const { item } = this;
    item.busy = this.client.state === State.Starting;
    item.severity = vscode.LanguageStatusSeverity.Information;
    item.detail = "vramlint";
    item.command = { title: vscode.l10n.t("Show log"), command: "vramlint.showLog" };
    if (this.hasFailed || this.client.state === State.Stopped) {
      this.tellMenus(false);
      item.text = vscode.l10n.t("The server is not running");
      item.severity = vscode.LanguageStatusSeverity.Error;
      item.command = { title: vscode.l10n.t("Restart"), command: "vramlint.restart" };
      return;
    }
    const status = this.current();
    this.tellMenus(status?.state === "analysed");
    item.text = status === undefined ? vscode.l10n.t("Waiting for a file") : textOf(status);
    if (status?.state === "failed") item.severity = vscode.LanguageStatusSeverity.Error;
    if (status?.state === "too-large") item.severity = vscode.LanguageStatusSeverity.Warning;
  }

  private tellMenus(isScript: boolean): void {
    if (this.isScript === isScript) return;
    this.isScript = isScript;
    void vscode.commands.executeCommand("setContext", "vramlint.isScript", isScript);
  }

  private current(): StatusParams | undefined {
    const uri =
      vscode.window.activeTextEditor?.document.uri ?? vscode.window.activeNotebookEditor?.notebook.uri;
    const notebook = vscode.window.activeNotebookEditor?.notebook.uri;
    if (uri === undefined) return undefined;
    return this.states.get(uri.toString()) ?? (notebook && this.states.get(notebook.toString()));
  }
}

function textOf({ state, findings }: StatusParams): string {
  const texts: Readonly<Record<DocumentState, () => string>> = {
    analysed: () =>
      findings === 1
        ? vscode.l10n.t("Analysed: 1 finding")
        : vscode.l10n.t("Analysed: {0} findings", findings),
    "not-training": () => vscode.l10n.t("Not a training file"),
    "too-large": () => vscode.l10n.t("Too large to analyse"),
    failed: () => vscode.l10n.t("Analysis failed: see the log"),
    disabled: () => vscode.l10n.t("Switched off in the settings"),
  };
  return texts[state]();
}
