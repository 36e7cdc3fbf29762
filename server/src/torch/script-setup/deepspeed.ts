/**
 * DeepSpeed's configuration, as a dictionary of the script or a JSON file beside it.
 * https://www.deepspeed.ai/docs/config-json/
 */
import type { ReadBeside } from "../../python/resolve-import";
import type { Dict, Expression, Span } from "../../python/tree";
import type { Resolver } from "../resolve";
import type {
  ScriptOffload,
  ScriptOptimizer,
  ScriptPrecision,
  ScriptSharding,
  ScriptValue,
} from "../script-setup";
import type { Constant, Constants } from "./constants";
import type { TrainerCalls } from "./trainers";

/** What one key of the configuration says; `auto` leaves it to the Trainer that reads the configuration. */
export interface ConfiguredValue {
  readonly value: Constant;
  readonly span: Span;
}

export interface DeepSpeedConfiguration {
  /** Undefined when the key is not there or its value cannot be read. */
  value(...path: readonly string[]): ConfiguredValue | undefined;
}

/** The configuration that the script hands to DeepSpeed; undefined when there is none that can be read. */
export function deepSpeedConfiguration(
  resolver: Resolver,
  constants: Constants,
  trainers: TrainerCalls,
  readBeside: ReadBeside | undefined,
): DeepSpeedConfiguration | undefined {
  const given = configurationArgument(resolver, constants, trainers);
  if (given === undefined) return undefined;
  const dict = dictOf(resolver, given);
  if (dict !== undefined) return new ScriptConfiguration(resolver, constants, dict);
  const name = constants.valueOf(given);
  const text = typeof name === "string" ? readBeside?.(name) : undefined;
  return text === undefined ? undefined : fileConfiguration(text, given);
}

function configurationArgument(
  resolver: Resolver,
  constants: Constants,
  trainers: TrainerCalls,
): Expression | undefined {
  const [call, other] = resolver.callsOf((name) => name === "deepspeed.initialize");
  if (other !== undefined) return undefined;
  if (call !== undefined)
    return constants.argument(call, "config") ?? constants.argument(call, "config_params");
  return trainers.arguments === undefined ? undefined : constants.argument(trainers.arguments, "deepspeed");
}

function dictOf(resolver: Resolver, expression: Expression): Dict | undefined {
  if (expression.kind === "Dict") return expression;
  if (expression.kind !== "Name" && expression.kind !== "Attribute") return undefined;
  const [only, other] = resolver.valuesOf(expression);
  return only?.kind === "Dict" && other === undefined ? only : undefined;
}

class ScriptConfiguration implements DeepSpeedConfiguration {
  constructor(
    private readonly resolver: Resolver,
    private readonly constants: Constants,
    private readonly dict: Dict,
  ) {}

  value(...path: readonly string[]): ConfiguredValue | undefined {
    let dict: Dict | undefined = this.dict;
    for (const key of path.slice(0, -1)) {
      const inner: Expression | undefined = dict === undefined ? undefined : entry(dict, key);
      dict = inner === undefined ? undefined : dictOf(this.resolver, inner);
    }
    const last = path.at(-1);
    const found = dict === undefined || last === undefined ? undefined : entry(dict, last);
    const value = this.constants.valueOf(found);
    return found === undefined || value === undefined ? undefined : { value, span: found };
  }
}

function entry(dict: Dict, key: string): Expression | undefined {
  return dict.entries.findLast((item) => item.key?.kind === "String" && item.key.value === key)?.value;
}

/** Values of a JSON file stand where the script names the file. */
function fileConfiguration(text: string, span: Span): DeepSpeedConfiguration | undefined {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return undefined;
  }
  return {
    value(...path) {
      let value: unknown = root;
      for (const key of path) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
      return isConstant(value) ? { value, span } : undefined;
    },
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isConstant(value: unknown): value is Constant {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** A whole number above zero; undefined for `auto`. */
export function configuredCount(
  configuration: DeepSpeedConfiguration | undefined,
  key: string,
): ScriptValue<number> | undefined {
  const found = configuration?.value(key);
  return typeof found?.value === "number" && Number.isInteger(found.value) && found.value > 0
    ? { value: found.value, span: found.span }
    : undefined;
}

/**
 * `fp16.enabled` and `bf16.enabled`. DeepSpeed keeps fp32 master weights beside the low-precision ones; what mixed precision
 * keeps comes nearest: the same bytes for weights, gradients and optimizer state together.
 */
export function configuredPrecision(
  configuration: DeepSpeedConfiguration | undefined,
): ScriptValue<ScriptPrecision> | undefined {
  const keys = [
    ["bf16", "amp-bf16"],
    ["bfloat16", "amp-bf16"],
    ["fp16", "amp-fp16"],
  ] as const;
  for (const [key, value] of keys) {
    const enabled = configuration?.value(key, "enabled");
    if (enabled?.value === true) return { value, span: enabled.span };
  }
  return undefined;
}

/** `zero_optimization.stage`. */
export function configuredSharding(
  configuration: DeepSpeedConfiguration | undefined,
): ScriptValue<ScriptSharding> | undefined {
  const stage = configuration?.value("zero_optimization", "stage");
  const names: readonly (ScriptSharding | undefined)[] = [undefined, "zero1", "zero2", "zero3"];
  const value = typeof stage?.value === "number" ? names[stage.value] : undefined;
  return stage === undefined || value === undefined ? undefined : { value, span: stage.span };
}

/** `offload_param` moves the optimizer's state along: https://www.deepspeed.ai/docs/config-json/#parameter-offloading */
export function configuredOffload(
  configuration: DeepSpeedConfiguration | undefined,
): ScriptValue<ScriptOffload> | undefined {
  const keys = [
    ["offload_param", "parameters"],
    ["offload_optimizer", "optimizer"],
  ] as const;
  for (const [key, value] of keys) {
    const device = configuration?.value("zero_optimization", key, "device");
    if (device?.value === "cpu" || device?.value === "nvme") return { value, span: device.span };
  }
  return undefined;
}

/** `optimizer.type` as a class; `Adam` is AdamW unless `adam_w_mode` is off. */
export function configuredOptimizer(
  configuration: DeepSpeedConfiguration | undefined,
): ScriptValue<ScriptOptimizer> | undefined {
  const type = configuration?.value("optimizer", "type");
  if (type === undefined || typeof type.value !== "string") return undefined;
  const isPlainAdam = configuration?.value("optimizer", "params", "adam_w_mode")?.value === false;
  const names: Readonly<Record<string, string>> = {
    adam: isPlainAdam ? "torch.optim.Adam" : "torch.optim.AdamW",
    adamw: "torch.optim.AdamW",
    sgd: "torch.optim.SGD",
    adagrad: "torch.optim.Adagrad",
  };
  const name = names[type.value.toLowerCase()];
  if (name === undefined) return undefined;
  const momentum = configuration?.value("optimizer", "params", "momentum")?.value;
  const options: ScriptOptimizer["options"] =
    name === "torch.optim.SGD" && typeof momentum === "number" ? { momentum } : {};
  return { value: { name, options, complete: true }, span: type.span };
}
