/** Normalisation and dropout: aten/src/ATen/native/{Normalization,layer_norm,group_norm,Dropout}.cpp. */
import { elementCount, type Dtype, type Tensor } from "../tensor";
import { isTensor, numberOf } from "./argument";
import { cast, differentiable, fullPrecision, lowPrecision } from "./autograd";
import { channelsLastStrides, isChannelsLast } from "./convolution";
import type { Frame } from "./frame";
import {
  broadcastShapes,
  contiguous,
  elementwise,
  elementwiseStrides,
  emptyLike,
  sameShape,
} from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { channelsDoNotFit, shapesDoNotFit } from "./reasons";
import { reduce } from "./reductions";
import { contiguousOf, reshape, view } from "./views";

const F = "torch.nn.functional";

/** Statistics of half-precision inputs are kept in fp32. */
function statisticsDtype(dtype: Dtype): Dtype {
  return dtype === "float64" ? "float64" : "float32";
}

interface NormalisationRow {
  readonly node: string;
  readonly input: Tensor;
  readonly weight: Tensor | undefined;
  readonly bias: Tensor | undefined;
  readonly statistics: readonly Tensor[];
  readonly result: Tensor;
  /** Further tensors that are kept, e.g. running statistics. */
  readonly kept?: readonly (Tensor | undefined)[];
}

/** The node all fused normalisations have: keeps input, weight, statistics; makes one gradient for each input. */
function attachNormalisation(frame: Frame, row: NormalisationRow): void {
  const inputs = [row.input, row.weight, row.bias];
  const given = inputs.map((tensor) => ({
    shape: tensor?.shape ?? [],
    dtype: tensor?.dtype ?? row.result.dtype,
  }));
  const strides = elementwiseStrides(row.input.shape, [row.input]);
  const isBatch = row.node.includes("BatchNorm");
  const keepsLayout = isBatch || (row.node.includes("GroupNorm") && isChannelsLast(row.result));
  const fillsAll = row.node.startsWith("Cudnn") && elementCount(row.statistics[0]?.shape ?? []) > 0;
  differentiable(frame, {
    name: row.node,
    inputs,
    outputs: [row.result],
    saved: [...(row.kept ?? []), row.input, row.weight, ...row.statistics],
    backward: (inner, [gradient], _saved, wanted) => {
      if (fillsAll && gradient !== undefined && !isChannelsLast(gradient)) contiguous(inner, gradient);
      const made = given.map(({ shape, dtype }, i) => {
        // Batch normalisation fills the input's gradient whether it is wanted or not, cuDNN's the others too.
        const always = i === 0 ? isBatch : fillsAll && inputs[i] !== undefined;
        if (wanted[i] !== true && !always) return undefined;
        return inner.empty(shape, dtype, i === 0 && keepsLayout ? strides : undefined);
      });
      return made.map((each, i) => (wanted[i] === true ? each : undefined));
    },
  });
}

// --- Batch and instance normalisation -------------------------------------------------------------------------------

interface BatchNormArguments {
  readonly input: Tensor;
  readonly weight: Tensor | undefined;
  readonly bias: Tensor | undefined;
  readonly runningMean: Tensor | undefined;
  readonly runningVar: Tensor | undefined;
  readonly training: boolean;
}

function batchNormOf(frame: Frame, row: BatchNormArguments): Tensor {
  return frame.scoped((inner) => batchNormIn(inner, row));
}

function batchNormIn(frame: Frame, row: BatchNormArguments): Tensor {
  const { input: given, training } = row;
  const channels = given.shape[1] ?? 1;
  const dtype = statisticsDtype(given.dtype);
  const cudnn =
    frame.execution.device === "cuda" &&
    row.weight !== undefined &&
    row.bias !== undefined &&
    given.shape.length > 2 &&
    given.dtype !== "bfloat16";
  // cuDNN gets its input row by row or channels-last, as a copy that is kept instead (_batch_norm_impl_index)
  const input = cudnn && !isChannelsLast(given) ? contiguousOf(frame, given) : given;
  const result = emptyLike(frame, input);
  // in evaluation mode only CUDA's own kernel writes them all the same (batch_norm_cuda in Normalization.cu)
  const writes = training || (frame.execution.device === "cuda" && !cudnn);
  const statistics = [0, 1].map(() => frame.empty([writes ? channels : 0], dtype));
  attachNormalisation(frame, {
    node: cudnn ? "CudnnBatchNormBackward0" : "NativeBatchNormBackward0",
    input,
    weight: row.weight,
    bias: row.bias,
    statistics,
    result,
    kept: [row.runningMean, row.runningVar],
  });
  return result;
}

