/** The command that writes the memory section of a training plan. */
import * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";
import { firstCell, isNotebook } from "./script-in-front";
import { trainingPlanMethod } from "../../server/src/lsp/plan-request";
import type { TrainingPlanAnswer, TrainingPlanParams } from "../../server/src/lsp/plan-request";

/** Into the Markdown document at hand, at its cursor, or else into a new one beside the script. */
export async function writeTrainingPlan(client: BaseLanguageClient): Promise<void> {
  const script = await chooseScript();
  if (script === undefined) return;
  const target = await chooseTarget();
  if (target === undefined) return;
  const params: TrainingPlanParams = { textDocument: { uri: script.toString() } };
  const answer = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: vscode.l10n.t("vramlint: computing the plan") },
    () => client.sendRequest<TrainingPlanAnswer | null>(trainingPlanMethod, params),
  );
  if (answer === null) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t("vramlint: there is nothing to plan for in this file."),
    );
    return;
  }
  if (target === "new") {
    const plan = await vscode.workspace.openTextDocument({ language: "markdown", content: answer.markdown });
    await vscode.window.showTextDocument(plan, { viewColumn: vscode.ViewColumn.Beside });
    return;
  }
  await insert(target, answer.markdown);
}

function isMarkdown({ document }: vscode.TextEditor): boolean {
  return document.languageId === "markdown";
}

/** The script in front; where that is no script, one of those in a tab; where there is none, one from the disk. */
async function chooseScript(): Promise<vscode.Uri | undefined> {
  const notebook = vscode.window.activeNotebookEditor?.notebook;
  const active = vscode.window.activeTextEditor;
  if (active?.document.languageId === "python") return active.document.uri;
  if (notebook !== undefined && (active === undefined || !isMarkdown(active)))
    return firstCell(notebook)?.uri;
  const scripts = new Map(scriptsInTabs().map((uri) => [uri.toString(), uri]));
  const items = [...scripts.values()].map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }));
  const title = vscode.l10n.t("Plan for which script?");
  const chosen = items.length > 1 ? await vscode.window.showQuickPick(items, { title }) : items[0];
  if (chosen === undefined) return items.length > 1 ? undefined : openFromDisk();
  // The server sees what is open; a tab that nobody has looked at yet is not.
  if (isNotebook(chosen.uri)) return firstCell(await vscode.workspace.openNotebookDocument(chosen.uri))?.uri;
  return (await vscode.workspace.openTextDocument(chosen.uri)).uri;
}

function scriptsInTabs(): vscode.Uri[] {
  const python = new Set(
    vscode.workspace.textDocuments
      .filter(({ languageId }) => languageId === "python")
      .map(({ uri }) => uri.toString()),
  );
  return vscode.window.tabGroups.all.flatMap(({ tabs }) =>
    tabs.flatMap(({ input }) => {
      if (input instanceof vscode.TabInputNotebook && isNotebook(input.uri)) return [input.uri];
      if (!(input instanceof vscode.TabInputText)) return [];
      return input.uri.path.endsWith(".py") || python.has(input.uri.toString()) ? [input.uri] : [];
    }),
  );
}

async function openFromDisk(): Promise<vscode.Uri | undefined> {
  const title = vscode.l10n.t("Plan for which script?");
  const [uri] = (await vscode.window.showOpenDialog({ title, filters: { Python: ["py"] } })) ?? [];
  return uri && (await vscode.workspace.openTextDocument(uri)).uri;
}

/** A Markdown document in front is meant; one that is only visible beside the script is offered. */
async function chooseTarget(): Promise<vscode.TextEditor | "new" | undefined> {
  const active = vscode.window.activeTextEditor;
  if (active !== undefined && isMarkdown(active)) return active;
  const visible = vscode.window.visibleTextEditors.filter(isMarkdown);
  if (visible.length === 0) return "new";
  const items = [
    { label: vscode.l10n.t("Into a new document"), target: "new" as const },
    ...visible.map((target) => {
      const name = vscode.workspace.asRelativePath(target.document.uri);
      return { label: vscode.l10n.t("At the cursor in {0}", name), target };
    }),
  ];
  const title = vscode.l10n.t("Where does the plan go?");
  return (await vscode.window.showQuickPick(items, { title }))?.target;
}

/** On lines of its own, whatever the cursor stands in. */
async function insert(editor: vscode.TextEditor, markdown: string): Promise<void> {
  const { document, selection } = editor;
  const line = document.lineAt(selection.active.line);
  const isEmpty = line.isEmptyOrWhitespace;
  const before = isEmpty && isBlank(document, line.lineNumber - 1) ? "" : isEmpty ? "\n" : "\n\n";
  const after = isBlank(document, line.lineNumber + 1) ? "" : "\n";
  const done = await editor.edit((builder) =>
    builder.insert(line.range.end, before + markdown.trimEnd() + "\n" + after),
  );
  if (!done) void vscode.window.showWarningMessage(vscode.l10n.t("vramlint could not write there."));
}

/** True outside of the document too. */
function isBlank(document: vscode.TextDocument, line: number): boolean {
  return line < 0 || line >= document.lineCount || document.lineAt(line).isEmptyOrWhitespace;
}
