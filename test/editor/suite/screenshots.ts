import * as vscode from "vscode";
import { closeEverything, diagnosticOf, open, positionOf, setting } from "./editor";
import { ask, isChinese, pictureName, themes, tidyWindow } from "./pictures";

describe("pictures", () => {
  before(function () {
    if (process.env["VRAMLINT_PICTURES"] === undefined) this.skip();
  });
  after(closeEverything);

  for (const [shade, theme] of Object.entries(themes)) {
    const name = (of: string): string => pictureName(of, shade);

    it(`are taken in ${shade}`, async () => {
      await setting("workbench.colorTheme", theme);
      await tidyWindow();
      await ask({ size: "1000x560" });
      const editor = await open("train.py");
      await diagnosticOf(editor.document.uri, "eval-without-no-grad");

      await show(editor, "def evaluate", 3);
      const call = positionOf(editor.document, "model(images)\n        total_loss", 2);
      editor.selection = at(call);
      await vscode.commands.executeCommand("editor.action.showHover");
      await ask({ wait: ".monaco-hover .marker.hover-contents", picture: name("diagnostics") });
      await ask({ press: "Escape", gone: ".monaco-hover .marker.hover-contents" });

      editor.selection = at(call);
      await showQuickFixes();
      await ask({ picture: name("quick-fix") });
      await ask({ press: "Escape", gone: ".action-widget" });

      await ask({ size: "1000x720" });
      await show(editor, '"""Trains', 0);
      editor.selection = at(positionOf(editor.document, "class ResNet", 7));
      await vscode.commands.executeCommand("editor.action.showHover");
      await ask({ wait: ".monaco-hover table", picture: name("hover") });
      await ask({ press: "Escape", gone: ".monaco-hover table" });

      await ask({ size: "1000x560" });
      await show(editor, "class Block", 1);
      editor.selection = at(positionOf(editor.document, "self.norm1 = ", 6));
      await vscode.commands.executeCommand("editor.action.showHover");
      await ask({ wait: ".monaco-hover table", picture: name("layer") });
      await ask({ press: "Escape", gone: ".monaco-hover table" });

      await show(editor, '"""Trains', 0);
      editor.selection = at(positionOf(editor.document, "precision=fp32", "precision=".length));
      await vscode.commands.executeCommand("editor.action.triggerSuggest");
      await ask({ wait: ".suggest-widget .monaco-list-row", picture: name("header") });
      await ask({ press: "Escape", gone: ".suggest-widget .monaco-list-row" });
    });
  }
});

describe("pictures of the walkthrough", () => {
  before(function () {
    if (process.env["VRAMLINT_PICTURES"] === undefined) this.skip();
  });
  after(async () => {
    await setting("editor.wordWrap", undefined);
    await closeEverything();
  });
  const drawing = (of: string): string => (isChinese ? `${of}.zh-cn` : of);

  it("are drawn as wide as the walkthrough shows them", async () => {
    await setting("workbench.colorTheme", themes.dark);
    await setting("editor.wordWrap", "on");
    await tidyWindow();
    await ask({ size: "600x420" });
    const editor = await open("train.py");
    await diagnosticOf(editor.document.uri, "eval-without-no-grad");

    await show(editor, "def evaluate", 6);
    const call = positionOf(editor.document, "model(images)\n        total_loss", 2);
    editor.selection = at(call);
    await vscode.commands.executeCommand("editor.action.showHover");
    await ask({
      wait: ".monaco-hover .marker.hover-contents",
      walkthrough: drawing("finding"),
      clip: "0,36,600,384",
    });
    await ask({ press: "Escape", gone: ".monaco-hover .marker.hover-contents" });

    editor.selection = at(call);
    await showQuickFixes();
    await ask({ wait: ".action-widget", walkthrough: drawing("fix"), clip: "0,36,600,384" });
    await ask({ press: "Escape", gone: ".action-widget" });

    await show(editor, "class ResNet", 12);
    editor.selection = at(positionOf(editor.document, "class ResNet", 7));
    await vscode.commands.executeCommand("editor.action.showHover");
    await ask({ wait: ".monaco-hover table", walkthrough: drawing("model"), clip: "0,36,600,384" });
    await ask({ press: "Escape", gone: ".monaco-hover table" });

    await show(editor, '"""Trains', 0);
    editor.selection = at(positionOf(editor.document, "precision=fp32", "precision=".length));
    await vscode.commands.executeCommand("editor.action.triggerSuggest");
    await ask({
      wait: ".suggest-widget .monaco-list-row",
      walkthrough: drawing("header"),
      clip: "0,36,600,270",
    });
    await ask({ press: "Escape", gone: ".suggest-widget .monaco-list-row" });
  });

  it("show the memory timeline", async () => {
    await setting("workbench.colorTheme", themes.dark);
    await tidyWindow();
    await ask({ size: "760x800" });
    const editor = await open("train.py");
    await diagnosticOf(editor.document.uri, "eval-without-no-grad");
    await vscode.commands.executeCommand("vramlint.showTimeline");
    await ask({ in: "panel", wait: ".plot > svg" });
    await vscode.commands.executeCommand("workbench.action.focusNextGroup");
    await vscode.commands.executeCommand("workbench.action.toggleMaximizeEditorGroup");
    await ask({ in: "panel", wait: ".plot > svg", walkthrough: drawing("timeline"), clip: "0,0,760,735" });
  });
});

describe("pictures of the memory timeline", () => {
  before(function () {
    if (process.env["VRAMLINT_PICTURES"] === undefined) this.skip();
  });
  after(closeEverything);

  for (const [shade, theme] of Object.entries(themes)) {
    it(`are taken in ${shade}`, async () => {
      await setting("workbench.colorTheme", theme);
      await tidyWindow();
      await ask({ size: "1480x900" });
      await show(await open("train.py"), "class Block", 1);
      await vscode.commands.executeCommand("vramlint.showTimeline");
      await ask({ in: "panel", wait: ".plot > svg" });
      await ask({ in: "panel", fill: "#recompute", value: "4" });
      await ask({ in: "panel", wait: "#panel[data-delay]", picture: pictureName("timeline", shade) });
      await closeEverything();
    });
  }
});

function at(position: vscode.Position): vscode.Selection {
  return new vscode.Selection(position, position);
}

/** The list of quick fixes at the cursor. VS Code drops the command where a hover has just given the focus back: then once more. */
async function showQuickFixes(): Promise<void> {
  const open = async (): Promise<void> => {
    await vscode.commands.executeCommand("workbench.action.focusActiveEditorGroup");
    await vscode.commands.executeCommand("editor.action.quickFix");
    await ask({ wait: ".action-widget" });
  };
  await open().catch(open);
}

/** Puts the line of a piece of text at the top, with some lines above it. */
async function show(editor: vscode.TextEditor, piece: string, above: number): Promise<void> {
  const position = positionOf(editor.document, piece);
  editor.selection = at(position);
  await vscode.commands.executeCommand("revealLine", {
    lineNumber: Math.max(0, position.line - above),
    at: "top",
  });
}