function batchNorm(call: OperatorCall): Tensor {
  const input = call.tensor("input");
  const weight = call.optionalTensor("weight");
  const runningMean = call.optionalTensor("running_mean");
  const channels = weight?.shape[0] ?? runningMean?.shape[0] ?? input.shape[1] ?? 1;
  if (input.shape.length < 2 || input.shape[1] !== channels) {
    call.fail(channelsDoNotFit(call.name, channels, input));
  }
  return batchNormOf(call.frame, {
    input,
    weight,
    bias: call.optionalTensor("bias"),
    runningMean,
    runningVar: call.optionalTensor("running_var"),
    training: call.boolean("training"),
  });
}

/** Instance normalisation is batch normalisation of the samples laid side by side, with repeated parameters. */
function instanceNorm(call: OperatorCall): Tensor {
  const { frame } = call;
  const given = contiguousOf(frame, call.tensor("input"));
  const [batch = 1, channels = 1, ...spatial] = given.shape;
  const weight = call.optionalTensor("weight");
  if (spatial.length === 0 || (weight !== undefined && weight.shape[0] !== channels)) {
    call.fail(channelsDoNotFit(call.name, weight?.shape[0] ?? channels, given));
  }
  const repeated = (name: string): Tensor | undefined => {
    const tensor = call.optionalTensor(name);
    return tensor === undefined ? undefined : call.op("Tensor.repeat", [tensor, batch]);
  };
  const wide = view(frame, given, [1, batch * channels, ...spatial]) ?? given;
  const normalised = batchNormOf(frame, {
    input: wide,
    weight: repeated("weight"),
    bias: repeated("bias"),
    runningMean: repeated("running_mean"),
    runningVar: repeated("running_var"),
    training: call.boolean("use_input_stats"),
  });
  for (const name of ["running_mean", "running_var"]) {
    const running = call.optionalTensor(name);
    // the samples' averages
    if (running !== undefined) frame.temporarily((inner) => void inner.empty([channels], running.dtype));
  }
  return view(frame, normalised, given.shape) ?? normalised;
}

// --- Layer, group, RMS ----------------------------------------------------------------------------------------------

function layerNorm(call: OperatorCall): Tensor {
  const { frame } = call;
  const shape = call.integers("normalized_shape");
  const [input, weight, bias] = fullPrecision<Tensor | undefined>(frame, [
    call.tensor("input"),
    call.optionalTensor("weight"),
    call.optionalTensor("bias"),
  ]);
  if (input === undefined) return call.notUnderstood("input");
  const leading = input.shape.length - shape.length;
  if (leading < 0 || !sameShape(input.shape.slice(leading), shape)) {
    call.fail(shapesDoNotFit(call.name, [input.shape, shape]));
  }
  const result = frame.empty(input.shape, input.dtype);
  const statistics = [...input.shape.slice(0, leading), ...shape.map(() => 1)];
  const dtype = frame.execution.device === "cuda" ? statisticsDtype(input.dtype) : input.dtype;
  attachNormalisation(frame, {
    node: "NativeLayerNormBackward0",
    input,
    weight,
    bias,
    statistics: [0, 1].map(() => frame.empty(statistics, dtype)),
    result,
    kept: [bias],
  });
  return result;
}

function groupNorm(call: OperatorCall): Tensor {
  const { frame } = call;
  const [given, weight, bias] = fullPrecision<Tensor | undefined>(frame, [
    call.tensor("input"),
    call.optionalTensor("weight"),
    call.optionalTensor("bias"),
  ]);
  if (given === undefined) return call.notUnderstood("input");
  const groups = call.number("num_groups");
  const channels = given.shape[1] ?? 1;
  if (
    given.shape.length < 2 ||
    channels % groups !== 0 ||
    (weight !== undefined && weight.shape[0] !== channels)
  ) {
    call.fail(channelsDoNotFit(call.name, weight?.shape[0] ?? groups, given));
  }
  // only the CPU's kernel leaves channels last
  const isLast = frame.execution.device === "cpu" && isChannelsLast(given);
  const input = isLast ? given : contiguousOf(frame, given);
  const { shape, dtype } = input;
  const result = frame.empty(shape, dtype, isLast ? channelsLastStrides(shape) : undefined);
  attachNormalisation(frame, {
    node: "NativeGroupNormBackward0",
    input,
    weight,
    bias,
    statistics: [0, 1].map(() => frame.empty([input.shape[0] ?? 1, groups], dtype)),
    result,
  });
  return result;
}

