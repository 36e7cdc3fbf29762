/** Quantiles, covariances, distances: aten/src/ATen/native/{Sorting,Correlation,Distance}.cpp, FunctionsManual.cpp. */
import { elementCount, type Tensor } from "../tensor";
import { float, isTensor, numberOf, type Argument, type NamedTuple } from "./argument";
import { differentiable, fullPrecision } from "./autograd";
import { formula } from "./formula";
import type { Frame } from "./frame";
import { broadcastShapes, emptyLike } from "./kernels";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { shapesDoNotFit } from "./reasons";
import { reduce } from "./reductions";
import { reshape, squeeze, transpose, unsqueeze } from "./views";

// --- Quantiles ------------------------------------------------------------------------------------------------------

function isNamedTuple(value: Argument): value is NamedTuple {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "named-tuple";
}

/** Sorted along its last dimension, with the dimension asked for there. */
function sortedRows(call: OperatorCall, self: Tensor, dimension: number | undefined): Tensor {
  const { frame } = call;
  const sort = (tensor: Tensor): Tensor => {
    const sorted = call.call("torch.sort", [tensor, -1]);
    if (!isNamedTuple(sorted)) return call.notUnderstood("self");
    const [values, places] = sorted.values;
    if (isTensor(places)) frame.free(places);
    return isTensor(values) ? values : call.notUnderstood("self");
  };
  if (dimension === undefined) return sort(reshape(frame, self, [elementCount(self.shape)]));
  if (dimension === self.shape.length - 1) return sort(self);
  const sorted = sort(transpose(frame, unsqueeze(frame, self, self.shape.length), dimension, -1));
  return dimension === 0 ? reshape(frame, sorted, sorted.shape.slice(1)) : sorted;
}

/** Where the quantiles lie among the sorted numbers; rows with a NaN have it there. */
function ranksOf(frame: Frame, sorted: Tensor, q: Tensor, skipsNaN: boolean): Tensor {
  return frame.scoped((inner) => {
    const last = sorted.shape.length - 1;
    const row = { dims: [last], keepdim: true };
    if (skipsNaN) {
      const numbers = elementwiseOp(inner, "isnan", [sorted]);
      const count = reduce(inner, numbers, { op: "sum", ...row });
      const most = elementwiseOp(inner, "sub", [count, 1]);
      return elementwiseOp(inner, "mul", [q, most]);
    }
    const whole = elementwiseOp(inner, "mul", [q, float(1)]);
    const mask = elementwiseOp(inner, "isnan", [sorted]);
    const hasNaN = reduce(inner, mask, { op: "any", ...row });
    const shape = broadcastShapes(whole.shape, hasNaN.shape) ?? hasNaN.shape;
    return inner.empty(shape, whole.dtype);
  });
}

function quantile(call: OperatorCall, skipsNaN: boolean): Tensor {
  const { frame } = call;
  const self = call.tensor("self");
  const asked = call.value("q");
  const q = isTensor(asked) ? asked : frame.empty([], self.dtype);
  if (q.requiresGrad) call.notUnderstood("q");
  const interpolation = call.text("interpolation");
  const dim = call.optionalNumber("dim");
  const dimension = dim === undefined ? undefined : call.dimension(dim, self.shape);
  const flat = sortedRows(call, self, dimension);
  // several quantiles are one more dimension
  const many = q.shape.length === 1;
  const sorted = many ? unsqueeze(frame, flat, flat.shape.length - 1) : flat;
  const ranks = ranksOf(frame, sorted, q, skipsNaN);
  const place = (): Tensor => emptyLike(frame, ranks, "int64");
  const below = place();
  const rows = call.op("torch.gather", [sorted, -1, below]);
  if (interpolation === "linear" || interpolation === "midpoint") {
    const weights = interpolation === "midpoint" ? float(0.5) : elementwiseOp(frame, "sub", [ranks, below]);
    const above = call.op("torch.gather", [sorted, -1, place()]);
    elementwiseOp(frame, "lerp", [rows, above, weights], { inPlace: true });
  }
  return shaped(call, rows, self, dimension, many);
}

