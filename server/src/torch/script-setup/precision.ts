/** The precision a script trains in. */
import type { Call, Expression, Node, Span } from "../../python/tree";
import { autocastContexts } from "../api";
import { isScaler } from "../api-kinds";
import type { ScriptPrecision, ScriptValue, SetupContext } from "../script-setup";
import { configuredPrecision } from "./deepspeed";
import { modelOf } from "./optimizer";

/** `Trainer(precision=…)`, `Fabric(precision=…)`: https://lightning.ai/docs/pytorch/stable/common/precision_basic.html */
const lightningPrecisions: Readonly<Record<string, ScriptPrecision>> = {
  "32": "fp32",
  "32-true": "fp32",
  "16": "amp-fp16",
  "16-mixed": "amp-fp16",
  bf16: "amp-bf16",
  "bf16-mixed": "amp-bf16",
  "16-true": "fp16",
  "bf16-true": "bf16",
};

/** `Accelerator(mixed_precision=…)`: https://huggingface.co/docs/accelerate/package_reference/accelerator */
const acceleratePrecisions: Readonly<Record<string, ScriptPrecision>> = {
  no: "fp32",
  fp16: "amp-fp16",
  bf16: "amp-bf16",
};

type Found = ScriptValue<ScriptPrecision> | undefined;
/** `none` when the script says nothing; `unknown` when it says something that cannot be read. */
type Answer = Found | "none" | "unknown";

export function precisionOf(context: SetupContext): Found {
  for (const ask of [fromDeepSpeed, fromTrainer, fromAutocast, fromScaler, fromCast]) {
    const answer = ask(context);
    if (answer === "unknown") return undefined;
    if (answer !== "none") return answer;
  }
  return undefined;
}

function fromDeepSpeed({ deepspeed }: SetupContext): Answer {
  return configuredPrecision(deepspeed) ?? "none";
}

function fromTrainer({ trainers, constants }: SetupContext): Answer {
  if (trainers.severalArguments) return "unknown";
  if (trainers.arguments !== undefined) return fromTrainingArguments(trainers.arguments, constants);
  const tables = [
    [trainers.lightning, "precision", lightningPrecisions],
    [trainers.accelerator, "mixed_precision", acceleratePrecisions],
  ] as const;
  for (const [call, name, table] of tables) {
    const given = call === undefined ? undefined : constants.argument(call, name);
    if (given === undefined) continue;
    const value = constants.valueOf(given);
    if (value === null) continue;
    const precision = value === undefined ? undefined : table[String(value)];
    return precision === undefined ? "unknown" : { value: precision, span: given };
  }
  return "none";
}

function fromTrainingArguments(call: Call, constants: SetupContext["constants"]): Answer {
  if (constants.hidesArguments(call)) return "unknown";
  for (const [name, precision] of [
    ["bf16", "amp-bf16"],
    ["fp16", "amp-fp16"],
  ] as const) {
    const given = constants.argument(call, name);
    if (given === undefined) continue;
    const value = constants.valueOf(given);
    if (value === undefined) return "unknown";
    if (value === true) return { value: precision, span: given };
  }
  return "none";
}

/** An autocast context that is entered inside a training loop or a function it calls, in whatever file the loop is. */
function fromAutocast(context: SetupContext): Answer {
  const own = autocastIn(context);
  const { elsewhere } = context;
  if (own !== "none" || elsewhere === undefined) return own;
  const there = autocastIn(elsewhere.context);
  return typeof there === "object" ? { ...there, span: elsewhere.call } : there;
}

function autocastIn(context: SetupContext): Answer {
  const { resolver, constants } = context;
  for (const call of resolver.callsOf((name) => autocastContexts.has(name))) {
    if (!isUsedInTraining(context, call)) continue;
    const name = resolver.qualifiedName(call.callee);
    const old = name !== "torch.amp.autocast";
    const enabled = constants.argument(call, "enabled", old ? 0 : 2);
    if (enabled !== undefined) {
      const value = constants.valueOf(enabled);
      if (value === false) continue;
      if (value !== true) return "unknown";
    }
    const dtype = constants.argument(call, "dtype", 1);
    if (dtype !== undefined) {
      const low = dtypeOf(context, dtype);
      return low === undefined ? "unknown" : { value: `amp-${low}`, span: call };
    }
    if (old) return name === "torch.cuda.amp.autocast" ? { value: "amp-fp16", span: call } : "unknown";
    const device = constants.valueOf(constants.argument(call, "device_type", 0));
    return device === "cuda" ? { value: "amp-fp16", span: call } : "unknown";
  }
  return "none";
}

