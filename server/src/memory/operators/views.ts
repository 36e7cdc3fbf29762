/** View operators and what copies when a view is not possible: aten/src/ATen/native/TensorShape.cpp. */
import { contiguousStrides, elementCount, isContiguous, type Tensor } from "../tensor";
import { differentiable } from "./autograd";
import type { Frame } from "./frame";
import { emptyLike, sumToSize } from "./kernels";

/** Strides of `shape` over the same elements without a copy; undefined when a copy is needed (at::detail::computeStride). */
export function viewStrides(
  tensor: Pick<Tensor, "shape" | "strides">,
  shape: readonly number[],
): number[] | undefined {
  const strides = new Array<number>(shape.length).fill(1);
  if (elementCount(tensor.shape) === 0) return contiguousStrides(shape);
  let at = shape.length - 1;
  let chunkStride = tensor.strides.at(-1) ?? 1;
  let old = 1;
  let viewed = 1;
  for (let i = tensor.shape.length - 1; i >= 0; i--) {
    old *= tensor.shape[i] ?? 1;
    const before = tensor.shape[i - 1] ?? 1;
    const boundary = i === 0 || (before !== 1 && tensor.strides[i - 1] !== old * chunkStride);
    if (!boundary) continue;
    while (at >= 0 && (viewed < old || shape[at] === 1)) {
      strides[at] = viewed * chunkStride;
      viewed *= shape[at] ?? 1;
      at--;
    }
    if (viewed !== old) return undefined;
    if (i > 0) {
      chunkStride = tensor.strides[i - 1] ?? 1;
      old = 1;
      viewed = 1;
    }
  }
  while (at >= 0 && shape[at] === 1) {
    strides[at] = viewed * chunkStride;
    at--;
  }
  return at < 0 ? strides : undefined;
}

/** Fills in a -1; undefined when the sizes do not fit. */
export function inferSize(shape: readonly number[], count: number): number[] | undefined {
  const unknown = shape.indexOf(-1);
  if (unknown < 0) return elementCount(shape) === count ? [...shape] : undefined;
  const known = shape.reduce((product, size, i) => (i === unknown ? product : product * size), 1);
  if (known === 0 || count % known !== 0) return undefined;
  return shape.map((size, i) => (i === unknown ? count / known : size));
}

/** A view with its node; `backward` brings the view's gradient into the shape of the input. */
export function viewOf(
  frame: Frame,
  tensor: Tensor,
  name: string,
  shape: readonly number[],
  strides: readonly number[],
  backward: (inner: Frame, gradient: Tensor, input: Pick<Tensor, "shape" | "strides" | "dtype">) => Tensor,
): Tensor {
  const view = frame.view(tensor, shape, strides);
  const input = { shape: tensor.shape, strides: tensor.strides, dtype: tensor.dtype };
  differentiable(frame, {
    name,
    inputs: [tensor],
    outputs: [view],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : backward(inner, gradient, input)],
  });
  return view;
}

// --- Without a graph (for backward) ---------------------------------------------------------------------------------

/** `reshape`: a view where possible, else a copy. */
export function rawReshape(frame: Frame, tensor: Tensor, shape: readonly number[]): Tensor {
  const strides = viewStrides(tensor, shape);
  return strides === undefined ? frame.empty(shape, tensor.dtype) : frame.view(tensor, shape, strides);
}

export function rawPermute(frame: Frame, tensor: Tensor, order: readonly number[]): Tensor {
  return frame.view(
    tensor,
    order.map((dimension) => tensor.shape[dimension] ?? 1),
    order.map((dimension) => tensor.strides[dimension] ?? 1),
  );
}

export function rawTranspose(frame: Frame, tensor: Tensor, a = -2, b = -1): Tensor {
  return rawPermute(frame, tensor, swapped(tensor.shape.length, a, b));
}

export function rawExpand(frame: Frame, tensor: Tensor, shape: readonly number[]): Tensor {
  return frame.view(tensor, shape, expandedStrides(tensor, shape));
}

