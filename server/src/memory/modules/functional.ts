/** Modules without parameters: activations, dropout, pooling, padding, resizing, shapes, losses. */
import type { ModuleRow } from "./module";
import {
  addParameter,
  argumentsOf,
  attribute,
  factory,
  functionalModule,
  type FunctionalModule,
} from "./rows";

const F = "torch.nn.functional";
const inplace = { constructorParameters: "inplace=False", keywords: ["inplace"] } as const;

function activation(name: string, function_: string, rest: Partial<FunctionalModule> = {}): FunctionalModule {
  return { name, function: `${F}.${function_}`, ...rest };
}

const activations: readonly FunctionalModule[] = [
  activation("ReLU", "relu", inplace),
  activation("ReLU6", "relu6", inplace),
  activation("SELU", "selu", inplace),
  activation("SiLU", "silu", inplace),
  activation("Mish", "mish", inplace),
  activation("Hardswish", "hardswish", inplace),
  activation("Hardsigmoid", "hardsigmoid", inplace),
  activation("ELU", "elu", {
    constructorParameters: "alpha=1.0, inplace=False",
    keywords: ["alpha", "inplace"],
  }),
  activation("CELU", "celu", {
    constructorParameters: "alpha=1.0, inplace=False",
    keywords: ["alpha", "inplace"],
  }),
  activation("LeakyReLU", "leaky_relu", {
    constructorParameters: "negative_slope=0.01, inplace=False",
    keywords: ["negative_slope", "inplace"],
  }),
  activation("Hardtanh", "hardtanh", {
    constructorParameters: "min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None",
    keywords: ["min_val", "max_val", "inplace"],
  }),
  activation("Threshold", "threshold", {
    constructorParameters: "threshold, value, inplace=False",
    keywords: ["threshold", "value", "inplace"],
  }),
  activation("RReLU", "rrelu", {
    constructorParameters: "lower=0.125, upper=0.3333, inplace=False",
    keywords: ["lower", "upper", "inplace"],
    training: true,
  }),
  activation("GELU", "gelu", { constructorParameters: "approximate='none'", keywords: ["approximate"] }),
  activation("GLU", "glu", { constructorParameters: "dim=-1", keywords: ["dim"] }),
  activation("Softplus", "softplus", {
    constructorParameters: "beta=1.0, threshold=20.0",
    keywords: ["beta", "threshold"],
  }),
  activation("Hardshrink", "hardshrink", { constructorParameters: "lambd=0.5", keywords: ["lambd"] }),
  activation("Softshrink", "softshrink", { constructorParameters: "lambd=0.5", keywords: ["lambd"] }),
  { name: "Sigmoid", function: "torch.sigmoid" },
  { name: "Tanh", function: "torch.tanh" },
  activation("Softsign", "softsign"),
  activation("Tanhshrink", "tanhshrink"),
  activation("LogSigmoid", "logsigmoid"),
  activation("Softmax", "softmax", { constructorParameters: "dim=None", keywords: ["dim"] }),
  activation("Softmin", "softmin", { constructorParameters: "dim=None", keywords: ["dim"] }),
  activation("LogSoftmax", "log_softmax", { constructorParameters: "dim=None", keywords: ["dim"] }),
  activation("Softmax2d", "softmax", { constants: { dim: -3 } }),
];

const dropouts: readonly FunctionalModule[] = [
  ["Dropout", "dropout"],
  ["Dropout1d", "dropout1d"],
  ["Dropout2d", "dropout2d"],
  ["Dropout3d", "dropout3d"],
  ["AlphaDropout", "alpha_dropout"],
  ["FeatureAlphaDropout", "feature_alpha_dropout"],
].map(([name = "", function_ = ""]) =>
  activation(name, function_, {
    constructorParameters: "p=0.5, inplace=False",
    keywords: ["p", "inplace"],
    training: true,
  }),
);

const poolings: readonly FunctionalModule[] = [1, 2, 3].flatMap((rank) => [
  activation(`MaxPool${rank}d`, `max_pool${rank}d`, {
    constructorParameters:
      "kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False",
    keywords: ["kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices"],
  }),
  activation(`AvgPool${rank}d`, `avg_pool${rank}d`, {
    constructorParameters:
      "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True" +
      (rank > 1 ? ", divisor_override=None" : ""),
    keywords: ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"],
  }),
  activation(`AdaptiveAvgPool${rank}d`, `adaptive_avg_pool${rank}d`, {
    constructorParameters: "output_size",
    keywords: ["output_size"],
  }),
  activation(`AdaptiveMaxPool${rank}d`, `adaptive_max_pool${rank}d`, {
    constructorParameters: "output_size, return_indices=False",
    keywords: ["output_size", "return_indices"],
  }),
  activation(`MaxUnpool${rank}d`, `max_unpool${rank}d`, {
    constructorParameters: "kernel_size, stride=None, padding=0",
    forwardParameters: "input, indices, output_size=None",
    keywords: ["kernel_size", "stride", "padding"],
  }),
  activation(`LPPool${rank}d`, `lp_pool${rank}d`, {
    constructorParameters: "norm_type, kernel_size, stride=None, ceil_mode=False",
    keywords: ["norm_type", "kernel_size", "stride", "ceil_mode"],
  }),
]);

