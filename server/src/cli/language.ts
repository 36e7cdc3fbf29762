/** Which language a run speaks. */
import { languageFor, languages } from "../messages/message";
import type { Language } from "../messages/message";
import type { Io } from "./io";

export const languageChoices = ["auto", ...languages] as const;

/**
 * The language before the arguments are parsed, because mistakes in them are reported in it too. A value of `--lang`
 * that is no language is treated as `auto` here and refused later. `auto` means the project's language where its settings
 * name one, else the locale's.
 */
export function languageOf(argv: readonly string[], env: Io["env"], project?: Language): Language {
  const asked = languages.find((language) => language === askedFor(argv)?.toLowerCase());
  if (asked !== undefined) return asked;
  if (project !== undefined) return project;
  const locale = env["LC_ALL"] || env["LC_MESSAGES"] || env["LANG"];
  return languageFor(locale?.replaceAll("_", "-"));
}

function askedFor(argv: readonly string[]): string | undefined {
  let asked: string | undefined;
  for (const [index, argument] of argv.entries()) {
    if (argument === "--") break;
    if (argument === "--lang") asked = argv[index + 1];
    else if (argument.startsWith("--lang=")) asked = argument.slice("--lang=".length);
  }
  return asked;
}
