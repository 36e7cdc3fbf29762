/** `vramlint check`. */
import path from "node:path";
import { couldMatter } from "../analysis";
import type { AnalysisOptions } from "../analysis";
import { usageMessages as texts } from "../messages/cli";
import { message } from "../messages/message";
import type { Message } from "../messages/message";
import { initializeParser } from "../python/parse";
import { checkedEndings, discoverFiles } from "../workspace/discover";
import { Disk } from "../workspace/imports";
import { readParserBinaries } from "../workspace/parser-binaries";
import { describeError, printable } from "../workspace/problem";
import type { FileProblem } from "../workspace/problem";
import { decodePython, encodePython, readTextFile, writeTextFile } from "../workspace/text";
import { BaselineRun } from "./baseline-run";
import { planOf, stdinMark } from "./check-options";
import type { CheckOptions, CheckPlan } from "./check-options";
import { checkText, fixText, isFixable, textOf } from "./checked-file";
import type { FixedFile } from "./checked-file";
import { changedLinesOf, documentOf, readLimit } from "./document";
import type { Document } from "./document";
import type { FileFilter } from "./file-filter";
import { changesSince } from "./git";
import type { Changes } from "./git";
import { exitCodes } from "./io";
import { isAtLeast } from "./levels";
import { Progress } from "./progress";
import { Project } from "./project";
import { reportMakers } from "./report/formats";
import type { Report, RunProblem } from "./report/report";
import { statisticsReport } from "./report/statistics";
import type { Terminal } from "./reporter";
import { sharedPaths } from "./shared-path";
import { followingImports, sharingTree, Threads } from "./threads";
import type { FilePlace } from "./threads";

/** Read and handed to threads before their turn to be told. */
const filesAhead = 32;
const stdinName = "<stdin>";

export async function check(
  paths: readonly string[],
  options: CheckOptions,
  terminal: Terminal,
): Promise<number> {
  const plan = planOf(paths, options);
  if ("mistake" in plan) return refuse(terminal, plan.mistake);
  const { io } = terminal;
  const baseline = plan.baseline && (await BaselineRun.read(plan.baseline, io.cwd));
  if (baseline !== undefined && "mistake" in baseline) return refuse(terminal, baseline.mistake);
  const changes = options.diff === undefined ? undefined : await changesSince(options.diff, io);
  if (changes !== undefined && "mistake" in changes) return refuse(terminal, changes.mistake);

  const project = new Project(io.cwd, plan.analysis);
  const isStdin = paths[0] === stdinMark;
  const { files, problems } = isStdin
    ? { files: [options.stdinFilename ?? stdinName], problems: [] }
    : await discoverFiles(paths.length === 0 ? ["."] : paths, {
        cwd: io.cwd,
        excludes: project.excludes,
        forceExclude: options.forceExclude,
        isCancelled: () => io.signal?.aborted === true,
        extensions: checkedEndings,
      });
  const mistakes = project.mistakes(files);
  if (mistakes.length > 0) return refuse(terminal, ...mistakes);

  await initializeParser(readParserBinaries());
  const run = new CheckRun(options, plan, { baseline, changes }, project, terminal);
  if (isStdin) await run.checkStdin();
  else await run.checkFiles(files, problems);
  return run.finish();
}

function refuse(terminal: Terminal, ...mistakes: readonly Message[]): number {
  mistakes.forEach((mistake) => terminal.complain(mistake));
  return exitCodes.failure;
}

/** What keeps findings out of the report. */
interface Filters {
  readonly baseline: BaselineRun | undefined;
  readonly changes: Changes | undefined;
}

/** One run: what was found so far, and how it is told. */
class CheckRun {
  private files = 0;
  /** Those that were not looked into, since they are as they were. */
  private unchanged = 0;
  private findings = 0;
  /** Those that are not told because the baseline is to know them from now on. */
  private recorded = 0;
  /** Those that fail the run. */
  private failing = 0;
  private fixable = 0;
  private fixed = 0;
  private readonly problems: RunProblem[] = [];
  private readonly report: Report;
  private progress: Progress | undefined;
  private threads: Threads | undefined;
  private readonly disk = new Disk();
  /** Standard output, but for the report beside a fixed text. */
  private out: { write(chunk: string): unknown };