const fractional: readonly FunctionalModule[] = [2, 3].map((rank) =>
  activation(`FractionalMaxPool${rank}d`, `fractional_max_pool${rank}d`, {
    constructorParameters:
      "kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None",
    keywords: ["kernel_size", "output_size", "output_ratio", "return_indices"],
  }),
);

const paddings: readonly FunctionalModule[] = [1, 2, 3].flatMap((rank) => [
  ...[
    ["Reflection", "reflect"],
    ["Replication", "replicate"],
    ["Circular", "circular"],
  ].map(([name = "", mode = ""]) =>
    activation(`${name}Pad${rank}d`, "pad", {
      constructorParameters: "padding",
      keywords: { pad: "padding" },
      constants: { mode, rank },
    }),
  ),
  activation(`ZeroPad${rank}d`, "pad", {
    constructorParameters: "padding",
    keywords: { pad: "padding" },
    constants: { rank },
  }),
  activation(`ConstantPad${rank}d`, "pad", {
    constructorParameters: "padding, value",
    keywords: { pad: "padding", value: "value" },
    constants: { rank },
  }),
]);

const resizing: readonly FunctionalModule[] = [
  activation("Upsample", "interpolate", {
    constructorParameters:
      "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None",
    keywords: ["size", "scale_factor", "mode", "align_corners"],
  }),
  activation("UpsamplingNearest2d", "interpolate", {
    constructorParameters: "size=None, scale_factor=None",
    keywords: ["size", "scale_factor"],
  }),
  activation("UpsamplingBilinear2d", "interpolate", {
    constructorParameters: "size=None, scale_factor=None",
    keywords: ["size", "scale_factor"],
    constants: { mode: "bilinear", align_corners: true },
  }),
  activation("PixelShuffle", "pixel_shuffle", {
    constructorParameters: "upscale_factor",
    keywords: ["upscale_factor"],
  }),
  activation("PixelUnshuffle", "pixel_unshuffle", {
    constructorParameters: "downscale_factor",
    keywords: ["downscale_factor"],
  }),
  activation("ChannelShuffle", "channel_shuffle", {
    constructorParameters: "groups",
    keywords: ["groups"],
  }),
  activation("Unfold", "unfold", {
    constructorParameters: "kernel_size, dilation=1, padding=0, stride=1",
    keywords: ["kernel_size", "dilation", "padding", "stride"],
  }),
  activation("Fold", "fold", {
    constructorParameters: "output_size, kernel_size, dilation=1, padding=0, stride=1",
    keywords: ["output_size", "kernel_size", "dilation", "padding", "stride"],
  }),
  {
    name: "Flatten",
    constructorParameters: "start_dim=1, end_dim=-1",
    function: "torch.flatten",
    keywords: ["start_dim", "end_dim"],
  },
  {
    name: "Unflatten",
    constructorParameters: "dim, unflattened_size",
    function: "torch.unflatten",
    keywords: { dim: "dim", sizes: "unflattened_size" },
  },
  activation("CosineSimilarity", "cosine_similarity", {
    constructorParameters: "dim=1, eps=1e-8",
    forwardParameters: "x1, x2",
    keywords: ["dim", "eps"],
  }),
  activation("PairwiseDistance", "pairwise_distance", {
    constructorParameters: "p=2.0, eps=1e-6, keepdim=False",
    forwardParameters: "x1, x2",
    keywords: ["p", "eps", "keepdim"],
  }),
];

// --- Losses ---------------------------------------------------------------------------------------------------------

const legacy = "size_average=None, reduce=None, reduction='mean'";

function loss(name: string, function_: string, own = "", forward = "input, target"): FunctionalModule {
  const names = own.split(",").map((part) => part.split("=")[0]?.trim() ?? "");
  return activation(name, function_, {
    constructorParameters: own === "" ? legacy : `${own}, ${legacy}`,
    forwardParameters: forward,
    keywords: [...names.filter((each) => each !== ""), "reduction"],
    buffers: names.filter((each) => each === "weight"),
  });
}