/** CUDA has one kernel that keeps input and 1/rms; the CPU composes it. */
function rmsNorm(call: OperatorCall): Tensor {
  const { frame } = call;
  const [input, weight] = fullPrecision<Tensor | undefined>(frame, [
    call.tensor("input"),
    call.optionalTensor("weight"),
  ]);
  if (input === undefined) return call.notUnderstood("input");
  const shape = call.integers("normalized_shape");
  const leading = input.shape.length - shape.length;
  if (leading < 0 || !sameShape(input.shape.slice(leading), shape)) {
    call.fail(shapesDoNotFit(call.name, [input.shape, shape]));
  }
  const dims = shape.map((_, i) => leading + i);
  // for a weight of another dtype there is no kernel
  if (frame.execution.device === "cuda" && (weight === undefined || weight.dtype === input.dtype)) {
    const result = frame.empty(input.shape, input.dtype);
    attachNormalisation(frame, {
      node: "FusedRmsNormBackward0",
      input,
      weight,
      bias: undefined,
      statistics: [
        frame.empty([...input.shape.slice(0, leading), ...shape.map(() => 1)], statisticsDtype(input.dtype)),
      ],
      result,
    });
    return result;
  }
  const wide = cast(frame, input, statisticsDtype(input.dtype));
  const squares = call.op("torch.pow", [wide, 2]);
  const mean = reduce(frame, squares, { op: "mean", dims, keepdim: true });
  elementwiseOp(frame, "add", [mean, 1], { inPlace: true });
  const inverse = elementwiseOp(frame, "rsqrt", [mean]);
  frame.free(squares, mean);
  const normalised = elementwiseOp(frame, "mul", [wide, inverse]);
  if (weight === undefined) return cast(frame, normalised, input.dtype);
  const weighted = elementwiseOp(frame, "mul", [normalised, weight]);
  frame.free(normalised);
  return cast(frame, weighted, input.dtype);
}

/** `F.local_response_norm`, as torch/nn/functional.py composes it. */
function localResponseNorm(call: OperatorCall): Tensor {
  const { frame } = call;
  const input = call.tensor("input");
  const size = call.number("size");
  const [batch = 1, channels = 1, ...spatial] = input.shape;
  if (spatial.length === 0) call.fail(shapesDoNotFit(call.name, [input.shape]));
  let div = elementwiseOp(frame, "mul", [input, input]);
  const replace = (next: Tensor): void => {
    frame.free(div);
    div = next;
  };
  const before = Math.floor(size / 2);
  const behind = Math.floor((size - 1) / 2);
  if (spatial.length === 1) {
    replace(call.op("torch.unsqueeze", [div, 1]));
    replace(call.op(`${F}.pad`, [div, [0, 0, before, behind]]));
    replace(call.op(`${F}.avg_pool2d`, [div, [size, 1], 1]));
    replace(call.op("torch.squeeze", [div, 1]));
  } else {
    const shape = [batch, 1, channels, spatial[0] ?? 1, elementCount(spatial.slice(1))];
    replace(view(frame, div, shape) ?? div);
    replace(call.op(`${F}.pad`, [div, [0, 0, 0, 0, before, behind]]));
    replace(call.op(`${F}.avg_pool3d`, [div, [size, 1, 1], 1]));
    replace(call.op("torch.squeeze", [div, 1]));
    replace(reshape(frame, div, input.shape));
  }
  const scaled = elementwiseOp(frame, "mul", [div, call.value("alpha")]);
  const shifted = elementwiseOp(frame, "add", [scaled, call.value("k")]);
  frame.free(scaled);
  const powered = call.op("torch.pow", [shifted, call.value("beta")]);
  frame.free(shifted, div);
  return elementwiseOp(frame, "div", [input, powered]);
}

// --- Dropout --------------------------------------------------------------------------------------------------------

/** CUDA keeps a mask of one byte an element, the CPU a factor in the input's dtype; with p = 0 or in eval, nothing. */
function dropout(call: OperatorCall): Tensor {
  const { frame } = call;
  const input = call.tensor("self");
  const p = numberOf(call.values.p);
  if (!call.boolean("training") || p === 0) return input;
  const inPlace = call.values.inplace === true;
  if (p === 1) return multiplied(call, input, frame.empty([], input.dtype), inPlace);
  if (frame.execution.device === "cuda" && !inPlace) return nativeDropout(frame, input);
  const noise = emptyLike(frame, input);
  return multiplied(call, input, noise, inPlace);
}

export function nativeDropout(frame: Frame, input: Tensor): Tensor {
  const strides = elementwiseStrides(input.shape, [input]);
  const result = frame.empty(input.shape, input.dtype, strides);
  const mask = frame.empty(input.shape, "bool", strides);
  differentiable(frame, {
    name: "NativeDropoutBackward0",
    inputs: [input],
    outputs: [result],
    saved: [mask],
    backward: (inner, [gradient]) => {
      if (gradient === undefined) return [undefined];
      const { shape, dtype } = gradient;
      return [inner.empty(shape, dtype, isChannelsLast(gradient) ? channelsLastStrides(shape) : undefined)];
    },
  });
  return result;
}

function multiplied(call: OperatorCall, input: Tensor, noise: Tensor, inPlace: boolean): Tensor {
  return elementwiseOp(call.frame, "mul", [input, noise], { inPlace });
}

