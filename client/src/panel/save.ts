/** Saves a picture of the timeline where the user says. */
import * as vscode from "vscode";

export async function savePicture(subject: vscode.Uri, format: "svg" | "png", data: string): Promise<void> {
  const bytes = format === "svg" ? new TextEncoder().encode(data) : fromBase64(data);
  const script =
    subject.path
      .split("/")
      .at(-1)
      ?.replace(/\.\w+$/, "") ?? "timeline";
  const target = await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.joinPath(subject, "..", `${script}-memory.${format}`).with({
      fragment: "",
      query: "",
    }),
    filters: format === "svg" ? { SVG: ["svg"] } : { PNG: ["png"] },
    title: vscode.l10n.t("Save the memory timeline"),
  });
  if (target === undefined) return;
  try {
    await vscode.workspace.fs.writeFile(target, bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(vscode.l10n.t("vramlint could not save the picture: {0}", reason));
  }
}

/** Without Node's `Buffer`, which a browser has not. */
function fromBase64(data: string): Uint8Array {
  return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
}
