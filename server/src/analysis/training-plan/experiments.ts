/** Which changes to try in which order, when a run counts as good, and what to do when it does not. */
import type { FitOption } from "../../memory/fit";
import { formatBytes } from "../../memory/units";
import { message } from "../../messages/message";
import type { MessageText } from "../../messages/message";
import {
  planAcceptance,
  planColumns,
  planExperiments as texts,
  planFallback,
  planMarks,
} from "../../messages/training-plan";
import type { PlanFacts, PlanWriter } from "./writer";

/** By the header's key that changes. */
const watched: Readonly<Record<string, MessageText>> = {
  batch: texts.watchBatch,
  precision: texts.watchPrecision,
  checkpoint: texts.watchCheckpoint,
  optimizer: texts.watchOptimizer,
  shard: texts.watchShard,
};

export function experimentSection(facts: PlanFacts, writer: PlanWriter): string[] {
  const options = facts.fit?.options ?? [];
  const rows = [
    baselineRow(facts, writer),
    ...options.map((option, index) => rowOf(option, index, facts.limit, writer)),
  ];
  const heads = [
    planColumns.number,
    planColumns.change,
    planColumns.header,
    planColumns.estimated,
    planColumns.within,
    planColumns.watch,
    planColumns.outcome,
  ];
  return [writer.text(texts.rule), ...remarks(facts, options, writer), writer.table(heads, rows)];
}

function remarks(facts: PlanFacts, options: readonly FitOption[], writer: PlanWriter): string[] {
  const { limit, model, analysis } = facts;
  if (options.length === 0) {
    const missing = message(limit === undefined ? texts.missingLimit : texts.missingModel);
    return [writer.text(texts.noOptions, { missing })];
  }
  const verdict = analysis.verdict?.verdict;
  if (verdict === "fits") return [writer.text(texts.fallbacks)];
  if (model?.complete !== true) return [writer.text(texts.uncertain)];
  const first = options.findIndex(({ fits }) => fits);
  if (first < 0) return [writer.text(texts.noneFits)];
  return verdict === "over-device" ? [writer.text(texts.baselineOver, { number: first + 1 })] : [];
}

function baselineRow({ model, limit }: PlanFacts, writer: PlanWriter): string[] {
  const peak = model?.peak ?? undefined;
  const isComplete = model?.complete === true;
  return [
    "0",
    writer.text(texts.baseline),
    "",
    peak === undefined ? writer.measure : sizeText(peak.allocated, isComplete, writer),
    withinText(peak?.allocated, limit, isComplete, writer),
    writer.text(texts.nothing),
    writer.measure,
  ];
}

function rowOf(
  { title, changes, bytes, isLowerBound }: FitOption,
  index: number,
  limit: number | undefined,
  writer: PlanWriter,
): string[] {
  const [key = ""] = Object.keys(changes);
  const watch = watched[key];
  const entries = Object.entries(changes).map(([name, value]) => `${name}=${value}`);
  return [
    String(index + 1),
    writer.text(title.text, title.values),
    writer.code(entries.join(", ")),
    sizeText(bytes, !isLowerBound, writer),
    withinText(bytes, limit, !isLowerBound, writer),
    watch === undefined ? "" : writer.text(watch),
    writer.measure,
  ];
}

function sizeText(bytes: number, isComplete: boolean, writer: PlanWriter): string {
  const size = formatBytes(bytes);
  return isComplete ? size : writer.text(texts.atLeast, { size });
}

/** A lower bound over the limit is over it all the same. */
function withinText(
  bytes: number | undefined,
  limit: number | undefined,
  isSure: boolean,
  writer: PlanWriter,
): string {
  if (bytes === undefined || limit === undefined) return writer.measure;
  if (bytes > limit) return writer.text(texts.no);
  return isSure ? writer.text(texts.yes) : writer.measure;
}

/** How far a measured peak may be from the estimate before somebody looks why. */
const largestDifference = 10;

export function acceptanceSection({ analysis, model }: PlanFacts, writer: PlanWriter): string[] {
  const { budget, device } = analysis.setup;
  const fill = message(planMarks.fill);
  const lines: string[] = [];
  if (budget !== undefined) {
    lines.push(writer.text(planAcceptance.memoryBudget, { limit: formatBytes(budget.value) }));
  }
  if (device !== undefined) {
    lines.push(writer.text(planAcceptance.memoryDevice, { limit: formatBytes(device.value.bytes) }));
  }
  if (lines.length === 0) lines.push(writer.text(planAcceptance.memoryOpen, { fill }));
  lines.push(writer.text(planAcceptance.flat));
  if (model?.complete === true && model.peak !== null) {
    lines.push(writer.text(planAcceptance.estimate, { percent: largestDifference }));
  }
  lines.push(writer.text(planAcceptance.quality, { fill }), writer.text(planAcceptance.time, { fill }));
  return [writer.list(lines)];
}

export function fallbackSection(writer: PlanWriter): string[] {
  const fill = message(planMarks.fill);
  const lines = [planFallback.over, planFallback.quality, planFallback.outOfMemory, planFallback.last];
  return [
    writer.list(
      lines.map((text) => writer.text(text, { fill })),
      "1.",
    ),
  ];
}
