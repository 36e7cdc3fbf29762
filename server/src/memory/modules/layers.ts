/** Linear, convolution and embedding layers. Shapes of parameters: torch/nn/modules/{linear,conv,sparse}.py. */
import type { Argument } from "../operators/argument";
import { isSequence } from "../operators/argument";
import { Values } from "../operators/values";
import { Tensor } from "../tensor";
import type { ConstructorContext, ForwardContext, ModuleRow } from "./module";
import {
  addParameter,
  argumentsOf,
  attribute,
  attributesOf,
  attributeTensor,
  factory,
  ForwardFrame,
  keepAttributes,
} from "./rows";

const F = "torch.nn.functional";

const linear: ModuleRow = {
  name: "torch.nn.Linear",
  constructorParameters: `in_features, out_features, bias=True, ${factory}`,
  construct: (context) => {
    const values = argumentsOf(context);
    keepAttributes(context, ["in_features", "out_features"]);
    addParameter(context, "weight", [values.number("out_features"), values.number("in_features")]);
    addParameter(context, "bias", values.boolean("bias") ? [values.number("out_features")] : undefined);
    return undefined;
  },
  forwardParameters: "input",
  forward: callWith(`${F}.linear`, ["weight", "bias"]),
};

const bilinear: ModuleRow = {
  name: "torch.nn.Bilinear",
  constructorParameters: `in1_features, in2_features, out_features, bias=True, ${factory}`,
  construct: (context) => {
    const values = argumentsOf(context);
    keepAttributes(context, ["in1_features", "in2_features", "out_features"]);
    const out = values.number("out_features");
    addParameter(context, "weight", [out, values.number("in1_features"), values.number("in2_features")]);
    addParameter(context, "bias", values.boolean("bias") ? [out] : undefined);
    return undefined;
  },
  forwardParameters: "input1, input2",
  forward: ({ execution, module, values, location }) =>
    execution.call(
      `${F}.bilinear`,
      [values.input1 ?? null, values.input2 ?? null, attribute(module, "weight"), attribute(module, "bias")],
      {},
      location,
    ),
};

/** Calls a function with the input and these attributes, in order. */
function callWith(name: string, attributes: readonly string[]): ModuleRow["forward"] {
  return ({ execution, module, values, location }) =>
    execution.call(
      name,
      [values.input ?? null, ...attributes.map((each) => attribute(module, each))],
      {},
      location,
    );
}

// --- Convolutions ---------------------------------------------------------------------------------------------------

function convolution(rank: number): ModuleRow {
  return {
    name: `torch.nn.Conv${rank}d`,
    constructorParameters:
      "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, " +
      `padding_mode='zeros', ${factory}`,
    construct: (context) => {
      constructConvolution(context, rank, false);
      return undefined;
    },
    forwardParameters: "input",
    forward: (context) => forwardConvolution(context, rank),
  };
}

function transposedConvolution(rank: number): ModuleRow {
  return {
    name: `torch.nn.ConvTranspose${rank}d`,
    constructorParameters:
      "in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, " +
      `dilation=1, padding_mode='zeros', ${factory}`,
    construct: (context) => {
      constructConvolution(context, rank, true);
      return undefined;
    },
    forwardParameters: "input, output_size=None",
    forward: (context) => {
      const { execution, module, values, location } = context;
      const own = (name: string): Argument => attribute(module, name);
      const before = ["weight", "bias", "stride", "padding"].map(own);
      const rest = ["groups", "dilation"].map(own);
      return execution.call(
        `${F}.conv_transpose${rank}d`,
        [values.input ?? null, ...before, outputPadding(context, rank), ...rest],
        {},
        location,
      );
    },
  };
}

/** What is missing to the size that is asked for (torch/nn/modules/conv.py, _output_padding). */
function outputPadding(context: ForwardContext, rank: number): Argument {
  const { module, values, torchClass } = context;
  const input = values.input ?? null;
  if ((values.output_size ?? null) === null || !(input instanceof Tensor))
    return attribute(module, "output_padding");
  const asked = new Values(torchClass, values, []).integers("output_size").slice(-rank);
  const own = attributesOf(module, ["stride", "padding", "dilation", "kernel_size"]);
  const [stride, padding, dilation, kernel] = ["stride", "padding", "dilation", "kernel_size"].map((name) =>
    own.repeated(name, rank),
  );
  return asked.map((size, i) => {
    const reach = (dilation?.[i] ?? 1) * ((kernel?.[i] ?? 1) - 1) + 1;
    const least =
      ((input.shape.at(i - rank) ?? 1) - 1) * (stride?.[i] ?? 1) - 2 * (padding?.[i] ?? 0) + reach;
    return size - least;
  });
}

