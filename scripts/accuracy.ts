/**
 * Prints how far the estimates are from PyTorch's figures in test/goldens: one line a run, then median, 90th percentile and
 * worst. `tsx scripts/accuracy.ts [file.py …]` limits it to some models; `--markdown` prints the table for docs/estimates.md.
 */
import { measureAccuracy, summarise, type Accuracy } from "../test/support/accuracy";
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
  console.log(`\n${rows.length} runs, ${missing} not estimated.`);
}

void main();
