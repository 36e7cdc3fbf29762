/** `npm run bench -- --tree FOLDER`: a whole tree of Python files, beside tree-sitter's own parse of the same files. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { Language, Parser } from "web-tree-sitter";
import { couldMatter } from "../../server/src/analysis";
import { checkText } from "../../server/src/cli/checked-file";
import { followingImports, sharingTree } from "../../server/src/cli/threads";
import { parsableText } from "../../server/src/python/parse";
import { discoverFiles } from "../../server/src/workspace/discover";
import { Disk } from "../../server/src/workspace/imports";
import { readParserBinaries } from "../../server/src/workspace/parser-binaries";
import { printRow, processorTime } from "./programs";

/** Every so many files are taken: a tenth, half and all of the tree. */
const strides = [10, 2, 1];
const longest = 1024 * 1024;

interface Part {
  readonly files: number;
  /** Left out without a parse, since nothing can be found in them. */
  readonly skipped: number;
  readonly lines: number;
  readonly bytes: number;
  /** Processor time in milliseconds. */
  readonly time: number;
  readonly peakMebibytes: number;
}

/** Every part is measured in a process of its own, so that its peak of memory is its own. */
export function treeTable(folder: string): void {
  console.log(
    `${folder}: processor time in one thread, peak of resident memory; "parse" is tree-sitter's own parse of`,
  );
  console.log(
    'the files that are not skipped; the texts are in memory before, and count in the peak. "check" is',
  );
  console.log('without other files, "imports" with imports followed, as the command line does');
  printRow([
    "share",
    "files",
    "skipped",
    "lines",
    "MB",
    "parse s",
    "check s",
    "ratio",
    "imports s",
    "ratio",
    "MB/s",
    "parse MiB",
    "check MiB",
    "imports MiB",
  ]);
  for (const stride of strides) {
    const parse = partInProcess(folder, "parse", stride);
    const check = partInProcess(folder, "check", stride);
    const follow = partInProcess(folder, "follow", stride);
    const megabytes = check.bytes / 1e6;
    printRow([
      `${Math.round(100 / stride)} %`,
      ...[check.files, check.skipped, check.lines].map(String),
      megabytes.toFixed(1),
      ...[parse.time, check.time].map((time) => (time / 1000).toFixed(2)),
      (check.time / parse.time).toFixed(2),
      (follow.time / 1000).toFixed(2),
      (follow.time / parse.time).toFixed(2),
      (megabytes / (follow.time / 1000)).toFixed(2),
      ...[parse, check, follow].map(({ peakMebibytes }) => String(peakMebibytes)),
    ]);
  }
}

function partInProcess(folder: string, what: string, stride: number): Part {
  const program = process.argv[1] ?? "";
  const { stdout } = spawnSync(
    process.execPath,
    [...process.execArgv, program, "--part", folder, what, String(stride)],
    { encoding: "utf8" },
  );
  return JSON.parse(stdout) as Part;
}

/** What `partInProcess` runs: prints the part as JSON. */
export async function measurePart(folder: string, [what, stride]: readonly string[]): Promise<void> {
  const { files } = await discoverFiles([folder], {
    cwd: process.cwd(),
    excludes: () => false,
    extensions: [".py"],
  });
  const parseOnly = await plainParser();
  // Read before the clock starts: asking for the time around each file would take a good part of what is measured.
  const texts = files
    .filter((_, index) => index % Number(stride) === 0)
    .map((file) => ({ file, text: readFileSync(file, "utf8") }))
    .filter(({ text }) => text.length <= longest);
  const disk = new Disk();
  const root = process.cwd();
  let skipped = 0;
  const started = processorTime();
  for (const { file, text } of texts) {
    if (!couldMatter(text)) skipped++;
    else if (what === "parse") parseOnly(text);
    else if (what === "check") checkText(file, text, {});
    else {
      const place = { file: path.resolve(file), root };
      checkText(file, text, followingImports({}, place, disk), undefined, undefined, sharingTree(place));
    }
  }
  const part: Part = {
    files: texts.length,
    skipped,
    lines: total(texts.map(({ text }) => text.split("\n").length - 1)),
    bytes: total(texts.map(({ text }) => Buffer.byteLength(text))),
    time: processorTime() - started,
    peakMebibytes: Math.round(process.resourceUsage().maxRSS / 1024),
  };
  console.log(JSON.stringify(part));
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** Tree-sitter alone: parses and forgets. */
export async function plainParser(): Promise<(text: string) => void> {
  const language = await Language.load(readParserBinaries().grammar);
  const parser = new Parser();
  parser.setLanguage(language);
  return (text) => parser.parse(parsableText(text))?.delete();
}

/** Wall time of the built command line, which is what threads are for: run it on a machine that does nothing else. */
export function threadsTable(folder: string): void {
  const program = path.join(__dirname, "../../dist/cli.js");
  if (!existsSync(program)) {
    console.log("\nThreads: not measured, `npm run build` first");
    return;
  }
  console.log("\n`vramlint check` of all, as built: best wall time of three");
  printRow(["threads", "seconds"]);
  for (const threads of [1, 2]) {
    const walls = [1, 2, 3].map(() => {
      const env = { ...process.env, VRAMLINT_THREADS: String(threads) };
      const started = performance.now();
      spawnSync(process.execPath, [program, "check", "--exit-zero", folder], { env, stdio: "ignore" });
      return (performance.now() - started) / 1000;
    });
    printRow([String(threads), Math.min(...walls).toFixed(2)]);
  }
}
