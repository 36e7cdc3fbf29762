/** Plain data that crosses the border between the evaluator's Python values and the operators. */
import type { ModuleObject } from "../modules/module";
import { Tensor, type Dtype } from "../tensor";
import type { Unknown } from "../unknown";

/** A Python float: kept apart from integers because `int_tensor * 2.0` promotes and `int_tensor * 2` does not. */
export interface FloatArgument {
  readonly kind: "float";
  readonly value: number;
}

export interface DtypeArgument {
  readonly kind: "dtype";
  readonly dtype: Dtype;
}

/** `torch.device("cuda:0")`, also what `tensor.device` evaluates to. */
export interface DeviceArgument {
  readonly kind: "device";
  readonly name: string;
}

export interface MemoryFormatArgument {
  readonly kind: "memory-format";
  readonly name: "contiguous_format" | "preserve_format" | "channels_last" | "channels_last_3d";
}

/** `lower:upper:step`; null where left out. */
export interface SliceArgument {
  readonly kind: "slice";
  readonly lower: Argument;
  readonly upper: Argument;
  readonly step: Argument;
}

export interface EllipsisArgument {
  readonly kind: "ellipsis";
}

/** What `torch.max(x, 1)` returns: a tuple whose entries have names. */
export interface NamedTuple {
  readonly kind: "named-tuple";
  readonly names: readonly string[];
  readonly values: readonly Argument[];
}

/** A dict with string keys. */
export interface DictArgument {
  readonly kind: "dict";
  readonly entries: readonly (readonly [string, Argument])[];
}

/** A function of `torch` or a lambda handed to an operator or a module, e.g. `activation=F.gelu`. */
export interface FunctionArgument {
  readonly kind: "function";
  /** Qualified name when it is a function of `torch`. */
  readonly name: string | undefined;
  readonly call: (positional: readonly Argument[], keywords: Keywords) => Argument;
}

/** Something that no operator looks into: a generator, a layout, a stream. */
export interface OpaqueArgument {
  readonly kind: "opaque";
  readonly what: string;
}

export type Argument =
  | number
  | boolean
  | string
  | null
  | Tensor
  | Unknown
  | FloatArgument
  | DtypeArgument
  | DeviceArgument
  | MemoryFormatArgument
  | SliceArgument
  | EllipsisArgument
  | NamedTuple
  | DictArgument
  | FunctionArgument
  | OpaqueArgument
  | ModuleObject
  | readonly Argument[];

export type Keywords = Readonly<Record<string, Argument>>;

export function float(value: number): FloatArgument {
  return { kind: "float", value };
}

export function isSequence(value: Argument | undefined): value is readonly Argument[] {
  return Array.isArray(value);
}

export function isTensor(value: unknown): value is Tensor {
  return value instanceof Tensor;
}

/** The number behind an integer, float or boolean; undefined for all else. */
export function numberOf(value: Argument | undefined): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "object" && value !== null && "kind" in value && value.kind === "float")
    return value.value;
  return undefined;
}

/** All tensors inside nested sequences, tuples and dicts, in order. */
export function tensorsIn(value: Argument | readonly (Argument | undefined)[] | undefined): Tensor[] {
  const found: Tensor[] = [];
  collectTensors(value, found);
  return found;
}

function collectTensors(
  value: Argument | readonly (Argument | undefined)[] | undefined,
  found: Tensor[],
): void {
  if (typeof value !== "object" || value === null) return;
  if (value instanceof Tensor) found.push(value);
  else if (Array.isArray(value))
    for (const entry of value as readonly Argument[]) collectTensors(entry, found);
  else if ("kind" in value) {
    if (value.kind === "named-tuple") for (const entry of value.values) collectTensors(entry, found);
    if (value.kind === "dict") for (const [, entry] of value.entries) collectTensors(entry, found);
  }
}
