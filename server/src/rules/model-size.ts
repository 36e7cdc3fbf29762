/** How large a model of the file is, for messages; nothing is evaluated before a rule asks. */
import type { ModelEstimate, ModelPlace, ModelWeights } from "../memory/estimate";
import { formatBytes } from "../memory/units";
import { sizeTexts } from "../messages/findings";
import { message, type MessageValue } from "../messages/message";
import type { Call, ClassDefinition, Expression } from "../python/tree";
import { argumentsOf } from "../torch/provenance/shapes";
import type { ResolvedObject } from "../torch/resolve";
import type { RuleContext } from "./rule";

/** What `{size, select, unknown {} …}` of a message leaves out. */
export const unknownSize = "unknown";

/** Bytes of all parameters and buffers, which is what a copy of the model or of its `state_dict()` takes. */
export function sizeOfWeights(model: Expression, context: RuleContext): MessageValue {
  const estimate = estimateOf(model, context);
  if (estimate === undefined) return unknownSize;
  return sizeOf(estimate.parameters.bytes + estimate.buffers.bytes, estimate.complete);
}

/** Bytes of a gradient for each parameter of the model, trained or not. */
export function sizeOfGradients(model: Expression, context: RuleContext): MessageValue {
  const estimate = estimateOf(model, context) ?? estimateOfUntrained(model, context);
  if (estimate === undefined) return unknownSize;
  return sizeOf(estimate.parameters.bytes, estimate.complete);
}

/**
 * The least that a checkpoint takes on the device which this `load_state_dict` of a model gets: what it holds besides the
 * weights is not known.
 */
export function leastCheckpointFor(load: Call, context: RuleContext): MessageValue {
  if (load.callee.kind !== "Attribute") return unknownSize;
  const estimate = estimateOf(load.callee.object, context);
  if (estimate === undefined) return unknownSize;
  return sizeOf(estimate.parameters.bytes + estimate.buffers.bytes, false);
}

/** Nothing is said where none of the parts is known. */
function sizeOf(bytes: number, isComplete: boolean): MessageValue {
  if (bytes === 0) return unknownSize;
  return message(isComplete ? sizeTexts.states : sizeTexts.statesAtLeast, { size: formatBytes(bytes) });
}

/** A model that the file makes: an instance of a class of its own, or what a call constructs. */
type MadeModel = Pick<ResolvedObject, "classDefinition" | "construction">;

/** The model that an expression evaluates to; undefined where the file does not say which of several that is. */
export function whichModel(model: Expression, context: RuleContext): MadeModel | undefined {
  const object = context.torch.resolve.objectOf(model);
  if (object === undefined) return undefined;
  const { classDefinition, construction } = object;
  if (classDefinition === undefined && construction === undefined) return undefined;
  return classDefinition !== undefined && isMadeInTwoWays(classDefinition, context) ? undefined : object;
}

/** The estimate's model is this one, or another of its class. */
export function isAt({ classDefinition, construction }: MadeModel, { span, classSpan }: ModelPlace): boolean {
  if (classDefinition !== undefined) return classSpan?.start === classDefinition.name.start;
  return span.start === construction?.start && span.end === construction.end;
}

/**
 * What a model of the file holds: it is the one that is trained, one that the training loop works with, or another of its class.
 * Undefined for any other model and for one that could not be built as a whole: what is left of a ResNet whose backbone is not
 * known may be a few KiB, which is true as a lower bound and says nothing.
 */
function estimateOf(model: Expression, context: RuleContext): ModelWeights | undefined {
  const made = whichModel(model, context);
  if (made === undefined) return undefined;
  const estimate = context.estimates.first();
  if (estimate === undefined || !isWhole(estimate)) return undefined;
  if (estimate.models !== undefined) return estimate.models.find((one) => one.complete && isAt(made, one));
  if (isBuiltFromDefaults(estimate) && !isMadeWithoutArguments(made)) return undefined;
  return isAt(made, estimate) ? estimate : undefined;
}

function isWhole({ notBuilt, missesParts }: ModelEstimate): boolean {
  return notBuilt !== true && missesParts !== true;
}

/** Nothing said how the class is made, so that its parameters' defaults are taken. */
function isBuiltFromDefaults({ assumptions }: ModelEstimate): boolean {
  return assumptions.some(({ key, from }) => key === "model" && from === "default");
}

function isMadeWithoutArguments({ construction }: MadeModel): boolean {
  return construction !== undefined && argumentsOf(construction).length === 0;
}

/** That of a class of the file which is made without arguments, everywhere. */
function estimateOfUntrained(model: Expression, context: RuleContext): ModelEstimate | undefined {
  const made = context.torch.resolve.objectOf(model);
  if (made?.classDefinition === undefined || !isMadeWithoutArguments(made)) return undefined;
  if (isMadeInTwoWays(made.classDefinition, context)) return undefined;
  const estimate = context.estimates.ofClass(made.classDefinition.name.id);
  return estimate !== undefined && isWhole(estimate) ? estimate : undefined;
}

/** A student and a teacher of one class: which of the two is called is not told apart. */
function isMadeInTwoWays(definition: ClassDefinition, { torch, source }: RuleContext): boolean {
  const { resolve } = torch;
  const texts = (resolve.index.callsByName.get(definition.name.id) ?? [])
    .filter((call: Call) => resolve.constructedClass(call) === definition)
    .map((call: Call) => source.slice(call).replaceAll(/\s+/g, ""));
  return new Set(texts).size > 1;
}
