/**
 * What one of several devices holds of the model states, and what lies on top: never "total divided by devices", because
 * units that are being computed are gathered and gradients travel in buckets. With offload the host's share is shown too.
 *
 * Sources: torch/distributed/optim/zero_redundancy_optimizer.py for who gets which parameter; Rajbhandari et al. 2020 ("ZeRO") for what each stage shards; DeepSpeed's and PyTorch's documentation for the
 * sizes of buckets (`reduce_bucket_size`, `allgather_bucket_size`, 5e8 elements; DDP's `bucket_cap_mb`).
 */
import type { Offload, Sharding } from "./setup";

/** Bytes of the whole model, before anything is shared out. */
export interface ModelStates {
  readonly parameters: number;
  /** Bytes of the parameters that are trained. */
  readonly trainable: number;
  readonly buffers: number;
  readonly gradients: number;
  readonly optimizer: number;
  /** Optimizer state of the fullest device where each parameter's goes to one device as a whole. */
  readonly fullestOptimizer?: number;
  /** DDP's gradients are views of its buckets. */
  readonly hasBucketViews?: boolean;
  /** Bytes of the parameters of the largest unit that is gathered at once: a block, or the model when it is not wrapped. */
  readonly largestUnit: number;
  /** Bytes of one element of a gradient. */
  readonly gradientElement: number;
}

/** Bytes on one device. */
export interface DeviceStates {
  readonly parameters: number;
  readonly buffers: number;
  readonly gradients: number;
  readonly optimizer: number;
  /** Parameters (and gradients) of the units that are gathered while they compute. */
  readonly gathered: number;
  /** Flat buffers through which gradients and parameters travel. */
  readonly buckets: number;
}

export interface ShardedStates {
  readonly device: DeviceStates;
  /** Bytes in the host's memory for each device. */
  readonly host: number;
}

/** DeepSpeed's default `reduce_bucket_size` and `allgather_bucket_size`, in elements. */
const zeroBucketElements = 5e8;
/** FSDP prefetches one unit while another computes. */
const unitsInFlight = 2;

interface ShardingRow {
  readonly parameters: boolean;
  readonly gradients: boolean;
  readonly optimizer: boolean;
}

const rows: Readonly<Record<Sharding, ShardingRow>> = {
  none: { parameters: false, gradients: false, optimizer: false },
  ddp: { parameters: false, gradients: false, optimizer: false },
  "zero-redundancy": { parameters: false, gradients: false, optimizer: true },
  zero1: { parameters: false, gradients: false, optimizer: true },
  zero2: { parameters: false, gradients: true, optimizer: true },
  zero3: { parameters: true, gradients: true, optimizer: true },
  fsdp: { parameters: true, gradients: true, optimizer: true },
};

/** The share of one device. `devices` below 2 shards nothing. */
export function shardStates(
  states: ModelStates,
  sharding: Sharding,
  devices: number,
  offload: Offload = "none",
): ShardedStates {
  const row = rows[devices > 1 ? sharding : "none"];
  const share = (bytes: number, shared: boolean): number => (shared ? Math.ceil(bytes / devices) : bytes);
  const parameters = share(states.parameters, row.parameters);
  const gradients = share(states.gradients, row.gradients);
  const isWhole = sharding === "zero-redundancy" && devices > 1;
  const evenShare = share(states.optimizer, row.optimizer);
  const optimizer = isWhole ? (states.fullestOptimizer ?? evenShare) : evenShare;
  const onHost = {
    parameters: offload === "parameters" && row.parameters ? parameters : 0,
    // The optimizer steps on the host: its gradients are there too.
    gradients: offload === "none" ? 0 : gradients,
    optimizer: offload === "none" ? 0 : optimizer,
  };
  return {
    device: {
      parameters: parameters - onHost.parameters,
      buffers: states.buffers,
      gradients: offload === "none" ? gradients : row.gradients ? 0 : gradients,
      optimizer: optimizer - onHost.optimizer,
      gathered: row.parameters ? gatheredBytes(states) : 0,
      buckets: devices > 1 ? bucketBytes(states, sharding) : 0,
    },
    host: onHost.parameters + onHost.gradients + onHost.optimizer,
  };
}

/** Whole units in flight: their parameters, and the gradients of the one that has just been computed. */
function gatheredBytes(states: ModelStates): number {
  const parameters = Math.min(unitsInFlight * states.largestUnit, states.parameters);
  const gradientShare = states.parameters === 0 ? 0 : states.gradients / states.parameters;
  return parameters + Math.ceil(states.largestUnit * gradientShare);
}

function bucketBytes(states: ModelStates, sharding: Sharding): number {
  switch (sharding) {
    case "ddp":
    case "zero-redundancy":
      // Unless gradient_as_bucket_view is set, every gradient has a copy in a flat bucket that is kept.
      return states.hasBucketViews === true ? 0 : states.gradients;
    case "zero1":
    case "zero2":
    case "zero3":
      return Math.min(zeroBucketElements * states.gradientElement, states.gradients);
    default:
      return 0;
  }
}

/**
 * Which device gets which parameter, by numbers of elements: the largest first, each to the device with the fewest so far
 * (`ZeroRedundancyOptimizer._partition_parameters`, for one group of parameters).
 */
export function wholeParameters(elements: readonly number[], devices: number): number[] {
  const held = new Array<number>(devices).fill(0);
  const deviceOf = new Array<number>(elements.length).fill(0);
  const bySize = [...elements.keys()].sort((a, b) => (elements[b] ?? 0) - (elements[a] ?? 0));
  for (const index of bySize) {
    const emptiest = held.indexOf(Math.min(...held));
    deviceOf[index] = emptiest;
    held[emptiest] = (held[emptiest] ?? 0) + (elements[index] ?? 0);
  }
  return deviceOf;
}
