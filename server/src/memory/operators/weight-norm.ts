/** `torch._weight_norm`, behind both `weight_norm` of `torch.nn.utils` (aten/src/ATen/native/WeightNorm.cpp). */
import { isContiguous, type Tensor } from "../tensor";
import { differentiable } from "./autograd";
import { contiguous } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { reduce } from "./reductions";
import { contiguousOf, transpose } from "./views";

/** The norm over all dimensions but one; -1 is over all of them. */
function normExcept(call: OperatorCall, tensor: Tensor, dim: number): Tensor {
  if (dim === -1) return reduce(call.frame, tensor, { op: "norm" });
  const { frame } = call;
  if (dim === 0 || dim === tensor.shape.length - 1) {
    const dims = tensor.shape.map((_, i) => i).filter((i) => i !== dim);
    return reduce(frame, tensor, { op: "norm", dims, keepdim: true });
  }
  const turned = contiguousOf(frame, transpose(frame, tensor, 0, dim));
  const dims = turned.shape.slice(1).map((_, i) => i + 1);
  const norm = reduce(frame, turned, { op: "norm", dims, keepdim: true });
  frame.free(turned);
  return transpose(frame, norm, 0, dim);
}

function weightNorm(call: OperatorCall): Tensor {
  const { frame } = call;
  const [v, g] = [call.tensor("v"), call.tensor("g")].map((tensor) => contiguousOf(frame, tensor));
  const dim = call.number("dim");
  if (v === undefined || g === undefined) return call.notUnderstood("v");
  const hasKernel = dim === 0 || dim === v.shape.length - 1;
  if (hasKernel && v.dtype !== "float16") return fused(call, v, g);
  const norm = normExcept(call, v, dim);
  const scale = elementwiseOp(frame, "div", [g, norm]);
  frame.free(norm);
  return elementwiseOp(frame, "mul", [v, scale]);
}

/** `_weight_norm_interface`: keeps both parameters and the norms, and gives both gradients at once. */
function fused(call: OperatorCall, v: Tensor, g: Tensor): Tensor {
  const { frame } = call;
  const result = frame.empty(v.shape, v.dtype);
  const norms = frame.empty(g.shape, v.dtype === "bfloat16" ? "float32" : g.dtype);
  differentiable(frame, {
    name: "WeightNormInterfaceBackward0",
    inputs: [v, g],
    outputs: [result],
    saved: [v, g, norms],
    backward: (inner, [gradient]) => {
      if (gradient === undefined) return [];
      if (!isContiguous(gradient)) contiguous(inner, gradient);
      return [inner.empty(v.shape, v.dtype), inner.empty(g.shape, g.dtype)];
    },
  });
  return result;
}

export const weightNormRows: readonly OperatorRow[] = [
  { names: ["torch._weight_norm"], signature: "v, g, dim=0", run: weightNorm },
  {
    names: ["torch.norm_except_dim"],
    signature: "v, pow=2, dim=0",
    run: (call) => normExcept(call, call.tensor("v"), call.number("dim")),
  },
];
