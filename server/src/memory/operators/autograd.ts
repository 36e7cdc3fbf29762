/** How operators hang themselves on the graph, and autocast's casts before them. */
import type { AttachedNode, AutocastMode, Execution } from "../tape";
import { isFloating, type Dtype, type Tensor } from "../tensor";
import type { Frame } from "./frame";
import { emptyLike } from "./kernels";
import { promoteTypes } from "./promotion";

/** Makes the node when one of the inputs requires a gradient. */
export function differentiable({ execution }: Frame, node: AttachedNode): void {
  if (execution.needsGraph(node.inputs)) execution.attach(node);
}

/** Whether a tensor's gradient will be asked for. */
export function needs(execution: Execution, tensor: Tensor | undefined): boolean {
  return execution.gradEnabled && tensor?.requiresGrad === true;
}

// --- Casts ----------------------------------------------------------------------------------------------------------

/** `tensor.to(dtype)`: the tensor itself when it has that dtype. */
export function cast(frame: Frame, tensor: Tensor, dtype: Dtype): Tensor {
  if (tensor.dtype === dtype) return tensor;
  const result = emptyLike(frame, tensor, dtype);
  const from = tensor.dtype;
  differentiable(frame, {
    name: "ToCopyBackward0",
    inputs: [tensor],
    outputs: [result],
    backward: (inner, [gradient]) => [
      gradient === undefined ? undefined : castGradient(inner, gradient, from),
    ],
  });
  return result;
}

function castGradient(frame: Frame, gradient: Tensor, dtype: Dtype): Tensor {
  return gradient.dtype === dtype ? gradient : emptyLike(frame, gradient, dtype);
}

/** at::autocast::cached_cast: casts floating tensors; low-precision copies of fp32 leaves that train are cached. */
export function autocastTo(frame: Frame, tensor: Tensor, dtype: Dtype, mode: AutocastMode): Tensor {
  if (!isFloating(tensor.dtype) || tensor.dtype === "float64" || tensor.dtype === dtype) return tensor;
  const cached =
    dtype === mode.dtype &&
    tensor.dtype === "float32" &&
    tensor.requiresGrad &&
    tensor.isLeaf &&
    tensor.base === undefined &&
    mode.cache !== false;
  if (!cached) return cast(frame, tensor, dtype);
  const { execution } = frame;
  return frame.own(
    execution.cachedCast(tensor, () => {
      const copy = cast(frame, tensor, dtype);
      execution.holdTensor(copy);
      frame.free(copy);
      return copy;
    }),
  );
}

/** Casts the last argument first: the order in which compilers evaluate C++ arguments decides which cast backward undoes first. */
function castAll<Given extends Tensor | undefined>(
  frame: Frame,
  tensors: readonly Given[],
  dtype: Dtype,
  mode: AutocastMode,
): Given[] {
  const result = [...tensors];
  for (let i = tensors.length - 1; i >= 0; i--) {
    const tensor = tensors[i];
    if (tensor !== undefined) result[i] = autocastTo(frame, tensor, dtype, mode) as Given;
  }
  return result;
}

/** The autocast list "lower_precision_fp": matrix products and convolutions. */
export function lowPrecision<Given extends Tensor | undefined>(
  frame: Frame,
  tensors: readonly Given[],
): readonly Given[] {
  const mode = frame.execution.autocast;
  return mode === undefined ? tensors : castAll(frame, tensors, mode.dtype, mode);
}

/** The same for operators that take a list of tensors: it is cast from its front. */
export function lowPrecisionList(frame: Frame, tensors: readonly Tensor[]): readonly Tensor[] {
  const mode = frame.execution.autocast;
  if (mode === undefined) return tensors;
  return tensors.map((tensor) => autocastTo(frame, tensor, mode.dtype, mode));
}

/** The autocast list "fp32": exponentials, norms, losses. */
export function fullPrecision<Given extends Tensor | undefined>(
  frame: Frame,
  tensors: readonly Given[],
): readonly Given[] {
  const mode = frame.execution.autocast;
  return mode === undefined ? tensors : castAll(frame, tensors, "float32", mode);
}

/** The autocast list "promote": everything to the widest dtype among the arguments. */
export function widest<Given extends Tensor | undefined>(
  frame: Frame,
  tensors: readonly Given[],
): readonly Given[] {
  const mode = frame.execution.autocast;
  if (mode === undefined) return tensors;
  const floating = tensors.flatMap((tensor) =>
    tensor !== undefined && isFloating(tensor.dtype) ? [tensor.dtype] : [],
  );
  if (floating.length === 0) return tensors;
  const dtype = floating.reduce(promoteTypes);
  return castAll(frame, tensors, dtype, mode);
}

/** The autocast list "fp32_set_opt_dtype": the dtype to compute in, for operators that take one. */
export function optionalDtype(frame: Frame, tensor: Tensor, given: Dtype | undefined): Dtype | undefined {
  if (given !== undefined || frame.execution.autocast === undefined) return given;
  const low = tensor.dtype === "float16" || tensor.dtype === "bfloat16";
  return low ? "float32" : undefined;
}
