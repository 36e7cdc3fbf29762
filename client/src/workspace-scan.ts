/** The command that checks the whole workspace, and the one that takes its findings back. */
import * as vscode from "vscode";
import { ProgressType } from "vscode-languageclient";
import type {
  BaseLanguageClient,
  WorkDoneProgressBegin,
  WorkDoneProgressReport,
} from "vscode-languageclient";
import { clearScanMethod, scanMethod } from "../../server/src/lsp/scan-request";
import type { ScanAnswer, ScanParams } from "../../server/src/lsp/scan-request";

type WorkDone = WorkDoneProgressBegin | WorkDoneProgressReport | { readonly kind: "end" };

let scans = 0;

/** With progress that can be cancelled; a cancelled scan keeps what it has found. */
export async function scanWorkspace(client: BaseLanguageClient): Promise<void> {
  const options: vscode.ProgressOptions = {
    location: vscode.ProgressLocation.Notification,
    title: vscode.l10n.t("vramlint: checking the workspace"),
    cancellable: true,
  };
  const answer = await vscode.window.withProgress(options, async (progress, cancellation) => {
    const workDoneToken = `vramlint-scan-${++scans}`;
    let shown = 0;
    const subscription = client.onProgress(new ProgressType<WorkDone>(), workDoneToken, (value) => {
      if (value.kind !== "report") return;
      const percentage = value.percentage ?? shown;
      progress.report({ message: value.message ?? "", increment: percentage - shown });
      shown = percentage;
    });
    const params: ScanParams = { workDoneToken };
    try {
      return await client.sendRequest<ScanAnswer | null>(scanMethod, params, cancellation);
    } finally {
      subscription.dispose();
    }
  });
  // Nobody waits for the user to read it.
  void tell(answer);
}

export async function clearScan(client: BaseLanguageClient): Promise<void> {
  await client.sendNotification(clearScanMethod);
}

async function tell(answer: ScanAnswer | null): Promise<void> {
  if (answer === null) {
    const folders = vscode.workspace.workspaceFolders ?? [];
    void vscode.window.showInformationMessage(
      folders.length === 0
        ? vscode.l10n.t("vramlint: there is no folder to check.")
        : vscode.l10n.t("vramlint: in the browser only open files are checked."),
    );
    return;
  }
  const problems = vscode.l10n.t("Show problems");
  const log = vscode.l10n.t("Show log");
  const buttons = [...(answer.findings > 0 ? [problems] : []), ...(answer.unread > 0 ? [log] : [])];
  const chosen = await vscode.window.showInformationMessage(sentence(answer), ...buttons);
  if (chosen === problems) await vscode.commands.executeCommand("workbench.actions.view.problems");
  if (chosen === log) await vscode.commands.executeCommand("vramlint.showLog");
}

function sentence({ checked, files, findings, filesWithFindings, unread, isCancelled }: ScanAnswer): string {
  const number = (count: number): string => count.toLocaleString(vscode.env.language);
  const found = vscode.l10n.t(
    "vramlint: {0} findings in {1} of {2} files.",
    number(findings),
    number(filesWithFindings),
    number(checked),
  );
  const parts = [found];
  if (isCancelled)
    parts.push(vscode.l10n.t("Cancelled: {0} files were not checked.", number(files - checked)));
  if (unread > 0) parts.push(vscode.l10n.t("{0} files could not be read.", number(unread)));
  return parts.join(" ");
}
