/** Loss functions: torch/nn/functional.py and aten/src/ATen/native/{Loss,LossNLL}.cpp. */
import { elementCount, isFloating, type Tensor } from "../tensor";
import { float, isTensor, numberOf } from "./argument";
import { differentiable, fullPrecision } from "./autograd";
import type { Frame } from "./frame";
import { emptyLike, sameShape } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { broadcast, history, pointwiseLossRows, reduced, reductionOf } from "./pointwise-losses";
import { shapesDoNotFit } from "./reasons";
import { reduce, softmax } from "./reductions";
import { contiguousOf, reshape, view } from "./views";

const F = "torch.nn.functional";

// --- Classification -------------------------------------------------------------------------------------------------

/** nll_loss_nd: keeps the log-probabilities, the target and the total weight; backward fills zeros like the input. */
function nll(
  call: OperatorCall,
  given: Tensor,
  target: Tensor,
  weight: Tensor | undefined,
  reduction: string,
): Tensor {
  return call.frame.scoped((frame) => nllIn(frame, call, given, target, weight, reduction));
}

function nllIn(
  frame: Frame,
  call: OperatorCall,
  given: Tensor,
  target: Tensor,
  weight: Tensor | undefined,
  reduction: string,
): Tensor {
  const [input = given] = fullPrecision(frame, [given]);
  const rank = input.shape.length;
  const classes = rank === 1 ? (input.shape[0] ?? 1) : (input.shape[1] ?? 1);
  const expected = rank === 1 ? [] : [input.shape[0] ?? 1, ...input.shape.slice(2)];
  if (!sameShape(expected, target.shape)) call.fail(shapesDoNotFit(call.name, [input.shape, target.shape]));
  const flat = rank === 3 || rank > 4;
  // as images of one row, made contiguous first
  const rows = flat
    ? reshape(frame, contiguousOf(frame, input), [
        input.shape[0] ?? 1,
        classes,
        1,
        elementCount(input.shape.slice(2)),
      ])
    : input;
  const places = flat
    ? reshape(frame, contiguousOf(frame, target), [
        target.shape[0] ?? 1,
        1,
        elementCount(target.shape.slice(1)),
      ])
    : target;
  const result = frame.empty(reduction === "none" ? places.shape : [], input.dtype);
  const total = frame.empty([], input.dtype);
  const from = rows.shape;
  differentiable(frame, {
    name: rows.shape.length === 4 ? "NllLoss2DBackward0" : "NllLossBackward0",
    inputs: [rows],
    outputs: [result],
    saved: [rows, places, weight, total],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : inner.empty(from, gradient.dtype)],
  });
  return flat && reduction === "none" ? (view(frame, result, expected) ?? result) : result;
}

function nllLoss(call: OperatorCall): Tensor {
  return nll(
    call,
    call.tensor("input"),
    call.tensor("target"),
    call.optionalTensor("weight"),
    reductionOf(call),
  );
}

/**
 * The logarithms are asked for in the logits' own dtype, so that autocast leaves them there; `nll_loss` then makes an fp32
 * copy, and both are kept (cross_entropy_loss in LossNLL.cpp).
 */
function crossEntropy(call: OperatorCall): Tensor {
  const { frame } = call;
  const input = call.tensor("input");
  const target = call.tensor("target");
  const smoothing = numberOf(call.values.label_smoothing) ?? 0;
  const reduction = reductionOf(call);
  const weight = call.optionalTensor("weight");
  if (sameShape(input.shape, target.shape) && isFloating(target.dtype)) {
    return probabilityLoss(call, input, target, weight, reduction);
  }
  const logs = softmax(frame, input, "log_softmax", input.dtype);
  const loss = nll(call, logs, target, weight, reduction);
  if (smoothing === 0) return loss;
  return smoothed(call, logs, target, loss, reduction, weight);
}

/** cross_entropy_loss_prob_target: `-(log_softmax(input) * target).sum() / n`. */
function probabilityLoss(
  call: OperatorCall,
  input: Tensor,
  target: Tensor,
  weight: Tensor | undefined,
  reduction: string,
): Tensor {
  const { frame } = call;
  const isSmoothed = (numberOf(call.values.label_smoothing) ?? 0) > 0;
  const wanted = isSmoothed
    ? frame.scoped((inner) => elementwiseOp(inner, "add", [elementwiseOp(inner, "mul", [target, 0.9]), 0.1]))
    : target;
  const logs = softmax(frame, input, "log_softmax", input.dtype);
  const product = elementwiseOp(frame, "mul", [logs, wanted]);
  const weighted =
    weight === undefined
      ? product
      : elementwiseOp(frame, "mul", [product, ofClasses(frame, weight, input.shape.length)]);
  const sum = reduce(frame, weighted, {
    op: "sum",
    ...(reduction === "none" ? { dims: [input.shape.length > 1 ? 1 : 0] } : {}),
  });
  const loss = elementwiseOp(frame, "neg", [sum]);
  return reduction === "mean" ? elementwiseOp(frame, "div", [loss, 1]) : loss;
}