/** Whole channels are dropped: one factor a sample and channel. */
function featureDropout(call: OperatorCall): Tensor {
  const { frame } = call;
  const input = call.tensor("self");
  const p = numberOf(call.values.p);
  if (!call.boolean("training") || p === 0) return input;
  // without a batch the first dimension is the channels'; dropout2d takes it for the batch all the same
  const rank = call.name.endsWith("1d") ? 3 : call.name.endsWith("3d") ? 5 : undefined;
  const first = input.shape.length + 1 === rank ? 1 : 2;
  const shape = p === 1 ? [] : input.shape.map((size, i) => (i < first ? size : 1));
  return multiplied(call, input, frame.empty(shape, input.dtype), call.values.inplace === true);
}

function alphaDropout(call: OperatorCall, feature: boolean): Tensor {
  const { frame } = call;
  const input = call.tensor("self");
  const p = numberOf(call.values.p);
  if (!call.boolean("training") || p === 0) return input;
  if (p === 1) return multiplied(call, input, frame.empty([], input.dtype), call.values.inplace === true);
  const shape = feature ? input.shape.map((size, i) => (i < 2 ? size : 1)) : input.shape;
  const noise = frame.empty(shape, input.dtype);
  const shift = frame.empty(shape, input.dtype);
  const scaled = multiplied(call, input, noise, call.values.inplace === true);
  return elementwiseOp(frame, "add", [scaled, shift], { inPlace: true });
}

function prelu(call: OperatorCall): Tensor {
  const { frame } = call;
  const weight = call.tensor("weight");
  const [input = call.tensor("self"), slope = weight] = lowPrecision(frame, [call.tensor("self"), weight]);
  const shape = input.shape.map((_, i) => (i === 1 ? elementCount(slope.shape) : 1));
  const wide =
    elementCount(slope.shape) === 1 && input.shape.length < 2 ? slope : reshape(frame, slope, shape);
  if (broadcastShapes(input.shape, wide.shape) === undefined) {
    call.fail(shapesDoNotFit(call.name, [input.shape, weight.shape]));
  }
  const result = elementwise(frame, [input, wide], input.dtype);
  differentiable(frame, {
    name: "PreluKernelBackward0",
    inputs: [input, wide],
    outputs: [result],
    saved: [input, wide],
    // One kernel makes both gradients, wanted or not.
    backward: (inner, [gradient], saved, wanted) => {
      if (gradient === undefined) return [];
      const made = [0, 1].map(() =>
        elementwise(inner, [gradient, ...saved.slice(0, 1).filter(isTensor)], gradient.dtype),
      );
      return made.map((each, i) => (wanted[i] === true ? each : undefined));
    },
  });
  return result;
}

const dropoutSignature = "self, p=0.5, training=True, inplace=False";

export const normalisationRows: readonly OperatorRow[] = [
  {
    names: [`${F}.batch_norm`, "torch.batch_norm"],
    signature:
      "input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5, " +
      "cudnn_enabled=True",
    run: batchNorm,
  },
  {
    names: [`${F}.instance_norm`, "torch.instance_norm"],
    signature:
      "input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, " +
      "eps=1e-5",
    run: instanceNorm,
  },
  {
    names: [`${F}.layer_norm`, "torch.layer_norm"],
    signature: "input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True",
    run: layerNorm,
  },
  {
    names: [`${F}.group_norm`, "torch.group_norm"],
    signature: "input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True",
    run: groupNorm,
  },
  {
    names: [`${F}.rms_norm`, "torch.rms_norm"],
    signature: "input, normalized_shape, weight=None, eps=None",
    run: rmsNorm,
  },
  {
    names: [`${F}.local_response_norm`],
    signature: "input, size, alpha=1e-4, beta=0.75, k=1.0",
    run: localResponseNorm,
  },
  { names: [`${F}.dropout`], signature: dropoutSignature, run: dropout },
  {
    names: ["torch.dropout"],
    signature: "self, p, train",
    run: (call) => call.op(`${F}.dropout`, [call.tensor("self"), call.value("p"), call.value("train")]),
  },
  {
    names: [`${F}.dropout1d`, `${F}.dropout2d`, `${F}.dropout3d`],
    signature: dropoutSignature,
    run: featureDropout,
  },
  {
    names: [`${F}.alpha_dropout`],
    signature: "self, p=0.5, training=False, inplace=False",
    run: (call) => alphaDropout(call, false),
  },
  {
    names: [`${F}.feature_alpha_dropout`],
    signature: "self, p=0.5, training=False, inplace=False",
    run: (call) => alphaDropout(call, true),
  },
  { names: [`${F}.prelu`, "torch.prelu"], signature: "self, weight", run: prelu },
];
