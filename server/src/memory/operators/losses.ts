/** Loss functions: torch/nn/functional.py and aten/src/ATen/native/{Loss,LossNLL}.cpp. */
import { elementCount, isFloating, type Tensor } from "../tensor";
import { numberOf } from "./argument";
import { differentiable, fullPrecision } from "./autograd";
import { formula } from "./formula";
import type { Frame } from "./frame";
import { broadcastShapes, emptyLike, sameShape } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { shapesDoNotFit } from "./reasons";
import { reduce, softmax } from "./reductions";
import { message } from "../../messages/message";
import { expand, reshape, view } from "./views";

const F = "torch.nn.functional";

/** `mean`, `sum` or `none`; the historic size_average and reduce count when they are given. */
function reductionOf(call: OperatorCall): string {
  const average = call.values.size_average ?? null;
  const reduceLosses = call.values.reduce ?? null;
  if (average === null && reduceLosses === null) return call.text("reduction");
  if (reduceLosses === false) return "none";
  return average === false ? "sum" : "mean";
}

/** The loss of every element brought to one number, as apply_loss_reduction does. */
function reduced(frame: Frame, losses: Tensor, reduction: string): Tensor {
  if (reduction === "none") return losses;
  return reduce(frame, losses, { op: reduction === "sum" ? "sum" : "mean" });
}

// --- Fused element-wise losses --------------------------------------------------------------------------------------

interface FusedLoss {
  readonly op: string;
  readonly node: string;
  readonly parameters?: string;
  /** What backward allocates for the input. */
  readonly gradient: string;
}

const fusedLosses: readonly FusedLoss[] = [
  { op: "mse_loss", node: "MseLossBackward0", gradient: "mse_loss_backward(input, target)" },
  {
    op: "smooth_l1_loss",
    node: "SmoothL1LossBackward0",
    parameters: "beta=1.0",
    gradient: "smooth_l1_loss_backward(input, target)",
  },
  {
    op: "huber_loss",
    node: "HuberLossBackward0",
    parameters: "delta=1.0",
    gradient: "huber_loss_backward(input, target)",
  },
  {
    op: "soft_margin_loss",
    node: "SoftMarginLossBackward0",
    gradient: "soft_margin_loss_backward(input, target)",
  },
];

function broadcast(call: OperatorCall, input: Tensor, target: Tensor): [Tensor, Tensor] {
  const shape = broadcastShapes(input.shape, target.shape);
  if (shape === undefined) return call.fail(shapesDoNotFit(call.name, [input.shape, target.shape]));
  const spread = (tensor: Tensor): Tensor =>
    sameShape(tensor.shape, shape) ? tensor : expand(call.frame, tensor, shape);
  return [spread(input), spread(target)];
}

function fusedLoss(call: OperatorCall, row: FusedLoss): Tensor {
  const { frame } = call;
  const [first, second] = fullPrecision(frame, [call.tensor("input"), call.tensor("target")]);
  const [input, target] = broadcast(call, first ?? call.tensor("input"), second ?? call.tensor("target"));
  const reduction = reductionOf(call);
  const result = reduction === "none" ? emptyLike(frame, input) : frame.empty([], input.dtype);
  differentiable(frame, {
    name: row.node,
    inputs: [input, target],
    outputs: [result],
    saved: [input, target],
    backward: (inner, [gradient], saved, wanted) =>
      wanted.map((each) =>
        each && gradient !== undefined
          ? formula(row.gradient).evaluate(inner, { input: saved[0], target: saved[1] })
          : undefined,
      ),
  });
  return result;
}

/** `|input - target|`: the difference is kept for its sign. */
function l1Loss(call: OperatorCall): Tensor {
  const { frame } = call;
  const [first, second] = fullPrecision(frame, [call.tensor("input"), call.tensor("target")]);
  const [input, target] = broadcast(call, first ?? call.tensor("input"), second ?? call.tensor("target"));
  const difference = elementwiseOp(frame, "sub", [input, target]);
  const size = elementwiseOp(frame, "abs", [difference]);
  return reduced(frame, size, reductionOf(call));
}

/** Binary cross entropy of probabilities: not allowed under autocast. */
function binaryCrossEntropy(call: OperatorCall): Tensor {
  const { frame } = call;
  if (frame.execution.autocast !== undefined) call.fail(unsafeToAutocast);
  const input = call.tensor("input");
  const target = call.tensor("target");
  if (!sameShape(input.shape, target.shape))
    call.fail(shapesDoNotFit(call.name, [input.shape, target.shape]));
  const reduction = reductionOf(call);
  const weight = call.optionalTensor("weight");
  const result = reduction === "none" ? emptyLike(frame, input) : frame.empty([], input.dtype);
  differentiable(frame, {
    name: "BinaryCrossEntropyBackward0",
    inputs: [input, target],
    outputs: [result],
    saved: [input, target, weight],
    backward: (inner, [gradient], saved, wanted) =>
      wanted.map((each, i) => {
        const source = saved[i];
        return each && gradient !== undefined && source !== undefined ? emptyLike(inner, source) : undefined;
      }),
  });
  return result;
}

