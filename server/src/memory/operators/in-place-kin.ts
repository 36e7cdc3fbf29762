/**
 * In-place methods of operators that are no element-wise rows: the kernel writes into the tensor, the gradient is that of the
 * operator out of place (derivatives.yaml).
 */
import type { BackwardFunction } from "../graph";
import type { Tensor } from "../tensor";
import { isTensor, numberOf, type Argument } from "./argument";
import { needs } from "./autograd";
import { formula } from "./formula";
import { attachInPlace, needsGraphInPlace } from "./inplace";
import { emptyLike } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { argumentNotUnderstood } from "./reasons";

/** Writes into the first argument; the gradient flows back through `backward`. */
function write(
  call: OperatorCall,
  node: string,
  backward: BackwardFunction,
  others: readonly Tensor[] = [],
  saved: readonly (Tensor | undefined)[] = [],
): Tensor {
  const self = call.tensor("self");
  self.values = undefined;
  if (needsGraphInPlace(call.frame, self, others))
    attachInPlace(call.frame, { name: node, target: self, others, saved, backward });
  return self;
}

/** `addmm_` and its like: `beta * self + alpha * product`. */
function addProduct(call: OperatorCall, node: string, factors: readonly string[]): Tensor {
  const { execution } = call;
  const [first, second] = factors.map((name) => call.tensor(name));
  if (first === undefined || second === undefined) return call.notUnderstood("self");
  const [alpha, beta] = [numberOf(call.values.alpha) ?? 1, numberOf(call.values.beta) ?? 1];
  const shapes = [first.shape, second.shape];
  const saved = [needs(execution, second) ? first : undefined, needs(execution, first) ? second : undefined];
  const backward: BackwardFunction = (inner, [gradient], _saved, wanted) => {
    if (gradient === undefined) return [];
    const made = shapes.map((shape, i) => {
      if (wanted[i + 1] !== true) return undefined;
      return inner.temporarily((own) => {
        const product = own.empty(shape, gradient.dtype);
        return alpha === 1 ? product : emptyLike(own, product);
      });
    });
    const ofSelf = beta === 1 ? gradient : emptyLike(inner, gradient);
    return [wanted[0] === true ? ofSelf : undefined, ...made];
  };
  return write(call, node, backward, [first, second], saved);
}

const products: readonly (readonly [name: string, node: string, factors: readonly string[]])[] = [
  ["addmm_", "AddmmBackward0", ["mat1", "mat2"]],
  ["addmv_", "AddmvBackward0", ["mat", "vec"]],
  ["addr_", "AddrBackward0", ["vec1", "vec2"]],
  ["addbmm_", "AddbmmBackward0", ["batch1", "batch2"]],
  ["baddbmm_", "BaddbmmBackward0", ["batch1", "batch2"]],
];

/** Methods whose gradient is one new tensor by a formula of the gradient alone. */
const linear: readonly (readonly [name: string, signature: string, node: string, gradient: string])[] = [
  ["cumsum_", "self, dim, *, dtype=None", "CumsumBackward0", "flip(cumsum(flip(grad)))"],
  ["tril_", "self, diagonal=0", "TrilBackward0", "tril(grad)"],
  ["triu_", "self, diagonal=0", "TriuBackward0", "triu(grad)"],
];

/** Methods that are followed where nothing flows back through them. */
const withoutGraph: readonly (readonly [name: string, signature: string])[] = [
  ["cumprod_", "self, dim, *, dtype=None"],
  ["atan2_", "self, other"],
  ["renorm_", "self, p, dim, maxnorm"],
  ["sinc_", "self"],
  ["ldexp_", "self, other"],
  ["conj_physical_", "self"],
  ["index_reduce_", "self, dim, index, source, reduce, *, include_self=True"],
  ["put_", "self, index, source, accumulate=False"],
];

/** Methods that are another in-place method with one argument more. */
const spelled: readonly (readonly [name: string, other: string, operand: Argument])[] = [
  ["square_", "Tensor.pow_", 2],
  ["deg2rad_", "Tensor.mul_", { kind: "float", value: Math.PI / 180 }],
  ["rad2deg_", "Tensor.mul_", { kind: "float", value: 180 / Math.PI }],
];

export const inPlaceKinRows: readonly OperatorRow[] = [
  ...products.map(([name, node, factors]): OperatorRow => ({
    names: [`Tensor.${name}`],
    signature: `self, ${factors.join(", ")}, *, beta=1, alpha=1`,
    run: (call) => addProduct(call, node, factors),
  })),
  ...linear.map(([name, signature, node, gradient]): OperatorRow => ({
    names: [`Tensor.${name}`],
    signature,
    run: (call) =>
      write(call, node, (inner, [grad]) => [
        inner.temporarily((own) => formula(gradient).evaluate(own, { grad })),
      ]),
  })),
  ...withoutGraph.map(([name, signature]): OperatorRow => ({
    names: [`Tensor.${name}`],
    signature,
    run: (call) => {
      const self = call.tensor("self");
      const operands = Object.values(call.values).filter(isTensor);
      if (call.execution.needsGraph(operands)) return call.fail(argumentNotUnderstood(call.name, "self"));
      self.values = undefined;
      return self;
    },
  })),
  ...spelled.map(([name, other, operand]): OperatorRow => ({
    names: [`Tensor.${name}`],
    signature: "self",
    run: (call) => call.op(other, [call.tensor("self"), operand]),
  })),
];
