/** The extension's commands. */
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { RulePages } from "./rule-pages";

export function registerCommands(
  client: LanguageClient,
  log: vscode.LogOutputChannel,
  pages: RulePages,
): vscode.Disposable[] {
  return [
    vscode.commands.registerCommand("vramlint.restart", () => client.restart()),
    vscode.commands.registerCommand("vramlint.showLog", () => log.show()),
    vscode.commands.registerCommand("vramlint.fixAll", fixAll),
    vscode.commands.registerCommand("vramlint.openRulePage", (rule: unknown) => pages.open(rule)),
  ];
}

/** All safe fixes of the active file, as one step that undo takes back. */
async function fixAll(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== "python") return;
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    "vscode.executeCodeActionProvider",
    editor.document.uri,
    new vscode.Range(0, 0, editor.document.lineCount, 0),
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
