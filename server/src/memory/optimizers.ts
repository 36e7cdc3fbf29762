/**
 * What optimizers keep between steps and what they allocate while they step. Figures: test/goldens/optimizers.json,
 * measured with torch 2.13 for every optimizer of `torch.optim`; others by their documentation or paper, as said in the
 * row. Bytes; `step` counters (4 bytes a tensor, on the host unless fused) are left out.
 */
import type { OptimizerSetting } from "./setup";
import { roundedUp } from "./allocation-log";
import { dtypeBytes, elementCount, type Dtype } from "./tensor";

/** `foreach` is PyTorch's default for CUDA tensors, `single` for CPU tensors; `fused` is asked for. */
export type OptimizerKernel = "foreach" | "fused" | "single";

export interface OptimizerNeeds {
  /** As in the table, e.g. `AdamW`. */
  readonly name: string;
  readonly kernel: OptimizerKernel;
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

/** A parameter that is trained. */
export interface TrainedTensor {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
}

type Options = OptimizerSetting["options"];

/** Temporaries of the loop over tensors: `own` tensors of the current size, `left` of the one before, still referenced. */
interface LoopTemporaries {
  readonly own: number;
  readonly left: number;
}

interface OptimizerRow {
  readonly name: string;
  /** Names as people write them, lower case without `-`, `_` and the module's path. */
  readonly spellings: readonly string[];
  /** State tensors of the parameter's size. */
  readonly tensors: (options: Options) => number;
  /** Bytes of the state of one parameter when it is not so many tensors of its size and dtype. */
  readonly stateOf?: (tensor: TrainedTensor, options: Options) => number;
  /** Temporaries of the foreach kernels in copies of all parameters; undefined when there are no foreach kernels. */
  readonly foreach: ((options: Options) => number) | undefined;
  /** Further foreach temporaries in units of the largest parameter. */
  readonly foreachLargest?: number;
  readonly single: (options: Options) => LoopTemporaries;
  readonly fused: boolean;
  readonly pageable?: boolean;
}

function on(options: Options, name: string): boolean {
  const value = options[name];
  return typeof value === "number" ? value !== 0 : value === true;
}

function decays(options: Options): number {
  return on(options, "weight_decay") ? 1 : 0;
}

/** Weight decay or maximize need one copy of the gradients, both together still one. */
function copies(options: Options): number {
  return decays(options) === 1 || on(options, "maximize") ? 1 : 0;
}

const loop = (own: number, left: number): LoopTemporaries => ({ own, left });

/** Adam and AdamW: the denominator; AdamW's decay is applied to the parameters in place. */
function adam(name: string, spellings: readonly string[], decoupled: boolean): OptimizerRow {
  return {
    name,
    spellings,
    tensors: (options) => 2 + (on(options, "amsgrad") ? 1 : 0),
    foreach: () => 1,
    single: (options) => loop(2 + (decoupled ? (on(options, "maximize") ? 1 : 0) : copies(options)), 1),
    fused: true,
  };
}

const rows: readonly OptimizerRow[] = [
  {
    name: "SGD",
    spellings: ["sgd"],
    tensors: (options) => (on(options, "momentum") ? 1 : 0),
    foreach: copies,
    single: (options) =>
      on(options, "maximize") && decays(options) === 0
        ? loop(1, 1)
        : loop(decays(options) + (on(options, "nesterov") ? 1 : 0), 0),
    fused: true,
  },
  adam("Adam", ["adam"], false),
  adam("AdamW", ["adamw"], true),
  {
    name: "NAdam",
    spellings: ["nadam"],
    tensors: () => 2,
    foreach: (options) => 1 + decays(options),
    single: (options) => loop(2 + decays(options), 1),
    fused: false,
  },
  {
    name: "RAdam",
    spellings: ["radam"],
    tensors: () => 2,
    foreach: () => 1,
    single: (options) => loop(2 + decays(options), 0),
    fused: false,
  },
  {
    name: "Adamax",
    spellings: ["adamax"],
    tensors: () => 2,
    foreach: () => 1,
    single: (options) => loop(1 + decays(options), 0),
    fused: false,
  },
  {
    name: "Adagrad",
    spellings: ["adagrad"],
    tensors: () => 1,
    foreach: () => 2,
    single: (options) => loop(1 + decays(options), 1),
    fused: true,
  },
  {
    name: "Adadelta",
    spellings: ["adadelta"],
    tensors: () => 2,
    foreach: (options) => 2 + decays(options),
    single: (options) => (decays(options) === 1 ? loop(3, 1) : loop(1, 2)),
    fused: false,
  },
  {
    name: "RMSprop",
    spellings: ["rmsprop"],
    tensors: (options) => 1 + (on(options, "momentum") ? 1 : 0) + (on(options, "centered") ? 1 : 0),
    foreach: (options) => 1 + decays(options),
    single: (options) => loop(1 + decays(options), 1),
    fused: false,
  },
  {
    name: "Rprop",
    spellings: ["rprop"],
    tensors: () => 2,
    foreach: () => 1,
    foreachLargest: 1.25,
    single: () => loop(3, 0),
    fused: false,
  },
  {
    name: "ASGD",
    spellings: ["asgd"],
    tensors: () => 1,
    foreach: () => 1,
    single: (options) => loop(decays(options), 0),
    fused: false,
  },
  {
    // Matrices keep one number a row and a column, vectors one an element.
    name: "Adafactor",
    spellings: ["adafactor"],
    tensors: () => 0,
    stateOf: ({ shape, dtype }) => {
      const [columns = 1, rows = 1] = [...shape].reverse();
      if (shape.length < 2) return elementCount(shape) * dtypeBytes[dtype];
      const rest = elementCount(shape.slice(0, -2));
      return rest * (rows + columns) * dtypeBytes[dtype];
    },
    foreach: () => 1,
    single: () => loop(1, 1),
    fused: false,
  },
  {
    name: "Muon",
    spellings: ["muon"],
    tensors: () => 1,
    foreach: undefined,
    single: () => loop(3, 0),
    fused: false,
  },
  {
    name: "SparseAdam",
    spellings: ["sparseadam"],
    tensors: () => 2,
    foreach: undefined,
    single: () => loop(0, 0),
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
    foreach: undefined,
    single: () => loop(0, 0),
    fused: false,
  },
  {
    // Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms": one momentum.
    name: "Lion",
    spellings: ["lion"],
    tensors: () => 1,
    foreach: undefined,
    single: () => loop(1, 0),
    fused: false,
  },
  {
    // You et al. 2020, "Large Batch Optimization for Deep Learning": Adam's two moments.
    name: "LAMB",
    spellings: ["lamb", "fusedlamb"],
    tensors: () => 2,
    foreach: undefined,
    single: () => loop(2, 1),
    fused: false,
  },
  {
    name: "FusedAdam",
    spellings: ["fusedadam"],
    tensors: () => 2,
    foreach: undefined,
    single: () => loop(0, 0),
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
    stateOf: ({ shape }) => tensors * 4 * elementCount(shape),
    foreach: undefined,
    single: () => loop(0, 0),
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
      return moments * bytes;
    },
    foreach: undefined,
    single: () => loop(0, 0),
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
const defaults: Readonly<Record<string, Options>> = { AdamW: { weight_decay: 0.01 } };

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
  let state = 0;
  let stateAllocated = 0;
  const tensors = row.tensors(options);
  for (const parameter of parameters) {
    const own = row.stateOf?.(parameter, options);
    const size = bytesOf(parameter);
    state += own ?? tensors * size;
    stateAllocated += own === undefined ? tensors * roundedUp(size) : roundedUp(own);
  }
  const exact = temporaries(row, kernel, options, parameters.map(bytesOf));
  const rounded = temporaries(
    row,
    kernel,
    options,
    parameters.map((parameter) => roundedUp(bytesOf(parameter))),
  );
  return {
    name: row.name,
    kernel,
    state,
    stateAllocated,
    temporary: exact,
    temporaryAllocated: rounded,
    pageable: row.pageable ?? false,
  };
}

function bytesOf({ shape, dtype }: TrainedTensor): number {
  return elementCount(shape) * dtypeBytes[dtype];
}

function temporaries(
  row: OptimizerRow,
  kernel: OptimizerKernel,
  options: Options,
  sizes: readonly number[],
): number {
  if (kernel === "fused" || sizes.length === 0) return 0;
  if (kernel === "foreach" && row.foreach !== undefined) {
    const all = sizes.reduce((sum, size) => sum + size, 0);
    const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
    return row.foreach(options) * all + Math.round((row.foreachLargest ?? 0) * largest);
  }
  const { own, left } = row.single(options);
  let highest = 0;
  sizes.forEach((size, i) => {
    highest = Math.max(highest, own * size + left * (sizes[i - 1] ?? 0));
  });
  return highest;
}
