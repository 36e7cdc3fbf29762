/**
 * A project's settings: `vramlint.toml`, or the table `[tool.vramlint]` of a `pyproject.toml`. Mistakes are reported on
 * their span and the rest still counts. Rules, cards and sizes belong to rooms above this one, which hand in what
 * they know of them.
 */
import { settingsMessages as texts } from "../messages/workspace";
import { languages, message } from "../messages/message";
import type { Language, Message, MessageText, MessageValue } from "../messages/message";
import { Source } from "../python/source";
import type { Span } from "../python/tree";
import { pathPattern, relativePath } from "./globs";
import type { PathPattern } from "./globs";
import { printable } from "./problem";
import { parseToml } from "./toml";
import type { TomlTable, TomlValue } from "./toml";

/** What settings can name. */
export interface SettingsWords {
  /** Rules, groups and `all`. */
  readonly selectors: readonly string[];
  readonly levels: readonly string[];
  readonly cards: readonly string[];
  /** Bytes of a size; `undefined` for a text that is none. */
  size(text: string): number | undefined;
  card(text: string): { readonly name: string; readonly usableBytes: number } | undefined;
  /** The candidate that was probably meant. */
  nearest(
    word: string,
    candidates: readonly string[],
    meanings?: Readonly<Record<string, string>>,
  ): string | undefined;
}

export type SettingsLevel = "error" | "warning" | "information" | "hint" | "off";

export interface SettingsProblem {
  readonly span: Span;
  readonly message: Message;
}

/** Names of rules and groups are in lower case and exist. */
export interface FileSettings {
  /** Absolute. */
  readonly file: string;
  /** What its patterns are relative to. */
  readonly folder: string;
  readonly source: Source;
  readonly select?: readonly string[];
  readonly ignore?: readonly string[];
  /** By rule, group or `all`. */
  readonly levels: Readonly<Record<string, SettingsLevel>>;
  readonly exclude: readonly PathPattern[];
  readonly perFileIgnores: readonly {
    readonly pattern: PathPattern;
    readonly ignore: readonly string[];
  }[];
  /** Usable bytes, and the card's name where one was given. */
  readonly device?: { readonly bytes: number; readonly card: string | undefined };
  /** Bytes. */
  readonly budget?: number;
  /** Absent for `auto`. */
  readonly language?: Language;
  readonly problems: readonly SettingsProblem[];
}

export const settingsKeys = [
  "select",
  "ignore",
  "levels",
  "exclude",
  "per-file-ignores",
  "device",
  "budget",
  "language",
] as const;

type SettingsKey = (typeof settingsKeys)[number];

export const languageWords = ["auto", ...languages] as const;

const keyMeanings: Readonly<Record<string, SettingsKey>> = {
  rules: "select",
  enable: "select",
  disable: "ignore",
  severity: "levels",
  level: "levels",
  "extend-exclude": "exclude",
  gpu: "device",
  locale: "language",
  lang: "language",
};

const levelMeanings = { info: "information", note: "information", warn: "warning", none: "off" };

/** True for a folder or a file that the settings leave out. */
export function isExcluded({ exclude, folder }: FileSettings, target: string): boolean {
  const relative = relativePath(folder, target);
  return relative !== undefined && exclude.some((pattern) => pattern.matches(relative));
}

/** The selectors that the settings leave out in one file, beside those that they leave out everywhere. */
export function ignoredIn({ perFileIgnores, folder }: FileSettings, target: string): string[] {
  const relative = relativePath(folder, target);
  if (relative === undefined) return [];
  return perFileIgnores.flatMap(({ pattern, ignore }) => (pattern.matches(relative) ? ignore : []));
}

/** Where settings stand in a file: all of it, or one table of it. */
export type SettingsPlace = "whole" | "tool.vramlint";

