/** Kernels: what allocates and with which strides. They know no graph; results live in the frame. */
import { contiguousStrides, isContiguous, isDense, type Dtype, type Tensor } from "../tensor";
import type { Frame } from "./frame";

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function areSame(shapes: readonly (readonly number[])[], first: readonly number[]): boolean {
  for (const shape of shapes) if (!sameShape(shape, first)) return false;
  return true;
}

/** The broadcast shape; undefined when the shapes do not fit. */
export function broadcastShapes(...shapes: readonly (readonly number[])[]): readonly number[] | undefined {
  const [first] = shapes;
  if (first !== undefined && areSame(shapes, first)) return first;
  const rank = Math.max(0, ...shapes.map((shape) => shape.length));
  const result = new Array<number>(rank).fill(1);
  for (const shape of shapes) {
    for (let i = 0; i < shape.length; i++) {
      const at = rank - shape.length + i;
      const size = shape[i] ?? 1;
      const old = result[at] ?? 1;
      if (old === 1) result[at] = size;
      else if (size !== 1 && size !== old) return undefined;
    }
  }
  return result;
}

/** Strides of `tensor` seen through a broadcast to `shape`: 0 where it is repeated. */
export function broadcastStrides(
  tensor: Pick<Tensor, "shape" | "strides">,
  shape: readonly number[],
): number[] {
  const offset = shape.length - tensor.shape.length;
  return shape.map((size, i) => {
    const own = i < offset ? 1 : (tensor.shape[i - offset] ?? 1);
    return i < offset || (own === 1 && size !== 1) ? 0 : (tensor.strides[i - offset] ?? 0);
  });
}

/** Strides of a new tensor of `shape` whose dimensions lie in the inputs' order (TensorIteratorBase::reorder_dimensions). */
export function elementwiseStrides(
  shape: readonly number[],
  inputs: readonly Pick<Tensor, "shape" | "strides">[],
): readonly number[] {
  const [first] = inputs;
  if (first === undefined) return contiguousStrides(shape);
  let [isWhole, isRowMajor, isAlike] = [true, true, true];
  for (const input of inputs) {
    isWhole &&= sameShape(input.shape, shape);
    isRowMajor &&= isContiguous(input);
    isAlike &&= sameShape(input.strides, first.strides);
  }
  if (isWhole && isRowMajor) return contiguousStrides(shape);
  if (isWhole && isAlike && isDense(first)) return first.strides;
  const strides = inputs.map((input) => broadcastStrides(input, shape));
  const order = shape.map((_, i) => shape.length - 1 - i);
  const shouldSwap = (a: number, b: number): number => {
    for (const each of strides) {
      const sa = each[a] ?? 0;
      const sb = each[b] ?? 0;
      if (sa === 0 || sb === 0) continue;
      if (sa < sb) return -1;
      if (sa > sb) return 1;
      if ((shape[a] ?? 1) > (shape[b] ?? 1)) return 1;
    }
    return 0;
  };
  for (let i = 1; i < order.length; i++) {
    let moving = i;
    for (let before = i - 1; before >= 0; before--) {
      const comparison = shouldSwap(order[before] ?? 0, order[moving] ?? 0);
      if (comparison > 0) {
        [order[before], order[moving]] = [order[moving] ?? 0, order[before] ?? 0];
        moving = before;
      } else if (comparison < 0) {
        break;
      }
    }
  }
  const result = new Array<number>(shape.length).fill(1);
  let expected = 1;
  for (const dimension of order) {
    result[dimension] = expected;
    expected *= Math.max(shape[dimension] ?? 1, 1);
  }
  return result;
}

/** A new tensor shaped by the broadcast of the inputs, which must fit. */
export function elementwise(frame: Frame, inputs: readonly Tensor[], dtype: Dtype): Tensor {
  const shape = broadcastShapes(...inputs.map((input) => input.shape)) ?? [];
  return frame.empty(shape, dtype, elementwiseStrides(shape, inputs));
}

/** `torch.empty_like`: the same order of dimensions. */
export function emptyLike(frame: Frame, tensor: Tensor, dtype: Dtype = tensor.dtype): Tensor {
  return frame.empty(tensor.shape, dtype, elementwiseStrides(tensor.shape, [tensor]));
}

export function castTo(frame: Frame, tensor: Tensor, dtype: Dtype): Tensor {
  return tensor.dtype === dtype ? tensor : emptyLike(frame, tensor, dtype);
}

/** The tensor itself when it is row-major, else a copy. */
export function contiguous(frame: Frame, tensor: Tensor): Tensor {
  return isContiguous(tensor) ? tensor : frame.empty(tensor.shape, tensor.dtype);
}

/** `sum_to_size`: a sum over what was broadcast, then a view without the leading dimensions. */
export function sumToSize(frame: Frame, tensor: Tensor, shape: readonly number[]): Tensor {
  if (sameShape(tensor.shape, shape)) return tensor;
  const offset = tensor.shape.length - shape.length;
  const kept = tensor.shape.map((size, i) =>
    i < offset || (shape[i - offset] === 1 && size !== 1) ? 1 : size,
  );
  // over leading dimensions it is summed even where they have one element
  const sum = offset === 0 && sameShape(kept, tensor.shape) ? tensor : frame.empty(kept, tensor.dtype);
  return sameShape(kept, shape) ? sum : frame.view(sum, shape, contiguousStrides(shape));
}
