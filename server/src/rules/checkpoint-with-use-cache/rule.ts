/** Gradient checkpointing together with `use_cache=True`: the cache of keys and values has no place in recomputation. */
import type { Assign, BooleanLiteral, Call, Expression, Node } from "../../python/tree";
import { ancestors, enclosingFunction, enclosingStatement, isWithin } from "../../python/walk";
import { replaceSpan } from "../fix";
import { defineRule, oneLower, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  both: {
    en: "`{model}` is trained with gradient checkpointing, and here its key/value cache is turned on: recomputed layers cannot use one. Transformers turns it off again with a warning; a model that does not check keeps keys and values of every layer, and fills the cache a second time in backward. Set it to `False` for training.",
    "zh-cn":
      "`{model}` 使用激活重计算训练，而这里打开了它的键值缓存：被重算的层无法使用缓存。Transformers 会发出警告并再次关闭它；不做检查的模型会保留每一层的键和值，并在反向时再次写入缓存。训练时请设为 `False`。",
  },
  named: {
    en: "If `{model}` is a Transformers model: it is trained with gradient checkpointing, and here its key/value cache is turned on, which recomputed layers cannot use. Set it to `False` for training.",
    "zh-cn":
      "如果 `{model}` 是 Transformers 模型：它使用激活重计算训练，而这里打开了它的键值缓存，被重算的层无法使用缓存。训练时请设为 `False`。",
  },
  enabled: { en: "Gradient checkpointing is turned on here.", "zh-cn": "激活重计算在这里打开。" },
  off: { en: "Turn the cache off", "zh-cn": "关闭缓存" },
};

/** A place that turns the cache on, and the model it is for. */
interface Cache {
  readonly model: Expression;
  readonly value: BooleanLiteral;
  readonly form: "construction" | "call" | "setting";
}

const forInference = /gen|infer|eval|sampl|predict|save|merge|test|valid|export|chat|decod/i;

export const rule = defineRule<MessageId>({
  name: "checkpoint-with-use-cache",
  group: "checkpointing",
  level: "warning",
  summary: {
    en: "Gradient checkpointing is on and so is the key/value cache.",
    "zh-cn": "激活重计算与键值缓存同时打开。",
  },
  messages,
  create: (context) => {
    // Any call may have the argument; few files have the word.
    if (!context.source.text.includes("use_cache")) return {};
    return {
      Call(call) {
        const value = call.keywords.find(({ name }) => name.id === "use_cache")?.value;
        if (value?.kind !== "Boolean" || !value.value) return;
        const cache = cacheOfCall(context, call, value);
        if (cache !== undefined) check(context, cache);
      },
      Assign(statement) {
        const cache = cacheOfSetting(statement);
        if (cache?.value.value === true) check(context, cache);
      },
    };
  },
});

function cacheOfCall({ torch }: RuleContext, call: Call, value: BooleanLiteral): Cache | undefined {
  const { callee } = call;
  if (callee.kind === "Attribute" && /^from_(pretrained|config)$/.test(callee.attribute.id)) {
    const statement = enclosingStatement(call);
    const [target, other] = statement?.kind === "Assign" ? statement.targets : [];
    if (target === undefined || other !== undefined || torch.resolve.roleOf(target) !== "model")
      return undefined;
    return { model: target, value, form: "construction" };
  }
  if (torch.resolve.roleOf(callee) !== "model" || torch.resolve.qualifiedName(callee) !== undefined)
    return undefined;
  if (torch.provenance.gradientMode(call) !== "on") return undefined;
  return { model: callee, value, form: "call" };
}

/** `model.config.use_cache = …`. */
function cacheOfSetting({ targets, value }: Assign): Cache | undefined {
  const [target] = targets;
  if (targets.length !== 1 || target?.kind !== "Attribute" || value.kind !== "Boolean") return undefined;
  if (target.attribute.id !== "use_cache" || target.object.kind !== "Attribute") return undefined;
  const config = target.object;
  return config.attribute.id === "config" ? { model: config.object, value, form: "setting" } : undefined;
}

