/**
 * What is known about a training run before anything is simulated: from the `# vram:` header, from the script, or by
 * default. `directives/header.ts` fills one from the header, `torch/` facts fill one from the script, `analysis.ts`
 * merges them (header over script over default).
 */
import type { Expression, Span } from "../python/tree";
import type { WayToCall } from "./evaluate/way";
import type { WayToLoop } from "./evaluate/training/iteration";
import type { Dtype } from "./tensor";
import type { Unknown } from "./unknown";

export type SettingOrigin = "option" | "header" | "script" | "default";

/**
 * A value and where it came from; `span` is the header's value or the script's expression, `literal` the one number in the
 * script that says it.
 */
export interface Setting<Value> {
  readonly value: Value;
  readonly from: SettingOrigin;
  readonly span?: Span;
  readonly literal?: Span;
}

/** One dimension of an input: a factor times the micro-batch or not, e.g. `35*B` is `{ factor: 35, perSample: true }`. */
export interface InputDimension {
  readonly factor: number;
  readonly perSample: boolean;
}

/** `int64[B,16]<50304`; `name` for inputs given by keyword. */
export interface InputSpecification {
  readonly name: string | undefined;
  readonly dtype: Dtype;
  readonly dimensions: readonly InputDimension[];
  /** Exclusive upper bound of integer values. */
  readonly bound: number | undefined;
}

/** An argument of a call: one of the inputs by its position, a container of such, or a plain value. */
export type ArgumentForm =
  | { readonly input: number }
  | { readonly items: readonly ArgumentForm[]; readonly isTuple: boolean }
  | { readonly entries: readonly (readonly [key: string, value: ArgumentForm])[] }
  | { readonly plain: string | number | boolean | null };

/** How a model is called where that is more than its inputs one after the other. */
export interface ModelCall {
  /** The method that is called; `forward`, through the module itself, unless said. */
  readonly method: string | undefined;
  readonly positional: readonly ArgumentForm[];
  readonly keywords: readonly (readonly [name: string, value: ArgumentForm])[];
}

/** As the header writes it: `float32[B,3,32,32]; int64[B]`. */
export function inputText(inputs: readonly InputSpecification[]): string {
  return inputs
    .map(({ name, dtype, dimensions, bound }) => {
      const sizes = dimensions.map(({ factor, perSample }) =>
        perSample ? (factor === 1 ? "B" : `${factor}*B`) : String(factor),
      );
      const limit = bound === undefined ? "" : `<${bound}`;
      return `${name === undefined ? "" : `${name}=`}${dtype}[${sizes.join(",")}]${limit}`;
    })
    .join("; ");
}

export interface OptimizerSetting {
  /** As written in the header or the qualified class name of the script, e.g. `adamw` or `torch.optim.AdamW`. */
  readonly name: string;
  /** Constant keyword arguments, e.g. `{ momentum: 0.9, fused: true }`. */
  readonly options: Readonly<Record<string, number | boolean | string>>;
  /** Dotted paths of the submodules that it trains, e.g. `fc`; absent when it trains all that can be trained. */
  readonly parts?: readonly string[];
}

export type Precision = "fp32" | "amp-fp16" | "amp-bf16" | "fp16" | "bf16";
export type AttentionBackend = "math" | "flash" | "efficient";
/**
 * How states are spread: `zero-redundancy` is DDP with PyTorch's ZeroRedundancyOptimizer, which gives whole parameters to
 * devices; `zero1` to `zero3` are DeepSpeed's stages, which split evenly.
 */
export type Sharding = "none" | "ddp" | "zero-redundancy" | "zero1" | "zero2" | "zero3" | "fsdp";
export type Offload = "none" | "optimizer" | "parameters";
export type Mode = "train" | "infer";

/**
 * What runs as checkpointed segments although the code does not say so: `none`, `all` repeated blocks, so many of them
 * from the first on, or all modules of the classes named.
 */
export type Checkpointed = "none" | "all" | number | readonly string[];

/** A measured peak: micro-batch and allocated bytes. */
export interface MeasuredPoint {
  readonly batch: number;
  readonly bytes: number;
}

export interface ModelSetting {
  readonly text: string;
  readonly expression: Expression;
  /** From where the script begins to the expression, of one that stands in the script. */
  readonly way?: Pick<WayToCall, "root" | "through"> | undefined;
}

export interface TrainingSetup {
  /** Usable bytes of the device, and its name when it was given as a card. */
  readonly device?: Setting<{ readonly bytes: number; readonly card: string | undefined }>;
  /** Bytes. */
  readonly budget?: Setting<number>;
  readonly batch?: Setting<number>;
  /** The words of the command line that starts the script. */
  readonly args?: Setting<readonly string[]>;
  readonly accumulate?: Setting<number>;
  readonly devices?: Setting<number>;
  readonly inputs?: Setting<readonly InputSpecification[]>;
  /** How the script gives its inputs to the model; absent where they are its arguments, one after the other. */
  readonly call?: Setting<ModelCall>;
  /** Why the script does not tell its inputs. */
  readonly inputsUnknown?: Unknown;
  /** Gradients are set to None behind the forward, before backward, as Lightning does it. */
  readonly clearsLate?: Setting<true>;
  readonly targets?: Setting<readonly InputSpecification[]>;
  readonly loss?: Setting<string>;
  /** A Python expression over the file's names, already lowered; its offsets are relative to its own text. */
  readonly model?: Setting<ModelSetting>;
  readonly optimizer?: Setting<OptimizerSetting>;
  readonly precision?: Setting<Precision>;
  readonly attention?: Setting<AttentionBackend>;
  readonly checkpoint?: Setting<Checkpointed>;
  readonly shard?: Setting<Sharding>;
  /** DDP's gradients are views of its buckets: `gradient_as_bucket_view=True`. */
  readonly bucketViews?: Setting<boolean>;
  readonly offload?: Setting<Offload>;
  /** The script trains more in later passes over its data than in the first: the place that changes it. */
  readonly changedLater?: Setting<true>;
  /** The script has training loops that share no loop around them and are not all steps of one model: the place of another one. */
  readonly otherLoops?: Setting<true>;
  /** New floating-point tensors of the script are wider than single precision, or narrower, or nobody knows: the place. */
  readonly defaultType?: Setting<"wider" | "narrower">;
  /** The script's training loop, where a step of one model does not tell what an iteration of it needs. */
  readonly iteration?: Setting<WayToLoop>;
  readonly measured?: Setting<readonly MeasuredPoint[]>;
  readonly mode?: Setting<Mode>;
}

/** Bytes that a step may take: the budget, else the device's. */
export function limitOf({ budget, device }: TrainingSetup): number | undefined {
  return budget?.value ?? device?.value.bytes;
}

/** The script told its input, but not in terms that are known what it computes of the output. */
export function leavesLossOpen({ inputs, loss }: TrainingSetup): boolean {
  return inputs?.from === "script" && loss === undefined;
}
