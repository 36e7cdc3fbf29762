/** Padding: constant padding keeps nothing, the others keep their input. */
import type { Tensor } from "../tensor";
import { differentiable } from "./autograd";
import type { Frame } from "./frame";
import type { OperatorCall, OperatorRow } from "./operator";
import { shapeNotValid } from "./reasons";

const nodes: Readonly<Record<string, string>> = {
  constant: "ConstantPadNdBackward0",
  reflect: "ReflectionPadBackward0",
  replicate: "ReplicationPadBackward0",
  circular: "CopySlices",
};

/** The shape after padding by `pads`: two numbers a dimension, last dimension first. */
export function paddedShape(shape: readonly number[], pads: readonly number[]): number[] {
  const result = [...shape];
  for (let i = 0; i * 2 < pads.length; i++) {
    const dimension = shape.length - 1 - i;
    result[dimension] = (result[dimension] ?? 1) + (pads[2 * i] ?? 0) + (pads[2 * i + 1] ?? 0);
  }
  return result;
}

export function pad(frame: Frame, input: Tensor, pads: readonly number[], mode: string): Tensor {
  const result = frame.empty(paddedShape(input.shape, pads), input.dtype);
  const from = input.shape;
  const keeps = mode === "reflect" || mode === "replicate";
  differentiable(frame, {
    name: nodes[mode] ?? mode,
    inputs: [input],
    outputs: [result],
    saved: keeps ? [input] : [],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : inner.empty(from, gradient.dtype)],
  });
  return result;
}

function run(call: OperatorCall): Tensor {
  const input = call.tensor("input");
  const asked = call.integers("pad");
  const rank = call.optionalNumber("rank");
  // nn.ZeroPad2d(1) and its like give one number for all sides.
  const [only = 0] = asked;
  const pads = asked.length === 1 && rank !== undefined ? new Array<number>(2 * rank).fill(only) : asked;
  const shape = paddedShape(input.shape, pads);
  if (pads.length > 2 * input.shape.length || pads.length % 2 !== 0 || shape.some((size) => size < 0)) {
    call.fail(shapeNotValid(call.name, input.shape, pads));
  }
  const mode = call.text("mode");
  return mode === "circular" ? circular(call, input, pads) : pad(call.frame, input, pads, mode);
}

/** `_pad_circular`: the input written into the middle, then each side from what lies opposite (native/PadNd.cpp). */
function circular(call: OperatorCall, input: Tensor, pads: readonly number[]): Tensor {
  const { frame } = call;
  const result = frame.empty(paddedShape(input.shape, pads), input.dtype);
  const rank = input.shape.length;
  const narrowed = (tensor: Tensor, dimension: number, start: number, size: number): Tensor =>
    size === tensor.shape[dimension] ? tensor : call.op("torch.narrow", [tensor, dimension, start, size]);
  const sides = Array.from({ length: pads.length / 2 }, (_, i) => ({
    dimension: rank - 1 - i,
    low: pads[2 * i] ?? 0,
    high: pads[2 * i + 1] ?? 0,
  }));
  let [middle, source]: [Tensor, Tensor] = [result, input];
  for (const { dimension, low, high } of [...sides].reverse()) {
    const size = (result.shape[dimension] ?? 0) - Math.max(low, 0) - Math.max(high, 0);
    middle = narrowed(middle, dimension, Math.max(low, 0), size);
    source = narrowed(source, dimension, Math.max(-low, 0), size);
  }
  call.op("Tensor.copy_", [middle, source]);
  for (const { dimension, low, high } of sides) {
    const size = result.shape[dimension] ?? 0;
    const copy = (to: number, from: number, count: number): void => {
      if (count <= 0) return;
      const parts = [to, from].map((start) => narrowed(result, dimension, start, count));
      call.op("Tensor.copy_", parts);
    };
    copy(0, size - high - low, low);
    copy(size - high, low, high);
  }
  return result;
}

export const paddingRows: readonly OperatorRow[] = [
  {
    names: ["torch.nn.functional.pad"],
    signature: "input, pad, mode='constant', value=None, *, rank=None",
    run,
  },
];
