/** The line through measured peaks. */
import type { MeasuredPoint } from "./setup";

/** The least-squares line through measured peaks. It holds for their shape, precision and optimizer only. */
export interface MeasuredLine {
  /** Bytes. */
  readonly fixed: number;
  readonly perSample: number;
  /** Measured minus line, in the order of the points. */
  readonly residuals: readonly number[];
  /** The peak at the micro-batch asked for. */
  readonly prediction: number | undefined;
  /** Whether the prediction is over the budget; undefined without either. */
  readonly isOverBudget: boolean | undefined;
  /** By the line. */
  readonly largestBatch: number | undefined;
  /** The largest measured micro-batch under the budget. */
  readonly largestMeasured: number | undefined;
}

/** Undefined for fewer than two different micro-batches. */
export function measuredLine(
  points: readonly MeasuredPoint[],
  batch: number | undefined,
  budget: number | undefined,
): MeasuredLine | undefined {
  const count = points.length;
  const meanBatch = points.reduce((sum, point) => sum + point.batch, 0) / count;
  const meanBytes = points.reduce((sum, point) => sum + point.bytes, 0) / count;
  let [spread, together] = [0, 0];
  for (const point of points) {
    spread += (point.batch - meanBatch) ** 2;
    together += (point.batch - meanBatch) * (point.bytes - meanBytes);
  }
  if (count < 2 || spread === 0) return undefined;
  const perSample = together / spread;
  const fixed = meanBytes - perSample * meanBatch;
  const at = (samples: number): number => fixed + perSample * samples;
  const under = points
    .filter((point) => budget !== undefined && point.bytes <= budget)
    .map((point) => point.batch);
  const prediction = batch === undefined ? undefined : at(batch);
  return {
    fixed,
    perSample,
    residuals: points.map((point) => point.bytes - at(point.batch)),
    prediction,
    isOverBudget: prediction === undefined || budget === undefined ? undefined : prediction > budget,
    largestBatch: budget === undefined ? undefined : largestOnLine(fixed, perSample, budget),
    largestMeasured: under.length === 0 ? undefined : Math.max(...under),
  };
}

/** A byte of slack: the line comes from divisions. */
const slack = 1;

function largestOnLine(fixed: number, perSample: number, budget: number): number | undefined {
  if (perSample <= 0) return undefined;
  const largest = Math.floor((budget - fixed + slack) / perSample);
  return largest >= 1 ? largest : undefined;
}
