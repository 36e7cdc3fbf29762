/** Tensors as the simulation sees them: shape, strides, dtype, storage, graph node; no values. */
import type { GraphNode } from "./graph";

export type Dtype =
  | "float64"
  | "float32"
  | "float16"
  | "bfloat16"
  | "float8_e4m3fn"
  | "float8_e5m2"
  | "complex64"
  | "complex128"
  | "int64"
  | "int32"
  | "int16"
  | "int8"
  | "uint8"
  | "bool";

/** Bytes of one element. */
export const dtypeBytes: Readonly<Record<Dtype, number>> = {
  float64: 8,
  float32: 4,
  float16: 2,
  bfloat16: 2,
  float8_e4m3fn: 1,
  float8_e5m2: 1,
  complex64: 8,
  complex128: 16,
  int64: 8,
  int32: 4,
  int16: 2,
  int8: 1,
  uint8: 1,
  bool: 1,
};

export type StorageKind = "parameter" | "buffer" | "input" | "gradient" | "activation" | "host";

/** Bytes in memory that one or more tensors look at. Alive while `tensors + saved > 0`. */
export class Storage {
  /** Tensors that Python or the engine holds. */
  tensors: number;
  /** Graph nodes that keep it for backward. */
  saved: number;

  constructor(
    readonly id: number,
    readonly bytes: number,
    public kind: StorageKind,
    /** The operator that made it. */
    readonly producer: string,
  ) {
    this.tensors = 0;
    this.saved = 0;
  }
}

/**
 * One tensor: a shape over a storage. Like a `TensorImpl` it is counted: whoever gets one from an operator owns one
 * reference and gives it back with `Execution.release`.
 */
export class Tensor {
  references: number;
  requiresGrad: boolean;
  /** The node that computes its gradient; undefined for leaves. */
  node: GraphNode | undefined;
  /** Which output of `node` it is. */
  outputIndex: number;
  /** Whether it was made as a view of another tensor. */
  isView: boolean;
  /** For views made under autograd: how the gradient gets from this view to its base (needed by in-place operators). */
  base: Tensor | undefined;
  /** The gradient that backward left in a leaf. */
  gradient: Tensor | undefined;
  /** The leaf's AccumulateGrad node. */
  accumulator: GraphNode | undefined;
  /** Values of small integer tensors where they are known, in row-major order. */
  values: readonly number[] | undefined;
  /** Exclusive upper bound of integer values where it is known. */
  bound: number | undefined;
  /** It is an array of numpy: what is computed of it is one, in double precision where PyTorch takes single. */
  isArray: boolean;
  /** The number of its shape, strides and dtype together, once somebody has asked for it; 0 before. */
  layout: number;
  /** Parameter or buffer name, for messages. */
  name: string | undefined;

  constructor(
    public storage: Storage,
    public shape: readonly number[],
    public strides: readonly number[],
    public dtype: Dtype,
  ) {
    this.references = 0;
    this.requiresGrad = false;
    this.node = undefined;
    this.outputIndex = 0;
    this.isView = false;
    this.base = undefined;
    this.gradient = undefined;
    this.accumulator = undefined;
    this.values = undefined;
    this.bound = undefined;
    this.isArray = false;
    this.layout = 0;
    this.name = undefined;
  }

  get isLeaf(): boolean {
    return this.node === undefined;
  }
}

/** Nobody else looks at its storage; the tensor that it is a view of may, where only the view holds that. */
export function isAlone({ storage, base }: Tensor): boolean {
  const holders = base !== undefined && base.references === 1 && base.storage === storage ? 2 : 1;
  return storage.tensors === holders && storage.saved === 0;
}

export function elementCount(shape: readonly number[]): number {
  let count = 1;
  for (const size of shape) count *= size;
  return count;
}

/** Row-major strides in elements. */
export function contiguousStrides(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length);
  let expected = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    strides[i] = expected;
    expected *= Math.max(shape[i] ?? 1, 1);
  }
  return strides;
}

/** Whether elements lie in row-major order without gaps; strides of dimensions of size 1 do not matter. */
export function isContiguous(tensor: { shape: readonly number[]; strides: readonly number[] }): boolean {
  let expected = 1;
  for (let i = tensor.shape.length - 1; i >= 0; i--) {
    const size = tensor.shape[i] ?? 1;
    if (size === 0) return true;
    if (size === 1) continue;
    if (tensor.strides[i] !== expected) return false;
    expected *= size;
  }
  return true;
}

/** Non-overlapping and without gaps, in whatever order of dimensions. */
export function isDense(tensor: { shape: readonly number[]; strides: readonly number[] }): boolean {
  if (isContiguous(tensor)) return true;
  const dims = tensor.shape
    .map((size, i) => ({ size, stride: tensor.strides[i] ?? 0 }))
    .filter((dim) => dim.size !== 1)
    .sort((a, b) => a.stride - b.stride);
  let expected = 1;
  for (const dim of dims) {
    if (dim.size === 0) return true;
    if (dim.stride !== expected) return false;
    expected *= dim.size;
  }
  return true;
}

const floating: ReadonlySet<Dtype> = new Set<Dtype>([
  "float64",
  "float32",
  "float16",
  "bfloat16",
  "float8_e4m3fn",
  "float8_e5m2",
]);

export function isFloating(dtype: Dtype): boolean {
  return floating.has(dtype);
}

export function isComplex(dtype: Dtype): boolean {
  return dtype === "complex64" || dtype === "complex128";
}

export function canRequireGrad(dtype: Dtype): boolean {
  return isFloating(dtype) || isComplex(dtype);
}
