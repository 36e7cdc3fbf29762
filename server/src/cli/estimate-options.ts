/** `--budget`, `--device`, `--batch`, `--model` and `--args` of `vramlint estimate`: read as the header's values are, and put in their place. */
import { readHeader } from "../directives/header";
import type { TrainingSetup } from "../memory/setup";
import { usageMessages as texts } from "../messages/cli";
import { message } from "../messages/message";
import type { Message } from "../messages/message";
import { shellWords } from "../python/command-line";
import { parseModule } from "../python/parse";
import { printable } from "../workspace/problem";

const keys = ["budget", "device", "batch", "model"] as const;

export type SetupOptions = { readonly [Key in (typeof keys)[number] | "args"]?: string | undefined };

/** `text` is the Python that names a model's class. The parser must be loaded. */
export function setupOfOptions(
  options: SetupOptions,
  text: string,
): { readonly setup: TrainingSetup } | { readonly mistake: Message } {
  // A shell's words, commas and all: nothing of it is a header.
  const { args } = options;
  let setup: TrainingSetup = args === undefined ? {} : { args: { value: shellWords(args), from: "option" } };
  for (const key of keys) {
    const value = options[key];
    if (value === undefined) continue;
    const read = settingOf(key, value, key === "model" ? withoutHeader(text) : "");
    if ("mistake" in read) return read;
    setup = { ...setup, ...read.setup };
  }
  return { setup };
}

function settingOf(
  key: (typeof keys)[number],
  value: string,
  text: string,
): { readonly setup: TrainingSetup } | { readonly mistake: Message } {
  const option = `--${key}`;
  const refused = { mistake: message(texts.notASetting, { option, value: printable(value) }) };
  if (value.trim() === "" || /[\r\n#]/.test(value)) return refused;
  const parsed = parseModule(`# vram: ${key}=${value}\n${text}`);
  const { setup, diagnostics } = readHeader(parsed);
  const [mistake] = diagnostics;
  if (mistake !== undefined) {
    return { mistake: message(texts.badSetting, { option, reason: mistake.message }) };
  }
  const setting = setup[key];
  // One value must not bring others along.
  if (setting === undefined || Object.keys(setup).length > 1) return refused;
  // Its place is one in our own line, not in the file.
  return { setup: { [key]: { value: setting.value, from: "option" } } };
}

/** The option stands in the place of what the file's own comments say. */
function withoutHeader(text: string): string {
  return text.replace(/#\s*vram\b/gi, "#");
}
