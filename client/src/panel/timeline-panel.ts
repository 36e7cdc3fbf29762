/** One memory timeline: a page, the file it shows, and what goes between page and server. */
import * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";
import { timelineMethod } from "../../../server/src/lsp/timeline-request";
import type { TimelineAnswer, TimelineParams } from "../../../server/src/lsp/timeline-request";
import type { SetupChanges } from "../../../server/src/memory/what-if";
import { pageHtml } from "./page";
import type { FromPage, ToPage } from "./protocol";
import { savePicture } from "./save";
import { panelTexts } from "./texts";

/** Milliseconds after the last keystroke before the page asks again. */
const editDelay = 150;

export class TimelinePanel implements vscode.Disposable {
  isPinned = false;
  private changes: SetupChanges = {};
  private isReady = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    readonly panel: vscode.WebviewPanel,
    public subject: vscode.Uri,
    private readonly client: BaseLanguageClient,
    extension: vscode.Uri,
  ) {
    const { webview } = panel;
    webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(extension, "dist")] };
    webview.onDidReceiveMessage((message: FromPage) => this.receive(message));
    webview.html = pageHtml(webview, extension, vscode.env.language);
    this.entitle();
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  show(subject: vscode.Uri, changes: SetupChanges = {}): void {
    this.subject = subject;
    this.changes = changes;
    this.entitle();
    this.sendSubject();
  }

  /** The text, the settings or the server changed. */
  becomeStale(delay = editDelay): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.post({ kind: "stale" }), delay);
  }

  private entitle(): void {
    const name = this.subject.path.split("/").at(-1) ?? "";
    this.panel.title = vscode.l10n.t("Memory of {0}", name);
  }

  private receive(message: FromPage): void {
    switch (message.kind) {
      case "ready":
        this.isReady = true;
        this.post({ kind: "start", texts: panelTexts(), language: vscode.env.language });
        this.sendSubject();
        return;
      case "ask":
        this.changes = message.changes;
        void this.answer(message);
        return;
      case "open":
        void openLine(this.panel, vscode.Uri.parse(message.uri), message.line, message.character);
        return;
      case "pin":
        this.isPinned = message.isPinned;
        return;
      case "save":
        void savePicture(this.subject, message.format, message.data);
        return;
      case "insertHeader":
        void this.insertHeader();
    }
  }

  private sendSubject(): void {
    if (!this.isReady) return;
    const { subject, isPinned, changes } = this;
    const file = vscode.workspace.asRelativePath(subject, false);
    this.post({ kind: "subject", uri: subject.toString(), file, isPinned, changes });
  }

  private async answer({ serial, uri, changes, known }: Extract<FromPage, { kind: "ask" }>): Promise<void> {
    const params: TimelineParams = {
      textDocument: { uri },
      changes,
      ...(known === undefined ? {} : { known }),
    };
    const answer = await this.client
      .sendRequest<TimelineAnswer | null>(timelineMethod, params)
      .catch(() => null);
    this.post({ kind: "answer", serial, answer });
  }

  private async insertHeader(): Promise<void> {
    await openLine(this.panel, this.subject, 0, 0);
    await vscode.commands.executeCommand("vramlint.insertHeader");
  }

  private post(message: ToPage): void {
    if (this.isReady) void this.panel.webview.postMessage(message);
  }
}

/** Where the file is shown already, else beside the panel. */
async function openLine(
  panel: vscode.WebviewPanel,
  uri: vscode.Uri,
  line: number,
  character: number,
): Promise<void> {
  const selection = new vscode.Range(line, character, line, character);
  const key = uri.toString();
  const visible = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === key);
  const aside = panel.viewColumn === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One;
  const viewColumn = visible?.viewColumn ?? aside;
  await vscode.commands.executeCommand("vscode.open", uri, { selection, viewColumn });
}
