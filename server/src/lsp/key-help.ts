/** A key of the budget header explained. */
import { choices, headerExamples, losses } from "../directives/keys";
import type { HeaderKey } from "../directives/keys";
import { optimizerNames } from "../directives/optimizers";
import { headerHelpTexts, keyHelp } from "../messages/header-help";
import { message } from "../messages/message";
import type { MessageText } from "../messages/message";
import type { Settings } from "./configuration";
import { textIn } from "./session";

const values: Readonly<Partial<Record<HeaderKey, readonly string[]>>> = {
  ...choices,
  loss: losses,
  optimizer: optimizerNames,
};

/** Every key has its help. */
const help: Readonly<Record<HeaderKey, MessageText>> = keyHelp;

/** Markdown: what it says, an example, the words it takes. */
export function keyMarkdown(key: HeaderKey, settings: Settings): string {
  const words = values[key];
  const lines = [
    `**${key}** — ${textIn(settings, message(help[key]))}`,
    textIn(settings, message(headerHelpTexts.example, { example: `\`${headerExamples[key]}\`` })),
  ];
  if (words !== undefined) {
    const list = words.map((word) => `\`${word}\``).join(" ");
    lines.push(textIn(settings, message(headerHelpTexts.values, { values: list })));
  }
  return lines.join("\n\n");
}