/** Weights of classes, as a view that fits inputs of this rank. */
function ofClasses(frame: Frame, weight: Tensor, rank: number): Tensor {
  if (rank < 2) return weight;
  const shape = Array.from({ length: rank }, (_, i) => (i === 1 ? (weight.shape[0] ?? 1) : 1));
  return view(frame, weight, shape) ?? weight;
}

/** cross_entropy_loss_label_smoothing: the negative sum over the classes, masked where the target is ignored. */
function smoothed(
  call: OperatorCall,
  logs: Tensor,
  target: Tensor,
  loss: Tensor,
  reduction: string,
  weight: Tensor | undefined,
): Tensor {
  const { frame } = call;
  const rank = logs.shape.length;
  const weighted =
    weight === undefined ? logs : elementwiseOp(frame, "mul", [logs, ofClasses(frame, weight, rank)]);
  const sum = reduce(frame, weighted, { op: "sum", dims: [rank > 1 ? 1 : 0] });
  const smooth = elementwiseOp(frame, "neg", [sum]);
  if (weighted !== logs) frame.free(weighted);
  const ignored = elementwiseOp(frame, "eq", [target, -100]);
  call.op("Tensor.masked_fill_", [smooth, ignored, 0]);
  frame.free(sum);
  const share =
    reduction === "none"
      ? smooth
      : frame.scoped((inner) => {
          const all = reduce(inner, smooth, { op: "sum" });
          if (reduction === "sum") return all;
          const counted = elementwiseOp(inner, "sub", [reduce(inner, ignored, { op: "sum" }), 1]);
          return elementwiseOp(inner, "div", [all, counted]);
        });
  frame.free(ignored);
  const own = elementwiseOp(frame, "mul", [loss, 1]);
  const other = elementwiseOp(frame, "mul", [share, 1]);
  return elementwiseOp(frame, "add", [own, other]);
}

// --- Composed losses ------------------------------------------------------------------------------------------------

function klDiv(call: OperatorCall): Tensor {
  const { frame } = call;
  const [first, second] = fullPrecision(frame, [call.tensor("input"), call.tensor("target")]);
  const input = first ?? call.tensor("input");
  const target = second ?? call.tensor("target");
  const losses = frame.scoped((inner) => {
    if (call.boolean("log_target")) {
      const difference = elementwiseOp(inner, "sub", [target, input]);
      return elementwiseOp(inner, "mul", [elementwiseOp(inner, "exp", [target]), difference]);
    }
    // compilers evaluate the right side of the difference first
    const product = elementwiseOp(inner, "mul", [target, input]);
    return elementwiseOp(inner, "sub", [elementwiseOp(inner, "xlogy", [target, target]), product]);
  });
  const reduction = reductionOf(call);
  const result = reduced(frame, losses, reduction === "batchmean" ? "sum" : reduction);
  return reduction === "batchmean" ? elementwiseOp(frame, "div", [result, input.shape[0] ?? 1]) : result;
}

function poissonNll(call: OperatorCall): Tensor {
  const { frame } = call;
  const [first, second] = fullPrecision(frame, [call.tensor("input"), call.tensor("target")]);
  const input = first ?? call.tensor("input");
  const target = second ?? call.tensor("target");
  const isLog = call.boolean("log_input");
  const losses = frame.scoped((inner) => {
    const rate = isLog ? elementwiseOp(inner, "exp", [input]) : input;
    const logs = isLog
      ? input
      : elementwiseOp(inner, "log", [elementwiseOp(inner, "add", [input, call.value("eps")])]);
    return elementwiseOp(inner, "sub", [rate, elementwiseOp(inner, "mul", [target, logs])]);
  });
  const whole = call.boolean("full") ? withStirling(call, losses, target) : losses;
  if (whole !== losses) frame.free(losses);
  return reduced(frame, whole, reductionOf(call));
}

