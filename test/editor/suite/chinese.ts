import assert from "node:assert/strict";
import * as vscode from "vscode";
import {
  actionsAt,
  closeEverything,
  diagnosticOf,
  hoverText,
  labelOf,
  open,
  positionOf,
  until,
} from "./editor";
import "./screenshots";
import "./walkthrough";

const chinese = /\p{Script=Han}/u;

describe("in Chinese", () => {
  before(function () {
    // The desktop needs a language pack for that, which is not there.
    if (!vscode.env.language.startsWith("zh")) this.skip();
  });
  after(closeEverything);

  it("findings, fixes and suppressions are Chinese", async () => {
    const { document } = await open("train.py");
    const finding = await diagnosticOf(document.uri, "eval-without-no-grad");
    assert.match(finding.message, chinese);
    for (const { message } of finding.relatedInformation ?? []) assert.match(message, chinese);
    const actions = await actionsAt(document.uri, finding.range);
    assert.ok(actions.length >= 4);
    for (const { title } of actions) assert.match(title, chinese);
  });

  it("hovers and hints are Chinese", async () => {
    const { document } = await open("train.py");
    await diagnosticOf(document.uri, "eval-without-no-grad");
    assert.match(await hoverText(document.uri, positionOf(document, "class ResNet", 7)), /参数.*梯度/s);
    const range = new vscode.Range(0, 0, document.lineCount, 0);
    const hints = await vscode.commands.executeCommand<vscode.InlayHint[]>(
      "vscode.executeInlayHintProvider",
      document.uri,
      range,
    );
    assert.ok(hints.length > 0);
    for (const hint of hints) assert.match(labelOf(hint), chinese);
  });

  it("the manifest is Chinese", () => {
    const manifest = vscode.extensions.getExtension("vramlint.vramlint")?.packageJSON as {
      description: string;
      contributes: { commands: { title: string | { value: string } }[] };
    };
    assert.match(manifest.description, chinese);
    for (const { title } of manifest.contributes.commands) {
      assert.match(typeof title === "string" ? title : title.value, chinese);
    }
  });

  it("a rule's page is Chinese", async () => {
    await vscode.commands.executeCommand("vramlint.openRulePage", "eval-without-no-grad");
    const label = () => vscode.window.tabGroups.activeTabGroup.activeTab?.label;
    await until(
      [vscode.window.tabGroups.onDidChangeTabs],
      () => label()?.includes("eval-without-no-grad.md"),
      "the page",
    );
    const page = vscode.Uri.parse("vramlint-page:/zh-cn/eval-without-no-grad.md");
    assert.match((await vscode.workspace.openTextDocument(page)).getText(), chinese);
  });
});
