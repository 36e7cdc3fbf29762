/** `vramlint check`. */
import path from "node:path";
import type { AnalysisOptions } from "../analysis";
import { usageMessages as texts } from "../messages/cli";
import { message } from "../messages/message";
import { initializeParser } from "../python/parse";
import { discoverFiles } from "../workspace/discover";
import { readParserBinaries } from "../workspace/parser-binaries";
import { printable } from "../workspace/problem";
import type { FileProblem } from "../workspace/problem";
import { decodePython, encodePython, readTextFile, writeTextFile } from "../workspace/text";
import { checkText, fixText, hasSafeFix } from "./checked-file";
import type { FixedFile } from "./checked-file";
import { exitCodes } from "./io";
import { jsonFindings, jsonReport } from "./report/json";
import type { JsonFinding } from "./report/json";
import { fileReport, summary } from "./report/text";
import type { Terminal } from "./reporter";
import { selectorMistake, selectors } from "./rule-list";

export interface CheckOptions {
  readonly format: "text" | "json";
  readonly fix: boolean;
  readonly select: readonly string[];
  readonly ignore: readonly string[];
  readonly stdinFilename: string | undefined;
}

export const stdinMark = "-";
const stdinName = "<stdin>";

export async function check(
  paths: readonly string[],
  options: CheckOptions,
  terminal: Terminal,
): Promise<number> {
  const select = selectors(options.select);
  const ignore = selectors(options.ignore);
  const mistake = selectorMistake([...select, ...ignore]);
  if (mistake !== undefined) return refuse(terminal, mistake);
  if (paths.includes(stdinMark) && paths.length > 1) return refuse(terminal, message(texts.stdinAlone));

  await initializeParser(readParserBinaries());
  const analysis: AnalysisOptions = { ignore, ...(select.length > 0 ? { select } : {}) };
  const run = new CheckRun(options, analysis, terminal);
  if (paths[0] === stdinMark) await run.checkStdin();
  else await run.checkPaths(paths.length === 0 ? ["."] : paths);
  return run.finish();
}

function refuse(terminal: Terminal, mistake: ReturnType<typeof message>): number {
  terminal.complain(mistake);
  return exitCodes.failure;
}

/** One run: what was found so far, and how it is told. */
class CheckRun {
  private files = 0;
  private findings = 0;
  private fixable = 0;
  private fixed = 0;
  private failed = false;
  private readonly json: JsonFinding[] = [];
  /** Standard output, but for the report beside a fixed text. */
  private report: { write(chunk: string): unknown };

  constructor(
    private readonly options: CheckOptions,
    private readonly analysis: AnalysisOptions,
    private readonly terminal: Terminal,
  ) {
    this.report = terminal.io.stdout;
  }

  async checkPaths(paths: readonly string[]): Promise<void> {
    const { cwd, signal } = this.terminal.io;
    const { files, problems } = await discoverFiles(paths, { cwd });
    problems.forEach((problem) => this.complain(problem));
    for (const file of files) {
      if (signal?.aborted) return;
      await this.checkFile(file);
      // Lets Ctrl-C and a closed pipe be noticed between files.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async checkStdin(): Promise<void> {
    const { io } = this.terminal;
    const name = this.options.stdinFilename ?? stdinName;
    if (this.options.fix) this.report = io.stderr;
    const bytes = await io.readStdin();
    const decoded = decodePython(bytes, name);
    if ("problem" in decoded) {
      this.complain(decoded.problem);
      if (this.options.fix && decoded.problem.severity === "note") io.stdout.write(bytes);
      return;
    }
    const { text, encoding } = decoded.file;
    const checked = this.contained(name, () => this.checkOrFix(name, text));
    if (this.options.fix) io.stdout.write(fixedBytes(bytes, text, checked, encoding));
    if (checked !== undefined) this.tell(checked);
  }

  /** The exit code, after the end of the report. */
  finish(): number {
    if (this.terminal.io.signal?.aborted) return exitCodes.interrupted;
    const { files, findings, fixable, fixed } = this;
    if (this.options.format === "json") this.report.write(jsonReport(this.json, files));
    else if (files > 0 || !this.failed) {
      this.report.write(summary({ files, findings, fixable, fixed }, this.terminal));
    }
    if (this.failed) return exitCodes.failure;
    return findings > 0 ? exitCodes.findings : exitCodes.clean;
  }

  private async checkFile(name: string): Promise<void> {
    const read = await readTextFile(path.resolve(this.terminal.io.cwd, name), name);
    if ("problem" in read) {
      this.complain(read.problem);
      return;
    }
    const { file } = read;
    let checked = this.contained(name, () => this.checkOrFix(name, file.text));
    if (checked === undefined) return;
    if (checked.fixed > 0) {
      const problem = await writeTextFile(file, checked.source.text, name);
      if (problem !== undefined) {
        this.complain(problem);
        checked = this.contained(name, () => ({ ...checkText(name, file.text, this.analysis), fixed: 0 }));
      }
    }
    if (checked !== undefined) this.tell(checked);
  }

  private checkOrFix(name: string, text: string): FixedFile {
    if (this.options.fix) return fixText(name, text, this.analysis);
    return { ...checkText(name, text, this.analysis), fixed: 0 };
  }

  /** An error of ours costs the file it happened in, not the run. */
  private contained<Result>(name: string, action: () => Result): Result | undefined {
    try {
      return action();
    } catch (error) {
      this.failed = true;
      const detail = printable(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
      this.terminal.complain(message(texts.internal, { path: printable(name), detail }));
      return undefined;
    }
  }

  private tell(file: FixedFile): void {
    this.files++;
    this.findings += file.findings.length;
    this.fixable += file.findings.filter(hasSafeFix).length;
    this.fixed += file.fixed;
    for (const { rule, error } of file.failures) {
      this.failed = true;
      const detail = printable(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
      this.terminal.complain(message(texts.ruleFailed, { path: printable(file.name), rule, detail }));
    }
    if (this.options.format === "json") this.json.push(...jsonFindings(file, this.terminal.language));
    else if (file.findings.length > 0) this.report.write(fileReport(file, this.terminal));
  }

  private complain(problem: FileProblem): void {
    if (problem.severity === "error") this.failed = true;
    this.terminal.complain(problem.message);
  }
}

/** What a filter gives back: the fixed text, or the very bytes that came in. */
function fixedBytes(
  bytes: Uint8Array,
  text: string,
  checked: FixedFile | undefined,
  encoding: Parameters<typeof encodePython>[1],
): Uint8Array {
  if (checked === undefined || checked.source.text === text) return bytes;
  return encodePython(checked.source.text, encoding) ?? bytes;
}
