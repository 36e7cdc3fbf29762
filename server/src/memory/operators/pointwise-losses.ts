/**
 * Losses of single elements that one kernel computes and reduces: aten/src/ATen/native/{Loss,PointwiseOps}.cpp and cuda/Loss.cu.
 * What they hold meanwhile and keep is the same on CPU and CUDA; test/goldens/allocated.json has it from the allocator of the CPU.
 */
import { message } from "../../messages/message";
import type { Tensor } from "../tensor";
import { numberOf } from "./argument";
import { differentiable, fullPrecision } from "./autograd";
import { formula } from "./formula";
import type { Frame } from "./frame";
import { broadcastShapes, emptyLike, sameShape } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { shapesDoNotFit } from "./reasons";
import { reduce } from "./reductions";
import { expand } from "./views";

const F = "torch.nn.functional";

/** The historic parameters of all losses, and the one that counts today. */
export const history = "size_average=None, reduce=None, reduction='mean'";

/** `mean`, `sum` or `none`; the historic size_average and reduce count when they are given. */
export function reductionOf(call: OperatorCall): string {
  const average = call.values.size_average ?? null;
  const reduceLosses = call.values.reduce ?? null;
  if (average === null && reduceLosses === null) return call.text("reduction");
  if (reduceLosses === false) return "none";
  return average === false ? "sum" : "mean";
}

/** The loss of every element brought to one number, as apply_loss_reduction does. */
export function reduced(frame: Frame, losses: Tensor, reduction: string): Tensor {
  if (reduction === "none") return losses;
  return reduce(frame, losses, { op: reduction === "sum" ? "sum" : "mean" });
}

/** Both tensors as large as they are together. */
export function broadcast(call: OperatorCall, input: Tensor, target: Tensor): [Tensor, Tensor] {
  const shape = broadcastShapes(input.shape, target.shape);
  if (shape === undefined) return call.fail(shapesDoNotFit(call.name, [input.shape, target.shape]));
  const spread = (tensor: Tensor): Tensor =>
    sameShape(tensor.shape, shape) ? tensor : expand(call.frame, tensor, shape);
  return [spread(input), spread(target)];
}

/** What a kernel does on its way from the losses of all elements to one number. */
interface Reduction {
  /** How many tensors as large as all losses there are at most. */
  readonly most: 1 | 2;
  /** The number is left on the storage of such a tensor: what is made smaller with `resize_` gives nothing back. */
  readonly keeps: boolean;
}

/** The losses, or their sum or mean, as a kernel makes it. */
function lossOf(frame: Frame, input: Tensor, reduction: string, { most, keeps }: Reduction): Tensor {
  if (reduction === "none") return emptyLike(frame, input);
  const first = emptyLike(frame, input);
  const second = most === 2 ? emptyLike(frame, input) : undefined;
  const result = keeps ? frame.alias(first, [], []) : frame.empty([], input.dtype);
  frame.free(first, second);
  return result;
}

interface FusedLoss extends Reduction {
  readonly op: string;
  readonly node: string;
  readonly parameters?: string;
  /** What backward allocates for the input. */
  readonly gradient: string;
}

const fusedLosses: readonly FusedLoss[] = [
  {
    op: "mse_loss",
    node: "MseLossBackward0",
    gradient: "mse_loss_backward(input, target)",
    // The result is allocated for all elements and resized; the kernel then takes another tensor for the losses.
    most: 2,
    keeps: true,
  },
  {
    op: "smooth_l1_loss",
    node: "SmoothL1LossBackward0",
    parameters: "beta=1.0",
    gradient: "smooth_l1_loss_backward(input, target)",
    most: 2,
    keeps: true,
  },
  {
    op: "huber_loss",
    node: "HuberLossBackward0",
    parameters: "delta=1.0",
    gradient: "huber_loss_backward(input, target)",
    most: 1,
    keeps: false,
  },
  {
    op: "soft_margin_loss",
    node: "SoftMarginLossBackward0",
    gradient: "target * apart(exp(-target * input))",
    most: 1,
    keeps: true,
  },
];

function fusedLoss(call: OperatorCall, row: FusedLoss): Tensor {
  const { frame } = call;
  const [first, second] = fullPrecision(frame, [call.tensor("input"), call.tensor("target")]);
  const [input, target] = broadcast(call, first ?? call.tensor("input"), second ?? call.tensor("target"));
  const result = lossOf(frame, input, reductionOf(call), row);
  differentiable(frame, {
    name: row.node,
    inputs: [input, target],
    outputs: [result],
    saved: [input, target],
    backward: (inner, [gradient], saved, wanted) =>
      wanted.map((each) =>
        each && gradient !== undefined
          ? inner.temporarily((own) =>
              formula(row.gradient).evaluate(own, { input: saved[0], target: saved[1] }),
            )
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
  const weight = call.optionalTensor("weight");
  const result = lossOf(frame, input, reductionOf(call), { most: 1, keeps: true });
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

/** Binary cross entropy of logits: `(1 - target) * input - log_sigmoid(input)`, in place where it can. */
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
  const result = frame.scoped((inner) => {
    const held = [emptyLike(inner, input)];
    if (positive !== undefined) held.push(emptyLike(inner, positive));
    if (reduction === "none" || positive !== undefined) held.push(emptyLike(inner, input));
    inner.free(...held);
    return lossOf(inner, input, reduction, { most: reduction === "none" ? 1 : 2, keeps: false });
  });
  const isCpu = frame.execution.device === "cpu";
  differentiable(frame, {
    name: "BinaryCrossEntropyWithLogitsBackward0",
    inputs: [input, target],
    outputs: [result],
    saved: [input, target, weight, positive],
    backward: (inner, [grad], saved, wanted) => {
      const names = { grad, input: saved[0], target: saved[1], weight: saved[2], pos_weight: saved[3] };
      const evaluate = (text: string): Tensor | undefined =>
        inner.temporarily((own) => formula(text).evaluate(own, names));
      const isPlain = saved[3] === undefined;
      return [
        wanted[0] === true ? evaluate(isPlain ? gradients.input : gradients.weightedInput) : undefined,
        wanted[1] !== true
          ? undefined
          : evaluate(isPlain ? gradients.target : isCpu ? gradients.weightedOnCpu : gradients.weightedTarget),
      ];
    },
  });
  return result;
}

/** Of binary cross entropy with logits, without and with `pos_weight`. On the CPU `log_sigmoid` takes a buffer of its own. */
const gradients = {
  input: "mul_(add_(sigmoid(input), target), grad)",
  weightedInput: "mul_(mul_((pos_weight * target) + 1, sigmoid(input)), grad)",
  target: "-input * grad",
  weightedTarget: "mul_(log_sigmoid(-input), log_sigmoid(input))",
  weightedOnCpu: "mul_(log_sigmoid(-input), mul_(log_sigmoid(input), log_sigmoid(input)))",
};

export const pointwiseLossRows: readonly OperatorRow[] = [
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
];
