/** The rules' pages, which come with the extension and open without a network. */
import * as vscode from "vscode";

export class RulePages {
  private readonly folder: vscode.Uri;

  constructor(extension: vscode.Uri) {
    this.folder = vscode.Uri.joinPath(extension, "dist", "rules");
  }

  /** Shows a rule's page beside nothing else: as VS Code renders Markdown. Without a name asks for one. */
  async open(rule: unknown): Promise<void> {
    const name = typeof rule === "string" ? rule : await this.choose();
    if (name === undefined) return;
    const page = await this.find(name);
    if (page === undefined) {
      void vscode.window.showWarningMessage(vscode.l10n.t("vramlint has no page about {0}.", name));
      return;
    }
    await vscode.commands.executeCommand("markdown.showPreview", page);
  }

  private async choose(): Promise<string | undefined> {
    const entries = await vscode.workspace.fs.readDirectory(this.folder);
    const names = entries.filter(([, type]) => type === vscode.FileType.Directory).map(([name]) => name);
    return vscode.window.showQuickPick(names.sort(), { title: vscode.l10n.t("Open a rule's page") });
  }

  /** The page in the language of the findings, else in English. Names that are no rule's find nothing. */
  private async find(rule: string): Promise<vscode.Uri | undefined> {
    if (!/^[a-z][a-z0-9-]*$/.test(rule)) return undefined;
    const files = usesChinese() ? ["doc.zh-cn.md", "doc.md"] : ["doc.md"];
    for (const file of files) {
      const page = vscode.Uri.joinPath(this.folder, rule, file);
      if (await exists(page)) return page;
    }
    return undefined;
  }
}

function usesChinese(): boolean {
  const language = vscode.workspace.getConfiguration("vramlint").get<string>("language");
  return language === "zh-cn" || (language !== "en" && /^zh\b/i.test(vscode.env.language));
}

async function exists(file: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(file);
    return true;
  } catch {
    return false;
  }
}
