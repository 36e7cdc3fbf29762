import assert from "node:assert/strict";
import * as vscode from "vscode";
import {
  actionsAt,
  closeEverything,
  diagnosticOf,
  diagnosticsWhere,
  extensionId,
  fileInProject,
  open,
  ours,
} from "./editor";
import { positionOf, replace, revert, ruleOf, setting } from "./editor";

describe("findings in the editor", () => {
  let editor: vscode.TextEditor;
  beforeEach(async () => {
    editor = await open("train.py");
    await diagnosticOf(editor.document.uri, "eval-without-no-grad");
  });
  afterEach(async () => {
    await revert(editor);
    await closeEverything();
  });

  it("come in a folder that is not trusted", () => {
    assert.equal(vscode.workspace.isTrusted, false);
    assert.equal(vscode.extensions.getExtension(extensionId)?.isActive, true);
  });

  it("stand where they belong, with their page and related places", async () => {
    const { document } = editor;
    const finding = await diagnosticOf(document.uri, "eval-without-no-grad");
    assert.equal(finding.range.start.line, positionOf(document, "logits = model(images)").line);
    assert.equal(finding.severity, vscode.DiagnosticSeverity.Error);
    assert.ok((finding.relatedInformation ?? []).length > 0);
    assert.equal(typeof finding.code === "object" && finding.code.target.scheme, "command");
  });

  it("go with the quick fix, which wraps the evaluation in no_grad", async () => {
    const { document } = editor;
    const finding = await diagnosticOf(document.uri, "eval-without-no-grad");
    const actions = await actionsAt(document.uri, finding.range);
    const preferred = actions.find(({ isPreferred }) => isPreferred);
    assert.ok(preferred?.edit, actions.map(({ title }) => title).join("; "));
    assert.ok(await vscode.workspace.applyEdit(preferred.edit));
    const evaluate = document.getText().slice(document.getText().indexOf("def evaluate"));
    const expected = [
      "def evaluate(model, loader, device):",
      "    model.eval()",
      "    total_loss, correct = 0.0, 0",
      "    with torch.no_grad():",
      "        for images, labels in loader:",
      "            images, labels = images.to(device), labels.to(device)",
      "            logits = model(images)",
      "            total_loss += F.cross_entropy(logits, labels)",
      "            correct += (logits.argmax(dim=1) == labels).sum().item()",
      "",
    ].join("\n");
    assert.equal(evaluate.slice(0, expected.length), expected);
    const isGone = (found: vscode.Diagnostic[]) => found.every((of) => ruleOf(of) !== "eval-without-no-grad");
    await diagnosticsWhere(document.uri, isGone, "the finding goes");
  });

  it("follow typing", async () => {
    const { document } = editor;
    const count = ours(document.uri).length;
    await replace(editor, "        torch.cuda.empty_cache()\n", "");
    const after = await diagnosticsWhere(
      document.uri,
      (found) => found.length === count - 1,
      "one finding less",
    );
    assert.ok(after.every((of) => ruleOf(of) !== "empty-cache-in-loop"));
    await vscode.commands.executeCommand("undo");
    await diagnosticsWhere(document.uri, (found) => found.length === count, "the finding is back");
  });

  it("obey the level of a rule and come back without it", async () => {
    const { document } = editor;
    const has = (rule: string) => (found: vscode.Diagnostic[]) => found.some((of) => ruleOf(of) === rule);
    await setting("vramlint.levels", { "empty-cache-in-loop": "off" });
    await diagnosticsWhere(document.uri, (found) => !has("empty-cache-in-loop")(found), "the rule is silent");
    await setting("vramlint.levels", undefined);
    await diagnosticsWhere(document.uri, has("empty-cache-in-loop"), "the rule speaks again");
  });

  it("can be hidden on their line", async () => {
    const { document } = editor;
    const finding = await diagnosticOf(document.uri, "empty-cache-in-loop");
    const action = (await actionsAt(document.uri, finding.range)).find(({ title }) =>
      /on this line/.test(title),
    );
    assert.ok(action?.edit);
    assert.ok(await vscode.workspace.applyEdit(action.edit));
    assert.match(
      document.getText(),
      /torch\.cuda\.empty_cache\(\) {2}# vram: ignore\[empty-cache-in-loop\]\n/,
    );
    const isGone = (found: vscode.Diagnostic[]) => found.every((of) => ruleOf(of) !== "empty-cache-in-loop");
    await diagnosticsWhere(document.uri, isGone, "the finding is hidden");
  });

  it("are none in a file that does not train", async () => {
    await open("notes.py");
    assert.deepEqual(ours(fileInProject("notes.py")), []);
  });
});
