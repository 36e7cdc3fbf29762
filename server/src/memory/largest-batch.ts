/** The largest micro-batch whose step fits. */
import type { ModelSteps, RanStep } from "./estimate/steps";

/** No script trains with more samples at once. */
const mostSamples = 1 << 20;

/** Steps that are simulated before the search goes on without lines. */
const mostAttempts = 6;

/**
 * The largest micro-batch whose peak is at most `limit`; undefined when none is or not all is understood. Peaks are nearly
 * straight in the micro-batch, and the line through every storage's size is exact: the answer is looked up on the lines
 * through two steps and then simulated. Where steps differ in more than sizes, only simulation counts.
 */
export function largestBatch(steps: ModelSteps, limit: number): number | undefined {
  if (!steps.grows) return undefined;
  steps.allowSearch();
  const found = onLines(steps, limit);
  if (found !== undefined) return found === 0 ? undefined : found;
  return searched((batch) => {
    const ran = steps.simulated(batch);
    return ran?.isUnderstood === true ? ran.bytes : undefined;
  }, limit);
}

/** 0 when not even one sample fits; undefined when the lines give no answer that simulation confirms. */
function onLines(steps: ModelSteps, limit: number): number | undefined {
  const present = steps.simulated();
  if (present?.isUnderstood !== true) return undefined;
  const guessed = (ran: RanStep): number => searched((batch) => steps.guessedBytes(ran, batch), limit) ?? 0;
  const onLine = (): number => searched((batch) => steps.scaledBytes(batch), limit) ?? 0;
  let answer = steps.isScaled ? onLine() : guessed(present);
  for (let attempt = 0; attempt <= mostAttempts; attempt++) {
    const wanted = Math.max(answer, 1);
    const ran = steps.understood();
    const confirmed = steps.isScaled ? ran.find(({ batch }) => batch === wanted) : undefined;
    if (confirmed !== undefined) return confirmed.bytes <= limit === answer > 0 ? answer : undefined;
    const next = steps.simulated(steps.isSimulated(wanted) ? wanted + 1 : wanted);
    if (next?.isUnderstood !== true) return undefined;
    const isOnLine = ran.some((one) => one.batch !== next.batch && steps.scale(one, next));
    answer = isOnLine ? onLine() : guessed(next);
  }
  return undefined;
}

/** The largest micro-batch whose bytes are at most `limit`; undefined when there is none or its bytes are not known. */
function searched(bytesAt: (batch: number) => number | undefined, limit: number): number | undefined {
  const known = new Map<number, number | undefined>();
  const peak = (batch: number): number | undefined => {
    if (!known.has(batch)) known.set(batch, bytesAt(batch));
    return known.get(batch);
  };
  let [low, high] = [0, 1];
  for (let bytes = peak(high); bytes === undefined || bytes <= limit; bytes = peak(high)) {
    if (bytes === undefined) return undefined;
    low = high;
    high = Math.min(guess(peak, low, limit), mostSamples);
    if (high <= low) return low;
  }
  while (high - low > 1) {
    const middle = between(peak, low, high, limit);
    if ((peak(middle) ?? Infinity) <= limit) low = middle;
    else high = middle;
  }
  return low === 0 ? undefined : low;
}

/**
 * A micro-batch inside `low` and `high` at which to look next: where the line through their peaks meets the limit, since
 * peaks are nearly straight in the micro-batch; halfway where it does not help.
 */
function between(
  peak: (batch: number) => number | undefined,
  low: number,
  high: number,
  limit: number,
): number {
  const [below, above] = [low === 0 ? undefined : peak(low), peak(high)];
  if (below === undefined || above === undefined || above <= below) {
    return Math.floor((low + high) / 2);
  }
  const slope = (above - below) / (high - low);
  const expected = low + Math.floor((limit - below) / slope);
  // Halving now and then keeps a bent line from being followed one sample at a time.
  if (expected <= low || expected >= high) return Math.floor((low + high) / 2);
  return expected;
}

/** The first micro-batch that should not fit any more, by the line through one sample and `low`; at least twice `low`. */
function guess(peak: (batch: number) => number | undefined, low: number, limit: number): number {
  const [first, last] = [peak(1), peak(low)];
  if (first === undefined || last === undefined || low < 2) return low * 2;
  const slope = (last - first) / (low - 1);
  if (slope <= 0) return low * 2;
  const expected = Math.floor((limit - first) / slope) + 1;
  return Math.max(low + 1, Math.min(expected + 1, low * 64));
}
