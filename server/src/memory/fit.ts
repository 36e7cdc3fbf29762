/**
 * What would make a training step fit: other micro-batches, precisions, checkpoints, optimizers, shardings, each simulated
 * anew. And the line through measured peaks.
 */
import { fitTexts } from "../messages/estimate";
import { message, type Message } from "../messages/message";
import type { Module } from "../python/tree";
import { build, Estimator, planOf } from "./estimate-model";
import { peakOf } from "./estimate-peak";
import { statesOf } from "./estimate-states";
import { runStep } from "./evaluate/step";
import { Allowance } from "./evaluate/world";
import type { ResolveImport } from "../python/resolve-import";
import type { MeasuredPoint, Setting, TrainingSetup } from "./setup";

export interface FitOption {
  /** What would change, in words: "micro-batch 16 with 2 accumulation steps". */
  readonly title: Message;
  /** The keys of the header that change, and their new values as it writes them. */
  readonly changes: Readonly<Record<string, string>>;
  /** The peak with the change, in allocated bytes. */
  readonly bytes: number;
  readonly fits: boolean;
  /** Something was not understood: `bytes` is a lower bound, and `fits` false. */
  readonly isLowerBound: boolean;
}

export interface FitAnswer {
  /** Bytes that the step may take: the budget, else the device's. */
  readonly limit: number;
  readonly options: readonly FitOption[];
  /** The largest micro-batch under the limit; undefined when not even one sample fits or not all is understood. */
  readonly largestBatch: number | undefined;
}

/** A choice of the setup as if the header had made it. */
function chosen<Value>(value: Value): Setting<Value> {
  return { value, from: "header" };
}

interface Candidate {
  readonly title: Message;
  readonly changes: Readonly<Record<string, string>>;
  readonly setup: TrainingSetup;
}

/** The options, smallest change first. Undefined without a limit, an input or a model. */
export function whatFits(
  module: Module,
  setup: TrainingSetup,
  resolveImport?: ResolveImport,
): FitAnswer | undefined {
  const limit = setup.budget?.value ?? setup.device?.value.bytes;
  if (limit === undefined || planOf(setup) === undefined) return undefined;
  const option = (candidate: Candidate): FitOption | undefined =>
    simulated(module, candidate, limit, resolveImport);
  const smaller = smallerBatch(module, setup, limit, resolveImport);
  const options = [
    ...(smaller === undefined ? [] : [smaller]),
    ...[...precisions(setup), ...checkpoints(setup), ...optimizers(setup), ...shardings(setup)].map(option),
  ].filter((one) => one !== undefined);
  return { limit, options, largestBatch: largestBatch(module, setup, limit, resolveImport) };
}

function simulated(
  module: Module,
  { title, changes, setup }: Candidate,
  limit: number,
  resolveImport: ResolveImport | undefined,
): FitOption | undefined {
  const estimate = new Estimator(module, setup, { resolveImport }).trainedEstimate();
  if (estimate === undefined || estimate.peak === null) return undefined;
  const isLowerBound = !estimate.complete;
  const bytes = estimate.peak.allocated;
  return { title, changes, bytes, isLowerBound, fits: !isLowerBound && bytes <= limit };
}

/** The largest micro-batch that divides the present one and fits, with as many more accumulation steps. */
function smallerBatch(
  module: Module,
  setup: TrainingSetup,
  limit: number,
  resolveImport: ResolveImport | undefined,
): FitOption | undefined {
  const batch = setup.batch?.value ?? 1;
  const accumulate = setup.accumulate?.value ?? 1;
  const peak = batchPeaks(module, setup, resolveImport);
  for (let parts = 2; parts <= batch; parts++) {
    if (batch % parts !== 0) continue;
    const micro = batch / parts;
    const found = peak(micro);
    if (found === undefined) return undefined;
    if (found.bytes > limit && micro > 1) continue;
    const steps = accumulate * parts;
    return {
      title: message(fitTexts.batch, { batch: micro, accumulate: steps }),
      changes: { batch: String(micro), accumulate: String(steps) },
      bytes: found.bytes,
      isLowerBound: !found.complete,
      fits: found.complete && found.bytes <= limit,
    };
  }
  return undefined;
}

function precisions(setup: TrainingSetup): Candidate[] {
  if ((setup.precision?.value ?? "fp32") !== "fp32") return [];
  return [
    {
      title: message(fitTexts.precision),
      changes: { precision: "amp-bf16" },
      setup: { ...setup, precision: chosen("amp-bf16") },
    },
  ];
}

function checkpoints(setup: TrainingSetup): Candidate[] {
  if (setup.checkpoint !== undefined && setup.checkpoint.value !== "none") return [];
  return [
    {
      title: message(fitTexts.checkpoint),
      changes: { checkpoint: "all" },
      setup: { ...setup, checkpoint: chosen("all") },
    },
  ];
}

