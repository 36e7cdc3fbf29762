/** What the step is estimated to need, what was measured of it, and what has to be. */
import { deviceUsage } from "../../memory/device-usage";
import type { ModelEstimate, UnknownPart } from "../../memory/estimate";
import { formatBytes } from "../../memory/units";
import { modelTexts, phaseNames } from "../../messages/editor";
import { message } from "../../messages/message";
import {
  planColumns,
  planEstimate as texts,
  planMarks,
  planMeasured,
  planOpen,
} from "../../messages/training-plan";
import type { PlanFacts, PlanWriter } from "./writer";

/** How many of the parts that were not understood are named. */
const mostReasons = 10;

export function estimateSection(facts: PlanFacts, writer: PlanWriter): string[] {
  const { model } = facts;
  if (model === undefined) return [writer.text(texts.none, { measure: message(planMarks.measure) })];
  if (model.notBuilt === true) return [writer.text(texts.notBuilt), reasons(model.unknown, writer)];
  const blocks = [writer.table([planColumns.part, planColumns.memory], partsOf(model, facts, writer))];
  if (model.unknown.length > 0) {
    blocks.push(writer.text(texts.lowerBound), reasons(model.unknown, writer));
  }
  blocks.push(verdictOf(facts, writer));
  if (facts.largestBatch !== undefined) {
    blocks.push(writer.text(texts.largest, { batch: facts.largestBatch }));
  }
  return blocks;
}

function partsOf(model: ModelEstimate, { analysis }: PlanFacts, writer: PlanWriter): string[][] {
  const { parameters, buffers, gradients, optimizer, saved, peak, complete } = model;
  const size = (bytes: number): string =>
    complete ? formatBytes(bytes) : writer.text(modelTexts.atLeast, { size: formatBytes(bytes) });
  const open = writer.measure;
  const rows: string[][] = [[writer.text(modelTexts.peak), peakText(model, size, writer)]];
  if (peak !== null) {
    const { least, most } = deviceUsage(peak.allocated);
    const usage = { least: formatBytes(least), most: formatBytes(most) };
    const text = complete ? texts.onDevice : modelTexts.onDeviceFrom;
    rows.push([writer.text(modelTexts.onDevice), writer.text(text, usage)]);
  }
  rows.push([writer.text(modelTexts.parameters), size(parameters.bytes)]);
  if (buffers.bytes > 0) rows.push([writer.text(modelTexts.buffers), size(buffers.bytes)]);
  if (analysis.setup.mode?.value !== "infer") {
    rows.push([writer.text(modelTexts.gradients), size(gradients.bytes)]);
    rows.push(
      optimizer === null
        ? [writer.text(modelTexts.optimizerUnknown), open]
        : [writer.text(modelTexts.optimizer, { name: optimizer.name }), size(optimizer.bytes)],
    );
  }
  rows.push([writer.text(modelTexts.saved), savedText(saved, size, writer) ?? open]);
  return rows;
}

/** "At least nothing" says nothing. */
function savedText(
  saved: ModelEstimate["saved"],
  size: (bytes: number) => string,
  writer: PlanWriter,
): string | undefined {
  if (saved === null || saved.bytes === 0) return undefined;
  const perSample = formatBytes(saved.perSample);
  return writer.text(modelTexts.savedPerSample, { size: size(saved.bytes), perSample });
}

function peakText({ peak }: ModelEstimate, size: (bytes: number) => string, writer: PlanWriter): string {
  if (peak === null) return writer.measure;
  const values = { size: size(peak.allocated), phase: message(phaseNames[peak.phase]) };
  if (peak.span === undefined) return writer.text(modelTexts.peakIn, values);
  return writer.text(texts.atPlace, { ...values, where: writer.origin("script", peak.span) });
}

function reasons(unknown: readonly UnknownPart[], writer: PlanWriter): string {
  const lines = unknown.map(({ span, reason }) => {
    if (span === undefined) return writer.text(reason.text, reason.values);
    return writer.text(texts.reason, { where: writer.origin("script", span), reason });
  });
  const told = [...new Set(lines)];
  const more = told.length - mostReasons;
  const rest = more > 0 ? [writer.text(modelTexts.more, { count: more })] : [];
  return writer.list([...told.slice(0, mostReasons), ...rest]);
}

