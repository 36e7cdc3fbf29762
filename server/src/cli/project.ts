/** The project's settings files as a run of the command line uses them. */
import path from "node:path";
import type { AnalysisOptions } from "../analysis";
import { defaultsOf, rulesFor, settingsWords } from "../analysis/project-settings";
import { message } from "../messages/message";
import type { Language, Message } from "../messages/message";
import { settingsMessages } from "../messages/workspace";
import { printable } from "../workspace/problem";
import { ignoredIn } from "../workspace/settings";
import type { FileSettings } from "../workspace/settings";
import { SettingsFiles } from "../workspace/settings-files";

export class Project {
  private readonly files = new SettingsFiles(settingsWords);
  /** One object for all files that are checked alike. */
  private readonly made = new Map<FileSettings, Map<string, AnalysisOptions>>();

  /** `run` is what the command line asks for. */
  constructor(
    private readonly cwd: string,
    private readonly run: AnalysisOptions = {},
  ) {}

  /** What a file is analysed with. */
  optionsFor(name: string): AnalysisOptions {
    const absolute = path.resolve(this.cwd, name);
    const settings = this.files.ofFile(absolute);
    if (settings === undefined) return this.run;
    const here = ignoredIn(settings, absolute);
    const known = this.made.get(settings) ?? new Map<string, AnalysisOptions>();
    this.made.set(settings, known);
    const key = here.join();
    let options = known.get(key);
    if (options === undefined) {
      const { setup } = this.run;
      const rules = rulesFor(this.run, settings, here);
      options = { ...rules, ...(setup && { setup }), defaults: defaultsOf(settings) };
      known.set(key, options);
    }
    return options;
  }

  /** True for a folder or a file, absolute, that its settings leave out. */
  readonly excludes = (target: string): boolean => this.files.excludes(target);

  /** The language that the settings for the run's own folder ask for. */
  get language(): Language | undefined {
    return this.files.ofFolder(this.cwd)?.language;
  }

  /** What is wrong with the settings of these files, and with those that discovery came by. */
  mistakes(names: readonly string[]): Message[] {
    for (const name of names) this.files.ofFile(path.resolve(this.cwd, name));
    return this.files.all().flatMap((settings) => this.mistakesOf(settings));
  }

  private mistakesOf({ file, source, problems }: FileSettings): Message[] {
    const relative = path.relative(this.cwd, file);
    const isOutside = path.isAbsolute(relative) || relative.startsWith("..");
    return problems.map(({ span, message: problem }) => {
      const { line, column } = source.positionAt(span.start);
      const shown = printable(isOutside ? file : relative);
      // Texts, so that no language writes them with separators.
      const place = { line: String(line + 1), column: String(column + 1) };
      return message(settingsMessages.at, { path: shown, ...place, problem });
    });
  }
}
