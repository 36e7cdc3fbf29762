import * as vscode from "vscode";
import { closeEverything, diagnosticOf, open, positionOf, setting } from "./editor";
import { ask, themes, tidyWindow } from "./pictures";

const isChinese = process.env["VRAMLINT_SUITE_LOCALE"] === "zh-cn";

describe("pictures", () => {
  before(function () {
    if (process.env["VRAMLINT_PICTURES"] === undefined) this.skip();
  });
  after(closeEverything);

  for (const [shade, theme] of Object.entries(themes)) {
    /** One shade is enough for the walkthrough: the pictures travel with the extension. */
    const small = (of: string, clip: string): { walkthrough?: string; clip?: string } =>
      shade === "dark" ? { walkthrough: isChinese ? `${of}.zh-cn` : of, clip } : {};
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
      await ask({
        wait: ".monaco-hover .marker.hover-contents",
        picture: name("diagnostics"),
        ...small("finding", "0,0,660,380"),
      });
      await ask({ press: "Escape", gone: ".monaco-hover .marker.hover-contents" });

      editor.selection = at(call);
      await vscode.commands.executeCommand("editor.action.quickFix");
      await ask({ wait: ".action-widget", picture: name("quick-fix"), ...small("fix", "0,60,600,360") });
      await ask({ press: "Escape", gone: ".action-widget" });

      await ask({ size: "1000x720" });
      await show(editor, '"""Trains', 0);
      editor.selection = at(positionOf(editor.document, "class ResNet", 7));
      await vscode.commands.executeCommand("editor.action.showHover");
      await ask({ wait: ".monaco-hover table", picture: name("hover"), ...small("model", "0,330,860,300") });
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
      await ask({
        wait: ".suggest-widget .monaco-list-row",
        picture: name("header"),
        ...small("header", "0,30,980,190"),
      });
      await ask({ press: "Escape", gone: ".suggest-widget .monaco-list-row" });
    });
  }
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

function pictureName(of: string, shade: string): string {
  return [of, ...(shade === "dark" ? ["dark"] : []), ...(isChinese ? ["zh-cn"] : [])].join(".");
}

function at(position: vscode.Position): vscode.Selection {
  return new vscode.Selection(position, position);
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
