/** `vramlint estimate FILE`. */
import path from "node:path";
import { analyze } from "../analysis";
import { measuredLine } from "../memory/measured-line";
import { estimateMessages as texts, usageMessages } from "../messages/cli";
import { message } from "../messages/message";
import { initializeParser, parseModule } from "../python/parse";
import { followImports } from "../workspace/imports";
import type { FollowedImports } from "../workspace/imports";
import { sitePackagesOf } from "../workspace/installed-packages";
import { readParserBinaries } from "../workspace/parser-binaries";
import { describeError, printable } from "../workspace/problem";
import type { FileProblem } from "../workspace/problem";
import { decodePython, readTextFile } from "../workspace/text";
import { stdinMark } from "./check-options";
import { documentOf, readLimit } from "./document";
import type { Document } from "./document";
import { setupOfOptions } from "./estimate-options";
import type { SetupOptions } from "./estimate-options";
import { exitCodes } from "./io";
import type { Io } from "./io";
import { Project } from "./project";
import { jsonEstimate } from "./report/estimate-json";
import type { EstimateFacts } from "./report/estimate-json";
import { textEstimate } from "./report/estimate-text";
import type { Terminal } from "./reporter";

export interface EstimateOptions extends SetupOptions {
  readonly format: "text" | "json";
  readonly stdinFilename: string | undefined;
  readonly exitZero: boolean;
  /** An interpreter or an environment's folder. */
  readonly python: string | undefined;
}

function importsOf(
  file: string,
  python: string | undefined,
  { cwd: root, env: variables }: Io,
): FollowedImports {
  const chosen = python === undefined ? undefined : path.resolve(root, python);
  return followImports(file, { root, packages: sitePackagesOf(file, { root, python: chosen, variables }) });
}

export async function estimate(file: string, options: EstimateOptions, terminal: Terminal): Promise<number> {
  const { io } = terminal;
  const name = file === stdinMark ? (options.stdinFilename ?? "<stdin>") : file;
  const read = await readDocument(file, name, io);
  if ("problem" in read) {
    terminal.complain(read.problem.message);
    return exitCodes.failure;
  }
  const { text, form } = read;
  await initializeParser(readParserBinaries());
  const python = form?.forParser(text) ?? text;
  const overrides = setupOfOptions(options, python);
  if ("mistake" in overrides) {
    terminal.complain(overrides.mistake);
    return exitCodes.failure;
  }
  const project = new Project(io.cwd, { setup: overrides.setup });
  const mistakes = project.mistakes([name]);
  mistakes.forEach((mistake) => terminal.complain(mistake));
  if (mistakes.length > 0) return exitCodes.failure;
  const parsed = parseModule(python);
  try {
    const isNameless = file === stdinMark && options.stdinFilename === undefined;
    const imports = isNameless ? undefined : importsOf(path.resolve(io.cwd, name), options.python, io);
    const resolveImport = imports?.resolve;
    const { estimates, setup, verdict } = analyze(parsed, {
      ...project.optionsFor(name),
      select: [],
      resolveImport,
      readBeside: imports?.readBeside,
    });
    const models = estimates.all();
    const isOver = verdict?.verdict === "over-budget" || verdict?.verdict === "over-device";
    const facts: EstimateFacts = {
      name,
      source: parsed.source,
      form,
      models,
      setup,
      verdict,
      fit: isOver ? estimates.whatFits() : undefined,
      largestBatch: estimates.largestBatch(),
      measured: measuredLine(setup.measured?.value ?? [], setup.batch?.value, setup.budget?.value),
    };
    if (options.format === "json") io.stdout.write(jsonEstimate(facts, terminal.language));
    else if (models.length > 0) io.stdout.write(textEstimate(facts, terminal));
    else terminal.complain(message(texts.noModel, { path: printable(name) }));
    if (models.every(({ notBuilt }) => notBuilt === true)) return exitCodes.failure;
    return isOver && !options.exitZero ? exitCodes.findings : exitCodes.clean;
  } catch (error) {
    const detail = printable(describeError(error));
    terminal.complain(message(usageMessages.internal, { path: printable(name), detail }));
    return exitCodes.failure;
  }
}

/** A file or standard input: Python as it stands, or the cells of a notebook. */
async function readDocument(
  file: string,
  name: string,
  io: Io,
): Promise<Document | { readonly problem: FileProblem }> {
  const limit = readLimit(name, undefined);
  const read =
    file === stdinMark
      ? decodePython(await io.readStdin(), name, limit)
      : await readTextFile(path.resolve(io.cwd, file), file, limit);
  return "problem" in read ? read : documentOf(name, read.file.text);
}
