/** Copies with one part written anew: `select_scatter` and its like, and their gradients in derivatives.yaml. */
import type { Tensor } from "../tensor";
import { isTensor, type Argument } from "./argument";
import { differentiable } from "./autograd";
import { emptyLike } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";

/** The part is what a view of the tensor shows. */
function scatterPart(call: OperatorCall, node: string, view: string, where: readonly Argument[]): Tensor {
  const { frame, location } = call;
  const [self, source] = [call.tensor("self"), call.tensor("src")];
  const result = emptyLike(frame, self);
  const part = source.shape;
  differentiable(frame, {
    name: node,
    inputs: [self, source],
    outputs: [result],
    backward: (inner, [gradient], _saved, wanted) => {
      if (gradient === undefined) return [];
      const own = (): Tensor =>
        inner.scoped((zeros) => {
          zeros.empty(part, gradient.dtype);
          return emptyLike(zeros, gradient);
        });
      const ofSelf = wanted[0] === true ? own() : undefined;
      const seen = wanted[1] === true ? inner.call(view, [gradient, ...where], {}, location) : undefined;
      return [ofSelf, isTensor(seen) ? seen : undefined];
    },
  });
  return result;
}

/** `torch.put`: writes at places of the flat tensor. */
function put(call: OperatorCall): Tensor {
  const { frame } = call;
  const [self, index, source] = [call.tensor("self"), call.tensor("index"), call.tensor("source")];
  const accumulates = call.boolean("accumulate");
  const result = emptyLike(frame, self);
  differentiable(frame, {
    name: "PutBackward0",
    inputs: [self, source],
    outputs: [result],
    saved: [index, source],
    backward: (inner, [gradient], _saved, wanted) => {
      if (gradient === undefined) return [];
      const own = (): Tensor =>
        accumulates
          ? gradient
          : inner.scoped((zeros) => {
              zeros.empty(source.shape, gradient.dtype);
              return emptyLike(zeros, gradient);
            });
      return [
        wanted[0] === true ? own() : undefined,
        wanted[1] === true ? inner.empty(source.shape, gradient.dtype) : undefined,
      ];
    },
  });
  return result;
}

const both = (name: string): string[] => [`torch.${name}`, `Tensor.${name}`];

/** `x[:, start:end:step]` as an operator: the bounds may be left out. */
function sliceOf(call: OperatorCall): readonly Argument[] {
  const self = call.tensor("self");
  const dimension = call.dimension(call.number("dim"), self.shape);
  const before = Array.from({ length: dimension }, (): Argument => ({
    kind: "slice",
    lower: null,
    upper: null,
    step: null,
  }));
  const slice: Argument = {
    kind: "slice",
    lower: call.value("start"),
    upper: call.value("end"),
    step: call.value("step"),
  };
  return [[...before, slice]];
}

export const writtenPartRows: readonly OperatorRow[] = [
  {
    names: both("select_scatter"),
    signature: "self, src, dim, index",
    run: (call) =>
      scatterPart(call, "SelectScatterBackward0", "Tensor.select", [call.value("dim"), call.value("index")]),
  },
  {
    names: both("slice_scatter"),
    signature: "self, src, dim=0, start=None, end=None, step=1",
    run: (call) => scatterPart(call, "SliceScatterBackward0", "Tensor.__getitem__", sliceOf(call)),
  },
  {
    names: both("diagonal_scatter"),
    signature: "self, src, offset=0, dim1=0, dim2=1",
    run: (call) =>
      scatterPart(
        call,
        "DiagonalScatterBackward0",
        "Tensor.diagonal",
        ["offset", "dim1", "dim2"].map((name) => call.value(name)),
      ),
  },
  { names: both("put"), signature: "self, index, source, accumulate=False", run: put },
];