function swapped(rank: number, a: number, b: number): number[] {
  const order: number[] = [];
  for (let i = 0; i < rank; i++) order.push(i);
  const first = a < 0 ? a + rank : a;
  const second = b < 0 ? b + rank : b;
  if (first < rank && second < rank) [order[first], order[second]] = [second, first];
  return order;
}

/** Strides of an expansion: 0 for new and for repeated dimensions. */
export function expandedStrides(
  tensor: Pick<Tensor, "shape" | "strides">,
  shape: readonly number[],
): number[] {
  const offset = shape.length - tensor.shape.length;
  const result = new Array<number>(shape.length).fill(0);
  for (let i = shape.length - 1; i >= 0; i--) {
    const own = i - offset;
    if (own < 0) {
      const next = shape[i + 1] ?? 1;
      result[i] = shape[i] === 1 ? next * (result[i + 1] ?? 1) : 0;
    } else {
      const repeated = tensor.shape[own] === 1 && shape[i] !== 1;
      result[i] = repeated ? 0 : (tensor.strides[own] ?? 0);
    }
  }
  return result;
}

// --- With a graph ---------------------------------------------------------------------------------------------------

/** `tensor.view(shape)`; undefined when the strides do not allow it. */
export function view(frame: Frame, tensor: Tensor, shape: readonly number[]): Tensor | undefined {
  const strides = viewStrides(tensor, shape);
  if (strides === undefined) return undefined;
  return viewOf(frame, tensor, "ViewBackward0", shape, strides, (inner, gradient, input) =>
    rawReshape(inner, gradient, input.shape),
  );
}

/** `tensor.reshape(shape)`: a view, or a contiguous clone and an unsafe view of it. */
export function reshape(frame: Frame, tensor: Tensor, shape: readonly number[]): Tensor {
  const viewed = view(frame, tensor, shape);
  if (viewed !== undefined) return viewed;
  const copy = clone(frame, tensor, "contiguous");
  const result = unsafeView(frame, copy, shape);
  frame.free(copy);
  return result;
}

/** `_unsafe_view`: the same storage, but no view for autograd. */
export function unsafeView(frame: Frame, tensor: Tensor, shape: readonly number[]): Tensor {
  const strides = viewStrides(tensor, shape) ?? contiguousStrides(shape);
  const result = frame.alias(tensor, shape, strides);
  const from = tensor.shape;
  differentiable(frame, {
    name: "UnsafeViewBackward0",
    inputs: [tensor],
    outputs: [result],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : rawReshape(inner, gradient, from)],
  });
  return result;
}

export function permute(
  frame: Frame,
  tensor: Tensor,
  order: readonly number[],
  name = "PermuteBackward0",
): Tensor {
  const inverse = new Array<number>(order.length);
  order.forEach((from, to) => (inverse[from] = to));
  return viewOf(
    frame,
    tensor,
    name,
    order.map((dimension) => tensor.shape[dimension] ?? 1),
    order.map((dimension) => tensor.strides[dimension] ?? 1),
    (inner, gradient) => rawPermute(inner, gradient, inverse),
  );
}

export function transpose(frame: Frame, tensor: Tensor, a = -2, b = -1, name = "TransposeBackward0"): Tensor {
  return permute(frame, tensor, swapped(tensor.shape.length, a, b), name);
}

/** `expand`: the gradient is reduced by the engine's sum_to_size, here by at::sum_to. */
export function expand(frame: Frame, tensor: Tensor, shape: readonly number[]): Tensor {
  return viewOf(
    frame,
    tensor,
    "ExpandBackward0",
    shape,
    expandedStrides(tensor, shape),
    (inner, gradient, input) => sumToSize(inner, gradient, input.shape),
  );
}

