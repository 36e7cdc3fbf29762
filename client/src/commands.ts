/** The extension's commands. */
import * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";
import { budgetHeaderMethod } from "../../server/src/lsp/header-request";
import type { BudgetHeaderAnswer, BudgetHeaderParams } from "../../server/src/lsp/header-request";
import type { TimelinePanels } from "./panel/timeline-panels";
import type { RulePages } from "./rule-pages";
import type { ScriptInFront } from "./script-in-front";
import { writeTrainingPlan } from "./training-plan";
import { clearScan, scanWorkspace } from "./workspace-scan";

export function registerCommands(
  client: BaseLanguageClient,
  log: vscode.LogOutputChannel,
  pages: RulePages,
  timelines: TimelinePanels,
  front: ScriptInFront,
  extension: vscode.Uri,
): vscode.Disposable[] {
  return [
    vscode.commands.registerCommand("vramlint.restart", () => restart(client)),
    vscode.commands.registerCommand("vramlint.showLog", () => log.show()),
    vscode.commands.registerCommand("vramlint.fixAll", () => fixAll(front)),
    vscode.commands.registerCommand("vramlint.insertHeader", () => insertHeader(client, front)),
    vscode.commands.registerCommand("vramlint.scanWorkspace", () => scanWorkspace(client)),
    vscode.commands.registerCommand("vramlint.clearScan", () => clearScan(client)),
    vscode.commands.registerCommand("vramlint.writeTrainingPlan", () => writeTrainingPlan(client)),
    vscode.commands.registerCommand("vramlint.showTimeline", (uri: unknown) => timelines.show(uri)),
    vscode.commands.registerCommand("vramlint.openExample", () => openExample(extension)),
    vscode.commands.registerCommand("vramlint.openRulePage", (rule: unknown) => pages.open(rule)),
  ];
}

/** The client for browsers has no command of its own for it. */
async function restart(client: BaseLanguageClient): Promise<void> {
  await client.stop();
  await client.start();
}

/** A faulty training script to try things on, as a document of its own: nothing of the user's is touched. */
async function openExample(extension: vscode.Uri): Promise<void> {
  const file = await vscode.workspace.fs.readFile(
    vscode.Uri.joinPath(extension, "dist", "example", "train.py"),
  );
  const content = new TextDecoder().decode(file);
  const document = await vscode.workspace.openTextDocument({ language: "python", content });
  await vscode.window.showTextDocument(document);
}

/** A budget header filled from the script; what the script does not say is left to be filled in. */
async function insertHeader(client: BaseLanguageClient, front: ScriptInFront): Promise<void> {
  const script = await front.document();
  if (script === undefined) return;
  const params: BudgetHeaderParams = { textDocument: { uri: script.uri.toString() } };
  const answer = await client.sendRequest<BudgetHeaderAnswer | null>(budgetHeaderMethod, params);
  if (answer === null) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t("vramlint: this file has a budget header already, or nothing to estimate."),
    );
    return;
  }
  const { line, character } = answer.position;
  const position = new vscode.Position(line, character);
  const snippet = new vscode.SnippetString(answer.snippet);
  const active = vscode.window.activeTextEditor;
  if (active?.document.uri.toString() === answer.uri) {
    await active.insertSnippet(snippet, position);
    return;
  }
  // Another cell of the notebook, which may not be visible.
  const edit = new vscode.WorkspaceEdit();
  edit.set(vscode.Uri.parse(answer.uri), [vscode.SnippetTextEdit.insert(position, snippet)]);
  await vscode.workspace.applyEdit(edit);
}

/** All safe fixes of the file or the notebook in front, as one step that undo takes back. */
async function fixAll(front: ScriptInFront): Promise<void> {
  const script = await front.document();
  if (script === undefined) return;
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    "vscode.executeCodeActionProvider",
    script.uri,
    new vscode.Range(0, 0, script.lineCount, 0),
    "source.fixAll.vramlint",
  );
  const edit = actions.find(({ kind }) => kind?.value === "source.fixAll.vramlint")?.edit;
  if (edit === undefined) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t("vramlint: there is nothing to fix safely here."),
    );
    return;
  }
  await vscode.workspace.applyEdit(edit);
}
