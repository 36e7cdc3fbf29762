/** What the script says about its training run, in the estimate's terms: `torch/` and `memory/` do not know each other. */
import type { World } from "../memory/evaluate/world";
import { inputsOfFit, inputsOfScript, type ScriptInputs } from "../memory/script-inputs";
import type { ModelSetting, Setting, TrainingSetup } from "../memory/setup";
import { isUnknown, Unknown } from "../memory/unknown";
import { unknownReasons } from "../messages/estimate";
import { message } from "../messages/message";
import type { Source } from "../python/source";
import type { Module, Span } from "../python/tree";
import type { ScriptFit, ScriptForward, ScriptIteration, ScriptLoss } from "../torch/script-setup";
import type { ScriptModel, ScriptSetup, ScriptValue } from "../torch/script-setup";

/** The estimate's names of PyTorch's loss functions; the modules of `torch.nn` compute the same. */
const lossNames: Readonly<Record<string, string>> = {
  "torch.nn.CrossEntropyLoss": "cross_entropy",
  "torch.nn.functional.cross_entropy": "cross_entropy",
  "torch.nn.NLLLoss": "nll_loss",
  "torch.nn.functional.nll_loss": "nll_loss",
  "torch.nn.MSELoss": "mse",
  "torch.nn.functional.mse_loss": "mse",
  "torch.nn.L1Loss": "l1",
  "torch.nn.functional.l1_loss": "l1",
  "torch.nn.BCELoss": "bce",
  "torch.nn.functional.binary_cross_entropy": "bce",
  "torch.nn.BCEWithLogitsLoss": "bce_with_logits",
  "torch.nn.functional.binary_cross_entropy_with_logits": "bce_with_logits",
};

/** Only what the script says for certain; the rest is absent. */
export function setupOfScript(script: ScriptSetup, source: Source): TrainingSetup {
  const setup: { -readonly [Key in keyof TrainingSetup]: TrainingSetup[Key] } = {
    batch: setting(script.batch, (value) => value),
    accumulate: setting(script.accumulate, (value) => value),
    devices: setting(script.devices, (value) => value),
    optimizer: setting(script.optimizer, ({ name, options, parts }) => ({
      name,
      options,
      ...(parts === undefined ? {} : { parts }),
    })),
    precision: setting(script.precision, (value) => value),
    loss: setting(script.loss, lossName),
    model: setting(script.model, (model) => construction(model, source)),
    shard: setting(script.shard, (value) => value),
    bucketViews: setting(script.bucketViews, (value) => value),
    offload: setting(script.offload, (value) => value),
    defaultType: setting(script.defaultType, (value) => value),
    changedLater: setting(script.changedLater, (value) => value),
  };
  for (const key of Object.keys(setup) as (keyof TrainingSetup)[]) {
    if (setup[key] === undefined) Reflect.deleteProperty(setup, key);
  }
  return setup;
}

/** The inputs that the training loop gives its model, and the micro-batch where nothing else says it. */
export function inputsOfLoop(
  module: Module,
  forward: ScriptValue<ScriptForward> | undefined,
  batch: ScriptValue<number> | undefined,
  world: World,
): TrainingSetup {
  if (forward === undefined) return {};
  const { value, span } = forward;
  const [other] = value.others;
  if (other !== undefined) return { inputsUnknown: new Unknown(message(unknownReasons.severalCalls), other) };
  return asSetup(inputsOfScript(module, value, world), batch, span);
}

/** The same for what Lightning's trainer gives to the `training_step`, which returns the loss. */
export function inputsOfTrainer(
  module: Module,
  fit: ScriptValue<ScriptFit> | undefined,
  batch: ScriptValue<number> | undefined,
  world: World,
): TrainingSetup {
  if (fit === undefined) return {};
  const { value, span } = fit;
  const found = asSetup(inputsOfFit(module, value, world), batch, span);
  if (found.inputs === undefined) return found;
  const loss = { value: "model", from: "script", span } as const;
  return { ...found, loss, clearsLate: { value: true, from: "script", span } };
}

function asSetup(
  found: ScriptInputs | Unknown,
  batch: ScriptValue<number> | undefined,
  span: Span,
): TrainingSetup {
  if (isUnknown(found)) return { inputsUnknown: found };
  return {
    inputs: { value: found.inputs, from: "script", span },
    ...(found.call === undefined ? {} : { call: { value: found.call, from: "script", span } }),
    ...(batch === undefined && found.batch !== undefined
      ? { batch: { value: found.batch, from: "script", span } }
      : {}),
  };
}

/**
 * The training loop, where what the script says of one model, its input and its loss does not make up an iteration.
 * Nothing where header or options say something else than the script about what is computed of the output, or ask about a
 * model alone. What they say of an input stands in for the loop's (`isFedByHeader` in `memory/estimate/model.ts`).
 */
export function iterationOfScript(
  iteration: ScriptValue<ScriptIteration> | undefined,
  { model, inputs, loss, optimizer }: TrainingSetup,
  given: TrainingSetup,
  otherLoops: ScriptValue<true> | undefined,
  source: Source,
): TrainingSetup {
  const isOtherLoss = given.loss !== undefined && given.loss.value !== loss?.value;
  if (isOtherLoss && iteration?.value.isOfOneInput !== false) return {};
  if (given.model !== undefined && !(given.inputs !== undefined && isOfScript(given.model.value, source)))
    return {};
  const others = setting(otherLoops, (value) => value);
  if (iteration === undefined) return others === undefined ? {} : { otherLoops: others };
  const isSaid = [model, inputs, loss, optimizer].every((setting) => setting !== undefined);
  const { value, span } = iteration;
  return isSaid && value.isOfOneModel ? {} : { iteration: { value, from: "script", span } };
}

/** Whether an expression is a name or a call that the script itself has, not another way to make a model. */
function isOfScript({ expression, text }: ModelSetting, source: Source): boolean {
  const code = source.text.replaceAll(/^#.*$/gm, "");
  return expression.kind === "Name" || (expression.kind === "Call" && code.includes(text));
}

/** `undefined` where the value has no counterpart in the estimate's terms. */
function setting<From, To>(
  given: ScriptValue<From> | undefined,
  convert: (value: From) => To | undefined,
): Setting<To> | undefined {
  const value = given === undefined ? undefined : convert(given.value);
  if (given === undefined || value === undefined) return undefined;
  const { span, literal } = given;
  return { value, from: "script", span, ...(literal === undefined ? {} : { literal }) };
}

/** A loss without reduction keeps another shape than the estimate's losses have; it stays unknown. */
function lossName({ name, form, reduction }: ScriptLoss): string | undefined {
  if (form === "model") return "model";
  return reduction === undefined || reduction === "mean" || reduction === "sum" ? lossNames[name] : undefined;
}

function construction({ construction: call, way }: ScriptModel, source: Source) {
  return call === undefined ? undefined : { text: source.slice(call), expression: call, way };
}
