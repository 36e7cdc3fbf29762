/**
 * What optimizers keep between steps and what they allocate while they step. Figures: test/goldens/optimizers.json,
 * measured with torch 2.13 for every optimizer of `torch.optim`; others by their documentation or paper, as said in the
 * row. Bytes; scalars on the host, such as `step` (4 bytes a tensor), are left out.
 */
import type { OptimizerSetting } from "./setup";
import { roundedUp } from "./allocation-log";
import {
  bytesOf,
  columnsOf,
  foreachSteps,
  highestTemporaries,
  instant,
  isOn,
  rowsOf,
  singleSteps,
  type Options,
  type StepBody,
  type TrainedTensor,
} from "./optimizer-steps";
import { dtypeBytes, elementCount } from "./tensor";

/** `foreach` is PyTorch's default for CUDA tensors, `single` for CPU tensors; `fused` is asked for. */
export type OptimizerKernel = "foreach" | "fused" | "single";

export interface OptimizerNeeds {
  /** As in the table, e.g. `AdamW`. */
  readonly name: string;
  readonly kernel: OptimizerKernel;
  /** Whether its options name the kernel, `foreach=False` or `fused=True`; else it is PyTorch's default. */
  readonly isKernelAsked: boolean;
  /** Bytes kept between steps. */
  readonly state: number;
  /** The same with every tensor rounded up to CUDA's 512 bytes. */
  readonly stateAllocated: number;
  /** Highest bytes beyond parameters, gradients and state while it steps. */
  readonly temporary: number;
  readonly temporaryAllocated: number;
  /** The host's share for optimizers that keep their state in pageable memory. */
  readonly pageable: boolean;
}

/** Scalars in fp32 that are kept for each parameter on its device, not on the host. */
type DeviceScalars = (options: Options, kernel: OptimizerKernel) => number;

interface OptimizerRow {
  readonly name: string;
  /** Names as people write them, lower case without `-`, `_` and the module's path. */
  readonly spellings: readonly string[];
  /** State tensors of the parameter's size. */
  readonly tensors: (options: Options) => number;
  /** Bytes of the state tensors of one parameter where they do not have its size and dtype. */
  readonly stateOf?: (tensor: TrainedTensor, options: Options) => readonly number[];
  readonly scalars?: DeviceScalars;
  /** Undefined when there are no foreach kernels. */
  readonly foreach?: StepBody;
  /** Undefined when a step needs no temporaries, or nothing is known of them. */
  readonly single?: StepBody;
  readonly fused: boolean;
  readonly pageable?: boolean;
}

/** `capturable` and the fused kernels want the count of steps on the device. */
const countedSteps: DeviceScalars = (options, kernel) =>
  isOn(options, "capturable") || kernel === "fused" ? 1 : 0;

/** A row of `torch.optim`: its steps are those of the class. */
function ofTorch(
  name: keyof typeof singleSteps & keyof typeof foreachSteps,
  tensors: OptimizerRow["tensors"],
  more: Partial<OptimizerRow> = {},
): OptimizerRow {
  return {
    name,
    spellings: [name.toLowerCase()],
    tensors,
    foreach: foreachSteps[name],
    single: singleSteps[name],
    scalars: countedSteps,
    fused: false,
    ...more,
  };
}

function adamMoments(options: Options): number {
  return 2 + (isOn(options, "amsgrad") ? 1 : 0);
}