const unsafeToAutocast = message({
  en: "binary_cross_entropy is an error under autocast; PyTorch asks for binary_cross_entropy_with_logits",
  "zh-cn": "binary_cross_entropy 在 autocast 下会报错；PyTorch 要求改用 binary_cross_entropy_with_logits",
});

/** Binary cross entropy of logits: backward goes over `sigmoid(input)`. */
function binaryCrossEntropyWithLogits(call: OperatorCall): Tensor {
  const { frame } = call;
  const given = [
    call.tensor("input"),
    call.tensor("target"),
    call.optionalTensor("weight"),
    call.optionalTensor("pos_weight"),
  ];
  const [input, target, weight, positive] = fullPrecision<Tensor | undefined>(frame, given);
  if (input === undefined || target === undefined) return call.notUnderstood("input");
  if (!sameShape(input.shape, target.shape))
    call.fail(shapesDoNotFit(call.name, [input.shape, target.shape]));
  const reduction = reductionOf(call);
  const result = reduction === "none" ? emptyLike(frame, input) : frame.empty([], input.dtype);
  differentiable(frame, {
    name: "BinaryCrossEntropyWithLogitsBackward0",
    inputs: [input, target],
    outputs: [result],
    saved: [input, target, weight, positive],
    backward: (inner, [grad], saved, wanted) => {
      const names = { grad, input: saved[0], target: saved[1], weight: saved[2], pos_weight: saved[3] };
      const text =
        saved[3] === undefined
          ? "mul_(sigmoid(input) - target, grad)"
          : "mul_(mul_((pos_weight * target) + 1, sigmoid(input)), grad)";
      return [
        wanted[0] === true ? formula(text).evaluate(inner, names) : undefined,
        wanted[1] === true ? formula("input * 1").evaluate(inner, names) : undefined,
      ];
    },
  });
  return result;
}

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
  const rows = flat
    ? reshape(frame, input, [input.shape[0] ?? 1, classes, 1, elementCount(input.shape.slice(2))])
    : input;
  const places = flat
    ? reshape(frame, target, [target.shape[0] ?? 1, 1, elementCount(target.shape.slice(1))])
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
  return smoothed(call, logs, target, loss, reduction);
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
  const logs = softmax(frame, input, "log_softmax", input.dtype);
  const product = elementwiseOp(frame, "mul", [logs, target]);
  const weighted = weight === undefined ? product : elementwiseOp(frame, "mul", [product, weight]);
  const sum = reduce(frame, weighted, {
    op: "sum",
    ...(reduction === "none" ? { dims: [input.shape.length > 1 ? 1 : 0] } : {}),
  });
  const loss = elementwiseOp(frame, "neg", [sum]);
  return reduction === "mean" ? elementwiseOp(frame, "div", [loss, 1]) : loss;
}

/** cross_entropy_loss_label_smoothing: the negative sum over the classes, masked where the target is ignored. */
function smoothed(call: OperatorCall, logs: Tensor, target: Tensor, loss: Tensor, reduction: string): Tensor {
  const { frame } = call;
  const sum = reduce(frame, logs, { op: "sum", dims: [logs.shape.length > 1 ? 1 : 0] });
  const smooth = elementwiseOp(frame, "neg", [sum]);
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
  const variance = elementwiseOp(frame, "add", [call.tensor("var"), call.value("eps")]);
  const difference = elementwiseOp(frame, "sub", [input, target]);
  const squares = call.op("torch.pow", [difference, 2]);
  const share = elementwiseOp(frame, "div", [squares, variance]);
  const sum = elementwiseOp(frame, "add", [elementwiseOp(frame, "log", [variance]), share]);
  return reduced(frame, elementwiseOp(frame, "mul", [sum, call.value("eps")]), reductionOf(call));
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
  const far = pairwiseDistance(call, a, n, false);
  const shifted = elementwiseOp(frame, "add", [near, call.value("margin")]);
  const difference = elementwiseOp(frame, "sub", [shifted, far]);
  frame.free(shifted);
  const losses = call.op("torch.clamp_min", [difference, 0]);
  return reduced(frame, losses, reductionOf(call));
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

const history = "size_average=None, reduce=None, reduction='mean'";

export const lossRows: readonly OperatorRow[] = [
  ...fusedLosses.map((row): OperatorRow => ({
    names: [`${F}.${row.op}`],
    signature: `input, target, ${history}${row.parameters === undefined ? "" : `, ${row.parameters}`}, weight=None`,
    // without a parabola it is the absolute difference
    run: (call) =>
      row.op === "smooth_l1_loss" && numberOf(call.values.beta) === 0 ? l1Loss(call) : fusedLoss(call, row),
  })),
  { names: [`${F}.l1_loss`], signature: `input, target, ${history}, weight=None`, run: l1Loss },
  {
    names: [`${F}.binary_cross_entropy`],
    signature: `input, target, weight=None, ${history}`,
    run: binaryCrossEntropy,
  },
  {
    names: [`${F}.binary_cross_entropy_with_logits`],
    signature: `input, target, weight=None, ${history}, pos_weight=None`,
    run: binaryCrossEntropyWithLogits,
  },
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
