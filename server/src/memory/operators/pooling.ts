/** Pooling and resizing: what is kept is the input and, for maxima, their places (8 bytes each). */
import { isContiguous, type Tensor } from "../tensor";
import { isSequence, numberOf, type Argument } from "./argument";
import { differentiable, fullPrecision } from "./autograd";
import { channelsLastStrides, isChannelsLast } from "./convolution";
import type { Frame } from "./frame";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { shapesDoNotFit } from "./reasons";
import { reduce } from "./reductions";
import { squeeze, unsqueeze } from "./views";

const F = "torch.nn.functional";

/** A pooling kernel: one result, maybe places; backward makes one tensor of the input's shape. */
function pooled(
  frame: Frame,
  input: Tensor,
  spatial: readonly number[],
  name: string,
  withIndices: boolean,
): { values: Tensor; indices: Tensor | undefined } {
  const shape = [...input.shape.slice(0, input.shape.length - spatial.length), ...spatial];
  const strides = isChannelsLast(input) ? channelsLastStrides(shape) : undefined;
  const values = frame.empty(shape, input.dtype, strides);
  const indices = withIndices ? frame.empty(shape, "int64", strides) : undefined;
  const from = {
    shape: input.shape,
    strides: isChannelsLast(input) ? channelsLastStrides(input.shape) : undefined,
  };
  differentiable(frame, {
    name,
    inputs: [input],
    outputs: [values],
    saved: [input, indices],
    backward: (inner, [gradient]) => [
      gradient === undefined ? undefined : inner.empty(from.shape, gradient.dtype, from.strides),
    ],
  });
  return { values, indices };
}

/** pooling_output_shape: with ceil mode the last window starts inside the input or its left padding. */
function pooledSize(
  size: number,
  kernel: number,
  stride: number,
  padding: number,
  dilation: number,
  ceil: boolean,
): number {
  const reach = size + 2 * padding - dilation * (kernel - 1) - 1 + (ceil ? stride - 1 : 0);
  let count = Math.floor(reach / stride) + 1;
  if (ceil && (count - 1) * stride >= size + padding) count--;
  return count;
}

function spatialOf(call: OperatorCall, rank: number, dilated: boolean): number[] {
  const input = call.tensor("input");
  const kernel = call.repeated("kernel_size", rank);
  const stride = call.optionalIntegers("stride");
  const strides = stride === undefined || stride.length === 0 ? kernel : call.repeated("stride", rank);
  const padding = call.repeated("padding", rank);
  const dilation = dilated ? call.repeated("dilation", rank) : new Array<number>(rank).fill(1);
  const ceil = call.boolean("ceil_mode");
  if (input.shape.length < rank + 1) call.fail(shapesDoNotFit(call.name, [input.shape]));
  const sizes = input.shape
    .slice(-rank)
    .map((size, i) =>
      pooledSize(size, kernel[i] ?? 1, strides[i] ?? 1, padding[i] ?? 0, dilation[i] ?? 1, ceil),
    );
  if (sizes.some((size) => size < 1)) call.fail(shapesDoNotFit(call.name, [input.shape, kernel]));
  return sizes;
}

function maxPool(call: OperatorCall, rank: number): Argument {
  const { frame } = call;
  const given = call.tensor("input");
  const spatial = spatialOf(call, rank, true);
  if (rank === 1) {
    // One dimension is pooled as two (aten/src/ATen/native/Pooling.cpp).
    const wide = unsqueeze(frame, given, given.shape.length - 1);
    const { values, indices } = pooled(frame, wide, [1, ...spatial], "MaxPool2DWithIndicesBackward0", true);
    const result = squeeze(frame, values, [values.shape.length - 2]);
    return call.boolean("return_indices") && indices !== undefined
      ? [result, squeeze(frame, indices, [indices.shape.length - 2])]
      : result;
  }
  const { values, indices } = pooled(frame, given, spatial, `MaxPool${rank}DWithIndicesBackward0`, true);
  return call.boolean("return_indices") && indices !== undefined ? [values, indices] : values;
}

function avgPool(call: OperatorCall, rank: number): Tensor {
  const { frame } = call;
  const input = call.tensor("input");
  const spatial = spatialOf(call, rank, false);
  if (rank > 1) return pooled(frame, input, spatial, `AvgPool${rank}DBackward0`, false).values;
  const wide = unsqueeze(frame, input, input.shape.length - 1);
  const { values } = pooled(frame, wide, [1, ...spatial], "AvgPool2DBackward0", false);
  return squeeze(frame, values, [values.shape.length - 2]);
}

/** Output sizes of adaptive pooling; None keeps the input's. */
function adaptiveSize(call: OperatorCall, rank: number, input: Tensor): number[] {
  const asked = call.value("output_size");
  const sizes = Array.isArray(asked) ? (asked as readonly Argument[]) : new Array<Argument>(rank).fill(asked);
  return input.shape.slice(-rank).map((size, i) => {
    const value = sizes[i] ?? null;
    return value === null ? size : (numberOf(value) ?? call.notUnderstood("output_size"));
  });
}

