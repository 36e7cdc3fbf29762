/** Reductions, softmax, sorting: FunctionsManual.cpp and derivatives.yaml. */
import { contiguousStrides, isFloating, type Dtype, type Tensor } from "../tensor";
import { numberOf, type Argument, type NamedTuple } from "./argument";
import { cast, differentiable, fullPrecision, optionalDtype } from "./autograd";
import { formula } from "./formula";
import type { Frame } from "./frame";
import { emptyLike } from "./kernels";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { toFloating } from "./promotion";
import { rawExpand } from "./views";

export function named(names: readonly string[], values: readonly Argument[]): NamedTuple {
  return { kind: "named-tuple", names, values };
}

/** Shape after a reduction over these dimensions. */
export function reducedShape(shape: readonly number[], dims: readonly number[], keepdim: boolean): number[] {
  const kept = shape.map((size, i) => (dims.includes(i) ? 1 : size));
  return keepdim ? kept : kept.filter((_, i) => !dims.includes(i));
}

/** A reduced tensor seen with its reduced dimensions of size 1 again. */
function restored(frame: Frame, tensor: Tensor, shape: readonly number[], dims: readonly number[]): Tensor {
  if (tensor.shape.length === shape.length) return tensor;
  const kept = reducedShape(shape, dims, true);
  return frame.view(tensor, kept, contiguousStrides(kept));
}

interface ReductionRow {
  readonly node: string;
  /** What backward needs: the input, the result. */
  readonly saved: readonly ("self" | "result")[];
  /**
   * Gradient with `grad` and `result` spread over the input's shape; `expand` for a mere view of the gradient. Names:
   * grad, self, result.
   */
  readonly gradient: string;
  readonly result?: "float" | "bool" | "int64" | "sum";
  readonly autocast?: "fp32" | "dtype";
}

function otherNorms(gradients: Readonly<Record<string, string>>): Record<string, ReductionRow> {
  return Object.fromEntries(
    Object.entries(gradients).map(([name, gradient]): [string, ReductionRow] => [
      name,
      {
        node: "LinalgVectorNormBackward0",
        saved: ["self", "result"],
        gradient,
        result: "float",
        autocast: "dtype",
      },
    ]),
  );
}

const reductions: Readonly<Record<string, ReductionRow>> = {
  sum: { node: "SumBackward1", saved: [], gradient: "expand", result: "sum", autocast: "dtype" },
  nansum: { node: "NansumBackward0", saved: ["self"], gradient: "grad * not(isnan(self))", result: "sum" },
  mean: { node: "MeanBackward1", saved: [], gradient: "grad / 2", result: "float" },
  amax: { node: "AmaxBackward0", saved: ["self", "result"], gradient: "amax" },
  amin: { node: "AminBackward0", saved: ["self", "result"], gradient: "amax" },
  var: { node: "VarBackward0", saved: ["self"], gradient: "var", result: "float" },
  std: { node: "StdBackward0", saved: ["self", "result"], gradient: "std", result: "float" },
  logsumexp: {
    node: "LogsumexpBackward0",
    saved: ["self", "result"],
    gradient: "grad * exp(self - result)",
    result: "float",
    autocast: "fp32",
  },
  norm: {
    node: "LinalgVectorNormBackward0",
    saved: ["self", "result"],
    gradient: "norm",
    result: "float",
    autocast: "dtype",
  },
  norm1: {
    node: "LinalgVectorNormBackward0",
    saved: ["self", "result"],
    gradient: "sgn(self) * grad",
    result: "float",
    autocast: "dtype",
  },
  norm0: {
    node: "LinalgVectorNormBackward0",
    saved: ["self", "result"],
    gradient: "none",
    result: "float",
    autocast: "dtype",
  },
  // norms of other orders: below 1, below 2, above 2 (norm_backward in FunctionsManual.cpp)
  ...otherNorms({
    "norm-small": "apart(sgn(self) * masked_fill_(abs(self), self == 0)) * grad * pow(result, 2)",
    "norm-middle": "apart(sgn(self) * abs(self)) * apart(grad / pow(result, 2))",
    "norm-large": "apart(self * abs(self)) * apart(grad / pow(result, 2))",
  }),
  "norm-inf": {
    node: "LinalgVectorNormBackward0",
    saved: ["self", "result"],
    gradient: "norm-inf",
    result: "float",
    autocast: "dtype",
  },
  prod: {
    node: "ProdBackward1",
    saved: ["self", "result"],
    gradient: "prod",
    result: "sum",
    autocast: "dtype",
  },
  all: { node: "", saved: [], gradient: "expand", result: "bool" },
  any: { node: "", saved: [], gradient: "expand", result: "bool" },
  argmax: { node: "", saved: [], gradient: "expand", result: "int64" },
  argmin: { node: "", saved: [], gradient: "expand", result: "int64" },
  count_nonzero: { node: "", saved: [], gradient: "expand", result: "int64" },
};