function isUsedInTraining({ resolver, trainingLoops }: SetupContext, call: Call): boolean {
  const regions: Span[] = [];
  for (const { loop, events } of trainingLoops.loops) {
    regions.push(loop);
    for (const { places } of events)
      for (const place of places) if (place.kind === "call") regions.push(place.target);
  }
  const isInside = (span: Span): boolean =>
    regions.some(({ start, end }) => start <= span.start && span.end <= end);
  if (isInside(call)) return true;
  // `context = torch.autocast(…)` before the loop, `with context:` in it.
  const target = boundTo(call);
  const key = target === undefined ? undefined : resolver.keyOf(target);
  return key !== undefined && referencesWithKey(resolver, target, key).some(isInside);
}

function boundTo(call: Call): Expression | undefined {
  let node: Node | undefined = call.parent;
  while (node !== undefined && (node.kind === "Conditional" || node.kind === "Call")) node = node.parent;
  return node?.kind === "Assign" ? node.targets[0] : undefined;
}

function referencesWithKey(
  resolver: SetupContext["resolver"],
  target: Expression | undefined,
  key: string,
): readonly Expression[] {
  const id =
    target?.kind === "Name" ? target.id : target?.kind === "Attribute" ? target.attribute.id : undefined;
  if (id === undefined) return [];
  const candidates = [
    ...(resolver.index.namesById.get(id) ?? []),
    ...(resolver.index.attributesByName.get(id) ?? []),
  ];
  return candidates.filter((candidate) => resolver.keyOf(candidate) === key);
}

/** A scaler is of use for fp16 only. */
function fromScaler({ resolver, constants }: SetupContext): Answer {
  for (const call of resolver.callsOf(isScaler)) {
    const enabled = constants.argument(call, "enabled");
    const value = enabled === undefined ? true : constants.valueOf(enabled);
    if (value === false) continue;
    // A scaler without autocast: the model itself may be half, or autocast is somewhere we do not look.
    return "unknown";
  }
  return "none";
}

/** `model.half()`, `model.to(torch.bfloat16)`, `from_pretrained(torch_dtype=…)` on the trained model. */
function fromCast(context: SetupContext): Answer {
  const { resolver, constants } = context;
  const model = modelOf(context)?.value;
  if (model?.construction === undefined) return "none";
  const loaded =
    constants.argument(model.construction, "torch_dtype") ?? constants.argument(model.construction, "dtype");
  if (loaded !== undefined) {
    const dtype = dtypeOf(context, loaded);
    if (dtype !== undefined) return { value: dtype, span: loaded };
    return resolver.qualifiedName(loaded) === "torch.float32" ? { value: "fp32", span: loaded } : "unknown";
  }
  for (const method of ["half", "bfloat16", "to"]) {
    for (const call of resolver.index.callsByName.get(method) ?? []) {
      if (call.callee.kind !== "Attribute") continue;
      if (resolver.objectOf(call.callee.object)?.construction !== model.construction) continue;
      const dtype = method === "half" ? "fp16" : method === "bfloat16" ? "bf16" : castOf(context, call);
      if (dtype !== undefined) return { value: dtype, span: call };
    }
  }
  return "none";
}

function castOf(context: SetupContext, call: Call): "fp16" | "bf16" | undefined {
  for (const argument of [...call.positional, ...call.keywords.map(({ value }) => value)]) {
    const dtype = dtypeOf(context, argument);
    if (dtype !== undefined) return dtype;
  }
  return undefined;
}

function dtypeOf({ resolver, constants }: SetupContext, expression: Expression): "fp16" | "bf16" | undefined {
  const names = [
    resolver.qualifiedName(expression),
    ...resolver.valuesOf(expression).map((value) => resolver.qualifiedName(value)),
  ];
  const given = names.find((name) => name !== undefined) ?? constants.valueOf(expression);
  if (given === "torch.float16" || given === "torch.half" || given === "float16") return "fp16";
  if (given === "torch.bfloat16" || given === "bfloat16") return "bf16";
  return undefined;
}
