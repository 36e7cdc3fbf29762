import assert from "node:assert/strict";
import * as vscode from "vscode";
import {
  closeEverything,
  diagnosticOf,
  diagnosticsWhere,
  extensionId,
  open,
  ours,
  replace,
  revert,
  ruleOf,
  setting,
  until,
} from "./editor";

describe("commands", () => {
  afterEach(closeEverything);

  it("open a rule's page as rendered Markdown", async () => {
    await vscode.commands.executeCommand("vramlint.openRulePage", "eval-without-no-grad");
    const shown = () => {
      const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
      return tab?.input instanceof vscode.TabInputWebview ? tab : undefined;
    };
    const tab = await until([vscode.window.tabGroups.onDidChangeTabs], shown, "a page");
    assert.match(tab.label, /eval-without-no-grad\.md/);
  });

  it("refuse names that are no rule's", async () => {
    for (const name of ["../../../package", "no-such-rule", "", "eval-without-no-grad/../x"]) {
      await vscode.commands.executeCommand("vramlint.openRulePage", name);
    }
    assert.equal(vscode.window.tabGroups.activeTabGroup.activeTab, undefined);
  });

  it("open the example, which has findings", async () => {
    await vscode.commands.executeCommand("vramlint.openExample");
    const example = vscode.window.activeTextEditor?.document;
    assert.ok(example?.isUntitled);
    await diagnosticOf(example.uri, "eval-without-no-grad");
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  });

  it("apply all safe fixes in one step", async () => {
    const editor = await open("train.py");
    const { document } = editor;
    await diagnosticOf(document.uri, "eval-without-no-grad");
    const before = document.getText();
    await vscode.commands.executeCommand("vramlint.fixAll");
    assert.match(document.getText(), /with torch\.no_grad\(\):/);
    assert.doesNotMatch(document.getText(), /empty_cache/);
    await vscode.commands.executeCommand("undo");
    assert.equal(document.getText(), before);
    await revert(editor);
  });

  it("speak of the script that was in front last where the walkthrough is, whose buttons they are", async () => {
    const walkthrough = async () => {
      await vscode.commands.executeCommand("workbench.action.openWalkthrough", `${extensionId}#start`, false);
      const isShown = () => vscode.window.activeTextEditor === undefined;
      await until([vscode.window.onDidChangeActiveTextEditor], isShown, "the walkthrough");
    };
    const editor = await open("train.py");
    const { document } = editor;
    await diagnosticOf(document.uri, "eval-without-no-grad");
    const header = new vscode.Range(1, 0, 3, 0);
    assert.ok(await editor.edit((builder) => builder.delete(header)));
    await walkthrough();
    await vscode.commands.executeCommand("vramlint.fixAll");
    assert.match(document.getText(), /with torch\.no_grad\(\):/);
    assert.equal(vscode.window.activeTextEditor?.document, document, "it is shown");
    await walkthrough();
    await vscode.commands.executeCommand("vramlint.insertHeader");
    assert.match(document.getText(), /^# vram: device=/m);
    await walkthrough();
    await vscode.commands.executeCommand("vramlint.showTimeline");
    const tabs = () => vscode.window.tabGroups.all.flatMap(({ tabs: all }) => all);
    const isPanel = ({ input }: vscode.Tab): boolean =>
      input instanceof vscode.TabInputWebview && input.viewType.includes("vramlint.timeline");
    await until([vscode.window.tabGroups.onDidChangeTabs], () => tabs().some(isPanel), "the timeline");
    await revert(vscode.window.visibleTextEditors.find((one) => one.document === document) ?? editor);
  });

  it("leave everything alone where there was no script", async () => {
    const names = ["fixAll", "insertHeader", "showTimeline"];
    for (const name of names) await vscode.commands.executeCommand(`vramlint.${name}`);
    assert.deepEqual(
      vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs),
      [],
    );
  });

  it("apply them on save where VS Code is told to", async () => {
    const editor = await open("train.py");
    const { document } = editor;
    await diagnosticOf(document.uri, "eval-without-no-grad");
    const before = document.getText();
    await setting("editor.codeActionsOnSave", { "source.fixAll.vramlint": "explicit" });
    try {
      await replace(editor, "range(30)", "range(31)");
      assert.ok(await document.save());
      assert.match(document.getText(), /with torch\.no_grad\(\):/);
      assert.equal(document.isDirty, false);
    } finally {
      await setting("editor.codeActionsOnSave", undefined);
      await vscode.workspace.fs.writeFile(document.uri, Buffer.from(before));
      await revert(editor);
    }
  });

  it("insert a budget header filled from the script, once", async () => {
    const editor = await open("train.py");
    const { document } = editor;
    const header = new vscode.Range(1, 0, 3, 0);
    assert.match(document.getText(header), /^# vram: .*\n# vram: .*\n$/);
    assert.ok(await editor.edit((builder) => builder.delete(header)));
    await vscode.commands.executeCommand("vramlint.insertHeader");
    const text = document.getText();
    assert.match(text, /^""".*"""\r?\n# vram: device=8GiB, budget=6\.5GiB, batch=256\r?\n# vram: input=/);
    assert.match(text, /# vram: optimizer=adamw, precision=fp32\r?\nimport torch/);
    assert.equal(document.getText(editor.selection), "8GiB", "the first placeholder is selected");
    await vscode.commands.executeCommand("vramlint.insertHeader");
    assert.equal(document.getText(), text);
    await revert(editor);
  });

  it("restart the server, which finds the same again", async () => {
    const { document } = await open("train.py");
    await diagnosticOf(document.uri, "eval-without-no-grad");
    const before = ours(document.uri).map(ruleOf);
    await vscode.commands.executeCommand("vramlint.restart");
    const after = await diagnosticsWhere(
      document.uri,
      (found) => found.length === before.length,
      "the same findings",
    );
    assert.deepEqual(after.map(ruleOf), before);
  });
});
