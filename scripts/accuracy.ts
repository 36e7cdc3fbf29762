/**
 * Prints how far the estimates are from PyTorch's figures in test/goldens: one line a run, then median, 90th percentile and
 * worst, then the measurements on a card. `npm run accuracy -- file.py …` limits it to some models; `-- --write` puts the
 * tables into docs/estimates.md and its Chinese twin.
 */
import type { Accuracy } from "../test/support/accuracy";
import { accuracyFigures, cardTable, errorTable, percent, writePages } from "../test/support/accuracy-tables";
import { loadParser } from "../test/support/parser";

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

async function main(): Promise<void> {
  await loadParser();
  const asked = process.argv.slice(2).filter((each) => !each.startsWith("--"));
  const figures = accuracyFigures(asked.length === 0 ? undefined : (file) => asked.includes(file));
  const { rows, card } = figures;
  for (const row of rows) console.log(line(row));
  console.log(`\n${errorTable(rows, "en")}`);
  const missing = rows.filter((row) => row.missing !== undefined).length;
  console.log(`\n${rows.length} runs, ${missing} not estimated.`);
  if (asked.length > 0) return;

  console.log(`\nOn a Tesla T4, AMP fp16, AdamW:\n\n${cardTable(card, "en")}`);
  const errors = card
    .filter((row) => typeof row !== "string")
    .map((row) => (row.estimated - row.measured) / row.measured);
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  console.log(
    `\nMean size of the error ${percent(mean(errors.map(Math.abs)))}, mean error ${percent(mean(errors))}.`,
  );
  if (process.argv.includes("--write")) writePages(figures);
}

void main();
