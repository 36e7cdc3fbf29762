/** Checkpointing calls, and how states are spread over devices. */
import type { Call, Expression } from "../../python/tree";
import type {
  ScriptCheckpointing,
  ScriptOffload,
  ScriptSharding,
  ScriptValue,
  SetupContext,
} from "../script-setup";
import { configuredOffload, configuredSharding } from "./deepspeed";
import { bySource } from "../resolve-index";

const forms: readonly (readonly [RegExp, ScriptCheckpointing["form"]])[] = [
  [/^(torch\.utils\.checkpoint|deepspeed\.checkpointing)\.(checkpoint|checkpoint_sequential)$/, "segment"],
  [
    /^torch\.distributed\.algorithms\._checkpoint\.checkpoint_wrapper\.(checkpoint_wrapper|apply_activation_checkpointing)$/,
    "wrapper",
  ],
  [/^fairscale\.nn(\.checkpoint)?\.checkpoint_wrapper$/, "wrapper"],
];

/** Methods of Transformers, Diffusers and timm models that turn checkpointing on. */
const switches: readonly string[] = [
  "gradient_checkpointing_enable",
  "enable_gradient_checkpointing",
  "set_grad_checkpointing",
];

export function checkpointingOf({
  resolver,
  trainers,
  constants,
}: SetupContext): readonly ScriptCheckpointing[] {
  const found: ScriptCheckpointing[] = [];
  for (const [pattern, form] of forms) {
    for (const call of resolver.callsOf((name) => pattern.test(name))) found.push({ form, call });
  }
  for (const call of switches.flatMap((method) => resolver.index.callsByName.get(method) ?? [])) {
    if (call.callee.kind !== "Attribute") continue;
    if (constants.valueOf(call.positional[0]) !== false) found.push({ form: "library", call });
  }
  found.sort((one, other) => bySource(one.call, other.call));
  const configured = trainers.arguments;
  if (configured !== undefined) {
    const given = constants.argument(configured, "gradient_checkpointing");
    if (constants.valueOf(given) === true) found.push({ form: "library", call: configured });
  }
  return found;
}

/** Wrapper classes by canonical name. */
const wrappers: readonly (readonly [RegExp, ScriptSharding])[] = [
  [/^torch\.nn\.parallel\.DistributedDataParallel$|^apex\.parallel\.DistributedDataParallel$/, "ddp"],
  [/^torch\.distributed\.(fsdp|_composable\.fsdp)\.(\w+\.)*(FullyShardedDataParallel|fully_shard)$/, "fsdp"],
  [/^fairscale\.nn\.(\w+\.)*FullyShardedDataParallel$/, "fsdp"],
  [/^torch\.distributed\.optim\.(\w+\.)*ZeroRedundancyOptimizer$/, "zero-redundancy"],
];

/** `Trainer(strategy=…)`: https://lightning.ai/docs/pytorch/stable/extensions/strategy.html */
const strategies: Readonly<Record<string, ScriptSharding>> = {
  ddp: "ddp",
  ddp_spawn: "ddp",
  ddp_find_unused_parameters_true: "ddp",
  fsdp: "fsdp",
  deepspeed_stage_1: "zero1",
  deepspeed_stage_2: "zero2",
  deepspeed_stage_2_offload: "zero2",
  deepspeed_stage_3: "zero3",
  deepspeed_stage_3_offload: "zero3",
};

export function shardingOf(context: SetupContext): ScriptValue<ScriptSharding> | undefined {
  const configured = configuredSharding(context.deepspeed);
  if (configured !== undefined) return configured;
  const plugin = pluginSharding(context);
  if (plugin !== undefined) return plugin;
  const { resolver } = context;
  const found = new Map<ScriptSharding, Call>();
  for (const [pattern, shard] of wrappers) {
    const [call] = resolver.callsOf((name) => pattern.test(name));
    const before = found.get(shard);
    if (call !== undefined && (before === undefined || call.start < before.start)) found.set(shard, call);
  }
  // It shards the optimizer of a DDP model.
  if (found.has("zero-redundancy")) found.delete("ddp");
  const [only] = found;
  if (found.size === 1 && only !== undefined) return { value: only[0], span: only[1] };
  if (found.size > 1) return undefined;
  const { given, name } = strategyOf(context);
  const shard = name === undefined ? undefined : strategies[name];
  return given === undefined || shard === undefined ? undefined : { value: shard, span: given };
}

