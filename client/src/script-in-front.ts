/** Which document a command speaks of when the user says nothing. */
import * as vscode from "vscode";

/** The Python document or the cell in front; of a notebook in which no cell is edited, its first cell of Python. */
export function scriptInFront(): vscode.TextDocument | undefined {
  const active = vscode.window.activeTextEditor?.document;
  if (active?.languageId === "python") return active;
  const notebook = vscode.window.activeNotebookEditor?.notebook;
  return notebook && firstCell(notebook);
}

export function firstCell(notebook: vscode.NotebookDocument): vscode.TextDocument | undefined {
  const cells = notebook.getCells().map(({ document }) => document);
  return cells.find(({ languageId }) => languageId === "python");
}