function adaptiveAvgPool(call: OperatorCall, rank: number): Tensor {
  const { frame } = call;
  const input = call.tensor("input");
  if (input.shape.length < rank + 1) call.fail(shapesDoNotFit(call.name, [input.shape]));
  const sizes = adaptiveSize(call, rank, input);
  const dimensions = sizes.map((_, i) => input.shape.length - rank + i);
  if (rank === 1) {
    const wide = unsqueeze(frame, input, input.shape.length - 1);
    const last = wide.shape.length;
    const result =
      sizes[0] === 1
        ? reduce(frame, wide, { op: "mean", dims: [last - 2, last - 1], keepdim: true })
        : pooled(frame, wide, [1, ...sizes], "AdaptiveAvgPool2DBackward0", false).values;
    return squeeze(frame, result, [result.shape.length - 2]);
  }
  // A result of one element is a mean: nothing is kept.
  if (sizes.every((size) => size === 1)) {
    return reduce(frame, input, { op: "mean", dims: dimensions, keepdim: true });
  }
  return pooled(frame, input, sizes, `AdaptiveAvgPool${rank}DBackward0`, false).values;
}

function adaptiveMaxPool(call: OperatorCall, rank: number): Argument {
  const { frame } = call;
  const input = call.tensor("input");
  const sizes = adaptiveSize(call, rank, input);
  if (rank === 1) {
    const wide = unsqueeze(frame, input, input.shape.length - 1);
    const { values, indices } = pooled(frame, wide, [1, ...sizes], "AdaptiveMaxPool2DBackward0", true);
    const flat = (tensor: Tensor): Tensor => squeeze(frame, tensor, [tensor.shape.length - 2]);
    return call.boolean("return_indices") && indices !== undefined
      ? [flat(values), flat(indices)]
      : flat(values);
  }
  const { values, indices } = pooled(frame, input, sizes, `AdaptiveMaxPool${rank}DBackward0`, true);
  return call.boolean("return_indices") && indices !== undefined ? [values, indices] : values;
}

/** `F.fractional_max_pool2d`: windows of one size at places drawn by lot; keeps input and places. */
function fractionalMaxPool(call: OperatorCall, rank: number): Argument {
  const { frame } = call;
  const input = call.tensor("input");
  const old = input.shape.slice(-rank);
  const ratio = call.value("output_ratio");
  const ratios = isSequence(ratio) ? ratio : new Array<Argument>(rank).fill(ratio);
  const sizes =
    call.value("output_size") === null
      ? old.map((size, i) => Math.floor(size * (numberOf(ratios[i]) ?? call.notUnderstood("output_ratio"))))
      : call.repeated("output_size", rank);
  const leading = input.shape.slice(0, -rank);
  const samples = frame.empty([...leading, rank], input.dtype);
  const { values, indices } = pooled(frame, input, sizes, `FractionalMaxPool${rank}DBackward0`, true);
  frame.free(samples);
  return call.boolean("return_indices") && indices !== undefined ? [values, indices] : values;
}

/** `F.lp_pool2d`: a chain of element-wise operators around an average pooling. */
function lpPool(call: OperatorCall, rank: number): Tensor {
  const { frame } = call;
  const norm = numberOf(call.value("norm_type")) ?? call.notUnderstood("norm_type");
  const kernel = call.repeated("kernel_size", rank).reduce((a, b) => a * b, 1);
  const powered = call.op("torch.pow", [call.tensor("input"), norm]);
  const averaged = call.op(
    `${F}.avg_pool${rank}d`,
    [powered, call.value("kernel_size"), call.value("stride")],
    {
      ceil_mode: call.boolean("ceil_mode"),
    },
  );
  frame.free(powered);
  const sign = elementwiseOp(frame, "sign", [averaged]);
  const size = elementwiseOp(frame, "abs", [averaged]);
  const positive = elementwiseOp(frame, "relu", [size]);
  frame.free(size);
  const product = elementwiseOp(frame, "mul", [sign, positive]);
  frame.free(sign, positive);
  const scaled = elementwiseOp(frame, "mul", [product, kernel]);
  frame.free(product);
  const result = call.op("torch.pow", [scaled, 1 / norm]);
  return result;
}

// --- Resizing -------------------------------------------------------------------------------------------------------

function interpolate(call: OperatorCall): Tensor {
  const given = call.tensor("input");
  const rank = given.shape.length - 2;
  const mode = call.text("mode");
  const size = call.optionalIntegers("size");
  const factor = call.value("scale_factor");
  let spatial: number[];
  if (size !== undefined) {
    spatial = size.length === 1 ? new Array<number>(rank).fill(size[0] ?? 1) : size;
  } else {
    const factors = Array.isArray(factor)
      ? (factor as readonly Argument[])
      : new Array<Argument>(rank).fill(factor);
    spatial = given.shape
      .slice(2)
      .map((old, i) => Math.floor(old * (numberOf(factors[i]) ?? call.notUnderstood("scale_factor"))));
  }
  if (rank < 1 || spatial.length !== rank) call.fail(shapesDoNotFit(call.name, [given.shape]));
  const [input = given] = fullPrecision(call.frame, [given]);
  if (mode === "area") {
    return call.op(`${F}.adaptive_avg_pool${rank}d`, [input, spatial]);
  }
  const shape = [...input.shape.slice(0, 2), ...spatial];
  const name = `Upsample${mode.charAt(0).toUpperCase()}${mode.slice(1)}${rank}DBackward0`;
  return resized(call.frame, input, shape, name);
}

