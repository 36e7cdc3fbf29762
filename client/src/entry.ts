/** What VS Code loads, under Node and in a browser: one bundle for both, of which only the half that is needed runs. */
import type * as vscode from "vscode";

const scope = globalThis as { readonly process?: { readonly versions?: { readonly node?: string } } };

const home =
  scope.process?.versions?.node === undefined ? () => import("./browser") : () => import("./extension");

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  await (await home()).activate(context);
}

export async function deactivate(): Promise<void> {
  await (await home()).deactivate();
}