export function unsqueeze(frame: Frame, tensor: Tensor, dimension: number): Tensor {
  const shape = [...tensor.shape];
  const strides = [...tensor.strides];
  const stride = dimension >= shape.length ? 1 : (shape[dimension] ?? 1) * (strides[dimension] ?? 1);
  shape.splice(dimension, 0, 1);
  strides.splice(dimension, 0, stride);
  return viewOf(frame, tensor, "UnsqueezeBackward0", shape, strides, (inner, gradient, input) =>
    squeezed(inner, gradient, [dimension], input.shape),
  );
}

function squeezed(
  frame: Frame,
  tensor: Tensor,
  dimensions: readonly number[],
  shape: readonly number[],
): Tensor {
  return frame.view(
    tensor,
    shape,
    tensor.strides.filter((_, i) => !dimensions.includes(i)),
  );
}

/** `squeeze` of these dimensions, which have size 1. */
export function squeeze(frame: Frame, tensor: Tensor, dimensions: readonly number[]): Tensor {
  const keep = (_: number, i: number): boolean => !dimensions.includes(i);
  return viewOf(
    frame,
    tensor,
    "SqueezeBackward1",
    tensor.shape.filter(keep),
    tensor.strides.filter(keep),
    (inner, gradient, input) => unsqueezed(inner, gradient, dimensions, input.shape),
  );
}

function unsqueezed(
  frame: Frame,
  tensor: Tensor,
  dimensions: readonly number[],
  shape: readonly number[],
): Tensor {
  const strides: number[] = new Array<number>(shape.length).fill(1);
  let own = tensor.shape.length - 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    if (dimensions.includes(i)) {
      strides[i] = i + 1 < shape.length ? (strides[i + 1] ?? 1) * (shape[i + 1] ?? 1) : 1;
    } else {
      strides[i] = tensor.strides[own--] ?? 1;
    }
  }
  return frame.view(tensor, shape, strides);
}

/** `x[:, start:end:step]` on one dimension. The gradient is written into zeros. */
export function slice(
  frame: Frame,
  tensor: Tensor,
  dimension: number,
  size: number,
  step: number,
  name = "SliceBackward0",
): Tensor {
  const shape = tensor.shape.map((old, i) => (i === dimension ? size : old));
  const strides = tensor.strides.map((old, i) => (i === dimension ? old * step : old));
  return viewOf(frame, tensor, name, shape, strides, (inner, _gradient, input) =>
    inner.empty(input.shape, input.dtype),
  );
}

/** `x[:, index]` on one dimension. */
export function select(frame: Frame, tensor: Tensor, dimension: number): Tensor {
  const keep = (_: number, i: number): boolean => i !== dimension;
  return viewOf(
    frame,
    tensor,
    "SelectBackward0",
    tensor.shape.filter(keep),
    tensor.strides.filter(keep),
    (inner, _gradient, input) => inner.empty(input.shape, input.dtype),
  );
}

/** `clone`: a copy with the same order of dimensions, or row-major. */
export function clone(frame: Frame, tensor: Tensor, format: "preserve" | "contiguous" = "preserve"): Tensor {
  const copy = format === "preserve" ? emptyLike(frame, tensor) : frame.empty(tensor.shape, tensor.dtype);
  copy.values = tensor.values;
  copy.bound = tensor.bound;
  differentiable(frame, {
    name: "CloneBackward0",
    inputs: [tensor],
    outputs: [copy],
    backward: (_inner, [gradient]) => [gradient],
  });
  return copy;
}

/** `contiguous`: the tensor itself when it is row-major already. */
export function contiguousOf(frame: Frame, tensor: Tensor): Tensor {
  return isContiguous(tensor) ? tensor : clone(frame, tensor, "contiguous");
}

/** `detach`: the same storage without a graph. */
export function detach(frame: Frame, tensor: Tensor): Tensor {
  const result = frame.alias(tensor, tensor.shape, tensor.strides);
  result.values = tensor.values;
  result.bound = tensor.bound;
  return result;
}
