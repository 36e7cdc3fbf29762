/** Normalisation layers: parameters and buffers as in torch/nn/modules/{batchnorm,instancenorm,normalization}.py. */
import type { Argument } from "../operators/argument";
import type { ConstructorContext, ForwardContext, ModuleRow } from "./module";
import {
  addBuffer,
  addParameter,
  argumentsOf,
  attribute,
  factory,
  ForwardFrame,
  functionalModule,
  keepAttributes,
} from "./rows";

const F = "torch.nn.functional";

function constructTracked(context: ConstructorContext): undefined {
  const values = argumentsOf(context);
  keepAttributes(context, ["num_features", "eps", "momentum", "affine", "track_running_stats"]);
  const shape = [values.number("num_features")];
  const affine = values.boolean("affine");
  const tracked = values.boolean("track_running_stats");
  addParameter(context, "weight", affine ? shape : undefined);
  addParameter(context, "bias", affine ? shape : undefined);
  addBuffer(context, "running_mean", tracked ? shape : undefined);
  addBuffer(context, "running_var", tracked ? shape : undefined);
  addBuffer(context, "num_batches_tracked", tracked ? [] : undefined, "int64");
  return undefined;
}

function forwardBatchNorm({ execution, module, values, location }: ForwardContext): Argument {
  const mean = attribute(module, "running_mean");
  const variance = attribute(module, "running_var");
  const tracked = attribute(module, "track_running_stats") === true;
  return execution.call(
    `${F}.batch_norm`,
    [
      values.input ?? null,
      !module.training || tracked ? mean : null,
      !module.training || tracked ? variance : null,
      attribute(module, "weight"),
      attribute(module, "bias"),
      module.training || (mean === null && variance === null),
      attribute(module, "momentum"),
      attribute(module, "eps"),
    ],
    {},
    location,
  );
}

function forwardInstanceNorm(context: ForwardContext): Argument {
  const { module, values, torchClass } = context;
  return ForwardFrame.run(context, (frame) => {
    const given = frame.tensor("input", values.input ?? null);
    const rank = Number(torchClass.at(-2)) + 1;
    const isSingle = given.shape.length === rank;
    const normalised = frame.op(`${F}.instance_norm`, [
      isSingle ? frame.op("torch.unsqueeze", [given, 0]) : given,
      ...["running_mean", "running_var", "weight", "bias"].map((name) => attribute(module, name)),
      module.training || attribute(module, "track_running_stats") !== true,
    ]);
    return isSingle ? frame.op("torch.squeeze", [normalised, 0]) : normalised;
  });
}

function tracked(name: string, kind: "batch" | "instance"): ModuleRow {
  const affine = kind === "batch" ? "True" : "False";
  const process = name === "SyncBatchNorm" ? "process_group=None, " : "";
  return {
    name: `torch.nn.${name}`,
    constructorParameters:
      `num_features, eps=1e-5, momentum=0.1, affine=${affine}, track_running_stats=${affine}, ` +
      process +
      factory,
    construct: constructTracked,
    forwardParameters: "input",
    forward: kind === "batch" ? forwardBatchNorm : forwardInstanceNorm,
  };
}

const layerNorm: ModuleRow = {
  name: "torch.nn.LayerNorm",
  constructorParameters: `normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, ${factory}`,
  construct: (context) => {
    const values = argumentsOf(context);
    const shape = values.integers("normalized_shape");
    const affine = values.boolean("elementwise_affine");
    keepAttributes(context, ["eps", "elementwise_affine"]);
    context.module.setAttribute("normalized_shape", shape);
    addParameter(context, "weight", affine ? shape : undefined);
    addParameter(context, "bias", affine && values.boolean("bias") ? shape : undefined);
    return undefined;
  },
  forwardParameters: "input",
  forward: ({ execution, module, values, location }) =>
    execution.call(
      `${F}.layer_norm`,
      [
        values.input ?? null,
        ...["normalized_shape", "weight", "bias", "eps"].map((name) => attribute(module, name)),
      ],
      {},
      location,
    ),
};

const rmsNorm: ModuleRow = {
  name: "torch.nn.RMSNorm",
  constructorParameters: `normalized_shape, eps=None, elementwise_affine=True, ${factory}`,
  construct: (context) => {
    const values = argumentsOf(context);
    const shape = values.integers("normalized_shape");
    keepAttributes(context, ["eps", "elementwise_affine"]);
    context.module.setAttribute("normalized_shape", shape);
    addParameter(context, "weight", values.boolean("elementwise_affine") ? shape : undefined);
    return undefined;
  },
  forwardParameters: "input",
  forward: ({ execution, module, values, location }) =>
    execution.call(
      `${F}.rms_norm`,
      [values.input ?? null, ...["normalized_shape", "weight", "eps"].map((name) => attribute(module, name))],
      {},
      location,
    ),
};

const groupNorm: ModuleRow = {
  name: "torch.nn.GroupNorm",
  constructorParameters: `num_groups, num_channels, eps=1e-5, affine=True, ${factory}`,
  construct: (context) => {
    const values = argumentsOf(context);
    keepAttributes(context, ["num_groups", "num_channels", "eps", "affine"]);
    const shape = values.boolean("affine") ? [values.number("num_channels")] : undefined;
    addParameter(context, "weight", shape);
    addParameter(context, "bias", shape);
    return undefined;
  },
  forwardParameters: "input",
  forward: ({ execution, module, values, location }) =>
    execution.call(
      `${F}.group_norm`,
      [
        values.input ?? null,
        ...["num_groups", "weight", "bias", "eps"].map((name) => attribute(module, name)),
      ],
      {},
      location,
    ),
};

export const normalisation: readonly ModuleRow[] = [
  ...["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"].map((name) => tracked(name, "batch")),
  ...["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"].map((name) => tracked(name, "instance")),
  layerNorm,
  rmsNorm,
  groupNorm,
  functionalModule({
    name: "LocalResponseNorm",
    constructorParameters: "size, alpha=1e-4, beta=0.75, k=1.0",
    function: `${F}.local_response_norm`,
    keywords: ["size", "alpha", "beta", "k"],
  }),
];