  constructor(
    private readonly options: CheckOptions,
    private readonly plan: CheckPlan,
    private readonly filters: Filters,
    private readonly project: Project,
    private readonly terminal: Terminal,
  ) {
    this.out = terminal.io.stdout;
    const { format, failOn, statistics } = options;
    const context = { terminal, failOn, shared: sharedPaths(terminal.io.cwd) };
    const isCounted = statistics && (format === "text" || format === "json");
    this.report = isCounted ? statisticsReport(format, context) : reportMakers[format](context);
    if (filters.changes?.note !== undefined) this.problem(filters.changes.note, "note");
  }

  async checkFiles(files: readonly string[], problems: readonly FileProblem[]): Promise<void> {
    const { signal } = this.terminal.io;
    problems.forEach((problem) => this.complain(problem));
    const progress = new Progress(this.terminal, files.length);
    this.progress = progress;
    this.threads = Threads.start(this.terminal.io.threadFile, files.length, this.terminal.io.env);
    const begun: Promise<() => Promise<void>>[] = [];
    for (let done = 0; done < files.length && !signal?.aborted; done++) {
      progress.at(done);
      // With threads some files are under way ahead of the one that is told next.
      const ahead = this.threads === undefined ? 1 : filesAhead;
      for (const file of files.slice(done + begun.length, done + ahead)) {
        const started = this.checkFile(file);
        // Told when its turn comes.
        started.catch(() => undefined);
        begun.push(started);
      }
      const finish = await begun.shift();
      await finish?.();
      // Lets Ctrl-C and a closed pipe be noticed between files.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.threads?.end();
    progress.clear();
  }

  async checkStdin(): Promise<void> {
    const { io } = this.terminal;
    const name = this.options.stdinFilename ?? stdinName;
    const isFilter = this.plan.fixes !== undefined;
    if (isFilter) this.out = io.stderr;
    const bytes = await io.readStdin();
    if (this.options.forceExclude && this.project.excludes(path.resolve(io.cwd, name))) {
      if (isFilter) io.stdout.write(bytes);
      return;
    }
    const decoded = decodePython(bytes, name, readLimit(name, this.plan.maxFileSize));
    if ("problem" in decoded) {
      this.complain(decoded.problem);
      if (isFilter && decoded.problem.severity === "note") io.stdout.write(bytes);
      return;
    }
    const { text, encoding } = decoded.file;
    const document = documentOf(name, text, this.plan.maxFileSize);
    if ("problem" in document) {
      this.complain(document.problem);
      if (isFilter && document.problem.severity === "note") io.stdout.write(bytes);
      return;
    }
    const filter = { known: this.filters.baseline?.knownIn(name) };
    const checked = this.contained(name, () => this.checkOrFix(name, document, filter));
    if (isFilter) {
      const fixed = checked === undefined ? text : document.fileText(textOf(checked));
      io.stdout.write(fixed === text ? bytes : (encodePython(fixed, encoding) ?? bytes));
    }
    if (checked !== undefined) this.tell(checked);
  }

  /** The exit code, after the end of the report. */
  async finish(): Promise<number> {
    // What is told or written from here on would be about half a run.
    if (this.terminal.io.signal?.aborted) return exitCodes.interrupted;
    this.filters.changes?.notes.forEach((note) => this.problem(note, "note"));
    let baseline = await this.filters.baseline?.finish();
    if (baseline !== undefined && "mistake" in baseline) {
      this.problem(baseline.mistake, "error");
      baseline = undefined;
      // What was to become known is not.
      this.findings += this.recorded;
    }
    const { files, unchanged, findings, fixable, fixed, problems } = this;
    const succeeded = problems.every(({ severity }) => severity === "note");
    const totals = { files, unchanged, findings, fixable, fixed, problems, succeeded, baseline };
    this.out.write(await this.report.end(totals));
    if (!succeeded) return exitCodes.failure;
    return this.failing > 0 && !this.options.exitZero ? exitCodes.findings : exitCodes.clean;
  }

  /** Checks a file; what it gives, called when the file's turn has come, writes and tells. */
  private async checkFile(name: string): Promise<() => Promise<void>> {
    const absolute = path.resolve(this.terminal.io.cwd, name);
    const change = await this.filters.changes?.of(absolute);
    if (this.filters.changes !== undefined && change === undefined) {
      this.unchanged++;
      return () => Promise.resolve();
    }
    const read = await readTextFile(absolute, name, readLimit(name, this.plan.maxFileSize));
    if ("problem" in read) return this.complaint(read.problem);
    const { file } = read;
    const document = documentOf(name, file.text, this.plan.maxFileSize);
    if ("problem" in document) return this.complaint(document.problem);
    const lines = change && changedLinesOf(name, change, document);
    const filter: FileFilter = {
      ...(lines && { lines }),
      known: this.filters.baseline?.knownIn(name),
    };
    const isHeavy = document.form === undefined && couldMatter(document.text);
    const result =
      this.threads !== undefined && isHeavy
        ? await this.inThread(this.threads, name, document.text, filter)
        : () => this.checkOrFix(name, document, filter);
    return async () => {
      let checked = this.contained(name, result);
      if (checked === undefined) return;
      if (checked.fixed > 0) {
        const problem = await writeTextFile(file, document.fileText(textOf(checked)), name);
        if (problem !== undefined) {
          this.complain(problem);
          checked = this.contained(name, () => ({
            ...checkText(name, document.text, this.optionsFor(name), filter, document.form),
            fixed: 0,
          }));
        }
      }
      if (checked !== undefined) this.tell(checked);
    };
  }

  /** Said when the file's turn has come. */
  private complaint(what: FileProblem): () => Promise<void> {
    return () => {
      this.complain(what);
      return Promise.resolve();
    };
  }

  /** What a thread made of a file, or threw. */
  private async inThread(
    threads: Threads,
    name: string,
    text: string,
    filter: FileFilter,
  ): Promise<() => FixedFile> {
    try {
      const options = this.project.optionsFor(name);
      const checked = await threads.run({
        name,
        text,
        options,
        filter,
        fixes: this.plan.fixes,
        place: this.placeOf(name),
      });
      return () => checked;
    } catch (error) {
      return () => {
        throw error;
      };
    }
  }

  private checkOrFix(name: string, { text, form }: Document, filter: FileFilter): FixedFile {
    const { fixes } = this.plan;
    const analysis = this.optionsFor(name);
    const useTree = sharingTree(this.placeOf(name));
    if (fixes !== undefined) return fixText(name, text, analysis, filter, fixes, form, useTree);
    return { ...checkText(name, text, analysis, filter, form, useTree), fixed: 0 };
  }

  private optionsFor(name: string): AnalysisOptions {
    return followingImports(this.project.optionsFor(name), this.placeOf(name), this.disk);
  }

  private placeOf(name: string): FilePlace {
    const { cwd } = this.terminal.io;
    return { file: path.resolve(cwd, name), root: cwd };
  }

  /** An error of ours costs the file it happened in, not the run. */
  private contained<Result>(name: string, action: () => Result): Result | undefined {
    try {
      return action();
    } catch (error) {
      this.problem(
        message(texts.internal, { path: printable(name), detail: printable(describeError(error)) }),
        "error",
      );
      return undefined;
    }
  }

  private tell(file: FixedFile): void {
    this.files++;
    this.fixed += file.fixed;
    for (const { rule, error } of file.failures) {
      const values = { path: printable(file.name), rule, detail: printable(describeError(error)) };
      this.problem(message(texts.ruleFailed, values), "error");
    }
    this.filters.baseline?.add(file);
    // What is being written into the baseline is known from now on.
    const told = this.plan.baseline?.write === true ? { ...file, findings: [] } : file;
    this.findings += told.findings.length;
    this.recorded += file.findings.length - told.findings.length;
    this.failing += told.findings.filter(({ level }) => isAtLeast(level, this.options.failOn)).length;
    this.fixable += told.findings.filter((finding) => isFixable(finding, "safe")).length;
    const text = this.report.file(told);
    if (text === "") return;
    this.progress?.clear();
    this.out.write(text);
  }

  private complain({ message: text, severity }: FileProblem): void {
    this.problem(text, severity);
  }

  private problem(text: Message, severity: RunProblem["severity"]): void {
    this.problems.push({ message: text, severity });
    this.progress?.clear();
    this.terminal.complain(text);
  }
}
