/** The rules' pages: beside the bundle in `dist/rules/`, in the rules' own folders when run from source. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Language } from "../messages/message";
import { errorCode } from "./problem";

const folders = ["rules", "../rules", "../directives/pages"];

/** A rule's page as Markdown; `undefined` where it has none. `rule` must be the name of a known rule. */
export async function readRulePage(rule: string, language: Language): Promise<string | undefined> {
  const name = language === "en" ? "doc.md" : `doc.${language}.md`;
  for (const folder of folders) {
    try {
      return await readFile(path.join(__dirname, folder, rule, name), "utf8");
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
    }
  }
  return undefined;
}