/** `undefined` for a file that has none. `file` and `folder` are absolute. Never throws because of the text. */
export function readSettings(
  text: string,
  place: SettingsPlace,
  where: { readonly file: string; readonly folder: string },
  words: SettingsWords,
): FileSettings | undefined {
  const source = new Source(text);
  const empty = { ...where, source, levels: {}, exclude: [], perFileIgnores: [] };
  if (place === "tool.vramlint" && !text.includes("vramlint")) return undefined;
  const parsed = parseToml(text);
  if ("error" in parsed) {
    // Another tool's mistake, unless the file speaks of us.
    if (place === "tool.vramlint" && !mentionsOurTable(text)) return undefined;
    const { detail, offset } = parsed.error;
    const span = { start: Math.min(offset, text.length), end: Math.min(offset + 1, text.length) };
    return { ...empty, problems: [{ span, message: message(texts.notToml, { detail: printable(detail) }) }] };
  }
  const reader = new SettingsReader(words);
  if (place === "whole") return { ...empty, ...reader.read(parsed.root) };
  const tool = parsed.root.entries.get("tool")?.value;
  const ours = tool?.kind === "table" ? tool.entries.get("vramlint") : undefined;
  if (ours === undefined) return undefined;
  if (ours.value.kind === "table") return { ...empty, ...reader.read(ours.value) };
  const problem = { span: ours.key, message: message(texts.notATable, { name: "tool.vramlint" }) };
  return { ...empty, problems: [problem] };
}

