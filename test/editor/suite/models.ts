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
  replace,
  revert,
  setting,
} from "./editor";

async function hintsOf({ uri, lineCount }: vscode.TextDocument): Promise<vscode.InlayHint[]> {
  const range = new vscode.Range(0, 0, lineCount, 0);
  return vscode.commands.executeCommand("vscode.executeInlayHintProvider", uri, range);
}

describe("what a model needs, in the editor", () => {
  let editor: vscode.TextEditor;
  before(async () => {
    editor = await open("train.py");
    await diagnosticOf(editor.document.uri, "eval-without-no-grad");
  });
  after(async () => {
    await revert(editor);
    await closeEverything();
  });

  it("shows over the class", async () => {
    const { document } = editor;
    const text = await hoverText(document.uri, positionOf(document, "class ResNet", 7));
    assert.match(text, /11,621,896 parameters, all trainable/);
    assert.match(text, /\| Gradients \| 44\.3 MiB \|/);
    assert.match(text, /\| Peak of a training step \| \d/);
  });

  it("shows over the line that makes the model", async () => {
    const { document } = editor;
    const text = await hoverText(document.uri, positionOf(document, "model = ResNet(classes=200)", 10));
    assert.match(text, /11,621,896 parameters/);
  });

  it("shows a layer over the line that makes it, and a call over the call", async () => {
    const { document } = editor;
    const layer = await hoverText(document.uri, positionOf(document, "self.norm = ", 3));
    assert.match(layer, /\| Saved for backward \| 256\.0 MiB \|/);
    const call = await hoverText(document.uri, positionOf(document, "self.blocks(x)", 6));
    assert.match(call, /`float32\[256, 512, 8, 8\]`/);
  });

  it("marks the line of the peak", async () => {
    const { document } = editor;
    const hints = await hintsOf(document);
    const peak = hints.filter((hint) => labelOf(hint) === "≈ 4.46 GiB: the peak of the step");
    assert.deepEqual(
      peak.map(({ position }) => position.line),
      [positionOf(document, "out = self.norm2(self.conv2(out))").line],
    );
  });

  it("shows figures of layers and lenses for those who want them", async () => {
    const { document } = editor;
    await setting("vramlint.inlayHints.layers", true);
    await setting("vramlint.codeLens", true);
    try {
      const labels = (await hintsOf(document)).map(labelOf);
      assert.ok(labels.includes("128 parameters, saves 256.0 MiB"), labels.join("; "));
      const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        "vscode.executeCodeLensProvider",
        document.uri,
        10,
      );
      const titles = lenses.map(({ command }) => command?.title ?? "");
      assert.ok(
        titles.some((title) => title.startsWith("a training step: ≈ ")),
        titles.join("; "),
      );
    } finally {
      await setting("vramlint.inlayHints.layers", undefined);
      await setting("vramlint.codeLens", undefined);
    }
  });

  it("completes keys and values of the header", async () => {
    const { document } = editor;
    const at = positionOf(document, "precision=fp32", "precision=".length);
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      "vscode.executeCompletionItemProvider",
      document.uri,
      at,
      "=",
    );
    const offered = list.items.map(({ label }) => (typeof label === "string" ? label : label.label));
    for (const precision of ["fp32", "amp-bf16"]) assert.ok(offered.includes(precision), offered.join(" "));
  });

  it("offers an input where only a header can say it", async () => {
    const { document } = editor;
    const figures = (): Promise<string> => hoverText(document.uri, positionOf(document, "class ResNet", 7));
    const [said] = /input=.*(?=\n)/.exec(document.getText()) ?? [];
    assert.ok(said !== undefined);
    await replace(editor, said, "attention=auto");
    assert.match(await figures(), /\| Peak of a training step \| unknown \|/);
    assert.match(await figures(), /`# vram: input=float32\[B,3,224,224\]`/);
    const at = positionOf(document, "class ResNet", 7);
    const actions = await actionsAt(document.uri, new vscode.Range(at, at));
    const write = actions.find(({ title }) => title.startsWith("Write an input into the header"));
    assert.ok(write?.edit, actions.map(({ title }) => title).join("; "));
    assert.ok(await vscode.workspace.applyEdit(write.edit));
    assert.match(document.getText(), /^# vram: input=float32\[B,3,224,224\]$/m);
    assert.match(await figures(), /\| Peak of a training step \| \d/);
    await revert(editor);
  });

  it("stands behind the header and the class, and follows edits", async () => {
    const { document } = editor;
    const before = await hintsOf(document);
    assert.ok(
      before.some(({ position }) => position.line === 2),
      "behind the header",
    );
    const line = positionOf(document, "class ResNet").line;
    const ofClass = before.find(({ position }) => position.line === line);
    assert.ok(ofClass, "behind the class");
    await replace(editor, "width=64", "width=32");
    const after = (await hintsOf(document)).find(({ position }) => position.line === line);
    assert.ok(after && after.label !== ofClass.label);
  });
});
