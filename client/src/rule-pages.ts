/** The rules' pages, which come with the extension and open without a network. */
import * as vscode from "vscode";

/** Pages have addresses of their own: they lie together in one file per language. */
const scheme = "vramlint-page";

/** Markdown by the name of its rule. */
type Pages = Readonly<Record<string, string>>;

type PageLanguage = "en" | "zh-cn";

export class RulePages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly known = new Map<PageLanguage, Promise<Pages>>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

  constructor(private readonly extension: vscode.Uri) {}

  dispose(): void {
    this.registration.dispose();
  }

  /** Shows a rule's page as VS Code renders Markdown. Without a name asks for one. */
  async open(rule: unknown): Promise<void> {
    const language = languageOfPages();
    const pages = await this.pagesIn(language);
    const name = typeof rule === "string" ? rule : await choose(pages);
    if (name === undefined) return;
    if (!Object.hasOwn(pages, name)) {
      void vscode.window.showWarningMessage(vscode.l10n.t("vramlint has no page about {0}.", name));
      return;
    }
    await vscode.commands.executeCommand("markdown.showPreview", addressOf(name, language));
  }

  /** Also after a reload of the window, which opens the previews of the last time again. */
  async provideTextDocumentContent({ path }: vscode.Uri): Promise<string | undefined> {
    const [, language, rule] = /^\/(en|zh-cn)\/([a-z0-9-]+)\.md$/.exec(path) ?? [];
    if (rule === undefined) return undefined;
    return (await this.pagesIn(language === "zh-cn" ? "zh-cn" : "en"))[rule];
  }

  private pagesIn(language: PageLanguage): Promise<Pages> {
    const known = this.known.get(language) ?? this.read(language);
    this.known.set(language, known);
    return known;
  }

  private async read(language: PageLanguage): Promise<Pages> {
    const file = vscode.Uri.joinPath(this.extension, "dist", "pages", `${language}.json`);
    return JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(file))) as Pages;
  }
}

function addressOf(rule: string, language: PageLanguage): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `/${language}/${rule}.md` });
}

function choose(pages: Pages): Thenable<string | undefined> {
  return vscode.window.showQuickPick(Object.keys(pages), { title: vscode.l10n.t("Open a rule's page") });
}

/** The language of the findings. */
function languageOfPages(): PageLanguage {
  const language = vscode.workspace.getConfiguration("vramlint").get<string>("language");
  const isChinese = language === "zh-cn" || (language !== "en" && /^zh\b/i.test(vscode.env.language));
  return isChinese ? "zh-cn" : "en";
}
