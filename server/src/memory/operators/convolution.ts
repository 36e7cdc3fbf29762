/** Convolutions: aten/src/ATen/native/Convolution.cpp. Under autocast they run in low precision. */
import type { Tensor } from "../tensor";
import { contiguousStrides, elementCount, isContiguous } from "../tensor";
import { differentiable, lowPrecision } from "./autograd";
import type { Frame } from "./frame";
import { contiguous } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { promoteTypes } from "./promotion";
import { channelsDoNotFit, shapesDoNotFit } from "./reasons";
import { squeeze, unsqueeze } from "./views";
import { pad } from "./padding";

interface Geometry {
  readonly stride: readonly number[];
  readonly padding: readonly number[];
  readonly dilation: readonly number[];
  readonly outputPadding: readonly number[];
  readonly groups: number;
  readonly transposed: boolean;
}

/** Channels last, dimension by dimension: N, H, W, C from the outside (c10/core/MemoryFormat.h, is_channels_last_strides). */
export function channelsLastStrides(shape: readonly number[]): number[] {
  const order = [
    1,
    ...shape
      .map((_, i) => i)
      .slice(2)
      .reverse(),
    0,
  ];
  const strides = new Array<number>(shape.length).fill(1);
  let expected = 1;
  for (const dimension of order) {
    strides[dimension] = expected;
    expected *= Math.max(shape[dimension] ?? 1, 1);
  }
  return strides;
}

/** `suggest_memory_format() == ChannelsLast`; ambiguous layouts count as contiguous. */
export function isChannelsLast(tensor: Pick<Tensor, "shape" | "strides">): boolean {
  const rank = tensor.shape.length;
  if (rank < 4) return false;
  let smallest = 0;
  const order = [
    1,
    ...tensor.shape
      .map((_, i) => i)
      .slice(2)
      .reverse(),
    0,
  ];
  if ((tensor.strides[1] ?? 0) === 0) return false;
  for (const dimension of order) {
    const size = tensor.shape[dimension] ?? 1;
    const stride = tensor.strides[dimension] ?? 0;
    if (size === 0 || stride < smallest) return false;
    if (dimension === 0 && smallest === tensor.strides[1]) return false;
    smallest = size > 1 ? stride * size : stride;
  }
  return true;
}

