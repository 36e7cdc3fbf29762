/**
 * What a header could say where nothing tells what the model is given: the inputs that classes of transformers take, and for
 * a model of the user's own whose `forward` takes one tensor, the first of some usual inputs of its first layer that its
 * forward runs through with. An example, never used for a figure: its sizes are for the user to change.
 */
import type { Built } from "./estimate/build";
import { neededParameters } from "./estimate/subject";
import { pretrainedInput } from "./evaluate/library/pretrained-input";
import { modulesOf } from "./evaluate/nn/state";
import { integer } from "./evaluate/numbers";
import { runStep } from "./evaluate/step";
import { FunctionValue, type ObjectValue } from "./evaluate/values";
import { inputText, type InputDimension, type InputSpecification, type TrainingSetup } from "./setup";

export interface ExampleInput {
  /** Of a header, e.g. `input=float32[B,3,224,224]`. */
  readonly entries: readonly string[];
  /** What its sizes stand for. */
  readonly kind: "text" | "images" | "data";
}

/**
 * Undefined where no example is known. Runs forwards of the model, whose traces stay in it: nothing may be asked of the
 * model afterwards.
 */
export function exampleInput(built: Built, setup: TrainingSetup): ExampleInput | undefined {
  const pretrained = pretrainedInput(built.model);
  if (pretrained !== undefined) {
    const isImages = pretrained.some((entry) => entry.startsWith("input=pixel_values="));
    return { entries: pretrained, kind: isImages ? "images" : "text" };
  }
  // A header speaks of one model, whatever copies of it there are.
  const isOne = (built.iteration?.trainedModels.length ?? 1) <= 1;
  if (!isOne || !takesOneInput(built.model)) return undefined;
  const accepted = candidates(built.model).find((candidate) => isAccepted(built, setup, candidate));
  return accepted && { entries: [`input=${inputText([accepted])}`], kind: "data" };
}

/** Those of its forward without defaults are one. */
function takesOneInput(model: ObjectValue): boolean {
  const forward = model.type.attribute("forward");
  // Containers of PyTorch's own, such as Sequential.
  if (!(forward instanceof FunctionValue)) return true;
  return neededParameters(forward).length === 1;
}

/** Sizes of images that models are written for, the most usual first: the heads of many fit one of them only. */
const imageSizes = [224, 32, 28, 64, 256] as const;
const sequenceLength = 128;
const soundLength = 16_000;
const videoSizes = [16, 112, 112] as const;

/** Dimensions behind the micro-batch that a first layer with so many input channels or features may get. */
const shapesByLayer: Readonly<Record<string, (channels: number) => readonly (readonly number[])[]>> = {
  "torch.nn.Conv2d": (channels) =>
    (channels === 1 ? [28, ...imageSizes] : imageSizes).map((size) => [channels, size, size]),
  "torch.nn.Conv1d": (channels) => [
    [channels, channels === 1 ? soundLength : sequenceLength],
    [sequenceLength, channels],
  ],
  "torch.nn.Conv3d": (channels) => [[channels, ...videoSizes]],
  "torch.nn.Linear": (features) => [[features], [sequenceLength, features], ...asImages(features)],
  "torch.nn.LSTM": (features) => [[sequenceLength, features]],
  "torch.nn.GRU": (features) => [[sequenceLength, features]],
  "torch.nn.RNN": (features) => [[sequenceLength, features]],
};

/** Images that a forward flattens into so many features. */
function asImages(features: number): number[][] {
  return [1, 3].flatMap((channels) => {
    const size = Math.sqrt(features / channels);
    return Number.isInteger(size) && size > 1 ? [[channels, size, size]] : [];
  });
}

/** Inputs by the first layer of the model, in the order of its registration, whose input is of a known form. */
function candidates(model: ObjectValue): InputSpecification[] {
  for (const layer of modulesOf(model)) {
    const path = layer.type.find((type) => type.path) ?? "";
    const read = (key: string): number | undefined => {
      const value = layer.attributes.get(key);
      return value === undefined ? undefined : integer(value);
    };
    if (path === "torch.nn.Embedding") {
      const bound = read("num_embeddings");
      if (bound === undefined) return [];
      return [[sequenceLength], []].map((sizes) => ({ ...specification(sizes), dtype: "int64", bound }));
    }
    const shapes = shapesByLayer[path];
    if (shapes === undefined) continue;
    const channels = read("in_channels") ?? read("in_features") ?? read("input_size");
    return channels === undefined ? [] : shapes(channels).map(specification);
  }
  return [];
}

function specification(sizes: readonly number[]): InputSpecification {
  const sample: InputDimension = { factor: 1, perSample: true };
  const dimensions = [sample, ...sizes.map((factor) => ({ factor, perSample: false }))];
  return { name: undefined, dtype: "float32", dimensions, bound: undefined };
}

/** Two samples, so that no dimension of 1 hides a shape that does not fit. */
function isAccepted({ program, model }: Built, setup: TrainingSetup, input: InputSpecification): boolean {
  const { noted } = program.interpreter;
  const before = noted.size;
  const { fault } = runStep(program, model, {
    batch: 2,
    inputs: [input],
    targets: [],
    loss: "none",
    precision: setup.precision?.value ?? "fp32",
    mode: "infer",
    forwardOnly: true,
  });
  return fault === undefined && noted.size === before;
}
