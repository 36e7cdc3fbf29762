/** In-place operators: the tensor gets a new node; on a view, the tensor it looks at gets it (CopySlices). */
import type { BackwardFunction } from "../graph";
import type { Tensor } from "../tensor";
import { elementCount, isContiguous } from "../tensor";
import type { Frame } from "./frame";
import { rawReshape } from "./views";

export interface InPlaceRow {
  readonly name: string;
  /** The tensor that is written to, first among the inputs of the node. */
  readonly target: Tensor;
  readonly others: readonly (Tensor | undefined)[];
  readonly saved: readonly (Tensor | undefined)[];
  /** Gradients in the order target, others. */
  readonly backward: BackwardFunction;
}

/** Whether writing to the target with these operands makes a node. */
export function needsGraphInPlace(
  frame: Frame,
  target: Tensor,
  others: readonly (Tensor | undefined)[],
): boolean {
  return frame.execution.needsGraph([target, ...others]);
}

/** Rebases the history of the target after it was written to. Call it only when `needsGraphInPlace`. */
export function attachInPlace(frame: Frame, row: InPlaceRow): void {
  const { execution } = frame;
  const { target } = row;
  // A write ends what was known of the values.
  target.values = undefined;
  const base = target.base;
  if (base === undefined) {
    execution.attach({
      name: row.name,
      inputs: [target, ...row.others],
      outputs: [target],
      saved: row.saved,
      backward: row.backward,
    });
    return;
  }
  execution.attach({
    name: "CopySlices",
    inputs: [base, ...row.others],
    outputs: [base],
    saved: row.saved,
    backward: copySlices(row, { shape: base.shape, strides: base.strides }, target.shape),
  });
  const { shape, strides } = base;
  const whole =
    isContiguous(target) && isContiguous(base) && elementCount(target.shape) === elementCount(base.shape);
  execution.attach({
    name: whole ? "ViewBackward0" : "AsStridedBackward0",
    inputs: [base],
    outputs: [target],
    saved: [],
    backward: (inner, [gradient]) => {
      if (gradient === undefined) return [undefined];
      return [whole ? rawReshape(inner, gradient, shape) : inner.empty(shape, gradient.dtype, strides)];
    },
  });
}

/** torch/csrc/autograd/functions/tensor.cpp, CopySlices::apply: a copy of the gradient, the operator on a clone of the slice. */
function copySlices(
  row: InPlaceRow,
  base: { shape: readonly number[]; strides: readonly number[] },
  slice: readonly number[],
): BackwardFunction {
  return (frame, gradients, saved, wanted) => {
    const gradient = gradients[0];
    if (gradient === undefined) return [];
    const result = frame.empty(base.shape, gradient.dtype, base.strides);
    const part = frame.empty(slice, gradient.dtype);
    const inner = row.backward(frame, [part], saved, wanted);
    return [wanted[0] === true ? result : undefined, ...inner.slice(1)];
  };
}
