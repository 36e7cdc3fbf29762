import assert from "node:assert/strict";
import * as vscode from "vscode";
import {
  closeEverything,
  diagnosticOf,
  fileInProject,
  open,
  positionOf,
  replace,
  revert,
  until,
} from "./editor";
import { ask } from "./pictures";

const peak = ".card.main .value";

async function show(file: string): Promise<vscode.TextEditor> {
  const editor = await open(file);
  await vscode.commands.executeCommand("vramlint.showTimeline");
  return editor;
}

async function textOf(selector: string): Promise<string> {
  return ask({ in: "panel", read: selector });
}

describe("the memory timeline", () => {
  before(function () {
    if (process.env["VRAMLINT_PICTURES"] === undefined) this.skip();
  });
  afterEach(closeEverything);

  it("shows the step beside the script, with the peak that the hints give", async () => {
    const { document } = await show("train.py");
    await diagnosticOf(document.uri, "eval-without-no-grad");
    await ask({ in: "panel", wait: ".plot > svg" });
    const tab = vscode.window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .find(({ label }) => label === "Memory of train.py");
    assert.ok(tab?.input instanceof vscode.TabInputWebview);
    assert.equal(await textOf(peak), "4.46 GiB");
    assert.match(await textOf(".assumptions"), /batch=256/);
  });

  it("simulates what a slider says, and what was is beside it", async function () {
    await show("train.py");
    await ask({ in: "panel", wait: ".plot > svg" });
    await ask({ in: "panel", fill: "#recompute", value: "8" });
    await ask({ in: "panel", wait: "#panel[data-delay]" });
    assert.match(await textOf(".cards"), /was 4\.46 GiB, −\d+ %/);
    assert.match(await textOf(".cards"), /Extra forward work\s*\+\d+ %/);
    const delay = Number(await ask({ in: "panel", read: "#panel", attribute: "data-delay" }));
    assert.ok(delay > 0 && delay < 5000, `${delay} ms`);
    if (this.test !== undefined) this.test.title += `; the picture comes after ${delay} ms`;
    await ask({ in: "panel", click: ".controls header .quiet" });
    await ask({ in: "panel", gone: ".field.changed" });
  });

  it("is behind a button of the script's title and a link in the model's hover", async () => {
    const editor = await open("train.py");
    await diagnosticOf(editor.document.uri, "eval-without-no-grad");
    const button = '.editor-group-container .action-label[aria-label*="Memory Timeline"]';
    await ask({ wait: button });
    await ask({ click: button });
    await ask({ in: "panel", wait: ".plot > svg" });
    await closeEverything();
    const again = await open("train.py");
    const place = positionOf(again.document, "class ResNet", 7);
    again.selection = new vscode.Selection(place, place);
    await vscode.commands.executeCommand("editor.action.showHover");
    const link = '.monaco-hover a:text-is("Show the memory timeline")';
    await ask({ wait: link });
    await ask({ click: link });
    await ask({ in: "panel", wait: ".plot > svg" });
  });

  it("follows the script, and the editor in front", async () => {
    const editor = await show("train.py");
    await ask({ in: "panel", wait: ".plot > svg" });
    await replace(editor, "batch=256", "batch=64");
    await ask({ in: "panel", wait: `${peak}:not(:text-is("4.46 GiB"))` });
    await revert(editor);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(fileInProject("notes.py")), {
      viewColumn: vscode.ViewColumn.One,
    });
    await ask({ in: "panel", wait: ".nothing .reasons" });
    assert.match(await textOf(".nothing"), /neither imports PyTorch/);
  });

  it("is walked by keyboard: it says the moment and opens its line", async () => {
    const { document } = await show("train.py");
    await ask({ in: "panel", wait: ".plot > svg" });
    await ask({ in: "panel", focus: ".plot", press: "p" });
    await ask({ in: "panel", wait: ".tooltip" });
    const { line } = positionOf(document, "out = self.norm2(self.conv2(out))");
    assert.match(await textOf("[aria-live]"), new RegExp(`4\\.46 GiB, Backward, .*line ${line + 1}`));
    await ask({ in: "panel", press: "Enter" });
    await until(
      [vscode.window.onDidChangeTextEditorSelection, vscode.window.onDidChangeActiveTextEditor],
      () => vscode.window.activeTextEditor?.selection.active.line === line,
      "the line of the peak",
    );
  });

  for (const format of ["svg", "png"]) {
    it(`is saved as ${format.toUpperCase()} where the user says, with the setup that it is of`, async () => {
      await show("train.py");
      await ask({ in: "panel", wait: ".plot > svg" });
      await ask({ in: "panel", fill: "#recompute", value: "8" });
      await ask({ in: "panel", wait: "#panel[data-delay]" });
      const target = fileInProject(`train-memory.${format}`);
      const created = vscode.workspace.createFileSystemWatcher(target.fsPath);
      let isThere = false;
      created.onDidCreate(() => (isThere = true));
      try {
        await ask({ in: "panel", click: `.tool:text-is("${format.toUpperCase()}")` });
        await ask({ wait: ".quick-input-widget .quick-input-action" });
        await ask({ press: "Enter" });
        await until([created.onDidCreate, created.onDidChange], () => isThere, "the picture is written");
        const bytes = await vscode.workspace.fs.readFile(target);
        if (format === "png") {
          const view = new DataView(bytes.buffer, bytes.byteOffset);
          assert.deepEqual([view.getUint32(16), view.getUint32(20)], [2000, 1120]);
        } else {
          const text = new TextDecoder().decode(bytes);
          assert.match(text, /One training step of ResNet — train\.py/);
          assert.match(text, /Peak: [\d.]+ GiB · Micro-batch 256 · fp32 · adamw · Recompute 8 \/ 8 Block/);
          assert.match(text, /<\/svg>\s*$/);
        }
      } finally {
        created.dispose();
        await ask({ in: "panel", click: ".controls header .quiet" });
        await vscode.workspace.fs.delete(target);
      }
    });
  }

  it("has all moments in a table", async () => {
    await show("train.py");
    await ask({ in: "panel", wait: ".plot > svg" });
    await ask({ in: "panel", click: ".under button" });
    await ask({ in: "panel", wait: ".table tr.peak" });
    assert.match(await textOf(".table tr.peak"), /Backward.*4\.46 GiB/s);
  });
});
