/** What would make a training step fit: other micro-batches, precisions, checkpoints, optimizers, shardings. */
import { fitTexts } from "../messages/estimate";
import { message, type Message } from "../messages/message";
import type { ModelSteps, RanStep } from "./estimate/steps";
import type { Setting, TrainingSetup } from "./setup";
import { formatBytes } from "./units";

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

/** An option that saves less than this share of the present peak is left out, unless it is what makes the step fit. */
const leastSaved = 0.01;

/** The options, smallest change first. `largest` is the largest micro-batch that fits, where it is known. */
export function whatFits(steps: ModelSteps, limit: number, largest: number | undefined): FitAnswer {
  const { setup } = steps;
  const option = ({ title, changes }: Candidate, ran: RanStep | undefined): FitOption[] => {
    if (ran === undefined) return [];
    const { bytes, complete } = ran;
    return [{ title, changes, bytes, isLowerBound: !complete, fits: complete && bytes <= limit }];
  };
  const again = [...precisions(setup), ...checkpoints(setup)];
  const restated = [...optimizers(setup), ...shardings(setup)];
  const options = [
    ...smallerBatch(steps, limit),
    ...again.flatMap((one) => option(one, steps.chosen(one.setup))),
    ...restated.flatMap((one) => option(one, steps.restated(one.setup))),
    ...offloaded(steps, limit),
  ];
  const worth = worthIn(steps.simulated()?.bytes ?? Infinity, limit);
  return { limit, options: options.filter(worth), largestBatch: largest };
}

function worthIn(present: number, limit: number): (option: FitOption) => boolean {
  // of lower bounds nobody knows what they save
  return ({ bytes, fits, isLowerBound }) =>
    isLowerBound || bytes <= (1 - leastSaved) * present || (fits && present > limit);
}

/** The largest micro-batch that divides the present one and fits, with as many more accumulation steps. */
function smallerBatch(steps: ModelSteps, limit: number): FitOption[] {
  const { batch } = steps;
  const accumulate = steps.setup.accumulate?.value ?? 1;
  for (let parts = 2; parts <= batch; parts++) {
    if (batch % parts !== 0) continue;
    const micro = batch / parts;
    // Without the gradients that wait for the step it is no more than with them.
    const least = steps.bytesAt(micro);
    if (least !== undefined && least.bytes > limit && micro > 1) continue;
    const found = steps.laterBytesAt(micro);
    if (found === undefined) return [];
    if (found.bytes > limit && micro > 1) continue;
    const title = message(fitTexts.batch, { batch: micro, accumulate: accumulate * parts });
    const changes = { batch: String(micro), accumulate: String(accumulate * parts) };
    const fits = found.isUnderstood && found.bytes <= limit;
    return [{ title, changes, bytes: found.bytes, isLowerBound: !found.isUnderstood, fits }];
  }
  return [];
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

/** Other ways to share the states; those that need several devices or a sharding engine only where there are some. */
function shardings(setup: TrainingSetup): Candidate[] {
  const shard = setup.shard?.value ?? "none";
  const present = setup.devices?.value ?? 1;
  if (shard !== "none" && shard !== "ddp") return [];
  const devices = Math.max(2, present);
  const fsdp: Candidate = {
    title: message(fitTexts.shard, { devices }),
    changes: { shard: "fsdp", devices: String(devices) },
    setup: { ...setup, shard: chosen("fsdp"), devices: chosen(devices) },
  };
  const zero: Candidate = {
    title: message(fitTexts.zero, { devices }),
    changes: { shard: "zero-redundancy", devices: String(devices) },
    setup: { ...setup, shard: chosen("zero-redundancy"), devices: chosen(devices) },
  };
  return present > 1 ? [zero, fsdp] : [fsdp];
}

/** DeepSpeed and FSDP keep the optimizer on the host when they are told to. */
function offloaded(steps: ModelSteps, limit: number): FitOption[] {
  const { setup } = steps;
  const [shard, offload] = [setup.shard?.value ?? "none", setup.offload?.value ?? "none"];
  if (shard === "none" || shard === "ddp" || offload !== "none") return [];
  const ran = steps.restated({ ...setup, offload: chosen("optimizer") });
  if (ran === undefined) return [];
  const { bytes, complete, states } = ran;
  const title = message(fitTexts.offload, { host: formatBytes(states.host) });
  const fits = complete && bytes <= limit;
  return [{ title, changes: { offload: "optimizer" }, bytes, isLowerBound: !complete, fits }];
}
