/** The largest micro-batch that fits, simulated when somebody asks and kept as long as the analysis. */
import type { Analysis } from "../analysis";
import { largestBatch } from "../memory/fit";
import type { Module } from "../python/tree";

const known = new WeakMap<Analysis, { readonly batch: number | undefined }>();

/** `undefined` without budget or device, when nothing fits and when not all of the step is known. */
export function largestBatchOf(analysis: Analysis, module: Module): number | undefined {
  let answer = known.get(analysis);
  if (answer === undefined) {
    const { setup, verdict } = analysis;
    const limit = setup.budget?.value ?? setup.device?.value.bytes;
    const isAsked = limit !== undefined && verdict !== undefined;
    answer = { batch: isAsked ? largestBatch(module, setup, limit, analysis.resolveImport) : undefined };
    known.set(analysis, answer);
  }
  return answer.batch;
}
