/** The user's settings, asked for per resource. A setting of the wrong type counts as not set. */
import type { Connection } from "vscode-languageserver";
import type { AnalysisOptions } from "../analysis";
import { languageFor } from "../messages/message";
import type { Language } from "../messages/message";
import type { Level } from "../rules/rule";
import type { LevelOverrides } from "../rules/select";
import { isRecord } from "./client-features";
import type { ClientFeatures } from "./client-features";
import type { ProjectFiles, ProjectView } from "./project-files";

export interface Settings {
  readonly enable: boolean;
  readonly run: "onType" | "onSave";
  /** Whose findings are shown: those of open files, or of the workspace. */
  readonly scope: "openFiles" | "workspace";
  readonly modelHints: boolean;
  readonly headerHint: boolean;
  readonly peakHint: boolean;
  readonly layerHints: boolean;
  readonly codeLens: boolean;
  readonly language: Language;
  /** Of rules that the editor or the project gives one. */
  readonly levels: LevelOverrides;
  /** What a document is analysed with, the levels among it. */
  readonly analysis: AnalysisOptions;
}

const section = "vramlint";
const levelNames: readonly (Level | "off")[] = ["off", "hint", "information", "warning", "error"];

export class Configuration {
  private readonly known = new Map<string, Promise<Settings>>();
  /** What the client gave for a folder of the workspace. */
  private readonly ofFolders = new Map<string, Promise<unknown>>();
  private pushed: unknown;
  /** Counts changes: results of an older generation are stale. */
  generation = 0;

  constructor(
    private readonly connection: Connection,
    private readonly features: ClientFeatures,
    private readonly project: ProjectFiles,
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

  /** For a file that nobody has open: the client is asked once for its folder, not for each file. */
  async ofFile(uri: string, folder: string): Promise<Settings> {
    let given = this.ofFolders.get(folder);
    if (given === undefined) {
      given = this.given(folder);
      this.ofFolders.set(folder, given);
    }
    return readSettings(await given, this.features.locale, this.project.of(uri));
  }

  forget(uri: string): void {
    this.known.delete(uri);
  }

  /** The project's files changed, or may have. */
  projectChanged(): void {
    this.known.clear();
    this.generation += 1;
    this.project.forget();
  }

  /** `pushed` is what a client that cannot be asked sent along. */
  changed(pushed: unknown): void {
    this.known.clear();
    this.ofFolders.clear();
    this.generation += 1;
    if (isRecord(pushed) && section in pushed) this.pushed = pushed[section];
    else if (isRecord(pushed) && Object.keys(pushed).length > 0) this.pushed = pushed;
  }

  private async ask(uri: string): Promise<Settings> {
    const given = await this.given(uri);
    return readSettings(given, this.features.locale, this.project.of(uri));
  }

  private async given(uri: string): Promise<unknown> {
    if (!this.features.givesConfiguration) return this.pushed;
    try {
      const answer: unknown = await this.connection.workspace.getConfiguration({ scopeUri: uri, section });
      return answer ?? this.pushed;
    } catch (error) {
      this.connection.console.warn(`the client gave no settings: ${String(error)}`);
      return this.pushed;
    }
  }
}

/**
 * Reads settings of any shape. What they say wins over the project's file, level by level; a language `auto` means the
 * project's, else the client's.
 */
export function readSettings(given: unknown, locale: string | undefined, project?: ProjectView): Settings {
  const settings = isRecord(given) ? given : {};
  const hints = isRecord(settings["inlayHints"]) ? settings["inlayHints"] : {};
  const language = settings["language"];
  const editor = { levels: readLevels(settings["levels"]) };
  const analysis = project === undefined ? editor : project.optionsWith(editor);
  return {
    enable: settings["enable"] !== false && project?.isExcluded !== true,
    run: settings["run"] === "onSave" ? "onSave" : "onType",
    scope: settings["scope"] === "workspace" ? "workspace" : "openFiles",
    modelHints: hints["model"] !== false,
    headerHint: hints["header"] !== false,
    peakHint: hints["peak"] !== false,
    layerHints: hints["layers"] === true,
    codeLens: settings["codeLens"] === true,
    language:
      language === "en" || language === "zh-cn" ? language : (project?.language ?? languageFor(locale)),
    levels: analysis.levels ?? {},
    analysis,
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