/** Losses whose own arguments stand between or behind the historic ones. */
const orderedLosses: readonly FunctionalModule[] = [
  activation("CrossEntropyLoss", "cross_entropy", {
    constructorParameters:
      "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0",
    forwardParameters: "input, target",
    keywords: ["weight", "ignore_index", "reduction", "label_smoothing"],
    buffers: ["weight"],
  }),
  activation("NLLLoss", "nll_loss", {
    constructorParameters: "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
    forwardParameters: "input, target",
    keywords: ["weight", "ignore_index", "reduction"],
    buffers: ["weight"],
  }),
  activation("BCEWithLogitsLoss", "binary_cross_entropy_with_logits", {
    constructorParameters: `weight=None, ${legacy}, pos_weight=None`,
    forwardParameters: "input, target",
    keywords: ["weight", "pos_weight", "reduction"],
    buffers: ["weight", "pos_weight"],
  }),
  activation("KLDivLoss", "kl_div", {
    constructorParameters: `${legacy}, log_target=False`,
    forwardParameters: "input, target",
    keywords: ["reduction", "log_target"],
  }),
  activation("SmoothL1Loss", "smooth_l1_loss", {
    constructorParameters: `${legacy}, beta=1.0`,
    forwardParameters: "input, target",
    keywords: ["reduction", "beta"],
  }),
  activation("HuberLoss", "huber_loss", {
    constructorParameters: "reduction='mean', delta=1.0",
    forwardParameters: "input, target",
    keywords: ["reduction", "delta"],
  }),
  activation("PoissonNLLLoss", "poisson_nll_loss", {
    constructorParameters:
      "log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean'",
    forwardParameters: "log_input_tensor, target",
    keywords: ["log_input", "full", "eps", "reduction"],
  }),
  activation("GaussianNLLLoss", "gaussian_nll_loss", {
    constructorParameters: "full=False, eps=1e-6, reduction='mean'",
    forwardParameters: "input, target, var",
    keywords: ["full", "eps", "reduction"],
  }),
  activation("TripletMarginLoss", "triplet_margin_loss", {
    constructorParameters:
      "margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction='mean'",
    forwardParameters: "anchor, positive, negative",
    keywords: ["margin", "p", "eps", "swap", "reduction"],
  }),
];

const losses: readonly FunctionalModule[] = [
  ...orderedLosses,
  loss("MSELoss", "mse_loss"),
  loss("L1Loss", "l1_loss"),
  loss("SoftMarginLoss", "soft_margin_loss"),
  loss("BCELoss", "binary_cross_entropy", "weight=None"),
  loss("HingeEmbeddingLoss", "hinge_embedding_loss", "margin=1.0"),
  loss("CosineEmbeddingLoss", "cosine_embedding_loss", "margin=0.0", "input1, input2, target"),
  loss("MultiLabelMarginLoss", "multilabel_margin_loss"),
  loss("MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss", "weight=None"),
  activation("MultiMarginLoss", "multi_margin_loss", {
    constructorParameters: `p=1, margin=1.0, weight=None, ${legacy}`,
    forwardParameters: "input, target",
    keywords: ["p", "margin", "weight", "reduction"],
    buffers: ["weight"],
  }),
  activation("TripletMarginWithDistanceLoss", "triplet_margin_with_distance_loss", {
    constructorParameters: "*, distance_function=None, margin=1.0, swap=False, reduction='mean'",
    forwardParameters: "anchor, positive, negative",
    keywords: ["distance_function", "margin", "swap", "reduction"],
  }),
  activation("CTCLoss", "ctc_loss", {
    constructorParameters: "blank=0, reduction='mean', zero_infinity=False",
    forwardParameters: "log_probs, targets, input_lengths, target_lengths",
    keywords: ["blank", "reduction", "zero_infinity"],
  }),
  loss("MarginRankingLoss", "margin_ranking_loss", "margin=0.0", "input1, input2, target"),
];

// --- Others ---------------------------------------------------------------------------------------------------------

const prelu: ModuleRow = {
  name: "torch.nn.PReLU",
  constructorParameters: `num_parameters=1, init=0.25, ${factory}`,
  construct: (context) => {
    context.module.setAttribute("num_parameters", context.values.num_parameters ?? null);
    addParameter(context, "weight", [argumentsOf(context).number("num_parameters")]);
    return undefined;
  },
  forwardParameters: "input",
  forward: ({ execution, module, values, location }) =>
    execution.call(`${F}.prelu`, [values.input ?? null, attribute(module, "weight")], {}, location),
};

const identity: ModuleRow = {
  name: "torch.nn.Identity",
  constructorParameters: "*args, **kwargs",
  construct: () => undefined,
  forwardParameters: "input",
  forward: ({ execution, values }) => {
    const input = values.input ?? null;
    execution.retainAll(input);
    return input;
  },
};

export const functionalModules: readonly ModuleRow[] = [
  ...[...activations, ...dropouts, ...poolings, ...fractional, ...paddings, ...resizing, ...losses].map(
    functionalModule,
  ),
  prelu,
  identity,
];