export interface Reduction {
  readonly op: string;
  /** From the front; all when left out. */
  readonly dims?: readonly number[];
  readonly keepdim?: boolean;
  readonly dtype?: Dtype;
}

function reductionDtype(row: ReductionRow, dtype: Dtype): Dtype {
  switch (row.result) {
    case "bool":
      return "bool";
    case "int64":
      return "int64";
    case "float":
      return toFloating(dtype);
    case "sum":
      return isFloating(dtype) || dtype.startsWith("complex") ? dtype : "int64";
    default:
      return dtype;
  }
}

/** One reduction of the table. */
export function reduce(frame: Frame, given: Tensor, reduction: Reduction): Tensor {
  return frame.scoped((inner) => reduceIn(inner, given, reduction));
}

function reduceIn(frame: Frame, given: Tensor, reduction: Reduction): Tensor {
  const row = reductions[reduction.op] ?? reductions.sum;
  if (row === undefined) return given;
  const [self = given] = row.autocast === "fp32" ? fullPrecision(frame, [given]) : [given];
  const dims = reduction.dims ?? self.shape.map((_, i) => i);
  const keepdim = reduction.keepdim ?? false;
  const asked = row.autocast === "dtype" ? optionalDtype(frame, self, reduction.dtype) : reduction.dtype;
  const shape = reducedShape(self.shape, dims, keepdim);
  const result = frame.empty(shape, asked ?? reductionDtype(row, self.dtype));
  if (row.node === "") return result;
  const whole = reduction.dims === undefined;
  const from = self.shape;
  // What is kept of a result that was cast is the cast result.
  differentiable(frame, {
    name: whole ? row.node.replace(/1$/, "0") : row.node,
    inputs: [self],
    outputs: [result],
    saved: row.saved.map((name) => (name === "self" ? self : result)),
    backward: (inner, [gradient], saved) => {
      if (gradient === undefined) return [undefined];
      const grad = restored(inner, gradient, from, dims);
      const by = (name: "self" | "result"): Tensor | undefined => saved[row.saved.indexOf(name)];
      const kept = by("result");
      return [
        reductionGradient(inner, row.gradient, {
          grad,
          self: by("self"),
          result: kept === undefined ? undefined : restored(inner, kept, from, dims),
          shape: from,
        }),
      ];
    },
  });
  return result;
}

interface ReductionScope {
  readonly grad: Tensor;
  readonly self: Tensor | undefined;
  readonly result: Tensor | undefined;
  readonly shape: readonly number[];
}

function reductionGradient(frame: Frame, kind: string, scope: ReductionScope): Tensor | undefined {
  const { grad, self, result, shape } = scope;
  const names = { grad, self, result };
  switch (kind) {
    case "none":
      return undefined;
    case "expand":
      return rawExpand(frame, grad, shape);
    case "grad / 2":
      return frame.empty(shape, grad.dtype);
    case "amax": {
      // scale_grad_by_count: a mask, the gradient's share, the number of maxima.
      if (self === undefined || result === undefined) return undefined;
      frame.empty(shape, "bool");
      frame.empty(grad.shape, grad.dtype);
      frame.empty(grad.shape, "int64");
      return frame.empty(shape, grad.dtype);
    }
    case "var":
      // (2 / N) * grad * (self - self.mean(dim, True))
      return formula("(1 * grad) * (self - mean)").evaluate(frame, {
        ...names,
        mean: frame.empty(grad.shape, grad.dtype),
      });
    case "std": {
      const scaled = frame.temporarily((inner) =>
        formula("masked_fill_(grad / (result * 2), result == 0)").evaluate(inner, names),
      );
      return reductionGradient(frame, "var", { ...scope, grad: scaled ?? grad });
    }
    case "norm":
      return formula("grad * masked_fill_(self / result, result == 0)").evaluate(frame, names);
    case "norm-inf": {
      // the gradient's share of those that are as large as the norm
      if (self === undefined) return undefined;
      frame.empty(shape, "bool");
      frame.temporarily((inner) => {
        inner.empty(shape, self.dtype);
        inner.empty(shape, "bool");
        return inner.empty(shape, self.dtype);
      });
      frame.empty(grad.shape, "int64");
      frame.empty(grad.shape, grad.dtype);
      for (let i = 0; i < 2; i++) frame.empty(shape, grad.dtype);
      return frame.empty(shape, grad.dtype);
    }
    case "prod":
      // prod_safe_zeros_backward: products of everything before and of everything behind each element.
      return formula("grad * (cumprod(self) * flip(cumprod(flip(self))))").evaluate(frame, names);
    default:
      return formula(kind).evaluate(frame, names);
  }
}

