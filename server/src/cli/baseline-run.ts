/** A run's baseline: what it knows of each file, what became of it, and the file it is kept in. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { catalogue } from "../analysis";
import type { AnalysisOptions } from "../analysis";
import { usageMessages as texts } from "../messages/cli";
import { message } from "../messages/message";
import type { Message } from "../messages/message";
import { selectRules } from "../rules/select";
import { errorCode, printable } from "../workspace/problem";
import { replaceFile } from "../workspace/replace-file";
import { entryText, formatBaseline, parseBaseline } from "./baseline";
import type { BaselineEntry } from "./baseline";
import type { CheckedFile } from "./checked-file";
import { keyText } from "./finding-key";
import type { BaselineTotals } from "./report/report";

export interface BaselineOptions {
  /** As given. */
  readonly file: string;
  /** Everything found in the files checked becomes known. */
  readonly write: boolean;
  /** Entries that are found no longer are taken out. */
  readonly prune: boolean;
}

export class BaselineRun {
  private readonly entries = new Map<string, BaselineEntry>();
  private readonly byPath = new Map<string, Set<string>>();
  private readonly found = new Map<string, BaselineEntry>();
  /** Texts of entries that are found in a function that has another name now. */
  private readonly stillFound = new Set<string>();
  /** Paths checked, with the rules that looked at them. */
  private readonly looked = new Map<string, ReadonlySet<string>>();
  private readonly ranWith = new WeakMap<AnalysisOptions, ReadonlySet<string>>();
  private known = 0;

  private constructor(
    private readonly options: BaselineOptions,
    private readonly cwd: string,
    /** What the file held; `undefined` when it is yet to be made. */
    private readonly before: Buffer | undefined,
    entries: readonly BaselineEntry[],
  ) {
    for (const entry of entries) {
      this.entries.set(entryText(entry), entry);
      const keys = this.byPath.get(entry.path) ?? new Set();
      this.byPath.set(entry.path, keys.add(keyText(entry)));
    }
  }

  static async read(
    options: BaselineOptions,
    cwd: string,
  ): Promise<BaselineRun | { readonly mistake: Message }> {
    let bytes: Buffer;
    try {
      bytes = await readFile(path.resolve(cwd, options.file));
    } catch (error) {
      const code = errorCode(error);
      if (code === undefined) throw error;
      if (code === "ENOENT" && options.write) return new BaselineRun(options, cwd, undefined, []);
      const values = { path: printable(options.file), code };
      return { mistake: message(code === "ENOENT" ? texts.noBaseline : texts.baselineUnreadable, values) };
    }
    const entries = parseBaseline(bytes.toString("utf8"), options.file);
    return "mistake" in entries ? entries : new BaselineRun(options, cwd, bytes, entries);
  }

  /** Texts of the keys known of a file; none when everything found becomes known anyway. */
  knownIn(name: string): ReadonlySet<string> | undefined {
    return this.byPath.get(this.pathOf(name));
  }

  add(file: CheckedFile): void {
    const entryPath = this.pathOf(file.name);
    const ran = this.rulesOf(file.options);
    const failed = new Set(file.failures.map(({ rule }) => rule));
    this.looked.set(
      entryPath,
      failed.size === 0 ? ran : new Set([...ran].filter((rule) => !failed.has(rule))),
    );
    const keys = this.byPath.get(entryPath);
    for (const key of file.keys) {
      const entry = { path: entryPath, ...key };
      this.found.set(entryText(entry), entry);
      const before = file.renamed?.get(keyText(key));
      if (this.options.write || keys?.has(keyText(key)) || before !== undefined) this.known++;
      // Written anew it has its new name; else the entry stands for it.
      if (before !== undefined && !this.options.write) this.stillFound.add(`${entryPath}\0${before}`);
    }
  }

  /** Writes the baseline where asked, all of it or nothing. */
  async finish(): Promise<BaselineTotals | { readonly mistake: Message }> {
    const { write, prune, file } = this.options;
    const entries = [...this.entries.values()];
    const stale = entries.filter((entry) => this.isStale(entry));
    if (!write && !prune) return { known: this.known, stale: stale.length, written: undefined };

    const gone = new Set(prune ? [...stale, ...entries.filter((entry) => this.isGone(entry))] : stale);
    const kept = entries.filter((entry) => !gone.has(entry));
    const added = write
      ? [...this.found.values()].filter((entry) => !this.entries.has(entryText(entry)))
      : [];
    const bytes = Buffer.from(formatBaseline([...kept, ...added]));
    if (this.before?.equals(bytes) !== true) {
      const mistake = await this.replace(bytes);
      if (mistake !== undefined) return { mistake };
    }
    const written = { path: file, added: added.length, removed: gone.size };
    return { known: this.known, stale: 0, written };
  }

  /** Of a file that was checked by its rule, and found no longer. */
  private isStale(entry: BaselineEntry): boolean {
    const text = entryText(entry);
    const isFound = this.found.has(text) || this.stillFound.has(text);
    return this.looked.get(entry.path)?.has(entry.rule) === true && !isFound;
  }

  /** Of a file that there is no longer, or of a rule that there never was. */
  private isGone({ path: entryPath, rule }: BaselineEntry): boolean {
    return !existsSync(path.resolve(this.folder, entryPath)) || !catalogue.some(({ name }) => name === rule);
  }

  private rulesOf(options: AnalysisOptions): ReadonlySet<string> {
    let ran = this.ranWith.get(options);
    if (ran === undefined) {
      ran = new Set(selectRules(catalogue, options).map(({ name }) => name));
      this.ranWith.set(options, ran);
    }
    return ran;
  }

  private get folder(): string {
    return path.dirname(path.resolve(this.cwd, this.options.file));
  }

  private pathOf(name: string): string {
    return path.relative(this.folder, path.resolve(this.cwd, name)).split(path.sep).join("/");
  }

  /** Refuses when somebody else changed the file since it was read. */
  private async replace(bytes: Buffer): Promise<Message | undefined> {
    const shown = printable(this.options.file);
    const file = path.resolve(this.cwd, this.options.file);
    const replaced = await replaceFile(file, bytes, this.before);
    if (replaced === "done") return undefined;
    if (replaced === "changed") return message(texts.baselineChanged, { path: shown });
    return message(texts.baselineNotWritable, { path: shown, code: replaced.code });
  }
}