function constructConvolution(context: ConstructorContext, rank: number, transposed: boolean): void {
  const values = argumentsOf(context);
  const inputs = values.number("in_channels");
  const outputs = values.number("out_channels");
  const groups = values.number("groups");
  const kernel = values.repeated("kernel_size", rank);
  keepAttributes(context, ["in_channels", "out_channels", "groups", "padding_mode"]);
  const { module } = context;
  module.setAttribute("kernel_size", kernel);
  for (const name of ["stride", "dilation", ...(transposed ? ["output_padding"] : [])]) {
    module.setAttribute(name, values.repeated(name, rank));
  }
  const padding = values.value("padding");
  module.setAttribute("padding", typeof padding === "string" ? padding : values.repeated("padding", rank));
  const weight = transposed
    ? [inputs, Math.floor(outputs / groups), ...kernel]
    : [outputs, Math.floor(inputs / groups), ...kernel];
  addParameter(context, "weight", weight);
  addParameter(context, "bias", values.boolean("bias") ? [outputs] : undefined);
}

function forwardConvolution(context: ForwardContext, rank: number): Argument {
  const { module, values } = context;
  const arguments_ = ["weight", "bias", "stride", "padding", "dilation", "groups"].map((name) =>
    attribute(module, name),
  );
  const mode = attribute(module, "padding_mode");
  if (mode === "zeros") {
    return context.execution.call(
      `${F}.conv${rank}d`,
      [values.input ?? null, ...arguments_],
      {},
      context.location,
    );
  }
  // Other modes pad first (torch/nn/modules/conv.py, _reversed_padding_repeated_twice).
  const own = attributesOf(module, ["padding", "kernel_size", "dilation"]);
  return ForwardFrame.run(context, (frame) => {
    const pads = reversedPadding(own, rank);
    const padded = frame.op(`${F}.pad`, [values.input ?? null, pads], { mode });
    arguments_[3] = new Array<number>(rank).fill(0);
    return frame.op(`${F}.conv${rank}d`, [padded, ...arguments_]);
  });
}

/** Padding of both sides, last dimension first, as `F.pad` takes it. */
function reversedPadding(own: Values, rank: number): number[] {
  const padding = own.value("padding");
  const kernel = own.repeated("kernel_size", rank);
  const dilation = own.repeated("dilation", rank);
  const sides: [number, number][] = kernel.map((size, i) => {
    if (isSequence(padding)) {
      const each = own.repeated("padding", rank)[i] ?? 0;
      return [each, each];
    }
    if (padding === "valid") return [0, 0];
    const total = (dilation[i] ?? 1) * (size - 1);
    const left = Math.floor(total / 2);
    return [left, total - left];
  });
  return sides.reverse().flat();
}

// --- Embeddings -----------------------------------------------------------------------------------------------------

const embedding: ModuleRow = {
  name: "torch.nn.Embedding",
  constructorParameters:
    "num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, " +
    `sparse=False, _weight=None, _freeze=False, ${factory}`,
  construct: (context) => {
    constructEmbedding(context);
    return undefined;
  },
  forwardParameters: "input",
  forward: ({ execution, module, values, location }) =>
    execution.call(
      `${F}.embedding`,
      [
        values.input ?? null,
        ...["weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"].map((name) =>
          attribute(module, name),
        ),
      ],
      {},
      location,
    ),
};

function constructEmbedding(context: ConstructorContext): void {
  const values = argumentsOf(context);
  keepAttributes(context, [
    "num_embeddings",
    "embedding_dim",
    "padding_idx",
    "max_norm",
    "norm_type",
    "scale_grad_by_freq",
    "sparse",
  ]);
  const given = context.values._weight;
  if (given instanceof Tensor)
    context.module.registerParameter("weight", context.execution.parameterFrom(given));
  else addParameter(context, "weight", [values.number("num_embeddings"), values.number("embedding_dim")]);
  if (context.values._freeze !== true) return;
  const weight = attributeTensor(context.module, "weight");
  if (weight !== undefined) weight.requiresGrad = false;
}

const embeddingBag: ModuleRow = {
  name: "torch.nn.EmbeddingBag",
  constructorParameters:
    "num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode='mean', " +
    `sparse=False, _weight=None, include_last_offset=False, padding_idx=None, ${factory}`,
  construct: (context) => {
    constructEmbedding(context);
    keepAttributes(context, ["mode", "include_last_offset"]);
    return undefined;
  },
  forwardParameters: "input, offsets=None, per_sample_weights=None",
  forward: ({ execution, module, values, location }) =>
    execution.call(
      `${F}.embedding_bag`,
      [values.input ?? null, attribute(module, "weight"), values.offsets ?? null],
      {
        mode: attribute(module, "mode"),
        per_sample_weights: values.per_sample_weights ?? null,
        include_last_offset: attribute(module, "include_last_offset"),
        padding_idx: attribute(module, "padding_idx"),
        sparse: attribute(module, "sparse"),
      },
      location,
    ),
};

export const layers: readonly ModuleRow[] = [
  linear,
  bilinear,
  embedding,
  embeddingBag,
  ...[1, 2, 3].flatMap((rank) => [convolution(rank), transposedConvolution(rank)]),
];
