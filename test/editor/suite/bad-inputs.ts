/** What else a window can hold: the other side of a difference, files that get another name or go, other schemes. */
import assert from "node:assert/strict";
import * as vscode from "vscode";
import { closeEverything, diagnosticOf, diagnosticsWhere, fileInProject, ours, ruleOf } from "./editor";

describe("findings stay in order", () => {
  const script = fileInProject("other/train.py");
  beforeEach(async () => {
    const text = await vscode.workspace.fs.readFile(fileInProject("train.py"));
    await vscode.workspace.fs.writeFile(script, text);
  });
  afterEach(async () => {
    await closeEverything();
    await vscode.workspace.fs.delete(vscode.Uri.joinPath(script, ".."), { recursive: true });
  });

  it("in the view of a difference, whose old side is not reported", async () => {
    const text = (await vscode.workspace.openTextDocument(script)).getText();
    const provider = vscode.workspace.registerTextDocumentContentProvider("git", {
      provideTextDocumentContent: () => text,
    });
    try {
      const old = script.with({ scheme: "git", query: "{}" });
      await vscode.commands.executeCommand("vscode.diff", old, script, "difference");
      await diagnosticOf(script, "eval-without-no-grad");
      assert.deepEqual(ours(old), []);
    } finally {
      provider.dispose();
    }
  });

  it("when a file gets another name", async () => {
    await vscode.commands.executeCommand("vscode.open", script);
    await diagnosticOf(script, "eval-without-no-grad");
    const renamed = fileInProject("other/renamed.py");
    const edit = new vscode.WorkspaceEdit();
    edit.renameFile(script, renamed);
    assert.ok(await vscode.workspace.applyEdit(edit));
    await diagnosticOf(renamed, "eval-without-no-grad");
    await diagnosticsWhere(script, (found) => found.length === 0, "nothing under the old name");
  });

  it("when a file goes", async () => {
    await vscode.commands.executeCommand("vscode.open", script);
    await diagnosticOf(script, "eval-without-no-grad");
    const edit = new vscode.WorkspaceEdit();
    edit.deleteFile(script);
    assert.ok(await vscode.workspace.applyEdit(edit));
    await diagnosticsWhere(script, (found) => found.length === 0, "nothing of a file that is gone");
    const text = await vscode.workspace.fs.readFile(fileInProject("train.py"));
    await vscode.workspace.fs.writeFile(script, text);
  });

  it("when the settings above the folder change", async () => {
    await vscode.commands.executeCommand("vscode.open", script);
    await diagnosticOf(script, "empty-cache-in-loop");
    const above = fileInProject("../vramlint.toml");
    await vscode.workspace.fs.writeFile(above, Buffer.from('ignore = ["empty-cache-in-loop"]\n'));
    try {
      const isGone = (found: vscode.Diagnostic[]) =>
        found.every((of) => ruleOf(of) !== "empty-cache-in-loop");
      await diagnosticsWhere(script, (found) => found.length > 0 && isGone(found), "the rule is silent");
    } finally {
      await vscode.workspace.fs.delete(above);
    }
    await diagnosticOf(script, "empty-cache-in-loop");
  });

  it("in a document that was never saved", async () => {
    const content = Buffer.from(await vscode.workspace.fs.readFile(script)).toString();
    const { uri } = await vscode.workspace.openTextDocument({ language: "python", content });
    await vscode.commands.executeCommand("vscode.open", uri);
    const finding = await diagnosticOf(uri, "eval-without-no-grad");
    assert.equal(ours(uri).filter((of) => ruleOf(of) === ruleOf(finding)).length, 1);
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  });

  it("in two editors of one file", async () => {
    await vscode.commands.executeCommand("vscode.open", script);
    await vscode.commands.executeCommand("workbench.action.splitEditor");
    const finding = await diagnosticOf(script, "eval-without-no-grad");
    assert.equal(ours(script).filter((of) => ruleOf(of) === ruleOf(finding)).length, 1);
  });
});
