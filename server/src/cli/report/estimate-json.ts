/**
 * Estimates for programs. All sizes are bytes; lines count from 1, in a notebook within the cell that stands beside them. `complete: false` makes every figure of the model a
 * lower bound, with the reasons under `unknown`; `null` is "not known", never zero.
 *
 * `budget` (null where the header names neither budget nor device, or there is no model) speaks of the first model:
 * `budget` and `device` in bytes or null, `needed` (the peak allocated on CUDA, or the model states where the peak is
 * not known), `isLowerBound` of `needed`, `verdict` (`fits`, `over-budget`, `over-device`, `unknown`), and `batch`,
 * `accumulate`, `devices` with their product `effectiveBatch` (null where the micro-batch is not known).
 * `host`, there only with `offload`, is what each device has in the host's memory; all other sizes are one device's.
 * `largestBatch` is the largest micro-batch that fits budget or device, null where not all of the step is known.
 * `peak.device` is what the device shows for the process, an interval: allocated bytes, 6 to 13 % of allocator slack and the
 * CUDA context, as measured on a T4; `most` is null where the peak is a lower bound.
 * `options`, of a step that does not fit, are changes to the header that were simulated anew, the smallest first, each with
 * `changes` by key, the peak `bytes` they lead to, `fits` and `isLowerBound`. `measured` is the least-squares line through
 * the header's measured peaks (`fixed` bytes and bytes `perSample`), its `prediction` at `batch`, the `largestBatch` under
 * the budget by the line, the `largestMeasured` under it, and the `residuals` of the points, in bytes.
 */
import { effectiveBatch } from "../../directives/budget";
import type { BudgetVerdict, ModelEstimate } from "../../memory/estimate";
import { deviceUsage } from "../../memory/device-usage";
import type { FitAnswer } from "../../memory/fit";
import type { MeasuredLine } from "../../memory/measured-line";
import type { TrainingSetup } from "../../memory/setup";
import { render } from "../../messages/message";
import type { Language } from "../../messages/message";
import type { Source } from "../../python/source";
import type { Span } from "../../python/tree";
import type { TextForm } from "../checked-file";
import { cellPlaceOf } from "./place";
import type { Placed } from "./place";

export interface EstimateFacts {
  /** What reports call the file. */
  readonly name: string;
  readonly source: Source;
  /** Only of notebooks. */
  readonly form?: TextForm | undefined;
  /** The one that the header or the script trains first. */
  readonly models: readonly ModelEstimate[];
  readonly setup: TrainingSetup;
  readonly verdict: BudgetVerdict | undefined;
  /** For steps that do not fit. */
  readonly fit: FitAnswer | undefined;
  readonly largestBatch: number | undefined;
  readonly measured: MeasuredLine | undefined;
}

export function jsonEstimate(facts: EstimateFacts, language: Language): string {
  const models = facts.models.map((model) => jsonModel(model, facts, language));
  return `${JSON.stringify({ models, budget: jsonBudget(facts, language) }, undefined, 2)}\n`;
}

function jsonModel(model: ModelEstimate, placed: Placed, language: Language): object {
  const { parameters, buffers, gradients, optimizer, saved, peak, complete } = model;
  const isBuilt = model.notBuilt !== true;
  return {
    name: model.name,
    ...jsonPlace(placed, model.span),
    parameters: isBuilt
      ? { count: parameters.count, bytes: parameters.bytes, trainable: parameters.trainable }
      : null,
    buffers: isBuilt ? { bytes: buffers.bytes } : null,
    gradients: isBuilt ? { bytes: gradients.bytes } : null,
    optimizer: optimizer && { name: optimizer.name, bytes: optimizer.bytes },
    ...(model.host === undefined ? {} : { host: { bytes: model.host } }),
    saved: saved && { bytes: saved.bytes, perSample: saved.perSample },
    peak: peak && {
      bytes: peak.bytes,
      allocated: peak.allocated,
      device: jsonDevice(peak.allocated, complete),
      phase: peak.phase,
      ...jsonPlace(placed, peak.span),
    },
    complete,
    unknown: model.unknown.map(({ span, reason }) => ({
      ...jsonPlace(placed, span),
      reason: render(reason, language),
    })),
    assumptions: model.assumptions.map(({ key, value, from }) => ({ key, value, from })),
  };
}

function jsonDevice(allocated: number, complete: boolean): object {
  const { least, most } = deviceUsage(allocated);
  return { least, most: complete ? most : null };
}

function jsonBudget(
  { verdict, setup, fit, largestBatch, measured }: EstimateFacts,
  language: Language,
): object | null {
  if (verdict === undefined) return null;
  const batch = setup.batch?.value ?? null;
  const accumulate = setup.accumulate?.value ?? 1;
  const devices = setup.devices?.value ?? 1;
  return {
    budget: verdict.budget ?? null,
    device: verdict.device ?? null,
    needed: verdict.needed,
    isLowerBound: verdict.isLowerBound,
    verdict: verdict.verdict,
    batch,
    accumulate,
    devices,
    effectiveBatch: effectiveBatch(setup) ?? null,
    largestBatch: largestBatch ?? null,
    options: (fit?.options ?? []).map(({ title, changes, bytes, fits, isLowerBound }) => ({
      title: render(title, language),
      changes,
      bytes,
      fits,
      isLowerBound,
    })),
    measured: measured === undefined ? null : jsonMeasured(measured),
  };
}

function jsonMeasured(line: MeasuredLine): object {
  return {
    fixed: Math.round(line.fixed),
    perSample: Math.round(line.perSample),
    prediction: line.prediction === undefined ? null : Math.round(line.prediction),
    largestBatch: line.largestBatch ?? null,
    largestMeasured: line.largestMeasured ?? null,
    residuals: line.residuals.map(Math.round),
  };
}

/** `line`, and in a notebook `cell` before it; null where the place is not known. */
function jsonPlace(
  placed: Placed,
  span: Span | undefined,
): { readonly cell?: number | null; readonly line: number | null } {
  const place = span && cellPlaceOf(placed, span);
  const cell = placed.form === undefined ? {} : { cell: place?.cell ?? null };
  return { ...cell, line: place?.line ?? null };
}