// --- Calls ----------------------------------------------------------------------------------------------------------

function dimsOf(call: OperatorCall, tensor: Tensor): number[] | undefined {
  // `x.var(True)`: whether it is unbiased, over everything
  if (typeof call.values.dim === "boolean") return undefined;
  const asked = call.optionalIntegers("dim");
  if (asked === undefined || asked.length === 0) return undefined;
  return asked.map((dimension) => call.dimension(dimension, tensor.shape));
}

function runReduction(call: OperatorCall, op: string): Tensor {
  const self = call.tensor("self");
  const asked = call.values.dtype === undefined ? undefined : call.dtype("dtype");
  const given = asked === undefined || op === "sum" ? self : cast(call.frame, self, asked);
  const dims = dimsOf(call, self);
  return reduce(call.frame, given, {
    op,
    ...(dims === undefined ? {} : { dims }),
    keepdim: call.values.keepdim === undefined ? false : call.boolean("keepdim"),
    ...(asked === undefined ? {} : { dtype: asked }),
  });
}

/** `cumsum` and `cumprod`: same shape; backward turns the order twice. */
function cumulative(call: OperatorCall, op: "cumsum" | "cumprod"): Tensor {
  const given = call.tensor("self");
  const asked = optionalDtype(call.frame, given, call.dtype("dtype"));
  const self = asked === undefined ? given : cast(call.frame, given, asked);
  const dtype = isFloating(self.dtype) ? self.dtype : "int64";
  const result = call.frame.empty(self.shape, dtype);
  differentiable(call.frame, {
    name: op === "cumsum" ? "CumsumBackward0" : "CumprodBackward0",
    inputs: [self],
    outputs: [result],
    saved: op === "cumsum" ? [] : [self, result],
    backward: (inner, [grad], [input, product]) => {
      if (op === "cumsum") return [formula("flip(cumsum(flip(grad)))").evaluate(inner, { grad })];
      // cumprod_backward of numbers without a zero
      const weighted = formula("grad * product").evaluate(inner, { grad, product });
      if (input !== undefined) emptyLike(inner, input, "bool");
      const summed = inner.temporarily((own) =>
        formula("flip(cumsum(flip(weighted)))").evaluate(own, { weighted }),
      );
      return [formula("summed / input").evaluate(inner, { summed, input })];
    },
  });
  return result;
}

/** `softmax` and `log_softmax`: keep their result. On CUDA fp16 is computed to fp32 without a copy of the input. */
export function softmax(frame: Frame, given: Tensor, op: "softmax" | "log_softmax", asked?: Dtype): Tensor {
  return frame.scoped((inner) => softmaxIn(inner, given, op, asked));
}

function softmaxIn(
  frame: Frame,
  given: Tensor,
  op: "softmax" | "log_softmax",
  asked: Dtype | undefined,
): Tensor {
  const dtype = optionalDtype(frame, given, asked);
  const direct = frame.execution.device === "cuda" && given.dtype === "float16" && dtype === "float32";
  const self = dtype === undefined || direct ? given : cast(frame, given, dtype);
  const result = frame.empty(self.shape, dtype ?? self.dtype);
  const from = self.dtype;
  differentiable(frame, {
    name: op === "softmax" ? "SoftmaxBackward0" : "LogSoftmaxBackward0",
    inputs: [self],
    outputs: [result],
    saved: [result],
    backward: (inner, [gradient]) => [
      gradient === undefined ? undefined : emptyLike(inner, gradient, direct ? from : gradient.dtype),
    ],
  });
  return result;
}

function runSoftmax(call: OperatorCall, op: "softmax" | "log_softmax"): Tensor {
  return softmax(call.frame, call.tensor("self"), op, call.dtype("dtype"));
}

/** `norm` with dim or over everything; only the 2-norm and its like are distinguished by what they keep. */
function runNorm(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const dims = dimsOf(call, self);
  const keepdim = call.boolean("keepdim");
  return reduce(call.frame, self, { op: normOf(call), ...(dims === undefined ? {} : { dims }), keepdim });
}

/** The row of the norm's order; norms of matrices by their singular values are not followed. */
function normOf(call: OperatorCall): string {
  const name = call.values.p === undefined ? "ord" : "p";
  const given = call.value(name);
  if (given === null || given === "fro") return "norm";
  const order = numberOf(given) ?? call.notUnderstood(name);
  if (order === 2) return "norm";
  if (order === 1) return "norm1";
  if (order === Infinity || order === -Infinity) return "norm-inf";
  if (order === 0) return "norm0";
  if (order < 1) return "norm-small";
  return order < 2 ? "norm-middle" : "norm-large";
}

