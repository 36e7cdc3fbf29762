/** Picking by size: extrema, sorting, medians (aten/src/ATen/native/{ReduceOps,Sorting}.cpp, FunctionsManual.cpp). */
import type { Tensor } from "../tensor";
import { isTensor, type Argument, type NamedTuple } from "./argument";
import { differentiable } from "./autograd";
import type { Frame } from "./frame";
import { elementwiseStrides, emptyLike } from "./kernels";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { named, reducedShape } from "./reductions";

/** `max`/`min`: of everything, along a dimension, or element by element. */
function extremum(call: OperatorCall, op: "max" | "min"): Argument {
  const self = call.tensor("self");
  const second = call.value("dim");
  if (isTensor(second))
    return elementwiseOp(call.frame, op === "max" ? "maximum" : "minimum", [self, second]);
  if (second === null) return wholeExtremum(call.frame, self, op);
  const dimension = call.dimension(call.number("dim"), self.shape);
  return selected(
    call.frame,
    self,
    dimension,
    call.boolean("keepdim"),
    op === "max" ? "MaxBackward0" : "MinBackward0",
  );
}

function wholeExtremum(frame: Frame, self: Tensor, op: "max" | "min"): Tensor {
  const result = frame.empty([], self.dtype);
  const shape = self.shape;
  differentiable(frame, {
    name: op === "max" ? "MaxBackward1" : "MinBackward1",
    inputs: [self],
    outputs: [result],
    saved: [self, result],
    // evenly_distribute_backward: masks of what is NaN and what is equal, their number, the gradient's share.
    backward: (inner, [gradient]) => {
      if (gradient === undefined) return [undefined];
      for (let i = 0; i < 3; i++) inner.empty(shape, "bool");
      inner.empty([], "bool");
      inner.empty([], "int64");
      inner.empty([], gradient.dtype);
      return [inner.empty(shape, gradient.dtype)];
    },
  });
  return result;
}

/** Values and places along a dimension; backward scatters the gradient into zeros. */
function selected(
  frame: Frame,
  self: Tensor,
  dimension: number,
  keepdim: boolean,
  node: string,
  size?: number,
): NamedTuple {
  const shape =
    size === undefined
      ? reducedShape(self.shape, [dimension], keepdim)
      : self.shape.map((old, i) => (i === dimension ? size : old));
  // sorting keeps the layout, the others write row by row
  const strides = node === "SortBackward0" ? elementwiseStrides(shape, [self]) : undefined;
  const values = frame.empty(shape, self.dtype, strides);
  const indices = frame.empty(shape, "int64", strides);
  const from = self.shape;
  differentiable(frame, {
    name: node,
    inputs: [self],
    outputs: [values],
    saved: [indices],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : inner.empty(from, gradient.dtype)],
  });
  return named(["values", "indices"], [values, indices]);
}

function sort(call: OperatorCall): NamedTuple {
  const self = call.tensor("self");
  const dimension = call.dimension(call.number("dim"), self.shape);
  const row = selected(call.frame, self, dimension, true, "SortBackward0", self.shape[dimension]);
  return row;
}

function topk(call: OperatorCall): NamedTuple {
  const self = call.tensor("self");
  const dimension = call.dimension(call.number("dim"), self.shape);
  return selected(call.frame, self, dimension, true, "TopkBackward0", call.number("k"));
}

function argsort(call: OperatorCall): Argument {
  const self = call.tensor("self");
  call.frame.temporarily((inner) => emptyLike(inner, self));
  return call.frame.empty(self.shape, "int64", elementwiseStrides(self.shape, [self]));
}

export const sortingRows: readonly OperatorRow[] = [
  ...(["max", "min"] as const).map((op): OperatorRow => ({
    names: both(op),
    signature: "self, dim=None, keepdim=False, *, other=None, out=None",
    run: (call) => {
      const other = call.optionalTensor("other");
      if (other === undefined) return extremum(call, op);
      const name = op === "max" ? "maximum" : "minimum";
      return elementwiseOp(call.frame, name, [call.tensor("self"), other]);
    },
  })),
  {
    names: both("mode"),
    signature: "self, dim=-1, keepdim=False, *, out=None",
    run: (call) => {
      const self = call.tensor("self");
      const dimension = call.dimension(call.number("dim"), self.shape);
      return selected(call.frame, self, dimension, call.boolean("keepdim"), "ModeBackward0");
    },
  },
  {
    names: [...both("median"), ...both("nanmedian")],
    signature: "self, dim=None, keepdim=False, *, out=None",
    run: (call) => {
      const self = call.tensor("self");
      if (call.value("dim") === null) return wholeExtremum(call.frame, self, "max");
      const dimension = call.dimension(call.number("dim"), self.shape);
      return selected(call.frame, self, dimension, call.boolean("keepdim"), "MedianBackward1");
    },
  },
  { names: both("topk"), signature: "self, k, dim=-1, largest=True, sorted=True, *, out=None", run: topk },
  { names: both("sort"), signature: "self, dim=-1, descending=False, stable=False, *, out=None", run: sort },
  { names: both("argsort"), signature: "self, dim=-1, descending=False, stable=False", run: argsort },
  {
    names: both("kthvalue"),
    signature: "self, k, dim=-1, keepdim=False, *, out=None",
    run: (call) => {
      const self = call.tensor("self");
      const dimension = call.dimension(call.number("dim"), self.shape);
      return selected(call.frame, self, dimension, call.boolean("keepdim"), "KthvalueBackward0");
    },
  },
];
