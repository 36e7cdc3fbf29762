/**
 * The memory timelines that are open. As VS Code's own previews do: one panel follows the script in front, and the ones
 * that are pinned keep theirs.
 */
import * as vscode from "vscode";
import { State } from "vscode-languageclient";
import type { BaseLanguageClient } from "vscode-languageclient";
import { isNotebook, type ScriptInFront } from "../script-in-front";
import type { PanelState } from "./protocol";
import { TimelinePanel } from "./timeline-panel";

const viewType = "vramlint.timeline";

export class TimelinePanels implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private readonly open = new Set<TimelinePanel>();
  private readonly subscriptions: readonly { dispose(): unknown }[];

  constructor(
    private readonly client: BaseLanguageClient,
    private readonly front: ScriptInFront,
    private readonly extension: vscode.Uri,
  ) {
    this.subscriptions = [
      vscode.window.registerWebviewPanelSerializer(viewType, this),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.follow(subjectOf(editor))),
      vscode.window.onDidChangeActiveNotebookEditor((editor) => this.follow(editor?.notebook.uri)),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (document.languageId === "python" && contentChanges.length > 0) this.stale();
      }),
      vscode.workspace.onDidOpenTextDocument(({ languageId }) => {
        if (languageId === "python") this.stale();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("vramlint")) this.stale();
      }),
      client.onDidChangeState(({ newState }) => {
        if (newState === State.Running) this.stale();
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    for (const { panel } of this.open) panel.dispose();
  }

  /** For the script given, else the one in front. */
  async show(given?: unknown): Promise<void> {
    const subject = (await documentOf(given)) ?? frontSubject() ?? (await this.lastSubject());
    if (subject === undefined) return;
    const key = subject.toString();
    const panels = [...this.open];
    const found =
      panels.find((panel) => panel.subject.toString() === key) ?? panels.find(({ isPinned }) => !isPinned);
    if (found === undefined) {
      this.add(this.create(), subject);
      return;
    }
    if (found.subject.toString() !== key) found.show(subject);
    found.panel.reveal(undefined, true);
  }

  private async lastSubject(): Promise<vscode.Uri | undefined> {
    const document = await this.front.document();
    return document && (notebookOf(document) ?? document.uri);
  }

  /** After a reload of the window. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: PanelState | undefined): Promise<void> {
    const subject = await documentOf(state?.uri);
    if (subject === undefined) {
      panel.dispose();
      return;
    }
    const restored = this.add(panel, subject);
    restored.isPinned = state?.isPinned ?? false;
    restored.show(subject, state?.changes);
  }

  private create(): vscode.WebviewPanel {
    const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    return vscode.window.createWebviewPanel(viewType, "", column);
  }

  private add(panel: vscode.WebviewPanel, subject: vscode.Uri): TimelinePanel {
    const added = new TimelinePanel(panel, subject, this.client, this.extension);
    this.open.add(added);
    panel.onDidDispose(() => {
      this.open.delete(added);
      added.dispose();
    });
    return added;
  }

  private follow(subject: vscode.Uri | undefined): void {
    if (subject === undefined) return;
    for (const panel of this.open) {
      if (panel.isPinned || panel.subject.toString() === subject.toString()) continue;
      panel.show(subject);
    }
  }

  /** An edit may matter to other files too: those that import the edited one. */
  private stale(): void {
    for (const panel of this.open) panel.becomeStale();
  }
}

/** The script or the notebook of an editor. */
function subjectOf(editor: vscode.TextEditor | undefined): vscode.Uri | undefined {
  if (editor?.document.languageId !== "python") return undefined;
  return notebookOf(editor.document) ?? editor.document.uri;
}

function notebookOf({ uri }: vscode.TextDocument): vscode.Uri | undefined {
  const key = uri.toString();
  return vscode.workspace.notebookDocuments.find((notebook) =>
    notebook.getCells().some(({ document }) => document.uri.toString() === key),
  )?.uri;
}

function frontSubject(): vscode.Uri | undefined {
  const { activeTextEditor, activeNotebookEditor, visibleTextEditors } = vscode.window;
  return (
    subjectOf(activeTextEditor) ??
    activeNotebookEditor?.notebook.uri ??
    visibleTextEditors.map(subjectOf).find((uri) => uri !== undefined)
  );
}

/** The server sees what is open: a file whose tab nobody has looked at yet is opened. */
async function documentOf(given: unknown): Promise<vscode.Uri | undefined> {
  const uri =
    typeof given === "string" ? vscode.Uri.parse(given) : given instanceof vscode.Uri ? given : undefined;
  if (uri === undefined) return undefined;
  try {
    if (isNotebook(uri)) return (await vscode.workspace.openNotebookDocument(uri)).uri;
    const document = await vscode.workspace.openTextDocument(uri);
    return notebookOf(document) ?? document.uri;
  } catch {
    return undefined;
  }
}
