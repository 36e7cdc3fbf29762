/** Budget and device against the trained model: the verdict, the largest micro-batch, what would make it fit. */
import type { Analysis } from "../analysis";
import type { FitOption } from "../memory/fit";
import { limitOf } from "../memory/setup";
import { formatBytes } from "../memory/units";
import { fitHoverTexts as texts, modelTexts } from "../messages/editor";
import { message, render } from "../messages/message";
import type { Language, Message, MessageText } from "../messages/message";
import { largestBatchOf } from "./largest-batch";

const known = new WeakMap<Analysis, readonly Message[]>();

/** Markdown lines; simulates the step anew for each answer, once an analysis. `undefined` without budget and device. */
export function fitMarkdown(analysis: Analysis, language: Language): string | undefined {
  let lines = known.get(analysis);
  if (lines === undefined) {
    lines = linesOf(analysis);
    known.set(analysis, lines);
  }
  if (lines.length === 0) return undefined;
  return lines
    .map((line) => `${isOption(line) ? "- " : ""}${render(line, language)}`)
    .join("\n")
    .replaceAll(/\n(?!- )/g, "  \n");
}

/** The step takes more than budget or device have. */
export function isOverLimit({ verdict }: Analysis): boolean {
  return verdict?.verdict === "over-budget" || verdict?.verdict === "over-device";
}

function isOption({ text }: Message): boolean {
  return text === texts.option || text === texts.notEnough;
}

function linesOf(analysis: Analysis): Message[] {
  const { setup, verdict } = analysis;
  const limit = limitOf(setup);
  if (limit === undefined || verdict === undefined) return [];
  const isBudget = setup.budget !== undefined;
  const isOver = isOverLimit(analysis);
  const lines: Message[] = [];
  if (verdict.verdict === "fits") {
    const percent = Math.round((100 * verdict.needed) / limit);
    const text = isBudget ? texts.fitsBudget : texts.fitsDevice;
    lines.push(message(text, { limit: formatBytes(limit), percent }));
  }
  if (isOver) {
    const { needed, budget, device } = verdict;
    if (budget !== undefined && needed > budget) lines.push(over(texts.overBudget, needed, budget));
    if (device !== undefined && needed > device) lines.push(over(texts.overDevice, needed, device));
  }
  const largest = largestBatchOf(analysis);
  if (largest !== undefined) {
    lines.push(message(isBudget ? texts.largestUnderBudget : texts.largestOnDevice, { batch: largest }));
  }
  const options = isOver ? (analysis.estimates.whatFits()?.options ?? []) : [];
  if (options.length > 0) lines.push(message(headingOf(options)), ...options.map(optionLine));
  return lines;
}

/** What is only known as a lower bound is no promise either way. */
function headingOf(options: readonly FitOption[]): MessageText {
  if (options.some(({ fits }) => fits)) return texts.whatFits;
  return options.some(({ isLowerBound }) => isLowerBound) ? texts.tried : texts.nothingFits;
}

function over(text: (typeof texts)["overBudget"], needed: number, limit: number): Message {
  return message(text, { limit: formatBytes(limit), over: formatBytes(needed - limit) });
}

/** A lower bound below the limit is no promise: it says "at least". */
function optionLine({ title, bytes, fits, isLowerBound }: FitOption): Message {
  const figure = formatBytes(bytes);
  const size = isLowerBound ? message(modelTexts.atLeast, { size: figure }) : figure;
  return message(fits || isLowerBound ? texts.option : texts.notEnough, { change: title, size });
}