/** Quantiles first, then what is left of the tensor. */
function shaped(
  call: OperatorCall,
  rows: Tensor,
  self: Tensor,
  dimension: number | undefined,
  many: boolean,
): Tensor {
  const { frame } = call;
  const count = many ? [rows.shape.at(-1) ?? 1] : [];
  const kept = self.shape.map((size, i) => (dimension === undefined || i === dimension ? 1 : size));
  const rest = call.boolean("keepdim")
    ? kept
    : dimension === undefined
      ? []
      : kept.filter((_, i) => i !== dimension);
  if (!many) return reshape(frame, rows, rest);
  const first = transpose(frame, unsqueeze(frame, rows, 0), 0, -1);
  return reshape(frame, first, [...count, ...rest]);
}

// --- Covariance -----------------------------------------------------------------------------------------------------

function covariance(call: OperatorCall, given: Tensor): Tensor {
  const { frame } = call;
  if (given.shape.length > 2) return call.fail(shapesDoNotFit(call.name, [given.shape]));
  const self = given.shape.length < 2 ? reshape(frame, given, [1, elementCount(given.shape)]) : given;
  const count = frame.empty([], "int64");
  const sum = call.op("torch.sum", [self, 1]);
  const mean = elementwiseOp(frame, "div", [sum, count]);
  frame.free(sum);
  const factor = frame.empty([], "int64");
  const centred = elementwiseOp(frame, "sub", [self, unsqueeze(frame, mean, 1)]);
  const product = call.op("torch.mm", [centred, transpose(frame, centred, 0, 1, "TBackward0")]);
  const result = elementwiseOp(frame, "div", [product, factor]);
  frame.free(product, centred);
  const ones = result.shape.flatMap((size, i) => (size === 1 ? [i] : []));
  return squeeze(frame, result, ones);
}

function correlation(call: OperatorCall): Tensor {
  const { frame } = call;
  const whole = frame.scoped((inner) => covariance(call.within(inner), call.tensor("self")));
  if (whole.shape.length === 0) return elementwiseOp(frame, "div", [whole, whole]);
  const deviation = call.op("torch.sqrt", [call.op("torch.diagonal", [whole])]);
  const size = deviation.shape[0] ?? 1;
  const rows = elementwiseOp(frame, "div", [whole, reshape(frame, deviation, [size, 1])]);
  const both = elementwiseOp(frame, "div", [rows, reshape(frame, deviation, [1, size])]);
  return call.op("torch.clamp", [both, -1, 1]);
}

// --- Distances ------------------------------------------------------------------------------------------------------

/** Gradients of `dist` by the norm's order; `difference` stands for the operands' difference. */
function distanceGradient(order: number): string | undefined {
  if (order === 2) return "grad * masked_fill_(difference / result, result == 0)";
  return order === 1 ? "sgn(difference) * grad" : undefined;
}

/** `torch.dist`: the norm of a difference that its kernel does not keep. */
function distance(call: OperatorCall): Tensor {
  const { frame } = call;
  const [self = call.tensor("self"), other = call.tensor("other")] = fullPrecision(frame, [
    call.tensor("self"),
    call.tensor("other"),
  ]);
  const gradient = distanceGradient(call.number("p")) ?? call.notUnderstood("p");
  const result = frame.empty([], self.dtype);
  const one = gradient.replaceAll("difference", "(self - other)");
  differentiable(frame, {
    name: "DistBackward0",
    inputs: [self, other],
    outputs: [result],
    saved: [other, self, result],
    backward: (inner, [grad], [second, first, norm], wanted) => {
      const names = { grad, self: first, other: second, result: norm };
      const compute = (text: string): Tensor | undefined =>
        inner.temporarily((own) => formula(text).evaluate(own, names));
      const ofOther = wanted[1] === true ? compute(`-apart(${one})`) : undefined;
      return [wanted[0] === true ? compute(one) : undefined, ofOther];
    },
  });
  return result;
}

