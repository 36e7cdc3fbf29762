/**
 * Prints how far the estimates are from PyTorch's figures in test/goldens: one line a run, then median, 90th percentile and
 * worst. `tsx scripts/accuracy.ts [file.py …]` limits it to some models (`gpu` for the
 * measurements on a card); `--markdown` prints the tables for docs/estimates.md.
 */
import { formatBytes } from "../server/src/memory/units";
import { measureAccuracy, summarise, type Accuracy } from "../test/support/accuracy";
import { measureGpu } from "../test/support/gpu";
import { loadParser } from "../test/support/parser";

function percent(error: number | undefined): string {
  return error === undefined ? "-" : `${(100 * error).toFixed(2)}%`;
}

function line(row: Accuracy): string {
  const name = `${row.file}${row.model === "" ? "" : ` ${row.model}`}`;
  const head = `${name} | ${row.device} ${row.precision} ${row.attention} B=${row.batch}`;
  if (row.missing !== undefined) return `${head} | ${row.missing}`;
  const peaks = Object.entries(row.peakErrors).map(([key, error]) => `${key} ${percent(error)}`);
  return [
    head,
    `params ${percent(row.parameterError)}`,
    `saved ${percent(row.savedError)}`,
    `forward ${percent(row.forwardError)}`,
    `backward ${percent(row.backwardError)}`,
    ...peaks,
    `${row.milliseconds.toFixed(0)} ms`,
  ].join(" | ");
}

interface Quantity {
  readonly name: string;
  readonly errors: readonly number[];
}

function quantities(rows: readonly Accuracy[]): Quantity[] {
  const known = rows.filter((row) => row.missing === undefined);
  const defined = (values: readonly (number | undefined)[]): number[] =>
    values.filter((value) => value !== undefined);
  const peaks = (device: string, precision: RegExp): number[] =>
    known
      .filter((row) => row.device === device && precision.test(row.precision))
      .flatMap((row) => Object.values(row.peakErrors));
  return [
    { name: "parameters", errors: known.map((row) => row.parameterError) },
    { name: "saved", errors: defined(known.map((row) => row.savedError)) },
    { name: "forward peak", errors: defined(known.map((row) => row.forwardError)) },
    { name: "backward peak", errors: defined(known.map((row) => row.backwardError)) },
    { name: "peak, CPU dispatch, fp32", errors: peaks("cpu", /^fp32$/) },
    { name: "peak, CUDA dispatch, fp32", errors: peaks("cuda", /^fp32$/) },
    { name: "peak, CUDA dispatch, AMP", errors: peaks("cuda", /^amp/) },
    { name: "peak, CUDA dispatch, pure half precision", errors: peaks("cuda", /^(bf16|fp16)$/) },
    { name: "peak, all", errors: known.flatMap((row) => Object.values(row.peakErrors)) },
  ];
}

/** Real peaks of a Tesla T4 beside the estimates. */
function printGpu(): void {
  console.log(
    "\n| model on a T4, AMP fp16, AdamW | measured | estimated | error | phase |\n|---|---|---|---|---|",
  );
  const errors: number[] = [];
  for (const row of measureGpu()) {
    if (typeof row === "string") {
      console.log(`| ${row} | - | - | - | - |`);
      continue;
    }
    const error = (row.estimated - row.measured) / row.measured;
    errors.push(error);
    const name = `${row.model} B=${row.batch}${row.sequence === null ? "" : ` T=${row.sequence}`}`;
    console.log(
      `| ${name} | ${formatBytes(row.measured)} | ${formatBytes(row.estimated)} | ${percent(error)} | ${row.phase} |`,
    );
  }
  const mean = errors.reduce((sum, error) => sum + Math.abs(error), 0) / errors.length;
  const bias = errors.reduce((sum, error) => sum + error, 0) / errors.length;
  console.log(`\nMean size of the error ${percent(mean)}, mean error ${percent(bias)}.`);
}

async function main(): Promise<void> {
  await loadParser();
  const asked = process.argv.slice(2).filter((each) => !each.startsWith("--"));
  const markdown = process.argv.includes("--markdown");
  const rows = measureAccuracy(asked.length === 0 ? undefined : (file) => asked.includes(file));
  if (!markdown) for (const row of rows) console.log(line(row));
  console.log("\n| quantity | runs | median | 90th percentile | worst |\n|---|---|---|---|---|");
  for (const { name, errors } of quantities(rows)) {
    const { median, p90, worst, count } = summarise(errors);
    console.log(`| ${name} | ${count} | ${percent(median)} | ${percent(p90)} | ${percent(worst)} |`);
  }
  const missing = rows.filter((row) => row.missing !== undefined).length;
  if (asked.length === 0 || asked.includes("gpu")) printGpu();
  console.log(`\n${rows.length} runs, ${missing} not estimated.`);
}

void main();
