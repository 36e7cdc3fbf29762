/**
 * Messages are texts in two languages with named values, resolved when they are reported and never when a module is
 * loaded: one process can answer in both languages.
 */
import { IntlMessageFormat } from "intl-messageformat";

export type Language = "en" | "zh-cn";

export const languages: readonly Language[] = ["en", "zh-cn"];

/** ICU MessageFormat in both languages, with the same placeholders (a test compares them). */
export interface MessageText {
  readonly en: string;
  readonly "zh-cn": string;
}

export type MessageValue = string | number | Message;

export interface Message {
  readonly text: MessageText;
  readonly values: Readonly<Record<string, MessageValue>>;
}

export function message(text: MessageText, values: Readonly<Record<string, MessageValue>> = {}): Message {
  return { text, values };
}

const compiled = new Map<string, IntlMessageFormat>();

/** The message in one language. A value that is itself a message is rendered in the same language. */
export function render(source: Message, language: Language): string {
  const template = source.text[language];
  const key = `${language}\n${template}`;
  let format = compiled.get(key);
  if (format === undefined) {
    format = new IntlMessageFormat(template, language === "en" ? "en" : "zh-CN", undefined, {
      ignoreTag: true,
    });
    compiled.set(key, format);
  }
  const values: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(source.values)) {
    values[name] = typeof value === "object" ? render(value, language) : value;
  }
  return String(format.format(values));
}

/** The nearest language we speak to a locale such as VS Code's `zh-cn`, `zh-hans` or `en-GB`; English otherwise. */
export function languageFor(locale: string | undefined): Language {
  return /^zh\b/i.test(locale ?? "") ? "zh-cn" : "en";
}