/** Optimizers of the same family with less state or without temporaries. */
function optimizers(setup: TrainingSetup): Candidate[] {
  const setting = setup.optimizer?.value;
  if (setting === undefined) return [];
  const plain = (setting.name.split(".").at(-1) ?? setting.name).toLowerCase();
  const isAdam = plain === "adam" || plain === "adamw";
  if (!isAdam) return [];
  const other = (name: string, options: typeof setting.options, written: string): Candidate => ({
    title: message(fitTexts.optimizer, { name: written }),
    changes: { optimizer: written },
    setup: { ...setup, optimizer: chosen({ name, options }) },
  });
  const candidates = [other(`${plain}8bit`, {}, `${plain}8bit`)];
  if (setting.options["fused"] !== true) {
    candidates.unshift(other(setting.name, { ...setting.options, fused: true }, `${plain}(fused)`));
  }
  return candidates;
}

function shardings(setup: TrainingSetup): Candidate[] {
  if (setup.shard !== undefined && setup.shard.value !== "none") return [];
  const devices = Math.max(2, setup.devices?.value ?? 2);
  return [
    {
      title: message(fitTexts.shard, { devices }),
      changes: { shard: "fsdp", devices: String(devices) },
      setup: { ...setup, shard: chosen("fsdp"), devices: chosen(devices) },
    },
  ];
}

interface BatchPeak {
  /** Allocated. */
  readonly bytes: number;
  readonly complete: boolean;
}

/** Steps of evaluation that one search over micro-batches may take: dozens of forwards of a large model. */
const searchSteps = 10_000_000;

/** The peak at other micro-batches of the same model, which is built once. Undefined when it cannot be built. */
function batchPeaks(
  module: Module,
  setup: TrainingSetup,
  resolveImport: ResolveImport | undefined,
): (batch: number) => BatchPeak | undefined {
  const world = { resolveImport, allowance: new Allowance(searchSteps) };
  const subject = new Estimator(module, setup, world).trainedModel();
  const built = subject === undefined ? undefined : build(module, setup, subject, world);
  const known = new Map<number, BatchPeak | undefined>();
  return (batch) => {
    if (!known.has(batch)) {
      const plan = planOf(setup, batch);
      known.set(batch, built === undefined || plan === undefined ? undefined : measured(built, plan, setup));
    }
    return known.get(batch);
  };
}

function measured(
  { program, model }: NonNullable<ReturnType<typeof build>>,
  plan: NonNullable<ReturnType<typeof planOf>>,
  setup: TrainingSetup,
): BatchPeak {
  const measure = runStep(program, model, plan, true);
  const states = statesOf(model, setup, measure.backward === undefined ? undefined : measure);
  const { allocated } = peakOf(measure, states, states.needs, setup);
  const complete = measure.fault === undefined && program.noted().length === 0 && states.fault === undefined;
  return { bytes: allocated, complete };
}

/** No script trains with more samples at once. */
const mostSamples = 1 << 20;

/** The largest micro-batch whose simulated peak is at most `limit`; undefined when none is or not all is understood. */
export function largestBatch(
  module: Module,
  setup: TrainingSetup,
  limit: number,
  resolveImport?: ResolveImport,
): number | undefined {
  if (
    setup.inputs?.value.some((input) => input.dimensions.some((dimension) => dimension.perSample)) !== true
  ) {
    return undefined;
  }
  const peak = batchPeaks(module, setup, resolveImport);
  const fits = (batch: number): boolean | undefined => {
    const found = peak(batch);
    return found === undefined || !found.complete ? undefined : found.bytes <= limit;
  };
  let [low, high] = [0, 1];
  for (let answer = fits(high); answer !== false; answer = fits(high)) {
    if (answer === undefined) return undefined;
    low = high;
    high = Math.min(guess(peak, low, limit), mostSamples);
    if (high <= low) return low;
  }
  while (high - low > 1) {
    const middle = between(peak, low, high, limit);
    if (fits(middle) === true) low = middle;
    else high = middle;
  }
  return low === 0 ? undefined : low;
}

/**
 * A micro-batch inside `low` and `high` at which to look next: where the line through their peaks meets the limit, since
 * peaks are nearly straight in the micro-batch; halfway where it does not help.
 */
function between(
  peak: (batch: number) => BatchPeak | undefined,
  low: number,
  high: number,
  limit: number,
): number {
  const [below, above] = [low === 0 ? undefined : peak(low), peak(high)];
  if (below === undefined || above === undefined || above.bytes <= below.bytes) {
    return Math.floor((low + high) / 2);
  }
  const slope = (above.bytes - below.bytes) / (high - low);
  const expected = low + Math.floor((limit - below.bytes) / slope);
  // Halving now and then keeps a bent line from being followed one sample at a time.
  if (expected <= low || expected >= high) return Math.floor((low + high) / 2);
  return expected;
}

/** The first micro-batch that should not fit any more, by the line through one sample and `low`; at least twice `low`. */
function guess(peak: (batch: number) => BatchPeak | undefined, low: number, limit: number): number {
  const [first, last] = [peak(1), peak(low)];
  if (first === undefined || last === undefined || low < 2) return low * 2;
  const slope = (last.bytes - first.bytes) / (low - 1);
  if (slope <= 0) return low * 2;
  const expected = Math.floor((limit - first.bytes) / slope) + 1;
  return Math.max(low + 1, Math.min(expected + 1, low * 64));
}

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
