import assert from "node:assert/strict";
import * as vscode from "vscode";
import { closeEverything, diagnosticOf, diagnosticsWhere, fileInProject, ours, ruleOf } from "./editor";

describe("the workspace scan in the editor", () => {
  const script = fileInProject("models/train_other.py");
  before(async () => {
    await closeEverything();
    const text = await vscode.workspace.fs.readFile(fileInProject("train.py"));
    await vscode.workspace.fs.writeFile(script, text);
  });
  after(async () => {
    await vscode.commands.executeCommand("vramlint.clearScan");
    await vscode.workspace.fs.delete(vscode.Uri.joinPath(script, ".."), { recursive: true });
    await closeEverything();
  });

  it("shows what is in files that nobody opened, and in notebooks by their cells", async () => {
    assert.deepEqual(ours(script), []);
    await vscode.commands.executeCommand("vramlint.scanWorkspace");
    await diagnosticOf(script, "eval-without-no-grad");
    const notebook = await diagnosticOf(fileInProject("train.ipynb"), "empty-cache-in-loop");
    assert.match(notebook.message, /^Cell 4: /);
  });

  it("says nothing twice of a file that is opened, and keeps it when it is closed", async () => {
    // As a user does: what an extension opens stays open for a while after its tab was closed.
    await vscode.commands.executeCommand("vscode.open", script);
    const once = (found: vscode.Diagnostic[]) =>
      found.filter((of) => ruleOf(of) === "eval-without-no-grad").length === 1;
    await diagnosticsWhere(script, once, "one finding of the rule");
    assert.equal(vscode.window.activeTextEditor?.document.uri.path, script.path);
    await closeEverything();
    await diagnosticsWhere(script, once, "it stays");
  });

  it("follows files that are deleted, and takes everything back when asked", async () => {
    const other = fileInProject("models/train_more.py");
    await vscode.workspace.fs.copy(script, other);
    await diagnosticOf(other, "eval-without-no-grad");
    await vscode.workspace.fs.delete(other);
    await diagnosticsWhere(other, (found) => found.length === 0, "nothing of the deleted file");
    await vscode.commands.executeCommand("vramlint.clearScan");
    await diagnosticsWhere(script, (found) => found.length === 0, "nothing of closed files");
  });
});
