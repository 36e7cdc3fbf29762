/** What of an estimate is not understood, so that its figures are lower bounds. */
import { unknownReasons } from "../../messages/estimate";
import { message, type Message } from "../../messages/message";
import type { Span } from "../../python/tree";
import type { UnknownPart } from "../estimate";
import { unknownParts } from "../evaluate/nn/state";
import { rootOf } from "../evaluate/reasons";
import type { MissingModel } from "../evaluate/training/iteration";
import { leavesLossOpen, type TrainingSetup } from "../setup";
import { Unknown } from "../unknown";
import type { Built } from "./build";
import type { TracedStep } from "./reruns";
import { plainSpan } from "./spans";
import { isShared, type ModelStates } from "./states";

/** Everything that is left out of the figures of a built model and its step, where one was run. Empty where all is understood. */
export function notUnderstood(
  setup: TrainingSetup,
  built: Built,
  ran: TracedStep | undefined,
  states: ModelStates,
): UnknownPart[] {
  const { program, iteration } = built;
  const measure = ran?.measure;
  const isTraining = (setup.mode?.value ?? "train") === "train";
  const faults = measure?.fault === undefined ? [] : [measure.fault];
  const unknown = distinct([...missingParts(built), ...(ran?.noted ?? program.noted()), ...faults]);
  if (states.fault !== undefined) unknown.push({ span: setup.optimizer?.span, reason: states.fault });
  else if (isTraining && states.needs === undefined && measure !== undefined)
    unknown.push({ span: undefined, reason: message(unknownReasons.noOptimizer) });
  if (measure !== undefined) unknown.push(...ofStep(setup, built, isTraining));
  if (setup.defaultType !== undefined) unknown.push(otherType(setup));
  const unknownStep = iteration?.training.unknownStep;
  if (unknownStep !== undefined) unknown.push(stepUnknown(unknownStep));
  for (const { reason, span } of ran?.bounds ?? []) unknown.push({ reason, span: plainSpan(span) });
  return unknown;
}

/** What a step that was run does not say of the script's training. */
function ofStep(setup: TrainingSetup, built: Built, isTraining: boolean): UnknownPart[] {
  const unused = unusedBatch(setup, built);
  const found = unused === undefined ? [] : [unused];
  if (!isTraining) return found;
  const { changedLater, otherLoops } = setup;
  if (changedLater !== undefined)
    found.push({ span: changedLater.span, reason: message(unknownReasons.changedLater) });
  if (otherLoops !== undefined)
    found.push({ span: otherLoops.span, reason: message(unknownReasons.otherLoops) });
  const { replicated } = built.program.interpreter;
  if (replicated !== undefined && !isShared(setup))
    found.push({ span: plainSpan(replicated.span), reason: message(unknownReasons.buckets) });
  if (built.iteration === undefined && leavesLossOpen(setup))
    found.push({ span: undefined, reason: message(unknownReasons.scriptLoss) });
  return found;
}

/** Models and parts of models that are in none of the figures. */
export function missingParts({ model, iteration }: Built): Unknown[] {
  return [...unknownParts(model), ...(iteration?.unknownModels ?? []).map(modelUnknown)];
}

/** New tensors are of another type than they are taken for. */
export function otherType({ defaultType }: TrainingSetup): UnknownPart {
  return { span: plainSpan(defaultType?.span), reason: message(unknownReasons.defaultType) };
}

/** Something that the script treats as a model, of which no figure is known. */
export function modelUnknown({ name, reason }: MissingModel): Unknown {
  const because = rootOf(reason.reason);
  return new Unknown(message(unknownReasons.otherModel, { name, reason: because }), reason.span);
}

function stepUnknown({ reason, span }: Unknown): UnknownPart {
  return { span: plainSpan(span), reason: message(unknownReasons.unknownStep, { reason: rootOf(reason) }) };
}

/** A micro-batch that somebody asks for, where the sizes of the script's input do not depend on any. */
function unusedBatch({ batch, inputs }: TrainingSetup, { iteration }: Built): UnknownPart | undefined {
  if (batch === undefined || batch.from === "script" || batch.from === "default") return undefined;
  const isUsed =
    iteration === undefined
      ? inputs?.from !== "script" ||
        inputs.value.some(({ dimensions }) => dimensions.some(({ perSample }) => perSample))
      : iteration.batch !== undefined;
  return isUsed ? undefined : { span: plainSpan(batch.span), reason: message(unknownReasons.batchUnused) };
}

function distinct(unknown: readonly Unknown[]): UnknownPart[] {
  const found = new Map<string, UnknownPart>();
  for (const { reason, span } of unknown) {
    const inner = Object.values(reason.values).map((value) =>
      typeof value === "object" ? value.text.en : value,
    );
    const key = `${span?.start} ${reason.text.en} ${inner.join(" ")}`;
    if (!found.has(key)) found.set(key, unknownPart(reason, span));
  }
  return [...found.values()];
}

/** With the header that would say it, where a word of the command line is missing. */
export function unknownPart(reason: Message, span: Span | undefined): UnknownPart {
  const root = rootOf(reason);
  const keys = root.text === unknownReasons.commandLine ? root.values["keys"] : undefined;
  const part = { span: plainSpan(span), reason };
  return typeof keys === "string" ? { ...part, header: [keys] } : part;
}
