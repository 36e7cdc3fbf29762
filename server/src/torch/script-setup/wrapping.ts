/** Checkpointing calls, and how states are spread over devices. */
import type { Call } from "../../python/tree";
import type {
  ScriptCheckpointing,
  ScriptOffload,
  ScriptSharding,
  ScriptValue,
  SetupContext,
} from "../script-setup";
import { configuredOffload, configuredSharding } from "./deepspeed";

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
  for (const call of resolver.index.calls) {
    const name = resolver.qualifiedName(call.callee);
    const form = name === undefined ? undefined : forms.find(([pattern]) => pattern.test(name))?.[1];
    if (form !== undefined) found.push({ form, call });
    else if (call.callee.kind === "Attribute" && switches.includes(call.callee.attribute.id)) {
      if (constants.valueOf(call.positional[0]) !== false) found.push({ form: "library", call });
    }
  }
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
  [/^torch\.distributed\.optim\.(\w+\.)*ZeroRedundancyOptimizer$/, "zero1"],
];

/** `Trainer(strategy=…)`: https://lightning.ai/docs/pytorch/stable/extensions/strategy.html */
const strategies: Readonly<Record<string, ScriptSharding>> = {
  ddp: "ddp",
  ddp_spawn: "ddp",
  ddp_find_unused_parameters_true: "ddp",
  fsdp: "fsdp",
  deepspeed_stage_1: "zero1",
  deepspeed_stage_2: "zero2",
  deepspeed_stage_3: "zero3",
};

export function shardingOf(context: SetupContext): ScriptValue<ScriptSharding> | undefined {
  const configured = configuredSharding(context.deepspeed);
  if (configured !== undefined) return configured;
  const { resolver, constants, trainers } = context;
  const found = new Map<ScriptSharding, Call>();
  for (const call of resolver.index.calls) {
    const name = resolver.qualifiedName(call.callee);
    if (name === undefined) continue;
    const shard = wrapperOf(name);
    if (shard !== undefined && !found.has(shard)) found.set(shard, call);
  }
  // ZeRO-1 shards the optimizer of a DDP model.
  if (found.has("zero1")) found.delete("ddp");
  const [only] = found;
  if (found.size === 1 && only !== undefined) return { value: only[0], span: only[1] };
  if (found.size > 1 || trainers.lightning === undefined) return undefined;
  const given = constants.argument(trainers.lightning, "strategy");
  const name = constants.valueOf(given);
  const shard = typeof name === "string" ? strategies[name] : undefined;
  return given === undefined || shard === undefined ? undefined : { value: shard, span: given };
}

function wrapperOf(name: string): ScriptSharding | undefined {
  return wrappers.find(([pattern]) => pattern.test(name))?.[1];
}

/** States that DeepSpeed moves to the host's memory. */
export function offloadOf({ deepspeed }: SetupContext): ScriptValue<ScriptOffload> | undefined {
  return configuredOffload(deepspeed);
}
