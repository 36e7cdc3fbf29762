/** The texts that are measured, and how. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fixtures } from "../support/fixtures";

export interface Program {
  readonly name: string;
  /** So many lines of it: each script in a function of its own, again and again. */
  text(lines: number): string;
}

/** A text so many times, each in a function of its own. */
export function copies(text: string, count: number): string {
  const indented = text.split("\n").map((line) => (line === "" ? line : `    ${line}`));
  return Array.from({ length: count }, (_, index) => [`def part_${index}():`, ...indented].join("\n")).join(
    "\n",
  );
}

function repeated(scripts: readonly string[], lines: number): string {
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

/** What people write: data, a model, helpers and one loop. */
export const script: Program = {
  name: "script",
  text: (lines) => repeated([readFileSync(path.join(__dirname, "script.py"), "utf8")], lines),
};

/** The rules' own test files: nothing but training loops, most of them faulty. */
export const faulty: Program = {
  name: "faulty",
  text: (lines) =>
    repeated(
      [...fixtures("rules"), ...fixtures("reported")].map(({ text }) => text),
      lines,
    ),
};

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Processor time of this process, all its threads, in milliseconds: other programs at work do not count in it. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export function timed(action: () => void): number {
  const started = processorTime();
  action();
  return processorTime() - started;
}

/**
 * What somebody waits for, in milliseconds: the time on the clock, or the processor time where that is less because other
 * programs were at work. V8 collects garbage and compiles beside the program, so neither alone is what a quiet machine takes;
 * both are at least that.
 */
export function waited(action: () => void): number {
  const started = performance.now();
  const processor = timed(action);
  return Math.min(performance.now() - started, processor);
}

export function printRow(cells: readonly string[]): void {
  console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(16) : cell.padStart(11))).join(""));
}