function verdictOf({ limit, analysis }: PlanFacts, writer: PlanWriter): string {
  const { verdict } = analysis;
  if (limit === undefined || verdict === undefined) return writer.text(texts.noLimit);
  const { needed, isLowerBound } = verdict;
  const values = { limit: formatBytes(limit) };
  if (needed > limit) {
    const text = isLowerBound ? texts.overAtLeast : texts.over;
    return writer.text(text, { ...values, over: formatBytes(needed - limit) });
  }
  if (isLowerBound) return writer.text(texts.noVerdict, values);
  return writer.text(texts.fits, { ...values, percent: Math.round((100 * needed) / limit) });
}

/** Two points make the line. */
const fewestPoints = 2;

export function measuredSection({ analysis, line }: PlanFacts, writer: PlanWriter): string[] {
  const { measured, batch } = analysis.setup;
  const points = measured?.value ?? [];
  if (points.length === 0) {
    const example = "16:1.8GiB 32:3.0GiB";
    return [writer.text(planMeasured.none, { example, points: fewestPoints })];
  }
  const rows = points.map((point, index) => {
    const residual = line?.residuals[index];
    return [
      String(point.batch),
      formatBytes(point.bytes),
      ...(line === undefined ? [] : [signed(residual ?? 0)]),
    ];
  });
  const heads = [planColumns.batch, planColumns.measuredPeak];
  const blocks = [writer.table(line === undefined ? heads : [...heads, planColumns.offLine], rows)];
  if (line === undefined) return [...blocks, writer.text(planMeasured.noLine)];
  const figures = { fixed: signed(line.fixed).replace(/^\+/, ""), perSample: formatBytes(line.perSample) };
  const sentences = [writer.text(planMeasured.line, figures)];
  if (line.prediction !== undefined && batch !== undefined) {
    const values = { batch: batch.value, size: formatBytes(line.prediction) };
    sentences.push(writer.text(planMeasured.prediction, values));
  }
  if (line.largestBatch !== undefined) {
    sentences.push(writer.text(planMeasured.largestByLine, { batch: line.largestBatch }));
  }
  if (line.largestMeasured !== undefined) {
    sentences.push(writer.text(planMeasured.largestMeasured, { batch: line.largestMeasured }));
  }
  return [...blocks, writer.list(sentences)];
}

function signed(bytes: number): string {
  const rounded = Math.round(bytes);
  if (rounded === 0) return "0 B";
  return `${rounded < 0 ? "−" : "+"}${formatBytes(Math.abs(rounded))}`;
}

/** Losses over classes. */
const classLosses: ReadonlySet<string> = new Set(["cross_entropy", "nll_loss"]);

export function openSection(facts: PlanFacts, writer: PlanWriter): string[] {
  const { setup } = facts.analysis;
  const measure = message(planMarks.measure);
  const measured = new Set(setup.measured?.value.map(({ batch }) => batch) ?? []);
  const batch = setup.batch?.value;
  const wanted = measured.size < fewestPoints && batch !== undefined ? furtherBatches(batch, facts) : [];
  const perClass = classLosses.has(setup.loss?.value ?? "");
  const lines = [
    ...(batch !== undefined && measured.has(batch) ? [] : [planOpen.allocated]),
    planOpen.reserved,
    planOpen.usage,
    planOpen.extremes,
    planOpen.validation,
    planOpen.time,
    perClass ? planOpen.qualityPerClass : planOpen.quality,
    planOpen.seeds,
  ].map((text) => writer.text(text, { measure }));
  if (wanted.length > 0) {
    const batches = wanted.join(", ");
    lines.splice(1, 0, writer.text(planOpen.points, { measure, batches }));
  }
  return [writer.list(lines, "- [ ]")];
}

/** Smaller than the present one, which are sure to fit if it does; larger where there is nothing smaller. */
function furtherBatches(batch: number, { largestBatch }: PlanFacts): number[] {
  const most = Math.min(batch, largestBatch ?? batch);
  const smaller = [Math.floor(most / 4), Math.floor(most / 2)].filter((size) => size >= 1);
  return smaller.length === 2 && smaller[0] !== smaller[1] ? smaller : [batch * 2, batch * 4];
}