function check(context: RuleContext<MessageId>, cache: Cache): void {
  const { torch, source } = context;
  const key = torch.resolve.keyOf(cache.model);
  if (key === undefined) return;
  const enabled = enabledFor(context, key);
  if (enabled === undefined || isTurnedOff(context, key) || isForInference(context, cache, enabled)) return;
  const object = torch.resolve.objectOf(cache.model);
  const named = object === undefined || object.certainty === "name";
  context.report({
    at: enclosingKeyword(cache),
    message: named ? "named" : "both",
    values: { model: source.slice(cache.model) },
    level: named ? oneLower("warning") : "warning",
    related: [{ at: enabled, message: "enabled" }],
    fixes: [{ title: "off", safety: "safe", edits: [replaceSpan(cache.value, "False")] }],
  });
}

/** `use_cache=True` with its name, or the whole assignment. */
function enclosingKeyword({ value }: Cache): { readonly start: number; readonly end: number } {
  const { parent } = value;
  if (parent?.kind !== "Call") return parent ?? value;
  return parent.keywords.find((keyword) => keyword.value === value) ?? value;
}

/** `model.gradient_checkpointing_enable()`, or a Trainer of the model whose arguments say so. */
function enabledFor({ torch }: RuleContext, key: string): Node | undefined {
  const { resolve } = torch;
  for (const call of resolve.index.callsByName.get("gradient_checkpointing_enable") ?? []) {
    if (call.callee.kind === "Attribute" && resolve.keyOf(call.callee.object) === key) return call;
  }
  const configured = torch.scriptSetup.checkpointing.find(
    ({ form, call }) =>
      form === "library" && call.keywords.some(({ name }) => name.id === "gradient_checkpointing"),
  );
  if (configured === undefined) return undefined;
  for (const { framework, call } of torch.frameworks.made) {
    if (framework.name !== "hf-trainer") continue;
    const model = call.keywords.find(({ name }) => name.id === "model")?.value ?? call.positional[0];
    if (model !== undefined && resolve.keyOf(model) === key) return configured.call;
  }
  return undefined;
}

/** Somewhere the cache or the checkpointing of the same model is turned off: the script minds it. */
function isTurnedOff({ torch }: RuleContext, key: string): boolean {
  const { resolve } = torch;
  for (const call of resolve.index.callsByName.get("gradient_checkpointing_disable") ?? []) {
    if (call.callee.kind === "Attribute" && resolve.keyOf(call.callee.object) === key) return true;
  }
  for (const attribute of resolve.index.attributesByName.get("use_cache") ?? []) {
    const statement = enclosingStatement(attribute);
    if (statement?.kind !== "Assign" || !statement.targets.some((target) => target === attribute)) continue;
    const setting = cacheOfSetting(statement);
    // Computed from an option, or set on a configuration that may be the model's.
    if (setting === undefined || (!setting.value.value && resolve.keyOf(setting.model) === key)) return true;
  }
  return false;
}

/** Behind the training, in a function for inference, or in another branch than the checkpointing. */
function isForInference({ torch }: RuleContext, cache: Cache, enabled: Node): boolean {
  const owner = enclosingFunction(cache.value);
  if (owner?.kind === "FunctionDefinition" && forInference.test(owner.name.id)) return true;
  for (const around of ancestors(cache.value)) {
    if (around === owner) break;
    if (around.kind === "If" && !isWithin(enabled, around)) return true;
    if (around.kind === "If" && armOf(around, cache.value) !== armOf(around, enabled)) return true;
  }
  if (cache.form !== "setting") return false;
  const trains = [
    ...(torch.resolve.index.callsByName.get("train") ?? []).filter(
      (call) =>
        call.callee.kind === "Attribute" && torch.frameworks.ofObject(call.callee.object) !== undefined,
    ),
    ...torch.trainingLoops.loops.map(({ loop }) => loop),
  ];
  return trains.some(({ end }) => end < cache.value.start);
}

function armOf(branch: Extract<Node, { kind: "If" }>, node: Node): boolean {
  const [first] = branch.orelse;
  return first === undefined || node.start < first.start;
}
