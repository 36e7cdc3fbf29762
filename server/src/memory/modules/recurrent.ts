/** Recurrent layers: parameters as in torch/nn/modules/rnn.py, in the order in which they are registered. */
import { isSequence, type Argument } from "../operators/argument";
import { shapesDoNotFit } from "../operators/reasons";
import { NotUnderstood } from "../operators/values";
import { Tensor } from "../tensor";
import type { ConstructorContext, ForwardContext, ModuleRow } from "./module";
import {
  addParameter,
  argumentsOf,
  attribute,
  attributesOf,
  factory,
  ForwardFrame,
  keepAttributes,
} from "./rows";

type Kind = "LSTM" | "GRU" | "RNN";

const gates: Readonly<Record<Kind, number>> = { LSTM: 4, GRU: 3, RNN: 1 };

const layerAttributes = [
  "input_size",
  "hidden_size",
  "num_layers",
  "bias",
  "batch_first",
  "dropout",
  "bidirectional",
] as const;

function constructLayer(context: ConstructorContext, kind: Kind): undefined {
  const values = argumentsOf(context);
  keepAttributes(context, layerAttributes);
  const hidden = values.number("hidden_size");
  const projection = kind === "LSTM" ? values.number("proj_size") : 0;
  context.module.setAttribute("proj_size", projection);
  if (kind === "RNN") keepAttributes(context, ["nonlinearity"]);
  const directions = values.boolean("bidirectional") ? 2 : 1;
  const output = projection > 0 ? projection : hidden;
  const rows = gates[kind] * hidden;
  for (let layer = 0; layer < values.number("num_layers"); layer++) {
    const input = layer === 0 ? values.number("input_size") : output * directions;
    for (let direction = 0; direction < directions; direction++) {
      const suffix = `l${layer}${direction === 1 ? "_reverse" : ""}`;
      addParameter(context, `weight_ih_${suffix}`, [rows, input]);
      addParameter(context, `weight_hh_${suffix}`, [rows, output]);
      if (values.boolean("bias")) {
        addParameter(context, `bias_ih_${suffix}`, [rows]);
        addParameter(context, `bias_hh_${suffix}`, [rows]);
      }
      if (projection > 0) addParameter(context, `weight_hr_${suffix}`, [projection, hidden]);
    }
  }
  return undefined;
}

/** The layer's weights in the order `_flat_weights` has them. */
function flatWeights(context: ForwardContext, kind: Kind): Tensor[] {
  const own = attributesOf(context.module, ["num_layers", "bidirectional", "bias", "proj_size"]);
  const weights: Tensor[] = [];
  for (let layer = 0; layer < own.number("num_layers"); layer++) {
    for (const reverse of own.boolean("bidirectional") ? ["", "_reverse"] : [""]) {
      const names = ["weight_ih", "weight_hh", ...(own.boolean("bias") ? ["bias_ih", "bias_hh"] : [])];
      if (kind === "LSTM" && own.number("proj_size") > 0) names.push("weight_hr");
      for (const name of names) {
        const weight = attribute(context.module, `${name}_l${layer}${reverse}`);
        if (weight instanceof Tensor) weights.push(weight);
      }
    }
  }
  return weights;
}

function forwardLayer(context: ForwardContext, kind: Kind): Argument {
  const { values } = context;
  const input = values.input ?? null;
  if (!(input instanceof Tensor) || input.shape.length < 2 || input.shape.length > 3) {
    throw new NotUnderstood(shapesDoNotFit(context.torchClass, input instanceof Tensor ? [input.shape] : []));
  }
  if (input.shape.length === 3) return runLayer(context, kind, input, values.hx ?? null);
  // one sequence: a batch of one, and of the states too
  return ForwardFrame.run(context, (frame) => {
    const place = attribute(context.module, "batch_first") === true ? 0 : 1;
    const states = eachTensor(values.hx ?? null, (state) => frame.op("torch.unsqueeze", [state, 1]));
    const result = frame.own(runLayer(context, kind, frame.op("torch.unsqueeze", [input, place]), states));
    if (!isSequence(result)) return result;
    const [output = null, last = null] = result;
    return [
      frame.op("torch.squeeze", [output, place]),
      eachTensor(last, (state) => frame.op("torch.squeeze", [state, 1])),
    ];
  });
}