/** `F.normalize`: the norm, clamped and expanded, divides the input. */
function normalize(call: OperatorCall): Tensor {
  const { frame } = call;
  const self = call.tensor("self");
  const dims = dimsOf(call, self) ?? [1];
  const norm = reduce(frame, self, { op: normOf(call), dims, keepdim: true });
  const clamped = call.op("torch.clamp_min", [norm, call.value("eps")]);
  frame.free(norm);
  const wide = call.op("Tensor.expand_as", [clamped, self]);
  return call.optionalTensor("out") ?? elementwiseOp(frame, "div", [self, wide]);
}

/** `nanmean`: the sum of the numbers divided by how many there are. */
function nanMean(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const dims = dimsOf(call, self);
  const asked = { ...(dims === undefined ? {} : { dims }), keepdim: call.boolean("keepdim") };
  const count = call.frame.scoped((frame) => {
    const numbers = elementwiseOp(frame, "logical_not", [elementwiseOp(frame, "isnan", [self])]);
    return reduce(frame, numbers, { op: "sum", ...asked });
  });
  const sum = reduce(call.frame, self, { op: "nansum", ...asked });
  return elementwiseOp(call.frame, "div", [sum, count]);
}

/** `var_mean`, `std_mean`. */
function withMean(call: OperatorCall, op: "var" | "std"): Argument {
  return [runReduction(call, op), runReduction(call, "mean")];
}

const F = "torch.nn.functional";

export const reductionRows: readonly OperatorRow[] = [
  ...["sum", "nansum", "mean", "prod"].map((op): OperatorRow => ({
    names: both(op),
    signature: "self, dim=None, keepdim=False, *, dtype=None, out=None",
    run: (call) => runReduction(call, op),
  })),
  ...["amax", "amin", "logsumexp", "all", "any", "count_nonzero"].map((op): OperatorRow => ({
    names: op === "logsumexp" ? [...both(op), "torch.special.logsumexp"] : both(op),
    signature: "self, dim=None, keepdim=False, *, out=None",
    run: (call) => runReduction(call, op),
  })),
  ...["var", "std"].map((op): OperatorRow => ({
    names: both(op),
    signature: "self, dim=None, unbiased=True, keepdim=False, *, correction=1, out=None",
    run: (call) => runReduction(call, op),
  })),
  ...(["var", "std"] as const).map((op): OperatorRow => ({
    names: [`torch.${op}_mean`],
    signature: "self, dim=None, unbiased=True, keepdim=False, *, correction=1, out=None",
    run: (call) => withMean(call, op),
  })),
  ...["argmax", "argmin"].map((op): OperatorRow => ({
    names: both(op),
    signature: "self, dim=None, keepdim=False",
    run: (call) => runReduction(call, op),
  })),
  {
    names: both("nanmean"),
    signature: "self, dim=None, keepdim=False, *, dtype=None, out=None",
    run: nanMean,
  },
  {
    names: both("norm"),
    signature: "self, p='fro', dim=None, keepdim=False, out=None, dtype=None",
    run: runNorm,
  },
  {
    names: ["torch.linalg.norm", "torch.linalg.vector_norm"],
    signature: "self, ord=None, dim=None, keepdim=False, *, out=None, dtype=None",
    run: runNorm,
  },
  { names: [`${F}.normalize`], signature: "self, p=2.0, dim=1, eps=1e-12, out=None", run: normalize },
  ...(["cumsum", "cumprod"] as const).map((op): OperatorRow => ({
    names: both(op),
    signature: "self, dim, *, dtype=None, out=None",
    run: (call) => cumulative(call, op),
  })),
  {
    names: [...both("softmax"), "torch.special.softmax"],
    signature: "self, dim, dtype=None, *, out=None",
    run: (call) => runSoftmax(call, "softmax"),
  },
  {
    names: [`${F}.softmax`],
    signature: "self, dim=None, _stacklevel=3, dtype=None",
    run: (call) => runSoftmax(call, "softmax"),
  },
  {
    names: [`${F}.softmin`],
    signature: "self, dim=None, _stacklevel=3, dtype=None",
    run: (call) => {
      const negative = elementwiseOp(call.frame, "neg", [call.tensor("self")]);
      return softmax(call.frame, negative, "softmax", call.dtype("dtype"));
    },
  },
  {
    names: [...both("log_softmax"), "torch.special.log_softmax"],
    signature: "self, dim, dtype=None, *, out=None",
    run: (call) => runSoftmax(call, "log_softmax"),
  },
  {
    names: [`${F}.log_softmax`],
    signature: "self, dim=None, _stacklevel=3, dtype=None",
    run: (call) => runSoftmax(call, "log_softmax"),
  },
];