/** Stirling's approximation of `log(target!)`, added where the target is above 1. */
function withStirling(call: OperatorCall, loss: Tensor, target: Tensor): Tensor {
  const { frame } = call;
  const stirling = frame.scoped((inner) => {
    const main = elementwiseOp(inner, "mul", [target, elementwiseOp(inner, "log", [target])]);
    const difference = elementwiseOp(inner, "sub", [main, target]);
    const circle = elementwiseOp(inner, "mul", [target, 2 * Math.PI]);
    const half = elementwiseOp(inner, "mul", [elementwiseOp(inner, "log", [circle]), 0.5]);
    return elementwiseOp(inner, "add", [difference, half]);
  });
  const small = elementwiseOp(frame, "le", [target, 1]);
  return elementwiseOp(frame, "add", [loss, call.op("Tensor.masked_fill", [stirling, small, 0])]);
}

function gaussianNll(call: OperatorCall): Tensor {
  const { frame } = call;
  const input = call.tensor("input");
  const target = call.tensor("target");
  // a copy of the variance, clamped out of the graph's sight
  const variance = call.op("torch.clone", [call.tensor("var")]);
  const logarithm = elementwiseOp(frame, "log", [variance]);
  const share = frame.scoped((inner) => {
    const difference = elementwiseOp(inner, "sub", [input, target]);
    const squares = call.within(inner).op("torch.pow", [difference, 2]);
    inner.free(difference);
    return elementwiseOp(inner, "div", [squares, variance]);
  });
  const sum = elementwiseOp(frame, "add", [logarithm, share]);
  frame.free(logarithm, share);
  const losses = elementwiseOp(frame, "mul", [sum, float(0.5)]);
  frame.free(sum);
  if (call.boolean("full")) elementwiseOp(frame, "add", [losses, float(0.9)], { inPlace: true });
  return reduced(frame, losses, reductionOf(call));
}

/** `‖a - b + eps‖`: one difference, shifted, and its norm. */
function pairwiseDistance(call: OperatorCall, a: Tensor, b: Tensor, keepdim: boolean): Tensor {
  return call.frame.scoped((inner) => {
    const difference = elementwiseOp(inner, "sub", [a, b]);
    const shifted = elementwiseOp(inner, "add", [difference, call.value("eps")]);
    return reduce(inner, shifted, { op: "norm", dims: [shifted.shape.length - 1], keepdim });
  });
}

function tripletMargin(call: OperatorCall): Tensor {
  const { frame } = call;
  const [a, p, n] = fullPrecision(
    frame,
    ["anchor", "positive", "negative"].map((name) => call.tensor(name)),
  );
  if (a === undefined || p === undefined || n === undefined) return call.notUnderstood("anchor");
  const near = pairwiseDistance(call, a, p, false);
  const far = nearer(call, pairwiseDistance(call, a, n, false), () => pairwiseDistance(call, p, n, false));
  const shifted = elementwiseOp(frame, "add", [near, call.value("margin")]);
  const difference = elementwiseOp(frame, "sub", [shifted, far]);
  frame.free(shifted);
  const losses = call.op("torch.clamp_min", [difference, 0]);
  return reduced(frame, losses, reductionOf(call));
}

/** `max(0, margin + d(anchor, positive) - d(anchor, negative))` with the distance that is given. */
function tripletMarginWithDistance(call: OperatorCall): Tensor {
  const { frame } = call;
  const [a, p, n] = ["anchor", "positive", "negative"].map((name) => call.tensor(name));
  if (a === undefined || p === undefined || n === undefined) return call.notUnderstood("anchor");
  const given = call.value("distance_function");
  const distance = (first: Tensor, second: Tensor): Tensor => {
    if (given === null) return call.op("torch.pairwise_distance", [first, second]);
    const isCallable = typeof given === "object" && "kind" in given;
    if (!isCallable || (given.kind !== "function" && given.kind !== "module"))
      return call.notUnderstood("distance_function");
    const result = given.call([first, second], {});
    return isTensor(result) ? frame.own(result) : call.notUnderstood("distance_function");
  };
  const near = distance(a, p);
  const far = nearer(call, distance(a, n), () => distance(p, n));
  const shifted = elementwiseOp(frame, "add", [near, call.value("margin")]);
  const difference = elementwiseOp(frame, "sub", [shifted, far]);
  frame.free(shifted);
  return reduced(frame, call.op("torch.clamp_min", [difference, 0]), reductionOf(call));
}

/** With `swap` the smaller of two distances to the negative. */
function nearer(call: OperatorCall, far: Tensor, other: () => Tensor): Tensor {
  return call.boolean("swap") ? call.op("torch.minimum", [far, other()]) : far;
}

