/** The page inside the panel: its files, and what it may load. */
import * as vscode from "vscode";

/** Nothing but the panel's own script and styles; pictures it draws itself, for PNG. */
export function pageHtml(webview: vscode.Webview, extension: vscode.Uri, language: string): string {
  const nonce = crypto.randomUUID();
  const file = (name: string): string =>
    webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", name)).toString();
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
    "img-src blob:",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="${language}">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="stylesheet" href="${file("panel.css")}" />
    <title>vramlint</title>
  </head>
  <body>
    <main id="panel"></main>
    <script nonce="${nonce}" src="${file("panel.js")}"></script>
  </body>
</html>`;
}
