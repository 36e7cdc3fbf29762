/** The interpreter that the user chose in Microsoft's Python extension, told to the server: its packages make the models. */
import * as vscode from "vscode";
import type { BaseLanguageClient } from "vscode-languageclient";
import { interpreterMethod, type InterpreterParams } from "../../server/src/lsp/interpreter-request";

/** What we use of https://github.com/microsoft/vscode-python/blob/main/src/client/api/types.ts */
interface PythonExtension {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

const pythonExtension = "ms-python.python";

/** Follows the choice as long as the subscription lives; nothing happens where that extension is not installed. */
export async function followInterpreter(client: BaseLanguageClient): Promise<vscode.Disposable | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>(pythonExtension);
  if (extension === undefined) return undefined;
  const { environments } = extension.isActive ? extension.exports : await extension.activate();
  const tell = (): void => {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    const params: InterpreterParams = { path: environments.getActiveEnvironmentPath(folder?.uri).path };
    void client.sendNotification(interpreterMethod, params);
  };
  tell();
  return environments.onDidChangeActiveEnvironmentPath(tell);
}