/** `multi_margin_loss` and `multilabel_margin_loss`: one kernel; the latter keeps which classes are targets. */
function marginLoss(call: OperatorCall, node: string, keepsTargets: boolean): Tensor {
  const { frame } = call;
  const [first, second] = fullPrecision(frame, [call.tensor("input"), call.tensor("target")]);
  const [input, target] = [first ?? call.tensor("input"), second ?? call.tensor("target")];
  const classes = input.shape.length - 1;
  const result = frame.empty(reductionOf(call) === "none" ? input.shape.slice(0, classes) : [], input.dtype);
  differentiable(frame, {
    name: node,
    inputs: [input],
    outputs: [result],
    saved: [
      input,
      target,
      keepsTargets ? frame.empty(target.shape, input.dtype) : call.optionalTensor("weight"),
    ],
    backward: (inner, [gradient]) => [
      gradient === undefined ? undefined : inner.empty(input.shape, input.dtype),
    ],
  });
  return result;
}

/** As torch/nn/functional.py composes it. */
function multilabelSoftMargin(call: OperatorCall): Tensor {
  const { frame } = call;
  const [input, target, weight] = [
    call.tensor("input"),
    call.tensor("target"),
    call.optionalTensor("weight"),
  ];
  const share = (factor: Tensor, logits: Tensor): Tensor => {
    const logs = call.op(`${F}.logsigmoid`, [logits]);
    frame.free(logits);
    const product = elementwiseOp(frame, "mul", [factor, logs]);
    frame.free(logs);
    return product;
  };
  const hit = share(target, input);
  const [rest, negative] = [elementwiseOp(frame, "rsub", [target, 1]), elementwiseOp(frame, "neg", [input])];
  const missed = share(rest, negative);
  frame.free(rest);
  const sums = elementwiseOp(frame, "add", [hit, missed]);
  frame.free(hit, missed);
  const losses = elementwiseOp(frame, "neg", [sums]);
  frame.free(sums);
  const whole = weight === undefined ? losses : elementwiseOp(frame, "mul", [losses, weight]);
  if (whole !== losses) frame.free(losses);
  const sum = reduce(frame, whole, { op: "sum", dims: [input.shape.length - 1] });
  const means = elementwiseOp(frame, "div", [sum, input.shape.at(-1) ?? 1]);
  frame.free(whole, sum);
  return reduced(frame, means, reductionOf(call));
}

function marginRanking(call: OperatorCall): Tensor {
  const { frame } = call;
  const shifted = frame.scoped((inner) => {
    const difference = elementwiseOp(inner, "sub", [call.tensor("input1"), call.tensor("input2")]);
    const negative = elementwiseOp(inner, "neg", [call.tensor("target")]);
    const product = elementwiseOp(inner, "mul", [negative, difference]);
    return elementwiseOp(inner, "add", [product, call.value("margin")]);
  });
  return reduced(frame, call.op("torch.clamp_min", [shifted, 0]), reductionOf(call));
}

function hingeEmbedding(call: OperatorCall): Tensor {
  const { frame } = call;
  const input = call.tensor("input");
  const target = call.tensor("target");
  const margin = call.op("torch.clamp_min", [elementwiseOp(frame, "rsub", [input, call.value("margin")]), 0]);
  const zeros = frame.empty(input.shape, input.dtype);
  const first = call.op("torch.where", [elementwiseOp(frame, "ne", [target, 1]), margin, zeros]);
  const second = call.op("torch.where", [elementwiseOp(frame, "ne", [target, -1]), input, zeros]);
  return reduced(frame, elementwiseOp(frame, "add", [first, second]), reductionOf(call));
}

/** cosine_embedding_loss: the cosine from sums of products, and a choice by the target. */
function cosineEmbedding(call: OperatorCall): Tensor {
  const { frame } = call;
  const [a, b] = fullPrecision(frame, [call.tensor("input1"), call.tensor("input2")]);
  if (a === undefined || b === undefined) return call.notUnderstood("input1");
  const target = call.tensor("target");
  const dims = [a.shape.length - 1];
  const sumOf = (x: Tensor, y: Tensor, shift: boolean): Tensor =>
    frame.scoped((inner) => {
      const sum = reduce(inner, elementwiseOp(inner, "mul", [x, y]), { op: "sum", dims });
      return shift ? elementwiseOp(inner, "add", [sum, 1]) : sum;
    });
  const products = sumOf(a, b, false);
  const squaresA = sumOf(a, a, true);
  const squaresB = sumOf(b, b, true);
  const denominator = elementwiseOp(frame, "sqrt", [elementwiseOp(frame, "mul", [squaresA, squaresB])]);
  const cosine = elementwiseOp(frame, "div", [products, denominator]);
  const zeros = emptyLike(frame, cosine);
  const near = elementwiseOp(frame, "rsub", [cosine, 1]);
  const far = call.op("torch.clamp_min", [elementwiseOp(frame, "sub", [cosine, call.value("margin")]), 0]);
  const first = call.op("torch.where", [elementwiseOp(frame, "eq", [target, 1]), near, zeros]);
  const second = call.op("torch.where", [elementwiseOp(frame, "eq", [target, -1]), far, zeros]);
  return reduced(frame, elementwiseOp(frame, "add", [first, second]), reductionOf(call));
}

