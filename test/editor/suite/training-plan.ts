import assert from "node:assert/strict";
import * as vscode from "vscode";
import { closeEverything, diagnosticOf, fileInProject, open, revert, until } from "./editor";

describe("the training plan", () => {
  afterEach(async () => {
    while (vscode.window.activeTextEditor?.document.isUntitled)
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    await closeEverything();
  });

  it("opens in a new document beside the script", async () => {
    const { document } = await open("train.py");
    await diagnosticOf(document.uri, "eval-without-no-grad");
    await vscode.commands.executeCommand("vramlint.writeTrainingPlan");
    const plan = vscode.window.activeTextEditor?.document;
    assert.ok(plan?.isUntitled);
    assert.equal(plan.languageId, "markdown");
    assert.match(plan.getText(), /^## GPU memory\n/);
    assert.match(plan.getText(), /^\| Budget \| 6\.50 GiB \| header, line 2 \|$/m);
  });

  it("goes into the Markdown document in front, at its cursor, on lines of its own", async () => {
    const { document } = await open("train.py");
    await diagnosticOf(document.uri, "eval-without-no-grad");
    const content = "# Plan\n\nBefore\nAfter\n";
    await vscode.workspace.fs.writeFile(fileInProject("PLAN.md"), Buffer.from(content));
    const editor = await open("PLAN.md");
    const plan = editor.document;
    const cursor = new vscode.Position(2, 3);
    editor.selection = new vscode.Selection(cursor, cursor);
    await vscode.commands.executeCommand("vramlint.writeTrainingPlan");
    await until([vscode.workspace.onDidChangeTextDocument], () => plan.getText() !== content, "the plan");
    assert.match(plan.getText(), /^# Plan\n\nBefore\n\n## GPU memory\n[^]*\n\nAfter\n$/);
    await revert(editor);
  });
});