/** `F.pdist`: distances of all pairs of rows. */
function pairDistances(call: OperatorCall): Tensor {
  const { frame } = call;
  const [self = call.tensor("self")] = fullPrecision(frame, [call.tensor("self")]);
  const rows = self.shape[0] ?? 0;
  const result = frame.empty([(rows * (rows - 1)) / 2], self.dtype);
  const from = self.shape;
  differentiable(frame, {
    name: "PdistBackward0",
    inputs: [self],
    outputs: [result],
    saved: [self, result],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : inner.empty(from, gradient.dtype)],
  });
  return result;
}

// --- Sums of exponentials -------------------------------------------------------------------------------------------

/** logcumsumexp_backward: positive and negative gradients apart, each by logarithms from behind. */
function cumulatedLogarithms(call: OperatorCall): Tensor {
  const { frame } = call;
  const [self = call.tensor("self")] = fullPrecision(frame, [call.tensor("self")]);
  const result = emptyLike(frame, self);
  differentiable(frame, {
    name: "LogcumsumexpBackward0",
    inputs: [self],
    outputs: [result],
    saved: [self, result],
    backward: (inner, [grad], [input, sums]) => {
      if (grad === undefined || input === undefined || sums === undefined) return [undefined];
      const compute = (own: Frame, text: string, names: Record<string, Tensor>): Tensor =>
        own.scoped((each) => formula(text).evaluate(each, names) ?? grad);
      const least = inner.empty([], grad.dtype);
      const logarithm = compute(inner, "log(abs(grad))", { grad });
      const sides = [">", "<"].map((sign) =>
        compute(inner, `where(grad ${sign} 0, logarithm, least)`, { grad, logarithm, least }),
      );
      const [positive = grad, negative = grad] = sides.map((side) =>
        inner.scoped((own) => {
          const turned = compute(own, "flip(logcumsumexp(flip(side - sums)))", { side, sums });
          return compute(own, "exp(turned + input)", { turned, input });
        }),
      );
      return [compute(inner, "positive - negative", { positive, negative })];
    },
  });
  return result;
}

/** A mask or whole numbers as large as the first operand, without a graph. */
function marked(call: OperatorCall, name: string, dtype: "bool" | "int64"): Tensor {
  const given: Argument = call.value(name);
  return isTensor(given) ? emptyLike(call.frame, given, dtype) : call.frame.empty([], dtype);
}

export const statisticsRows: readonly OperatorRow[] = [
  ...[false, true].map((skipsNaN): OperatorRow => ({
    names: both(skipsNaN ? "nanquantile" : "quantile"),
    signature: "self, q, dim=None, keepdim=False, *, interpolation='linear', out=None",
    run: (call) => quantile(call, skipsNaN),
  })),
  {
    names: both("cov"),
    signature: "self, *, correction=1, fweights=None, aweights=None",
    run: (call) => {
      for (const name of ["fweights", "aweights"]) if (call.value(name) !== null) call.notUnderstood(name);
      return covariance(call, call.tensor("self"));
    },
  },
  { names: both("corrcoef"), signature: "self", run: correlation },
  { names: both("dist"), signature: "self, other, p=2", run: distance },
  { names: ["torch.nn.functional.pdist", "torch.pdist"], signature: "self, p=2.0", run: pairDistances },
  { names: both("logcumsumexp"), signature: "self, dim, *, out=None", run: cumulatedLogarithms },
  {
    names: ["torch.isin"],
    signature: "elements, test_elements, *, assume_unique=False, invert=False, out=None",
    run: (call) => marked(call, "elements", "bool"),
  },
  {
    names: both("histc"),
    signature: "self, bins=100, min=0, max=0, *, out=None",
    run: (call) => call.frame.empty([numberOf(call.value("bins")) ?? 100], call.tensor("self").dtype),
  },
  {
    names: both("msort"),
    signature: "self, *, out=None",
    run: (call) => {
      const sorted = call.call("torch.sort", [call.tensor("self"), 0]);
      return isNamedTuple(sorted) ? (sorted.values[0] ?? null) : call.notUnderstood("self");
    },
  },
];
