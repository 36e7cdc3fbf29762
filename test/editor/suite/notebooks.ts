import assert from "node:assert/strict";
import * as vscode from "vscode";
import { closeEverything, diagnosticOf, fileInProject } from "./editor";

describe("a notebook", () => {
  after(closeEverything);

  it("has its findings in their cells", async () => {
    const notebook = await vscode.workspace.openNotebookDocument(fileInProject("train.ipynb"));
    await vscode.window.showNotebookDocument(notebook);
    const cell = notebook.cellAt(3);
    const finding = await diagnosticOf(cell.document.uri, "empty-cache-in-loop");
    assert.equal(finding.range.start.line, 5);
  });
});
