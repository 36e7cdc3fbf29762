/**
 * `npm run bench`: where the time of a check goes, as ratios against tree-sitter's own parse of the same text;
 * `npm run bench -- --tree FOLDER` the same for all Python files of a folder, `-- --threads FOLDER` what a second
 * thread gains there, `-- --edits` the table of edits alone, `-- --estimates` what an estimate costs. Run as a bundle (`run.mjs`). Prints; asserts nothing, since machines
 * differ: what must not grow is counted in `test/unit/work.test.ts`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { analyze } from "../../server/src/analysis";
import { parseModule } from "../../server/src/python/parse";
import { makeObjectsYoung } from "../../server/src/launch/collector";
import { buildScopes } from "../../server/src/python/scope";
import { fixtures } from "../support/fixtures";
import { loadParser } from "../support/parser";
import { editTable } from "./edits";
import { keptPerCheck } from "./kept";
import { faulty, median, printRow, script, timed } from "./programs";
import type { Program } from "./programs";
import { measurePart, plainParser, threadsTable, treeTable } from "./tree";

const runs = 15;
/** So many lines are checked before the clock starts: V8 compiles the parser and our code beside them, which would count. */
const warmLines = 50_000;

/** What must leave nothing behind, for `test/unit/garbage.test.ts`. */
const keptTexts = [
  ["a training script", script.text(258)],
  ["a file that most rules have something to say about", faulty.text(1_000)],
] as const;

const measured: readonly (readonly [Program, readonly number[]])[] = [
  [script, [250, 1_000, 10_000]],
  [faulty, [100, 1_000, 10_000]],
];

function milliseconds(value: number): string {
  return value.toFixed(2);
}

async function checkTable(): Promise<void> {
  const parseOnly = await plainParser();
  console.log(
    "A check of a file, milliseconds of processor time: parsing, lowering, names (scopes), all rules with their",
  );
  console.log(
    "facts, the whole, and its ratio to tree-sitter's own parse. Warm: the same text has been checked often before, as",
  );
  console.log(
    "in an editor (median). First: nothing has been checked before in the process, so that compiling counts (median)",
  );
  printRow([
    "lines",
    "parse",
    "lowering",
    "names",
    "rules",
    "whole",
    "warm",
    "1st parse",
    "1st whole",
    "1st ratio",
  ]);
  for (const [program, lengths] of measured) for (const lines of lengths) checkRow(program, lines, parseOnly);
}

function checkRow(program: Program, lines: number, parseOnly: (text: string) => void): void {
  const text = program.text(lines);
  for (let run = 0; run < Math.max(runs, warmLines / lines); run++) {
    parseOnly(text);
    analyze(parseModule(text));
  }
  const parse: number[] = [];
  const both: number[] = [];
  const scopes: number[] = [];
  const rules: number[] = [];
  for (let run = 0; run < runs; run++) {
    parse.push(timed(() => parseOnly(text)));
    let parsed = parseModule("");
    both.push(timed(() => (parsed = parseModule(text))));
    scopes.push(timed(() => void buildScopes(parsed.module)));
    rules.push(timed(() => void analyze(parsed)));
  }
  const lowering = median(both) - median(parse);
  const whole = median(both) + median(rules);
  const [firstParse, first] = [firstTime(program, lines, "parse"), firstTime(program, lines, "check")];
  printRow([
    `${program.name} ${lines}`,
    ...[median(parse), lowering, median(scopes), median(rules), whole].map(milliseconds),
    (whole / median(parse)).toFixed(2),
    ...[firstParse, first].map(milliseconds),
    (first / firstParse).toFixed(2),
  ]);
}

/** Each time in a process of its own. */
function firstTime(program: Program, lines: number, what: "parse" | "check"): number {
  const args = [...process.execArgv, process.argv[1] ?? "", "--first", program.name, String(lines), what];
  const times = Array.from({ length: 5 }, () => {
    const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
    return Number(stdout);
  });
  return median(times);
}

/** What `firstTime` runs: prints the milliseconds of one parse or check. */
async function measureFirst(name: string, lines: number, what: string | undefined): Promise<void> {
  const program = [script, faulty].find((one) => one.name === name) ?? script;
  const text = program.text(lines);
  const parseOnly = await plainParser();
  console.log(timed(() => (what === "parse" ? parseOnly(text) : void analyze(parseModule(text)))));
}

function memoryTable(): void {
  const megabytes = () => {
    global.gc?.();
    return Math.round(process.memoryUsage().rss / 1024 / 1024);
  };
  let parsed = parseModule(faulty.text(1_000));
  console.log("\nResident memory while editing 1,000 lines, MiB");
  const points: string[] = [];
  for (let edit = 0; edit <= 2_000; edit++) {
    if (edit % 500 === 0) points.push(`after ${edit} edits: ${megabytes()}`);
    const at = parsed.source.lineStart(edit % 900);
    parsed = parsed.edit([{ start: at, end: at + (edit % 2), text: edit % 2 === 0 ? "x" : "" }]);
    analyze(parsed);
  }
  console.log(points.join(", "));
}

function sizes(): void {
  console.log("\nSizes, KiB");
  for (const file of ["dist/program.js", "dist/server.js", "dist/extension.js", "vramlint.vsix"]) {
    const absolute = path.join(__dirname, "../..", file);
    const size = existsSync(absolute) ? String(Math.round(statSync(absolute).size / 1024)) : "not built";
    console.log(`${file.padEnd(20)} ${size}`);
  }
}

function warmUp(): void {
  for (const { text } of fixtures("rules")) analyze(parseModule(text));
}

async function main(): Promise<void> {
  makeObjectsYoung(); // as the programs do that ship
  const [mode, folder, ...others] = process.argv.slice(2);
  await loadParser();
  if (mode === "--part" && folder !== undefined) {
    await measurePart(folder, others);
    return;
  }
  if (mode === "--first" && folder !== undefined) {
    await measureFirst(folder, Number(others[0]), others[1]);
    return;
  }
  if (mode === "--kept") {
    console.log(JSON.stringify(keptTexts.map(([name, text]) => ({ name, ...keptPerCheck(text) }))));
    return;
  }
  if (mode === "--tree" && folder !== undefined) {
    treeTable(folder);
    return;
  }
  if (mode === "--edits") {
    warmUp();
    editTable();
    return;
  }
  if (mode === "--threads" && folder !== undefined) {
    threadsTable(folder);
    return;
  }
  warmUp();
  await checkTable();
  editTable();
  memoryTable();
  sizes();
}

void main();