const rows: readonly OptimizerRow[] = [
  ofTorch("SGD", (options) => (isOn(options, "momentum") ? 1 : 0), { fused: true, scalars: () => 0 }),
  ofTorch("Adam", adamMoments, { fused: true }),
  ofTorch("Adam", adamMoments, { name: "AdamW", spellings: ["adamw"], fused: true }),
  // the products of its momenta too
  ofTorch("NAdam", () => 2, { scalars: (options) => (isOn(options, "capturable") ? 2 : 0) }),
  ofTorch("RAdam", () => 2),
  ofTorch("Adamax", () => 2),
  ofTorch("Adagrad", () => 1, { fused: true }),
  ofTorch("Adadelta", () => 2),
  ofTorch(
    "RMSprop",
    (options) => 1 + (isOn(options, "momentum") ? 1 : 0) + (isOn(options, "centered") ? 1 : 0),
  ),
  ofTorch("Rprop", () => 2),
  // step, eta and mu
  ofTorch("ASGD", () => 1, { scalars: () => 3 }),
  // Matrices keep one number a row and a column, vectors one an element.
  ofTorch("Adafactor", () => 0, {
    stateOf: (tensor) => (tensor.shape.length < 2 ? [bytesOf(tensor)] : [rowsOf(tensor), columnsOf(tensor)]),
    scalars: () => 0,
  }),
  { name: "Muon", spellings: ["muon"], tensors: () => 1, single: singleSteps.Muon, fused: false },
  {
    name: "SparseAdam",
    spellings: ["sparseadam"],
    tensors: () => 2,
    fused: false,
  },
  {
    // The history's two lists, and four flat vectors: direction, previous gradient and their like.
    name: "LBFGS",
    spellings: ["lbfgs"],
    tensors: (options) => {
      const size = options.history_size;
      return 2 * (typeof size === "number" ? size : 100) + 2;
    },
    fused: false,
  },
  {
    // Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms": one momentum.
    name: "Lion",
    spellings: ["lion"],
    tensors: () => 1,
    single: () => [instant()],
    fused: false,
  },
  {
    // You et al. 2020, "Large Batch Optimization for Deep Learning": Adam's two moments.
    name: "LAMB",
    spellings: ["lamb", "fusedlamb"],
    tensors: () => 2,
    single: singleSteps.Adam,
    fused: false,
  },
  {
    name: "FusedAdam",
    spellings: ["fusedadam"],
    tensors: () => 2,
    fused: true,
  },
  ...(
    [
      ["Adam8bit", ["adam8bit"], 2, false],
      ["AdamW8bit", ["adamw8bit"], 2, false],
      ["PagedAdam8bit", ["pagedadam8bit"], 2, true],
      ["PagedAdamW8bit", ["pagedadamw8bit"], 2, true],
      ["Lion8bit", ["lion8bit"], 1, false],
      ["PagedLion8bit", ["pagedlion8bit"], 1, true],
      ["SGD8bit", ["sgd8bit"], 1, false],
      ["RMSprop8bit", ["rmsprop8bit"], 1, false],
      ["Adagrad8bit", ["adagrad8bit"], 1, false],
    ] as const
  ).map(([name, spellings, moments, pageable]) => eightBit(name, spellings, moments, pageable)),
  ...(
    [
      ["PagedAdamW", ["pagedadamw", "pagedadamw32bit"], 2],
      ["PagedAdam", ["pagedadam", "pagedadam32bit"], 2],
    ] as const
  ).map(([name, spellings, tensors]): OptimizerRow => ({
    name,
    spellings,
    tensors: () => tensors,
    stateOf: ({ shape }) => Array.from({ length: tensors }, () => 4 * elementCount(shape)),
    fused: true,
    pageable: true,
  })),
];

/** bitsandbytes keeps small tensors in 32 bits: `min_8bit_size` in its documentation. */
const smallest8bit = 4096;
/** One fp32 scale for each block of so many elements. */
const block8bit = 256;

/**
 * bitsandbytes' 8-bit optimizers: one byte an element and moment, and the blocks' scales. Its step is one kernel a tensor.
 * Source: https://huggingface.co/docs/bitsandbytes/optimizers and functional.py of the library.
 */
function eightBit(
  name: string,
  spellings: readonly string[],
  moments: number,
  pageable: boolean,
): OptimizerRow {
  return {
    name,
    spellings,
    tensors: () => moments,
    stateOf: ({ shape }) => {
      const count = elementCount(shape);
      const bytes = count < smallest8bit ? 4 * count : count + 4 * Math.ceil(count / block8bit);
      return Array.from({ length: moments }, () => bytes);
    },
    fused: true,
    pageable,
  };
}

/** `torch.optim.AdamW`, `paged_adamw8bit`, `adamw-fused`: the row, and what the name itself says about options. */
function findRow(name: string): { row: OptimizerRow; implied: Options } | undefined {
  let bare = (name.split(".").at(-1) ?? name).toLowerCase().replace(/[-_]/g, "");
  const implied: Record<string, number | boolean> = {};
  if (bare.startsWith("sgdmomentum")) {
    implied.momentum = 0.9;
    bare = bare.replace("momentum", "");
  }
  if (bare.length > 5 && bare.endsWith("fused")) {
    implied.fused = true;
    bare = bare.slice(0, -5);
  }
  const row = rows.find(({ spellings }) => spellings.includes(bare));
  return row === undefined ? undefined : { row, implied };
}

