/** Micro-batch, accumulation steps and devices of a script. */
import type { Call, Expression } from "../../python/tree";
import type { ScriptValue, SetupContext } from "../script-setup";
import type { Constants } from "./constants";
import { configuredCount } from "./deepspeed";

/**
 * `TrainingArguments.per_device_train_batch_size` when it is not given:
 * https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments
 */
const trainerDefaultBatch = 8;
/** Classes with `batch_size` as the second argument, 1 when not given. */
const sampleLoaders = /^(torch\.utils\.data\.DataLoader|torchdata\.(\w+\.)*StatefulDataLoader)$/;

export function batchOf(context: SetupContext): ScriptValue<number> | undefined {
  const { trainers, constants } = context;
  const configured = configuredCount(context.deepspeed, "train_micro_batch_size_per_gpu");
  if (configured !== undefined) return configured;
  if (trainers.severalArguments) return undefined;
  if (trainers.arguments !== undefined) {
    const call = trainers.arguments;
    if (constants.hidesArguments(call) || constants.argument(call, "auto_find_batch_size") !== undefined)
      return undefined;
    const given = constants.argument(call, "per_device_train_batch_size");
    if (given === undefined) return { value: trainerDefaultBatch, span: call };
    return countIn(constants, given);
  }
  return agreed(loadersOf(context).map((call) => batchOfLoader(context, call)));
}

/** The constructions of the loaders that training loops run over; without loops, the only loader or the one that shuffles. */
function loadersOf(context: SetupContext): readonly (Call | undefined)[] {
  const { resolver, trainingLoops } = context;
  const own = trainingLoops.loops.flatMap(({ loader }) => (loader === undefined ? [] : [loader]));
  const loaders = own.length > 0 ? own : loadersGiven(context);
  if (loaders.length > 0) return loaders.map((loader) => resolver.objectOf(loader)?.construction);
  const made = resolver.callsOf((name) => sampleLoaders.test(name));
  if (made.length <= 1) return made;
  const shuffling = made.filter(({ keywords }) =>
    keywords.some(({ name, value }) => name.id === "shuffle" && value.kind === "Boolean" && value.value),
  );
  return shuffling.length > 0 ? shuffling : [undefined];
}

/** Of a training loop in another file, the loaders that it is given by arguments of the call. */
function loadersGiven({ resolver, elsewhere }: SetupContext): Expression[] {
  if (elsewhere === undefined) return [];
  const { call, context, through } = elsewhere;
  const target = through[0]?.target;
  if (target?.kind !== "FunctionDefinition") return [];
  return context.trainingLoops.loops.flatMap(({ loader }) =>
    loader?.kind === "Name" ? (resolver.argumentFor(call, target, loader.id) ?? []) : [],
  );
}

function batchOfLoader(
  { resolver, constants }: SetupContext,
  call: Call | undefined,
): ScriptValue<number> | undefined {
  if (call === undefined || !sampleLoaders.test(resolver.qualifiedName(call.callee) ?? "")) return undefined;
  if (constants.argument(call, "batch_sampler") !== undefined) return undefined;
  const given = constants.argument(call, "batch_size", 1);
  if (given === undefined) return constants.hidesArguments(call) ? undefined : { value: 1, span: call };
  return countIn(constants, given);
}

function countIn(constants: Constants, given: Expression): ScriptValue<number> | undefined {
  const value = constants.countOf(given);
  if (value === undefined) return undefined;
  const literal = constants.literalOf(given);
  return { value, span: given, ...(literal === undefined ? {} : { literal }) };
}

/** The batch of the loader that an expression is, where the script says it: an evaluation's is seldom the training's. */
export function batchesOf(context: SetupContext): (loader: Expression) => number | undefined {
  return (loader) => batchOfLoader(context, context.resolver.objectOf(loader)?.construction)?.value;
}

export function accumulationOf(context: SetupContext): ScriptValue<number> | undefined {
  const { trainers, constants } = context;
  const own = configuredCount(context.deepspeed, "gradient_accumulation_steps");
  if (own !== undefined) return own;
  if (trainers.severalArguments) return undefined;
  const configured: readonly (readonly [Call | undefined, string])[] = [
    [trainers.arguments, "gradient_accumulation_steps"],
    [trainers.lightning, "accumulate_grad_batches"],
    [trainers.accelerator, "gradient_accumulation_steps"],
  ];
  for (const [call, name] of configured) {
    const given = call === undefined ? undefined : constants.argument(call, name);
    if (given === undefined) continue;
    const value = constants.countOf(given);
    return value === undefined ? undefined : { value, span: given };
  }
  const { elsewhere } = context;
  const found = accumulationIn(elsewhere?.context ?? context);
  return elsewhere === undefined || found === undefined ? found : { ...found, span: elsewhere.call };
}

/** What the training loops of a file wait for before they step. */
function accumulationIn({ trainingLoops, constants }: SetupContext): ScriptValue<number> | undefined {
  const loops = trainingLoops.loops.filter(({ accumulation }) => accumulation !== undefined);
  return agreed(
    loops.map(({ accumulation }) => {
      const steps = accumulation?.steps;
      const value = constants.countOf(steps);
      return steps === undefined || value === undefined ? undefined : { value, span: steps };
    }),
  );
}

export function devicesOf({ trainers, constants }: SetupContext): ScriptValue<number> | undefined {
  const call = trainers.lightning;
  const given =
    call === undefined
      ? undefined
      : (constants.argument(call, "devices") ?? constants.argument(call, "gpus"));
  const value = constants.countOf(given);
  return given === undefined || value === undefined ? undefined : { value, span: given };
}

/** The first of values that are all known and all equal. */
export function agreed<Value extends string | number>(
  values: readonly (ScriptValue<Value> | undefined)[],
): ScriptValue<Value> | undefined {
  const [first] = values;
  if (first === undefined) return undefined;
  if (!values.every((other) => other?.value === first.value)) return undefined;
  // Two numbers that agree are no longer one to be changed.
  const isOneNumber = values.every((other) => other?.literal === first.literal);
  return isOneNumber ? first : { value: first.value, span: first.span };
}
