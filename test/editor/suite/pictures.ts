/** Pictures of the window, for the README; taken only where the runner can see it. */
import * as vscode from "vscode";
import { setting } from "./editor";

const service = process.env["VRAMLINT_PICTURES"];

export interface Wish {
  /** `width x height` of the window. */
  readonly size?: string;
  readonly press?: string;
  /** Selector: the answer says after how many milliseconds the key has changed how many there are. */
  readonly changed?: string;
  /** Selector of what is clicked if it is there. */
  readonly click?: string;
  /** Selectors of what must be visible, or gone, before the picture. */
  readonly wait?: string;
  readonly gone?: string;
  /** The selectors mean the page of the memory timeline, or the picture of a walkthrough's step. */
  readonly in?: "panel" | "walkthrough";
  /** Selector of a control, and what goes into it. */
  readonly fill?: string;
  readonly select?: string;
  readonly value?: string;
  readonly focus?: string;
  /** Selector of what is pointed at; `value` says where, as shares: `0.5,0.2`. */
  readonly hover?: string;
  /** A small picture for the walkthrough, and the part of the window that it shows: `x,y,width,height`. */
  readonly walkthrough?: string;
  readonly clip?: string;
  /** The file's name without extension: of a picture for the documentation, or of one that is looked at after the run only. */
  readonly picture?: string;
  readonly look?: string;
  /** Selector of what the answer is the text of, or else an attribute. */
  readonly read?: string;
  readonly attribute?: string;
}

/** Answers what was read. */
export async function ask(wish: Wish): Promise<string> {
  if (service === undefined) return "";
  const response = await fetch(`${service}?${new URLSearchParams({ ...wish }).toString()}`);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

const looks: Readonly<Record<string, unknown>> = {
  "chat.disableAIFeatures": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "security.workspace.trust.banner": "never",
  "workbench.statusBar.visible": false,
  "workbench.activityBar.location": "hidden",
  "workbench.layoutControl.enabled": false,
  "window.commandCenter": false,
  // Tooltips of the tab would show the temporary folder.
  "workbench.hover.delay": 60_000,
  "window.menuBarVisibility": "hidden",
  "window.customTitleBarVisibility": "never",
  "workbench.editor.showTabs": "single",
  "breadcrumbs.enabled": false,
  "editor.minimap.enabled": false,
  "editor.scrollbar.vertical": "hidden",
  "editor.scrollbar.horizontal": "hidden",
  "editor.overviewRulerBorder": false,
  "editor.hideCursorInOverviewRuler": true,
  "editor.glyphMargin": false,
  "editor.folding": false,
  "editor.stickyScroll.enabled": false,
  "editor.occurrencesHighlight": "off",
  "editor.renderLineHighlight": "none",
  "editor.matchBrackets": "never",
  "editor.guides.indentation": false,
  "editor.unicodeHighlight.nonBasicASCII": false,
  "editor.unicodeHighlight.ambiguousCharacters": false,
  "editor.fontFamily": "'JetBrains Mono', 'Noto Sans Hans', monospace",
  "editor.fontLigatures": false,
  "editor.fontSize": 14,
  "editor.lineHeight": 22,
};

/** A calm window: no side bars, banners, minimap. */
export async function tidyWindow(): Promise<void> {
  for (const [name, value] of Object.entries(looks)) {
    // A newer or older VS Code may not know one of them; the picture is a little less calm then.
    await setting(name, value).then(undefined, () => undefined);
  }
  for (const command of ["closeSidebar", "closeAuxiliaryBar", "closePanel"]) {
    await vscode.commands.executeCommand(`workbench.action.${command}`);
  }
  await vscode.commands.executeCommand("notifications.clearAll");
  await ask({ click: ".part.banner .action-container a" });
}

export const isChinese = process.env["VRAMLINT_SUITE_LOCALE"] === "zh-cn";

/** `of`, with the shade and the language that are not the usual ones. */
export function pictureName(of: string, shade: string): string {
  return [of, ...(shade === "dark" ? ["dark"] : []), ...(isChinese ? ["zh-cn"] : [])].join(".");
}

export const themes = { light: "Default Light Modern", dark: "Default Dark Modern" } as const;
