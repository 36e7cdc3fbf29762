/** Connectionist temporal classification: aten/src/ATen/native/LossCTC.cpp and cuda/LossCTC.cu. */
import type { Tensor } from "../tensor";
import { isSequence, isTensor, numberOf, type Argument } from "./argument";
import { differentiable, fullPrecision } from "./autograd";
import { emptyLike } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { reduced, reductionOf } from "./pointwise-losses";
import { dependsOnValues } from "./reasons";

/** Known lengths; undefined where only a run knows them. */
function lengths(value: Argument): readonly number[] | undefined {
  if (isTensor(value)) return value.values;
  if (!isSequence(value)) return undefined;
  const numbers = value.map((each) => numberOf(each));
  return numbers.every((each) => each !== undefined) ? numbers : undefined;
}

/**
 * The kernel keeps the probabilities of all ways through the longest target, twice its length and one, at every time step;
 * backward makes as many once more. Where no length is known, targets of one label are counted: a lower bound.
 */
function ctcLoss(call: OperatorCall): Tensor {
  const { execution, frame } = call;
  const [given = call.tensor("log_probs")] = fullPrecision(frame, [call.tensor("log_probs")]);
  const targets = call.tensor("targets");
  const targetLengths = call.value("target_lengths");
  const input = given.shape.length === 2 ? call.op("torch.unsqueeze", [given, 1]) : given;
  const [time = 1, batch = 1] = input.shape;
  const known = lengths(targetLengths);
  if (known === undefined) execution.noteBound(dependsOnValues(call.name));
  const longest = Math.max(1, ...(known ?? []));
  const losses = frame.empty([batch], input.dtype);
  const ways = frame.empty([batch, time, 2 * longest + 1], input.dtype);
  const kept = [call.value("input_lengths"), targetLengths].map((each) =>
    isTensor(each) ? each : undefined,
  );
  const shape = ways.shape;
  differentiable(frame, {
    name: "CtcLossBackward0",
    inputs: [input],
    outputs: [losses],
    saved: [input, ...kept, targets, losses, ways],
    backward: (inner, [gradient], [probabilities]) => {
      if (gradient === undefined || probabilities === undefined) return [undefined];
      return [
        inner.scoped((own) => {
          own.empty(shape, gradient.dtype);
          return emptyLike(own, probabilities);
        }),
      ];
    },
  });
  const zero = (): Tensor => {
    const isInfinite = elementwiseOp(frame, "eq", [losses, Infinity]);
    return call.op("torch.where", [isInfinite, call.op("torch.zeros", [[]]), losses]);
  };
  const finite = call.boolean("zero_infinity") ? zero() : losses;
  const reduction = reductionOf(call);
  if (reduction !== "mean") return reduced(frame, finite, reduction);
  const divisor = frame.empty([batch], "int64");
  return reduced(frame, elementwiseOp(frame, "div", [finite, divisor]), "mean");
}

export const ctcRows: readonly OperatorRow[] = [
  {
    names: ["torch.nn.functional.ctc_loss"],
    signature:
      "log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', zero_infinity=False",
    run: ctcLoss,
  },
];
