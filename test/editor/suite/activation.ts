import assert from "node:assert/strict";
import * as vscode from "vscode";
import { closeEverything, diagnosticOf, extensionId, open } from "./editor";

describe("the extension", () => {
  after(closeEverything);

  it("sleeps until a Python file is opened", async () => {
    assert.equal(vscode.extensions.getExtension(extensionId)?.isActive, false);
    const { document } = await open("train.py");
    await diagnosticOf(document.uri, "eval-without-no-grad");
    assert.equal(vscode.extensions.getExtension(extensionId)?.isActive, true);
  });

  it("has all commands of its manifest", async () => {
    await vscode.extensions.getExtension(extensionId)?.activate();
    const manifest = vscode.extensions.getExtension(extensionId)?.packageJSON as {
      contributes: { commands: { command: string }[] };
    };
    const known = new Set(await vscode.commands.getCommands(true));
    for (const { command } of manifest.contributes.commands) assert.ok(known.has(command), command);
  });
});
