/**
 * `npm run bench`: where the time of a check goes, as ratios against tree-sitter's own parse of the same text. Prints;
 * asserts nothing, since machines differ.
 */
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { analyze } from "../../server/src/analysis";
import { parseModule, parseTimings } from "../../server/src/python/parse";
import { buildScopes } from "../../server/src/python/scope";
import { fixtures } from "../support/fixtures";
import { loadParser } from "../support/parser";

const runs = 9;

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

function timed(action: () => void): number {
  const started = performance.now();
  action();
  return performance.now() - started;
}

/** Training scripts until there are `lines` lines, each a function of its own, as code of that length is written. */
function program(lines: number): string {
  const scripts = [...fixtures("rules"), ...fixtures("reported")].map(({ text }) => text);
  const collected: string[] = ["import torch"];
  for (let index = 0; collected.length < lines; index++) {
    const script = scripts[index % scripts.length] ?? "";
    collected.push(
      `def script_${index}():`,
      ...script.split("\n").map((line) => (line === "" ? line : `    ${line}`)),
    );
  }
  return `${collected.slice(0, lines).join("\n")}\n`;
}

function row(cells: readonly string[]): void {
  console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(10) : cell.padStart(11))).join(""));
}

function milliseconds(value: number): string {
  return value.toFixed(2);
}

function checkTable(): void {
  console.log(
    "A check of a file, milliseconds (median): parsing, lowering, names (scopes), all rules with their facts, the",
  );
  console.log("whole, and the ratio of the whole to tree-sitter's own parse");
  row(["lines", "parse", "lowering", "names", "rules", "whole", "ratio"]);
  for (const lines of [100, 1_000, 10_000]) {
    const text = program(lines);
    const parse: number[] = [];
    const lowering: number[] = [];
    const scopes: number[] = [];
    const rules: number[] = [];
    for (let run = 0; run < runs; run++) {
      const timings = parseTimings(text);
      parse.push(timings.parse);
      lowering.push(timings.lower);
      const parsed = parseModule(text);
      scopes.push(timed(() => void buildScopes(parsed.module)));
      rules.push(timed(() => void analyze(parsed)));
      parsed.dispose();
    }
    const whole = median(parse) + median(lowering) + median(rules);
    row([
      String(lines),
      ...[median(parse), median(lowering), median(scopes), median(rules), whole].map(milliseconds),
      (whole / median(parse)).toFixed(2),
    ]);
  }
}

function editTable(): void {
  console.log("\nFrom an edit to its findings, milliseconds");
  row(["lines", "median", "95th"]);
  for (const lines of [1_000, 10_000]) {
    const text = program(lines);
    let parsed = parseModule(text);
    const times: number[] = [];
    for (let run = 0; run < 60; run++) {
      const at = parsed.source.lineStart((run * 37) % lines);
      times.push(
        timed(() => {
          parsed = parsed.edit([{ start: at, end: at, text: run % 2 === 0 ? "#" : "" }]);
          analyze(parsed);
        }),
      );
    }
    parsed.dispose();
    times.sort((a, b) => a - b);
    row([
      String(lines),
      milliseconds(median(times)),
      milliseconds(times[Math.floor(times.length * 0.95)] ?? 0),
    ]);
  }
}

function memoryTable(): void {
  const megabytes = () => {
    global.gc?.();
    return Math.round(process.memoryUsage().rss / 1024 / 1024);
  };
  let parsed = parseModule(program(1_000));
  console.log("\nResident memory while editing 1,000 lines, MiB");
  const points: string[] = [];
  for (let edit = 0; edit <= 2_000; edit++) {
    if (edit % 500 === 0) points.push(`after ${edit} edits: ${megabytes()}`);
    const at = parsed.source.lineStart(edit % 900);
    parsed = parsed.edit([{ start: at, end: at + (edit % 2), text: edit % 2 === 0 ? "x" : "" }]);
    analyze(parsed);
  }
  parsed.dispose();
  console.log(points.join(", "));
}

function sizes(): void {
  console.log("\nSizes, KiB");
  for (const file of ["dist/cli.js", "dist/server.js", "dist/extension.js", "vramlint.vsix"]) {
    const absolute = path.join(__dirname, "../..", file);
    const size = existsSync(absolute) ? String(Math.round(statSync(absolute).size / 1024)) : "not built";
    console.log(`${file.padEnd(20)} ${size}`);
  }
}

async function main(): Promise<void> {
  await loadParser();
  for (const { text } of fixtures("rules")) analyze(parseModule(text)); // warm-up
  checkTable();
  editTable();
  memoryTable();
  sizes();
}

void main();