/** Where DDP's gradients are views of its buckets, not copies beside them. */
export function bucketViewsOf({ resolver, constants }: SetupContext): ScriptValue<true> | undefined {
  const wraps = resolver.callsOf((name) => wrapperOf(name) === "ddp");
  const given = wraps.map((call) => constants.argument(call, "gradient_as_bucket_view"));
  const [first] = given;
  const isEverywhere = given.every((value) => constants.valueOf(value) === true);
  return first !== undefined && isEverywhere ? { value: true, span: first } : undefined;
}

function wrapperOf(name: string): ScriptSharding | undefined {
  return wrappers.find(([pattern]) => pattern.test(name))?.[1];
}

/** States that DeepSpeed moves to the host's memory. */
export function offloadOf(context: SetupContext): ScriptValue<ScriptOffload> | undefined {
  const configured = configuredOffload(context.deepspeed);
  if (configured !== undefined) return configured;
  const { constants } = context;
  const call = pluginOf(context);
  if (call === undefined) {
    const { given, name } = strategyOf(context);
    const isOffloading = given !== undefined && /^deepspeed_stage_[23]_offload$/.test(name ?? "");
    return isOffloading
      ? { value: name === "deepspeed_stage_3_offload" ? "parameters" : "optimizer", span: given }
      : undefined;
  }
  for (const [argument, value] of offloadArguments) {
    const given = constants.argument(call, argument);
    const asked = constants.valueOf(given);
    if (given !== undefined && (asked === true || asked === "cpu" || asked === "nvme"))
      return { value, span: given };
  }
  return undefined;
}

/** Of Lightning's `DeepSpeedStrategy` and Accelerate's `DeepSpeedPlugin`, what moves most first. */
const offloadArguments = [
  ["offload_parameters", "parameters"],
  ["offload_param_device", "parameters"],
  ["offload_optimizer", "optimizer"],
  ["offload_optimizer_device", "optimizer"],
] as const;

const plugins =
  /^(accelerate\.(\w+\.)*DeepSpeedPlugin|lightning\.(pytorch|fabric)\.(\w+\.)*DeepSpeedStrategy)$/;

/** The only `DeepSpeedPlugin(…)` or `DeepSpeedStrategy(…)` of the file. */
function pluginOf({ resolver }: SetupContext): Call | undefined {
  const [only, other] = resolver.callsOf((name) => plugins.test(name));
  return other === undefined ? only : undefined;
}

/** Lightning's `strategy="…"`. */
function strategyOf({ constants, trainers }: SetupContext): {
  readonly given: Expression | undefined;
  readonly name: string | undefined;
} {
  const given =
    trainers.lightning === undefined ? undefined : constants.argument(trainers.lightning, "strategy");
  const name = constants.valueOf(given);
  return { given, name: typeof name === "string" ? name : undefined };
}

const stages: readonly (ScriptSharding | undefined)[] = [undefined, "zero1", "zero2", "zero3"];

/** `DeepSpeedPlugin(zero_stage=…)` and `DeepSpeedStrategy(stage=…)`; both take 2 when it is not given. */
function pluginSharding(context: SetupContext): ScriptValue<ScriptSharding> | undefined {
  const { constants } = context;
  const call = pluginOf(context);
  if (call === undefined || constants.hidesArguments(call)) return undefined;
  const given = constants.argument(call, "zero_stage") ?? constants.argument(call, "stage");
  const isConfigured = ["config", "hf_ds_config"].some(
    (name) => constants.argument(call, name) !== undefined,
  );
  if (given === undefined) return isConfigured ? undefined : { value: "zero2", span: call };
  const stage = constants.numberOf(given);
  const value = stage === undefined ? undefined : stages[stage];
  return value === undefined ? undefined : { value, span: given };
}