/** Whether the table has the optimizer. */
export function isKnownOptimizer(name: string): boolean {
  return findRow(name) !== undefined;
}

/** Whether its class in PyTorch has a fused kernel to ask for. */
export function hasFusedKernel(name: string): boolean {
  return findRow(name)?.row.fused === true;
}

function kernelOf(row: OptimizerRow, options: Options, device: "cuda" | "cpu"): OptimizerKernel {
  if (options.fused === true && row.fused) return "fused";
  if (row.foreach === undefined) return row.fused ? "fused" : "single";
  if (typeof options.foreach === "boolean") return options.foreach ? "foreach" : "single";
  return device === "cuda" ? "foreach" : "single";
}

/** Options that are on unless switched off: torch.optim.AdamW decays by 0.01. */
const defaults: Readonly<Record<string, Options>> = {
  AdamW: { weight_decay: 0.01, decoupled_weight_decay: true },
};

/**
 * What an optimizer needs for these parameters, in the order in which it goes over them. Undefined when the table does
 * not have it.
 */
export function optimizerNeeds(
  setting: OptimizerSetting,
  parameters: readonly TrainedTensor[],
  device: "cuda" | "cpu" = "cuda",
): OptimizerNeeds | undefined {
  const found = findRow(setting.name);
  if (found === undefined) return undefined;
  const { row } = found;
  const options: Options = { ...defaults[row.name], ...found.implied, ...setting.options };
  const kernel = kernelOf(row, options, device);
  const scalars = device === "cuda" ? (row.scalars?.(options, kernel) ?? 0) : 0;
  let state = 0;
  let stateAllocated = 0;
  const keep = (bytes: number, times: number): void => {
    state += times * bytes;
    stateAllocated += times * roundedUp(bytes);
  };
  const copies = row.tensors(options);
  for (const parameter of parameters) {
    if (row.stateOf === undefined) keep(bytesOf(parameter), copies);
    else for (const bytes of row.stateOf(parameter, options)) keep(bytes, 1);
    keep(dtypeBytes.float32, scalars);
  }
  const units = unitsOf(row, kernel, parameters);
  return {
    name: row.name,
    kernel,
    isKernelAsked: kernel === "fused" ? options.fused === true : typeof options.foreach === "boolean",
    state,
    stateAllocated,
    temporary: temporaries(row, kernel, options, units, false),
    temporaryAllocated: temporaries(row, kernel, options, units, true),
    pageable: row.pageable ?? false,
  };
}

function temporaries(
  row: OptimizerRow,
  kernel: OptimizerKernel,
  options: Options,
  units: readonly (readonly TrainedTensor[])[],
  isRounded: boolean,
): number {
  const body = kernel === "fused" ? undefined : row[kernel];
  return body === undefined ? 0 : highestTemporaries(body, options, units, isRounded);
}

/** What steps together; nothing where a step needs no temporaries. */
function unitsOf(
  row: OptimizerRow,
  kernel: OptimizerKernel,
  parameters: readonly TrainedTensor[],
): readonly (readonly TrainedTensor[])[] {
  if (kernel === "fused" || row[kernel] === undefined) return [];
  return kernel === "foreach" ? alike(parameters, row.name) : parameters.map((one) => [one]);
}

/**
 * What a foreach function steps together: parameters of a dtype, with Adafactor also either matrices or vectors. Dtypes
 * come in the order of libstdc++'s hash map, the one first seen last: aten/src/ATen/native/ForeachUtils.h.
 */
function alike(parameters: readonly TrainedTensor[], name: string): readonly (readonly TrainedTensor[])[] {
  const byDtype = groupsBy(parameters, ({ dtype }) => dtype).reverse();
  if (name !== "Adafactor") return byDtype;
  return byDtype.flatMap((group) => groupsBy(group, ({ shape }) => shape.length > 1));
}

function groupsBy(
  parameters: readonly TrainedTensor[],
  keyOf: (tensor: TrainedTensor) => string | boolean,
): TrainedTensor[][] {
  const groups = new Map<string | boolean, TrainedTensor[]>();
  for (const parameter of parameters) {
    const group = groups.get(keyOf(parameter));
    if (group === undefined) groups.set(keyOf(parameter), [parameter]);
    else group.push(parameter);
  }
  return [...groups.values()];
}
