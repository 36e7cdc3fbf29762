/** `beta * self + alpha * product` for vectors and sums of batches: native/{Blas,LinearAlgebra}.cpp, derivatives.yaml. */
import { elementCount, type Tensor } from "../tensor";
import { numberOf } from "./argument";
import { differentiable, lowPrecision, needs } from "./autograd";
import type { Frame } from "./frame";
import { emptyLike } from "./kernels";
import { at, misfit } from "./matrix";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { promoteTypes } from "./promotion";

interface AddedProduct {
  readonly node: string;
  /** Shape of the result; undefined where the factors do not fit. */
  readonly shape: (first: Tensor, second: Tensor) => number[] | undefined;
  readonly work: (first: Tensor, second: Tensor) => number;
}

const addmv: AddedProduct = {
  node: "AddmvBackward0",
  shape: (a, b) =>
    a.shape.length === 2 && b.shape.length === 1 && at(a, 1) === at(b, 0) ? [at(a, 0)] : undefined,
  work: (a) => elementCount(a.shape),
};

const addr: AddedProduct = {
  node: "AddrBackward0",
  shape: (a, b) => (a.shape.length === 1 && b.shape.length === 1 ? [at(a, 0), at(b, 0)] : undefined),
  work: () => 0,
};

const addbmm: AddedProduct = {
  node: "AddbmmBackward0",
  shape: (a, b) =>
    a.shape.length === 3 && b.shape.length === 3 && at(a, 0) === at(b, 0) && at(a, 2) === at(b, 1)
      ? [at(a, 1), at(b, 2)]
      : undefined,
  work: (a, b) => elementCount(a.shape) * at(b, 2),
};

/** A new tensor unless the factor is 1. */
function scaled(frame: Frame, factor: number, tensor: Tensor): Tensor {
  return factor === 1 ? tensor : emptyLike(frame, tensor);
}

function run(call: OperatorCall, { node, shape, work }: AddedProduct, names: readonly string[]): Tensor {
  const { frame } = call;
  const given = ["self", ...names].map((name) => call.tensor(name));
  const [added, first, second] = lowPrecision(frame, given);
  if (added === undefined || first === undefined || second === undefined) return call.notUnderstood("self");
  const wanted = shape(first, second);
  if (wanted === undefined) return misfit(call.name, first, second);
  const [alpha, beta] = [numberOf(call.values.alpha) ?? 1, numberOf(call.values.beta) ?? 1];
  const result = frame.empty(wanted, promoteTypes(added.dtype, promoteTypes(first.dtype, second.dtype)));
  const factors = [first, second].map((tensor) => tensor.shape);
  const { execution } = frame;
  differentiable(frame, {
    name: node,
    inputs: [added, first, second],
    outputs: [result],
    saved: [needs(execution, second) ? first : undefined, needs(execution, first) ? second : undefined],
    backward: (inner, [gradient], _saved, wants) => {
      if (gradient === undefined) return [];
      const made = factors.map((each, i) =>
        wants[i + 1] === true
          ? inner.temporarily((own) => scaled(own, alpha, own.empty(each, gradient.dtype)))
          : undefined,
      );
      return [wants[0] === true ? scaled(inner, beta, gradient) : undefined, ...made];
    },
  });
  execution.noteProducts(work(first, second));
  return result;
}

const rows: readonly (readonly [name: string, product: AddedProduct, factors: readonly string[]])[] = [
  ["addmv", addmv, ["mat", "vec"]],
  ["addr", addr, ["vec1", "vec2"]],
  ["addbmm", addbmm, ["batch1", "batch2"]],
];

export const addedProductRows: readonly OperatorRow[] = rows.map(([name, product, factors]) => ({
  names: both(name),
  signature: `self, ${factors.join(", ")}, *, beta=1, alpha=1, out=None`,
  run: (call) => run(call, product, factors),
}));
