/** The largest micro-batch that fits, simulated when somebody asks and kept as long as the analysis. */
import type { Analysis } from "../analysis";

/** `undefined` without budget or device, when nothing fits and when not all of the step is known. */
export function largestBatchOf({ estimates, verdict }: Analysis): number | undefined {
  return verdict === undefined ? undefined : estimates.largestBatch();
}