/** `F.cosine_similarity`: both inputs divided by their norms, multiplied, summed. */
function cosineSimilarity(call: OperatorCall): Tensor {
  const { frame } = call;
  const given = fullPrecision(frame, [call.tensor("x1"), call.tensor("x2")]);
  const [first, second] = given;
  if (first === undefined || second === undefined) return call.notUnderstood("x1");
  const [a, b] = broadcast(call, first, second);
  const dims = [call.dimension(call.number("dim"), a.shape)];
  const norms = [a, b].map((tensor) => {
    const norm = reduce(frame, tensor, { op: "norm", dims, keepdim: true });
    return { norm, copy: call.op("torch.clone", [norm]) };
  });
  // The smallest norm, as a tensor.
  frame.empty([], a.dtype);
  const unit = [a, b].map((tensor, i) => elementwiseOp(frame, "div", [tensor, norms[i]?.copy ?? tensor]));
  frame.free(...norms.map(({ norm }) => norm));
  const product = elementwiseOp(frame, "mul", [unit[0] ?? a, unit[1] ?? b]);
  return reduce(frame, product, { op: "sum", dims });
}

export const lossRows: readonly OperatorRow[] = [
  ...pointwiseLossRows,
  {
    names: [`${F}.nll_loss`],
    signature:
      "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
    run: nllLoss,
  },
  {
    names: [`${F}.cross_entropy`],
    signature:
      "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', " +
      "label_smoothing=0.0",
    run: crossEntropy,
  },
  { names: [`${F}.kl_div`], signature: `input, target, ${history}, log_target=False`, run: klDiv },
  {
    names: [`${F}.poisson_nll_loss`],
    signature:
      "input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean'",
    run: poissonNll,
  },
  {
    names: [`${F}.gaussian_nll_loss`],
    signature: "input, target, var, full=False, eps=1e-6, reduction='mean', size_average=None, reduce=None",
    run: gaussianNll,
  },
  {
    names: [`${F}.triplet_margin_loss`],
    signature: `anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, ${history}`,
    run: tripletMargin,
  },
  {
    names: [`${F}.triplet_margin_with_distance_loss`],
    signature:
      "anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction='mean', " +
      "size_average=None, reduce=None",
    run: tripletMarginWithDistance,
  },
  {
    names: [`${F}.multi_margin_loss`],
    signature: `input, target, p=1, margin=1.0, weight=None, ${history}`,
    run: (call) => marginLoss(call, "MultiMarginLossBackward0", false),
  },
  {
    names: [`${F}.multilabel_margin_loss`],
    signature: `input, target, ${history}`,
    run: (call) => marginLoss(call, "MultilabelMarginLossBackward0", true),
  },
  {
    names: [`${F}.multilabel_soft_margin_loss`],
    signature: `input, target, weight=None, ${history}`,
    run: multilabelSoftMargin,
  },
  {
    names: [`${F}.margin_ranking_loss`],
    signature: `input1, input2, target, margin=0.0, ${history}`,
    run: marginRanking,
  },
  {
    names: [`${F}.hinge_embedding_loss`],
    signature: `input, target, margin=1.0, ${history}`,
    run: hingeEmbedding,
  },
  {
    names: [`${F}.cosine_embedding_loss`],
    signature: `input1, input2, target, margin=0.0, ${history}`,
    run: cosineEmbedding,
  },
  {
    names: [`${F}.cosine_similarity`, "torch.cosine_similarity"],
    signature: "x1, x2, dim=1, eps=1e-8",
    run: cosineSimilarity,
  },
  {
    names: [`${F}.pairwise_distance`, "torch.pairwise_distance"],
    signature: "x1, x2, p=2.0, eps=1e-6, keepdim=False",
    run: (call) => pairwiseDistance(call, call.tensor("x1"), call.tensor("x2"), call.boolean("keepdim")),
  },
];
