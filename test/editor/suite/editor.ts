/** What the tests do in VS Code: open, wait, look. They wait for conditions and never for time to pass. */
import assert from "node:assert/strict";
import * as vscode from "vscode";

export const extensionId = "vramlint.vramlint";

export function fileInProject(name: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, "a folder is open");
  return vscode.Uri.joinPath(folder.uri, name);
}

export async function open(name: string): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(fileInProject(name));
  return vscode.window.showTextDocument(document, { preview: false });
}

export async function closeEverything(): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
}

/** Waits until `look` gives something; looks again on every event. */
export async function until<Value>(
  events: readonly vscode.Event<unknown>[],
  look: () => Value | undefined | false,
  what: string,
  limit = 30_000,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const subscriptions: vscode.Disposable[] = [];
    const finish = (): void => {
      clearTimeout(timer);
      for (const subscription of subscriptions) subscription.dispose();
    };
    const attempt = (): void => {
      const value = look();
      if (value === undefined || value === false) return;
      finish();
      resolve(value);
    };
    const timer = setTimeout(() => {
      finish();
      reject(new Error(`${what}: not within ${limit} ms`));
    }, limit);
    for (const event of events) subscriptions.push(event(attempt));
    attempt();
  });
}

export function ours(uri: vscode.Uri): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(uri).filter(({ source }) => source === "vramlint");
}

export function ruleOf({ code }: vscode.Diagnostic): string {
  return String(typeof code === "object" ? code.value : code);
}

export async function diagnosticsWhere(
  uri: vscode.Uri,
  condition: (diagnostics: vscode.Diagnostic[]) => boolean,
  what: string,
): Promise<vscode.Diagnostic[]> {
  const found = (): vscode.Diagnostic[] | undefined => {
    const diagnostics = ours(uri);
    return condition(diagnostics) ? diagnostics : undefined;
  };
  return until([vscode.languages.onDidChangeDiagnostics], found, what);
}

export async function diagnosticOf(uri: vscode.Uri, rule: string): Promise<vscode.Diagnostic> {
  const hasIt = (diagnostics: vscode.Diagnostic[]) =>
    diagnostics.some((diagnostic) => ruleOf(diagnostic) === rule);
  const found = (await diagnosticsWhere(uri, hasIt, rule)).find((diagnostic) => ruleOf(diagnostic) === rule);
  assert.ok(found);
  return found;
}

export async function actionsAt(
  uri: vscode.Uri,
  range: vscode.Range,
  kind = "quickfix",
): Promise<vscode.CodeAction[]> {
  return vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, range, kind);
}

export async function hoverText(uri: vscode.Uri, position: vscode.Position): Promise<string> {
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
    "vscode.executeHoverProvider",
    uri,
    position,
  );
  return hovers
    .flatMap(({ contents }) => contents)
    .map((content) => (content instanceof vscode.MarkdownString ? content.value : ""))
    .join("\n");
}

export function labelOf({ label }: vscode.InlayHint): string {
  return typeof label === "string" ? label : label.map(({ value }) => value).join("");
}

export function positionOf(document: vscode.TextDocument, piece: string, within = 0): vscode.Position {
  const offset = document.getText().indexOf(piece);
  assert.ok(offset >= 0, `the file has no ${JSON.stringify(piece)}`);
  return document.positionAt(offset + within);
}

export async function replace(editor: vscode.TextEditor, piece: string, replacement: string): Promise<void> {
  const start = positionOf(editor.document, piece);
  const end = positionOf(editor.document, piece, piece.length);
  assert.ok(await editor.edit((builder) => builder.replace(new vscode.Range(start, end), replacement)));
}

/** Takes back everything since the file was opened. */
export async function revert(editor: vscode.TextEditor): Promise<void> {
  await vscode.window.showTextDocument(editor.document);
  await vscode.commands.executeCommand("workbench.action.files.revert");
}

export async function setting(name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration().update(name, value, vscode.ConfigurationTarget.Global);
}
