/** The user's settings, asked for per resource. A setting of the wrong type counts as not set. */
import type { Connection } from "vscode-languageserver";
import { languageFor } from "../messages/message";
import type { Language } from "../messages/message";
import type { Level } from "../rules/rule";
import { isRecord } from "./client-features";
import type { ClientFeatures } from "./client-features";

export interface Settings {
  readonly enable: boolean;
  readonly run: "onType" | "onSave";
  readonly modelHints: boolean;
  readonly headerHint: boolean;
  readonly language: Language;
  readonly levels: Readonly<Record<string, Level | "off">>;
}

const section = "vramlint";
const levelNames: readonly (Level | "off")[] = ["off", "hint", "information", "warning", "error"];

export class Configuration {
  private readonly known = new Map<string, Promise<Settings>>();
  private pushed: unknown;
  /** Counts changes: results of an older generation are stale. */
  generation = 0;

  constructor(
    private readonly connection: Connection,
    private readonly features: ClientFeatures,
  ) {
    this.pushed = features.options.settings;
  }

  /** The settings for a document or a notebook. Never rejects: without an answer the defaults hold. */
  of(uri: string): Promise<Settings> {
    let settings = this.known.get(uri);
    if (settings === undefined) {
      settings = this.ask(uri);
      this.known.set(uri, settings);
    }
    return settings;
  }

  forget(uri: string): void {
    this.known.delete(uri);
  }

  /** `pushed` is what a client that cannot be asked sent along. */
  changed(pushed: unknown): void {
    this.known.clear();
    this.generation += 1;
    if (isRecord(pushed) && section in pushed) this.pushed = pushed[section];
    else if (isRecord(pushed) && Object.keys(pushed).length > 0) this.pushed = pushed;
  }

  private async ask(uri: string): Promise<Settings> {
    if (!this.features.givesConfiguration) return readSettings(this.pushed, this.features.locale);
    try {
      const answer: unknown = await this.connection.workspace.getConfiguration({ scopeUri: uri, section });
      return readSettings(answer ?? this.pushed, this.features.locale);
    } catch (error) {
      this.connection.console.warn(`the client gave no settings: ${String(error)}`);
      return readSettings(this.pushed, this.features.locale);
    }
  }
}

/** Reads settings of any shape; `auto` means the client's language. */
export function readSettings(given: unknown, locale: string | undefined): Settings {
  const settings = isRecord(given) ? given : {};
  const hints = isRecord(settings["inlayHints"]) ? settings["inlayHints"] : {};
  const language = settings["language"];
  return {
    enable: settings["enable"] !== false,
    run: settings["run"] === "onSave" ? "onSave" : "onType",
    modelHints: hints["model"] !== false,
    headerHint: hints["header"] !== false,
    language: language === "en" || language === "zh-cn" ? language : languageFor(locale),
    levels: readLevels(settings["levels"]),
  };
}

function readLevels(given: unknown): Record<string, Level | "off"> {
  const levels: Record<string, Level | "off"> = {};
  if (!isRecord(given)) return levels;
  for (const [rule, value] of Object.entries(given)) {
    const level = levelNames.find((name) => name === value);
    if (level !== undefined) levels[rule] = level;
  }
  return levels;
}