function eachTensor(value: Argument, change: (tensor: Tensor) => Tensor): Argument {
  if (value instanceof Tensor) return change(value);
  return isSequence(value) ? value.map((each) => eachTensor(each, change)) : value;
}

function runLayer(context: ForwardContext, kind: Kind, input: Tensor, states: Argument): Argument {
  const { execution, module, location } = context;
  return execution.call(
    `torch.${kind.toLowerCase()}`,
    [input, states, flatWeights(context, kind)],
    {
      hidden_size: attribute(module, "hidden_size"),
      proj_size: attribute(module, "proj_size"),
      has_biases: attribute(module, "bias"),
      num_layers: attribute(module, "num_layers"),
      dropout: attribute(module, "dropout"),
      train: module.training,
      bidirectional: attribute(module, "bidirectional"),
      batch_first: attribute(module, "batch_first"),
    },
    location,
  );
}

function layer(kind: Kind): ModuleRow {
  const own = kind === "LSTM" ? ", proj_size=0" : kind === "RNN" ? ", nonlinearity='tanh'" : "";
  return {
    name: `torch.nn.${kind}`,
    constructorParameters:
      "input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False" +
      `${own}, ${factory}`,
    construct: (context) => constructLayer(context, kind),
    forwardParameters: "input, hx=None",
    forward: (context) => forwardLayer(context, kind),
  };
}

function forwardCell(context: ForwardContext, kind: Kind): Argument {
  const { module, values } = context;
  const weights = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"].map((name) => attribute(module, name));
  return ForwardFrame.run(context, (frame) => {
    const call = (input: Argument, states: Argument): Argument =>
      frame.call(`torch.${kind.toLowerCase()}_cell`, [input, states, ...weights], {
        hidden_size: attribute(module, "hidden_size"),
      });
    const [input = null, states = null] = [values.input, values.hx];
    if (!(input instanceof Tensor) || input.shape.length !== 1) return call(input, states);
    const widened = eachTensor([input, states], (tensor) => frame.op("torch.unsqueeze", [tensor, 0]));
    const [row = null, rows = null] = isSequence(widened) ? widened : [];
    return eachTensor(call(row, rows), (tensor) => frame.op("torch.squeeze", [tensor, 0]));
  });
}

function cell(kind: Kind): ModuleRow {
  return {
    name: `torch.nn.${kind}Cell`,
    constructorParameters:
      "input_size, hidden_size, bias=True" + (kind === "RNN" ? ", nonlinearity='tanh'" : "") + `, ${factory}`,
    construct: (context) => {
      const values = argumentsOf(context);
      keepAttributes(context, ["input_size", "hidden_size", "bias"]);
      if (kind === "RNN") keepAttributes(context, ["nonlinearity"]);
      const rows = gates[kind] * values.number("hidden_size");
      addParameter(context, "weight_ih", [rows, values.number("input_size")]);
      addParameter(context, "weight_hh", [rows, values.number("hidden_size")]);
      const bias = values.boolean("bias") ? [rows] : undefined;
      addParameter(context, "bias_ih", bias);
      addParameter(context, "bias_hh", bias);
      return undefined;
    },
    forwardParameters: "input, hx=None",
    forward: (context) => forwardCell(context, kind),
  };
}

const kinds: readonly Kind[] = ["LSTM", "GRU", "RNN"];

export const recurrent: readonly ModuleRow[] = kinds.flatMap((kind) => [layer(kind), cell(kind)]);
