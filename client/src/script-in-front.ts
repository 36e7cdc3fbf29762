/** Which document a command speaks of when the user says nothing. */
import * as vscode from "vscode";

/**
 * The script or the notebook in front; where something else is in front, such as the walkthrough, whose buttons are commands,
 * the one that was there last.
 */
export class ScriptInFront implements vscode.Disposable {
  private last = activeScript();
  private readonly subscriptions: readonly vscode.Disposable[];

  constructor() {
    const remember = (): void => {
      this.last = activeScript() ?? this.last;
    };
    this.subscriptions = [
      vscode.window.onDidChangeActiveTextEditor(remember),
      vscode.window.onDidChangeActiveNotebookEditor(remember),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /**
   * The Python document or the cell in front, brought there if it only was; of a notebook in which no cell is edited, its
   * first cell of Python. Where there is none the user is told so, and offered the example.
   */
  async document(): Promise<vscode.TextDocument | undefined> {
    const active = activeDocument();
    if (active !== undefined) return active;
    const { last } = this;
    if (last === undefined || !isInTab(last)) {
      void offerExample();
      return undefined;
    }
    if (!isNotebook(last)) return (await vscode.window.showTextDocument(last, { preview: false })).document;
    const notebook = await vscode.workspace.openNotebookDocument(last);
    await vscode.window.showNotebookDocument(notebook);
    return activeDocument() ?? firstCell(notebook);
  }
}

export function firstCell(notebook: vscode.NotebookDocument): vscode.TextDocument | undefined {
  const cells = notebook.getCells().map(({ document }) => document);
  return cells.find(({ languageId }) => languageId === "python");
}

function activeDocument(): vscode.TextDocument | undefined {
  const active = vscode.window.activeTextEditor?.document;
  if (active?.languageId === "python") return active;
  const notebook = vscode.window.activeNotebookEditor?.notebook;
  return notebook && firstCell(notebook);
}

/** Of a notebook its own address: its cells have none that can be shown. */
function activeScript(): vscode.Uri | undefined {
  const notebook = vscode.window.activeNotebookEditor?.notebook;
  return notebook === undefined ? activeDocument()?.uri : notebook.uri;
}

export function isNotebook(uri: vscode.Uri): boolean {
  return uri.path.endsWith(".ipynb");
}

function isInTab(uri: vscode.Uri): boolean {
  const key = uri.toString();
  return vscode.window.tabGroups.all.some(({ tabs }) =>
    tabs.some(({ input }) => {
      const isDocument = input instanceof vscode.TabInputText || input instanceof vscode.TabInputNotebook;
      return isDocument && input.uri.toString() === key;
    }),
  );
}

async function offerExample(): Promise<void> {
  const example = vscode.l10n.t("Open the example");
  const said = vscode.l10n.t("vramlint: open a Python script first.");
  const chosen = await vscode.window.showInformationMessage(said, example);
  if (chosen === example) await vscode.commands.executeCommand("vramlint.openExample");
}
