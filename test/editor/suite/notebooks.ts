import assert from "node:assert/strict";
import * as vscode from "vscode";
import { actionsAt, closeEverything, diagnosticOf, diagnosticsWhere, fileInProject, ruleOf } from "./editor";
import { ask } from "./pictures";

describe("a notebook", () => {
  let notebook: vscode.NotebookDocument;
  const isOf = (rule: string) => (found: vscode.Diagnostic[]) => found.some((of) => ruleOf(of) === rule);
  beforeEach(async () => {
    notebook = await vscode.workspace.openNotebookDocument(fileInProject("train.ipynb"));
    await vscode.window.showNotebookDocument(notebook);
    await diagnosticOf(notebook.cellAt(3).document.uri, "empty-cache-in-loop");
  });
  afterEach(async () => {
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    await closeEverything();
  });

  it("has its findings in their cells", async () => {
    const finding = await diagnosticOf(notebook.cellAt(3).document.uri, "empty-cache-in-loop");
    assert.equal(finding.range.start.line, 5);
  });

  it("keeps them with a cell that is moved", async () => {
    const moved = notebook.cellAt(3).document;
    const edit = new vscode.WorkspaceEdit();
    const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, "print('between')", "python");
    edit.set(notebook.uri, [vscode.NotebookEdit.insertCells(1, [cell])]);
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.equal(notebook.cellAt(4).document.uri.toString(), moved.uri.toString());
    await diagnosticOf(moved.uri, "empty-cache-in-loop");
    await vscode.commands.executeCommand("notebook.focusBottom");
    await vscode.commands.executeCommand("notebook.cell.moveUp");
    const found = await diagnosticsWhere(
      notebook.cellAt(3).document.uri,
      isOf("empty-cache-in-loop"),
      "the finding in the cell that was moved",
    );
    assert.equal(found.length, 1);
  });

  it("has the timeline in its toolbar", async function () {
    if (process.env["VRAMLINT_PICTURES"] === undefined) this.skip();
    await ask({ size: "1480x900" });
    await ask({ wait: '.notebook-toolbar-container :text("Show Memory Timeline")' });
  });

  it("is fixed whole by the command", async () => {
    const { document } = notebook.cellAt(3);
    const before = document.getText();
    await vscode.commands.executeCommand("vramlint.fixAll");
    await diagnosticsWhere(document.uri, (found) => !isOf("empty-cache-in-loop")(found), "it is fixed");
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), before);
    assert.ok(await vscode.workspace.applyEdit(edit));
    await diagnosticOf(document.uri, "empty-cache-in-loop");
  });

  it("is fixed cell by cell, and whole", async () => {
    const { document } = notebook.cellAt(3);
    const finding = await diagnosticOf(document.uri, "empty-cache-in-loop");
    const everywhere = new vscode.Range(0, 0, document.lineCount, 0);
    const [all] = await actionsAt(document.uri, everywhere, "notebook.source.fixAll.vramlint");
    assert.ok(all?.edit?.has(document.uri));
    const [fix] = await actionsAt(document.uri, finding.range);
    const edit = fix?.edit;
    assert.ok(edit?.has(document.uri) === true);
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.match(document.getText(), /optimizer\.step\(\)$/);
    await diagnosticsWhere(document.uri, (found) => !isOf("empty-cache-in-loop")(found), "the finding goes");
  });
});