/** The header of our table or of one below it, or a dotted key. */
function mentionsOurTable(text: string): boolean {
  return /^[ \t]*(?:\[+[ \t]*)?(?:"tool"|'tool'|tool)[ \t]*\.[ \t]*["']?vramlint\b/m.test(text);
}

type Read = Pick<FileSettings, "problems"> & Partial<FileSettings>;
type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

class SettingsReader {
  private readonly problems: SettingsProblem[] = [];

  constructor(private readonly words: SettingsWords) {}

  read(table: TomlTable): Read {
    const found: Mutable<Partial<FileSettings>> = {};
    for (const [name, { key, value }] of table.entries) {
      const known = settingsKeys.find((candidate) => candidate === name);
      if (known === undefined) this.unknownKey(name, key);
      else Object.assign(found, this.setting(known, value));
    }
    return { ...found, problems: this.problems.sort((a, b) => a.span.start - b.span.start) };
  }

  private setting(key: SettingsKey, value: TomlValue): Partial<FileSettings> {
    switch (key) {
      case "select":
      case "ignore": {
        const selectors = this.selectors(key, value);
        return selectors === undefined ? {} : { [key]: selectors };
      }
      case "levels":
        return { levels: this.levels(value) };
      case "exclude":
        return {
          exclude: (this.strings(key, value) ?? []).flatMap((item) => this.pattern(item.value, item.span)),
        };
      case "per-file-ignores":
        return { perFileIgnores: this.perFileIgnores(value) };
      case "device":
        return this.device(value);
      case "budget":
        return this.budget(value);
      case "language":
        return this.language(value);
    }
  }

  private selectors(name: string, value: TomlValue): string[] | undefined {
    return this.strings(name, value)?.flatMap((item) => this.selector(item.value, item.span));
  }

  /** Names count without case, as everywhere. */
  private selector(text: string, span: Span): string[] {
    const name = text.trim().toLowerCase();
    const { selectors } = this.words;
    if (selectors.includes(name)) return [name];
    const near = this.words.nearest(name.replaceAll("_", "-"), selectors);
    this.report(span, texts.unknownRule, { name: printable(text), hint: hint(near) });
    return [];
  }

  private levels(value: TomlValue): Record<string, SettingsLevel> {
    const levels: Record<string, SettingsLevel> = {};
    for (const [name, entry] of this.table("levels", value)) {
      const [selector] = this.selector(name, entry.key);
      const level = this.level(`levels.${name}`, entry.value);
      if (selector !== undefined && level !== undefined) levels[selector] = level;
    }
    return levels;
  }

  private level(name: string, value: TomlValue): SettingsLevel | undefined {
    const choices = [...this.words.levels, "off"];
    return this.choice(name, value, choices, levelMeanings) as SettingsLevel | undefined;
  }

  private perFileIgnores(value: TomlValue): FileSettings["perFileIgnores"] {
    const found: FileSettings["perFileIgnores"][number][] = [];
    for (const [text, entry] of this.table("per-file-ignores", value)) {
      const ignore = this.selectors(`per-file-ignores."${text}"`, entry.value) ?? [];
      const [pattern] = this.pattern(text, entry.key);
      if (pattern !== undefined) found.push({ pattern, ignore });
    }
    return found;
  }

  private pattern(text: string, span: Span): PathPattern[] {
    const pattern = pathPattern(text);
    if (pattern !== undefined) return [pattern];
    this.report(span, texts.badPattern, { pattern: printable(text) });
    return [];
  }

  private device(value: TomlValue): Partial<FileSettings> {
    const text = this.string("device", value);
    if (text === undefined) return {};
    const card = this.words.card(text);
    if (card !== undefined) return { device: { bytes: card.usableBytes, card: card.name } };
    const bytes = this.words.size(text);
    if (bytes !== undefined && bytes > 0) return { device: { bytes, card: undefined } };
    const near = this.words.nearest(text.replace(/[\s_]+/g, "-"), this.words.cards);
    this.report(value.span, texts.badDevice, { value: printable(text), hint: hint(near) });
    return {};
  }

  private budget(value: TomlValue): Partial<FileSettings> {
    const text = this.string("budget", value);
    if (text === undefined) return {};
    const bytes = this.words.size(text);
    if (bytes !== undefined && bytes > 0) return { budget: bytes };
    this.report(value.span, texts.badBudget, { value: printable(text) });
    return {};
  }

  private language(value: TomlValue): Partial<FileSettings> {
    const meanings = { zh: "zh-cn", chinese: "zh-cn", "zh-hans": "zh-cn", english: "en" };
    const word = this.choice("language", value, languageWords, meanings);
    const language = languages.find((candidate) => candidate === word);
    return language === undefined ? {} : { language };
  }

  private choice(
    name: string,
    value: TomlValue,
    choices: readonly string[],
    meanings: Readonly<Record<string, string>>,
  ): string | undefined {
    const text = this.string(name, value);
    if (text === undefined) return undefined;
    const word = text.trim().toLowerCase();
    if (choices.includes(word)) return word;
    const near = this.words.nearest(word, choices, meanings);
    const values = { value: printable(text), name: printable(name), choices: choices.join(", ") };
    this.report(value.span, texts.badChoice, { ...values, hint: hint(near) });
    return undefined;
  }

  private string(name: string, value: TomlValue): string | undefined {
    if (value.kind === "string") return value.value;
    this.report(value.span, texts.notAString, { name: printable(name) });
    return undefined;
  }

  /** Elements that are no strings are reported, the others count. */
  private strings(name: string, value: TomlValue) {
    if (value.kind !== "array") {
      this.report(value.span, texts.notAList, { name: printable(name) });
      return undefined;
    }
    return value.items.flatMap((item) => {
      if (item.kind === "string") return [item];
      this.report(item.span, texts.notAList, { name: printable(name) });
      return [];
    });
  }

  private table(name: string, value: TomlValue): TomlTable["entries"] {
    if (value.kind === "table") return value.entries;
    this.report(value.span, texts.notATable, { name });
    return new Map();
  }

  private unknownKey(name: string, span: Span): void {
    const near = this.words.nearest(name.replaceAll("_", "-"), settingsKeys, keyMeanings);
    const values = { name: printable(name), choices: settingsKeys.join(", ") };
    if (near === undefined) this.report(span, texts.unknownKey, values);
    else this.report(span, texts.unknownKeyNearest, { ...values, nearest: near });
  }

  private report(span: Span, text: MessageText, values: Readonly<Record<string, MessageValue>>): void {
    this.problems.push({ span, message: message(text, values) });
  }
}

function hint(near: string | undefined): Message {
  return near === undefined ? message(texts.noHint) : message(texts.nearest, { nearest: near });
}