/** Channels stay last in both directions; of CUDA's kernels only the nearest neighbour's hands such a gradient back. */
function resized(frame: Frame, input: Tensor, shape: readonly number[], name: string): Tensor {
  const isLast = isChannelsLast(input) && !isContiguous(input);
  const result = frame.empty(shape, input.dtype, isLast ? channelsLastStrides(shape) : undefined);
  const from = input.shape;
  const follows = frame.execution.device === "cpu" || name.includes("Nearest");
  differentiable(frame, {
    name,
    inputs: [input],
    outputs: [result],
    backward: (inner, [gradient]) => {
      if (gradient === undefined) return [undefined];
      const strides = follows && isChannelsLast(gradient) ? channelsLastStrides(from) : undefined;
      return [inner.empty(from, gradient.dtype, strides)];
    },
  });
  return result;
}

/** `F.grid_sample`: keeps input and grid. */
function gridSample(call: OperatorCall): Tensor {
  const input = call.tensor("input");
  const grid = call.tensor("grid");
  const shape = [...input.shape.slice(0, 2), ...grid.shape.slice(1, -1)];
  if (grid.shape.length !== input.shape.length)
    call.fail(shapesDoNotFit(call.name, [input.shape, grid.shape]));
  const result = call.frame.empty(shape, input.dtype);
  const inputs = [input, grid];
  differentiable(call.frame, {
    name: `GridSampler${input.shape.length - 2}DBackward0`,
    inputs,
    outputs: [result],
    saved: inputs,
    // The kernel always fills the gradient of the grid.
    backward: (inner, [gradient], saved, wanted) =>
      saved.map((each, i) =>
        each === undefined || gradient === undefined || (i === 0 && wanted[0] !== true)
          ? undefined
          : inner.empty(each.shape, each.dtype),
      ),
  });
  return result;
}

function affineGrid(call: OperatorCall): Tensor {
  const theta = call.tensor("theta");
  const size = call.integers("size");
  const shape = [size[0] ?? 1, ...size.slice(2), size.length - 2];
  const result = call.frame.empty(shape, theta.dtype);
  const [rows = 1, columns = 1] = theta.shape.slice(1);
  differentiable(call.frame, {
    name: "AffineGridGeneratorBackward0",
    inputs: [theta],
    outputs: [result],
    backward: (inner, [gradient]) => {
      if (gradient === undefined) return [undefined];
      // the grid is made again, with its coordinates and their two multiples
      inner.empty([...shape.slice(0, -1), columns], gradient.dtype);
      inner.temporarily((own) => {
        for (let i = 0; i < 3; i++) own.empty([shape.at(-2) ?? 1], gradient.dtype);
        return undefined;
      });
      const turned = inner.empty([theta.shape[0] ?? 1, columns, rows], gradient.dtype);
      return [inner.alias(turned, theta.shape, [rows * columns, 1, rows])];
    },
  });
  return result;
}

const ranks = [1, 2, 3];

export const poolingRows: readonly OperatorRow[] = [
  ...ranks.flatMap((rank): OperatorRow[] => [
    {
      names: [`${F}.max_pool${rank}d`, `torch.max_pool${rank}d`],
      signature:
        "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False",
      run: (call) => maxPool(call, rank),
    },
    {
      names: [`${F}.avg_pool${rank}d`],
      signature:
        "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None",
      run: (call) => avgPool(call, rank),
    },
    {
      names: [`${F}.adaptive_avg_pool${rank}d`],
      signature: "input, output_size",
      run: (call) => adaptiveAvgPool(call, rank),
    },
    {
      names: [`${F}.adaptive_max_pool${rank}d`],
      signature: "input, output_size, return_indices=False",
      run: (call) => adaptiveMaxPool(call, rank),
    },
    {
      names: [`${F}.lp_pool${rank}d`],
      signature: "input, norm_type, kernel_size, stride=None, ceil_mode=False",
      run: (call) => lpPool(call, rank),
    },
  ]),
  ...[2, 3].map((rank): OperatorRow => ({
    names: [`${F}.fractional_max_pool${rank}d`],
    signature:
      "input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None",
    run: (call) => fractionalMaxPool(call, rank),
  })),
  {
    names: [`${F}.interpolate`, `${F}.upsample`],
    signature:
      "input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None, " +
      "antialias=False",
    run: interpolate,
  },
  {
    names: [`${F}.grid_sample`],
    signature: "input, grid, mode='bilinear', padding_mode='zeros', align_corners=None",
    run: gridSample,
  },
  { names: [`${F}.affine_grid`], signature: "theta, size, align_corners=None", run: affineGrid },
];
