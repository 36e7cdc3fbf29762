/** The rules' pages: beside the bundle in `dist/rules/`, in the rules' own folders when run from source. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Language } from "../messages/message";
import { errorCode } from "./problem";

const folders = ["rules", "../rules", "../directives/pages"];

/** Where a rule's page lies; `undefined` where it has none. */
export function rulePageFile(rule: string, language: Language): string | undefined {
  return folders
    .map((folder) => path.join(__dirname, folder, rule, pageName(language)))
    .find((file) => existsSync(file));
}

function pageName(language: Language): string {
  return language === "en" ? "doc.md" : `doc.${language}.md`;
}

/** A rule's page as Markdown; `undefined` where it has none. `rule` must be the name of a known rule. */
export async function readRulePage(rule: string, language: Language): Promise<string | undefined> {
  for (const folder of folders) {
    try {
      return await readFile(path.join(__dirname, folder, rule, pageName(language)), "utf8");
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
    }
  }
  return undefined;
}
