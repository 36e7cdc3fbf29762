/** `vramlint estimate FILE`. */
import path from "node:path";
import { analyze } from "../analysis";
import { largestBatch, measuredLine, whatFits } from "../memory/fit";
import { estimateMessages as texts, usageMessages } from "../messages/cli";
import { message } from "../messages/message";
import { initializeParser, parseModule } from "../python/parse";
import type { ResolveImport } from "../python/resolve-import";
import { importResolver } from "../workspace/imports";
import { sitePackagesOf } from "../workspace/installed-packages";
import { readParserBinaries } from "../workspace/parser-binaries";
import { describeError, printable } from "../workspace/problem";
import { decodePython, readTextFile } from "../workspace/text";
import type { DecodedText, ReadResult } from "../workspace/text";
import { stdinMark } from "./check-options";
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
}

function importsOf(file: string, { cwd: root, env: variables }: Io): ResolveImport {
  return importResolver(file, { root, packages: sitePackagesOf(file, { root, variables }) });
}

export async function estimate(file: string, options: EstimateOptions, terminal: Terminal): Promise<number> {
  const { io } = terminal;
  const name = file === stdinMark ? (options.stdinFilename ?? "<stdin>") : file;
  const read: ReadResult<DecodedText> =
    file === stdinMark
      ? decodePython(await io.readStdin(), name)
      : await readTextFile(path.resolve(io.cwd, file), file);
  if ("problem" in read) {
    terminal.complain(read.problem.message);
    return exitCodes.failure;
  }
  await initializeParser(readParserBinaries());
  const overrides = setupOfOptions(options);
  if ("mistake" in overrides) {
    terminal.complain(overrides.mistake);
    return exitCodes.failure;
  }
  const project = new Project(io.cwd, { setup: overrides.setup });
  const mistakes = project.mistakes([name]);
  mistakes.forEach((mistake) => terminal.complain(mistake));
  if (mistakes.length > 0) return exitCodes.failure;
  const parsed = parseModule(read.file.text);
  try {
    const resolveImport = file === stdinMark ? undefined : importsOf(path.resolve(io.cwd, file), io);
    const { estimates, setup, verdict } = analyze(parsed, {
      ...project.optionsFor(name),
      select: [],
      resolveImport,
    });
    const models = estimates.all();
    const limit = setup.budget?.value ?? setup.device?.value.bytes;
    const isOver = verdict?.verdict === "over-budget" || verdict?.verdict === "over-device";
    const facts: EstimateFacts = {
      name,
      source: parsed.source,
      models,
      setup,
      verdict,
      fit: isOver ? whatFits(parsed.module, setup, resolveImport) : undefined,
      largestBatch:
        limit === undefined ? undefined : largestBatch(parsed.module, setup, limit, resolveImport),
      measured: measuredLine(setup.measured?.value ?? [], setup.batch?.value, setup.budget?.value),
    };
    if (options.format === "json") io.stdout.write(jsonEstimate(facts, terminal.language));
    else if (models.length > 0) io.stdout.write(textEstimate(facts, terminal));
    else terminal.complain(message(texts.noModel, { path: printable(name) }));
    return exitCodes.clean;
  } catch (error) {
    const detail = printable(describeError(error));
    terminal.complain(message(usageMessages.internal, { path: printable(name), detail }));
    return exitCodes.failure;
  } finally {
    parsed.dispose();
  }
}