function outputSize(input: Tensor, weight: Tensor, geometry: Geometry): number[] {
  const spatial = input.shape.slice(2);
  return spatial.map((size, i) => {
    const kernel = weight.shape[i + 2] ?? 1;
    const stride = geometry.stride[i] ?? 1;
    const padding = geometry.padding[i] ?? 0;
    const dilation = geometry.dilation[i] ?? 1;
    if (geometry.transposed) {
      return (
        (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + (geometry.outputPadding[i] ?? 0) + 1
      );
    }
    return Math.floor((size + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1;
  });
}

/** at::convolution on a batched input: keeps input and weight; backward makes one gradient for each of the three. */
function convolution(
  frame: Frame,
  call: OperatorCall,
  input: Tensor,
  weight: Tensor,
  bias: Tensor | undefined,
  geometry: Geometry,
): Tensor {
  const channels =
    (weight.shape[geometry.transposed ? 0 : 1] ?? 1) * (geometry.transposed ? 1 : geometry.groups);
  if (input.shape[1] !== channels) call.fail(channelsDoNotFit(call.name, channels, input));
  const outputs = geometry.transposed ? (weight.shape[1] ?? 1) * geometry.groups : (weight.shape[0] ?? 1);
  const spatial = outputSize(input, weight, geometry);
  if (spatial.some((size) => size < 1)) call.fail(shapesDoNotFit(call.name, [input.shape, weight.shape]));
  const shape = [input.shape[0] ?? 1, outputs, ...spatial];
  const last = isChannelsLast(input) || isChannelsLast(weight);
  const result = frame.empty(
    shape,
    promoteTypes(input.dtype, weight.dtype),
    last ? channelsLastStrides(shape) : undefined,
  );
  const inputs = [input, weight, bias];
  const given = inputs.map((tensor) => ({
    shape: tensor?.shape ?? [],
    dtype: tensor?.dtype ?? result.dtype,
  }));
  differentiable(frame, {
    name: "ConvolutionBackward0",
    inputs,
    outputs: [result],
    saved: [input, weight],
    backward: (inner, _gradients, _saved, wanted) =>
      given.map(({ shape: each, dtype }, i) => {
        if (wanted[i] !== true) return undefined;
        return inner.empty(
          each,
          dtype,
          last && i < 2 && each.length > 3 ? channelsLastStrides(each) : undefined,
        );
      }),
  });
  // A transposed convolution spreads every element of its input, a plain one gathers for every element of its result.
  const places = elementCount((geometry.transposed ? input : result).shape.slice(2));
  frame.execution.noteProducts((input.shape[0] ?? 1) * places * elementCount(weight.shape));
  return result;
}

function run(call: OperatorCall, rank: number, transposed: boolean): Tensor {
  const { frame } = call;
  const [first, kernel] = [call.tensor("input"), call.tensor("weight")];
  if (
    kernel.shape.length !== rank + 2 ||
    (first.shape.length !== rank + 2 && first.shape.length !== rank + 1)
  )
    call.fail(shapesDoNotFit(call.name, [first.shape, kernel.shape]));
  const batched = first.shape.length === rank + 2;
  const dilation = call.repeated("dilation", rank);
  const asked = call.value("padding");
  const same = typeof asked === "string" ? samePadding(asked, kernel, dilation) : undefined;
  // what is padded on one side only is padded before autocast sees the convolution
  const uneven = same?.extra.some((size) => size > 0) === true;
  const whole = uneven
    ? pad(frame, first, same.extra.flatMap((size) => [0, size]).reverse(), "constant")
    : first;
  const [given, weight, bias] = lowPrecision<Tensor | undefined>(frame, [
    whole,
    kernel,
    call.optionalTensor("bias"),
  ]);
  if (given === undefined || weight === undefined) return call.notUnderstood("input");
  const input = batched ? given : unsqueeze(frame, given, 0);
  const padding = same?.padding ?? call.repeated("padding", rank);
  const result = convolution(frame, call, input, weight, bias, {
    stride: call.repeated("stride", rank),
    padding,
    dilation,
    outputPadding: transposed ? call.repeated("output_padding", rank) : [],
    groups: call.number("groups"),
    transposed,
  });
  return batched ? result : squeeze(frame, result, [0]);
}

/** `padding="same"`: symmetric as far as possible, what is left is padded at the end before. */
function samePadding(
  mode: string,
  weight: Tensor,
  dilation: readonly number[],
): { padding: number[]; extra: number[] } {
  const totals = weight.shape
    .slice(2)
    .map((kernel, i) => (mode === "same" ? (dilation[i] ?? 1) * (kernel - 1) : 0));
  return { padding: totals.map((total) => Math.floor(total / 2)), extra: totals.map((total) => total % 2) };
}

/** `F.unfold`: nothing saved; its backward is `F.fold`. */
function unfold(call: OperatorCall): Tensor {
  const input = call.tensor("input");
  const kernel = call.repeated("kernel_size", 2);
  const dilation = call.repeated("dilation", 2);
  const padding = call.repeated("padding", 2);
  const stride = call.repeated("stride", 2);
  if (input.shape.length < 3 || input.shape.length > 4) call.fail(shapesDoNotFit(call.name, [input.shape]));
  const blocks = blockCount(input.shape.slice(-2), kernel, dilation, padding, stride);
  const rows = (input.shape.at(-3) ?? 1) * kernel.reduce((a, b) => a * b, 1);
  const shape = [...input.shape.slice(0, -3), rows, blocks];
  return resizingKernel(call.frame, input, shape, "Im2ColBackward0");
}

/** `F.fold`: nothing saved; its backward is `F.unfold`. */
function fold(call: OperatorCall): Tensor {
  const input = call.tensor("input");
  const size = call.repeated("output_size", 2);
  const kernel = call.repeated("kernel_size", 2);
  const rows = kernel.reduce((a, b) => a * b, 1);
  if (input.shape.length < 2 || input.shape.length > 3) call.fail(shapesDoNotFit(call.name, [input.shape]));
  const channels = Math.floor((input.shape.at(-2) ?? 1) / rows);
  return resizingKernel(
    call.frame,
    input,
    [...input.shape.slice(0, -2), channels, ...size],
    "Col2ImBackward0",
  );
}

/** `im2col` and `col2im`, each the gradient of the other. */
function resizingKernel(frame: Frame, input: Tensor, shape: readonly number[], name: string): Tensor {
  const result = resized(frame, input, shape);
  const from = input.shape;
  differentiable(frame, {
    name,
    inputs: [input],
    outputs: [result],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : resized(inner, gradient, from)],
  });
  return result;
}

/**
 * Both kernels begin with a tensor of their input's shape and bring it to the result's (`empty_like` and `resize_` in
 * aten/src/ATen/native/{Im2Col,Col2Im}.cpp and cuda/{Im2Col,Col2Im}.cu). A storage never shrinks, so that a folded image
 * holds as many bytes as its columns; one that grows is there beside its successor for a moment.
 */
function resized(frame: Frame, input: Tensor, shape: readonly number[]): Tensor {
  const first = frame.empty(input.shape, input.dtype);
  const rows = contiguous(frame, input);
  const grows = elementCount(shape) > elementCount(input.shape);
  const result = grows
    ? frame.empty(shape, input.dtype)
    : frame.alias(first, shape, contiguousStrides(shape));
  frame.free(first);
  if (rows !== input) frame.free(rows);
  return result;
}

function blockCount(
  size: readonly number[],
  kernel: readonly number[],
  dilation: readonly number[],
  padding: readonly number[],
  stride: readonly number[],
): number {
  return size.reduce((count, each, i) => {
    const reach = (dilation[i] ?? 1) * ((kernel[i] ?? 1) - 1) + 1;
    return count * (Math.floor((each + 2 * (padding[i] ?? 0) - reach) / (stride[i] ?? 1)) + 1);
  }, 1);
}

/** A kernel that makes one tensor and whose backward makes one of the input's shape, without keeping anything. */
export function kernelWithoutSaved(
  frame: Frame,
  input: Tensor,
  shape: readonly number[],
  name: string,
): Tensor {
  const result = frame.empty(
    shape,
    input.dtype,
    shape.length === input.shape.length && isChannelsLast(input) && !isContiguous(input)
      ? channelsLastStrides(shape)
      : undefined,
  );
  const from = input.shape;
  differentiable(frame, {
    name,
    inputs: [input],
    outputs: [result],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : inner.empty(from, gradient.dtype)],
  });
  return result;
}

/** Pixel shuffle and its inverse: reshapes and one copy behind one node. */
function pixelShuffle(call: OperatorCall, inverse: boolean): Tensor {
  const input = call.tensor("input");
  const factor = call.number(inverse ? "downscale_factor" : "upscale_factor");
  const [channels = 1, height = 1, width = 1] = input.shape.slice(-3);
  const area = factor * factor;
  if (inverse ? height % factor !== 0 || width % factor !== 0 : channels % area !== 0) {
    call.fail(shapesDoNotFit(call.name, [input.shape]));
  }
  const shape = inverse
    ? [channels * area, height / factor, width / factor]
    : [channels / area, height * factor, width * factor];
  const name = inverse ? "PixelUnshuffleBackward0" : "PixelShuffleBackward0";
  return kernelWithoutSaved(call.frame, input, [...input.shape.slice(0, -3), ...shape], name);
}

function channelShuffle(call: OperatorCall): Tensor {
  const input = call.tensor("input");
  return kernelWithoutSaved(call.frame, input, input.shape, "ChannelShuffleBackward0");
}

const F = "torch.nn.functional";

export const convolutionRows: readonly OperatorRow[] = [
  ...[1, 2, 3].flatMap((rank): OperatorRow[] => [
    {
      names: [`${F}.conv${rank}d`, `torch.conv${rank}d`],
      signature: "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1",
      run: (call) => run(call, rank, false),
    },
    {
      names: [`${F}.conv_transpose${rank}d`, `torch.conv_transpose${rank}d`],
      signature: "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1",
      run: (call) => run(call, rank, true),
    },
  ]),
  { names: [`${F}.unfold`], signature: "input, kernel_size, dilation=1, padding=0, stride=1", run: unfold },
  {
    names: [`${F}.fold`],
    signature: "input, output_size, kernel_size, dilation=1, padding=0, stride=1",
    run: fold,
  },
  {
    names: [`${F}.pixel_shuffle`, "torch.pixel_shuffle"],
    signature: "input, upscale_factor",
    run: (call) => pixelShuffle(call, false),
  },
  {
    names: [`${F}.pixel_unshuffle`, "torch.pixel_unshuffle"],
    signature: "input, downscale_factor",
    run: (call) => pixelShuffle(call, true),
  },
  {
    names: [`${F}.channel_shuffle`, "torch.channel_shuffle"],
    signature: "input, groups",
    run: channelShuffle,
  },
];
