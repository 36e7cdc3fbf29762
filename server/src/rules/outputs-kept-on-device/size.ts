/** How much a model gives for each sample, as far as its construction or its class says so. */
import { foldInteger } from "../../python/constant";
import type { Call, ClassDefinition, Node } from "../../python/tree";
import { isWithin } from "../../python/walk";
import type { RuleContext } from "../rule";
import { callsWithin } from "../../torch/resolve-index";

/** `small`: no more than a few numbers a sample, which no data set makes a burden of. */
export type OutputSize = "small" | "large" | "unknown";

const fewNumbers = 128;
const widthNames =
  /^(num_classes|n_classes|num_labels|out_features|out_dim|output_dim|output_size|classes|out_channels)$/;
/** Heads of transformers that give a label or a score for each sample. */
const smallHeads =
  /For(SequenceClassification|MultipleChoice|NextSentencePrediction|ImageClassification|AudioClassification)\b/;

/** Models that give a map of classes for each sample, however few classes there are. */
const denseModels =
  /^torchvision\.models\.segmentation\.|^segmentation_models_pytorch\.|For(Semantic|Instance|Universal)Segmentation\b/;

/** Models that give a dictionary of boxes and scores for each image. */
const detectors = /^torchvision\.models\.detection\./;

/** The size of what a call of a model gives. */
export function outputSize(context: RuleContext, output: Call): OutputSize {
  const { torch } = context;
  const object = torch.resolve.objectOf(
    output.callee.kind === "Attribute" && output.callee.attribute.id === "forward"
      ? output.callee.object
      : output.callee,
  );
  if (denseModels.test(object?.className ?? "")) return "large";
  if (detectors.test(object?.className ?? "")) return "small";
  const given = object?.construction?.keywords.find(({ name }) => widthNames.test(name.id));
  if (given !== undefined) return sizeOf(foldInteger(given.value, context.scopes));
  const className = object?.className ?? "";
  if (smallHeads.test(className)) return "small";
  if (object?.classDefinition !== undefined) return sizeOfClass(context, object.classDefinition);
  if (/^torch\.nn\.(Sequential|Linear)$/.test(className) && object?.construction !== undefined)
    return sizeWithin(context, [object.construction]);
  return /^(torchvision|transformers|diffusers)\./.test(className) ? "large" : "unknown";
}

/** A class of this file, with the classes of this file that it builds: the last layer may be in any of them. */
function sizeOfClass(context: RuleContext, owner: ClassDefinition): OutputSize {
  const { resolve } = context.torch;
  const classes = new Set<ClassDefinition>([owner]);
  for (const one of classes) {
    for (const call of callsWithin(resolve.index, one)) {
      const built = resolve.constructedClass(call);
      if (built !== undefined) classes.add(built);
    }
  }
  return sizeWithin(context, [...classes]);
}

/** Small as soon as the last linear layer of one part is; large only where all of them are known to be. */
function sizeWithin(context: RuleContext, parts: readonly Node[]): OutputSize {
  const { resolve } = context.torch;
  const linear = resolve.index.callsByName.get("Linear") ?? [];
  const sizes = parts.flatMap((part) => {
    const last = linear.filter((call) => isWithin(call, part)).at(-1);
    if (last === undefined) return [];
    const width = last.positional[1] ?? last.keywords.find(({ name }) => name.id === "out_features")?.value;
    return [width === undefined ? ("unknown" as const) : sizeOf(foldInteger(width, context.scopes))];
  });
  if (sizes.includes("small")) return "small";
  if (sizes.includes("unknown")) return "unknown";
  const dense = parts.some((part) =>
    [...callsWithin(resolve.index, part)].some((call) => isConvolution(call)),
  );
  return sizes.length > 0 || dense ? "large" : "unknown";
}

function isConvolution({ callee }: Call): boolean {
  return callee.kind === "Attribute" && /^Conv(Transpose)?[123]d$/.test(callee.attribute.id);
}

function sizeOf(width: number | undefined): OutputSize {
  if (width === undefined) return "unknown";
  return width <= fewNumbers ? "small" : "large";
}
