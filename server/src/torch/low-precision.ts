/** Trained models whose weights are cast to half precision: `model.half()`, `.to(torch.float16)`, `torch_dtype=…`. */
import { keyword } from "../python/keyword";
import type { Call, Expression, Node } from "../python/tree";
import { ancestors, enclosingFunction } from "../python/walk";
import { modelWrappers, roleKeepingMethods } from "./api";
import type { TorchFacts } from "./facts";
import type { Resolver } from "./resolve";
import { identify, modelKeys, type TraceEvent, type TrainingLoop } from "./training-loop";

export type LowPrecision = "fp16" | "bf16";

export interface TrainedCast {
  readonly cast: Call;
  readonly precision: LowPrecision;
  readonly loop: TrainingLoop;
  /** A step of an optimizer that holds the model's parameters. */
  readonly step: TraceEvent;
  /** `torch.optim.AdamW(model.parameters())`. */
  readonly optimizer: Call;
}

const dtypes: Readonly<Record<string, LowPrecision>> = {
  "torch.float16": "fp16",
  "torch.half": "fp16",
  "torch.bfloat16": "bf16",
};

/**
 * Casts of models that an optimizer of `torch.optim` steps in a loop. A cast counts where it holds for the training: made
 * without a condition, in the function that makes the optimizer, and not undone by `.float()`.
 */
export function trainedCasts(torch: TorchFacts): TrainedCast[] {
  const casts = castsIn(torch.resolve);
  if (casts.length === 0) return [];
  const found: TrainedCast[] = [];
  for (const loop of torch.trainingLoops.loops) {
    for (const step of loop.steps) {
      const optimizer = optimizerOf(torch.resolve, step);
      if (optimizer === undefined || step.subject === undefined) continue;
      const owned = modelKeys(torch.resolve, identify(torch.resolve, step.subject, step.places));
      for (const { cast, precision, keys } of casts) {
        if (!keys.some((key) => owned.has(key)) || found.some((one) => one.cast === cast)) continue;
        if (enclosingFunction(cast) !== enclosingFunction(optimizer) || isBehind(cast, loop.loop)) continue;
        found.push({ cast, precision, loop, step, optimizer });
      }
    }
  }
  return found;
}

function isBehind(cast: Call, loop: Node): boolean {
  return enclosingFunction(cast) === enclosingFunction(loop) && cast.start > loop.start;
}

function optimizerOf(resolver: Resolver, step: TraceEvent): Call | undefined {
  const construction = step.subject && resolver.objectOf(step.subject)?.construction;
  const name = construction && resolver.qualifiedName(construction.callee);
  return name !== undefined && /^torch\.optim\.[A-Z]\w*$/.test(name) ? construction : undefined;
}

interface Cast {
  readonly cast: Call;
  readonly precision: LowPrecision;
  /** Of the variable that is cast, and of the one that the result is bound to. */
  readonly keys: readonly string[];
}

function castsIn(resolver: Resolver): Cast[] {
  const { callsByName } = resolver.index;
  const found: Cast[] = [];
  const add = (cast: Call, precision: LowPrecision | undefined): void => {
    if (precision === undefined || isConditional(cast) || isUndone(resolver, cast)) return;
    const keys = keysOf(resolver, cast);
    if (keys.length > 0) found.push({ cast, precision, keys });
  };
  for (const [method, precision] of [
    ["half", "fp16"],
    ["bfloat16", "bf16"],
  ] as const) {
    for (const call of callsByName.get(method) ?? [])
      if (call.positional.length === 0 && castsModel(resolver, call)) add(call, precision);
  }
  for (const call of callsByName.get("to") ?? []) {
    // The dtype first: most calls only move.
    const precision = givenDtype(resolver, [...call.positional, keyword(call, "dtype")]);
    if (precision !== undefined && castsModel(resolver, call)) add(call, precision);
  }
  for (const method of ["from_pretrained", "from_config"]) {
    for (const call of callsByName.get(method) ?? [])
      if (resolver.roleOf(call) === "model")
        add(call, givenDtype(resolver, [keyword(call, "torch_dtype"), keyword(call, "dtype")]));
  }
  return found;
}

function castsModel(resolver: Resolver, call: Call): boolean {
  return call.callee.kind === "Attribute" && resolver.roleOf(call.callee.object) === "model";
}

function givenDtype(
  resolver: Resolver,
  candidates: readonly (Expression | undefined)[],
): LowPrecision | undefined {
  for (const candidate of candidates) {
    if (candidate === undefined) continue;
    const values = resolver.valuesOf(candidate);
    const [only, other] = values.length > 0 ? values : [candidate];
    const name = only && other === undefined ? resolver.qualifiedName(only) : undefined;
    const precision = name === undefined ? undefined : dtypes[name];
    if (precision !== undefined) return precision;
  }
  return undefined;
}

/** Under a condition the model may be trained in another way. */
function isConditional(cast: Call): boolean {
  return [...ancestors(cast)].some(
    (node) =>
      node.kind === "If" || node.kind === "Conditional" || node.kind === "Match" || node.kind === "Try",
  );
}

function keysOf(resolver: Resolver, cast: Call): string[] {
  const keys: string[] = [];
  if (cast.callee.kind === "Attribute") {
    // `model.cuda().half()` casts `model` in place.
    let object = cast.callee.object;
    while (
      object.kind === "Call" &&
      object.callee.kind === "Attribute" &&
      keepsRole(object.callee.attribute.id)
    )
      object = object.callee.object;
    const key = resolver.keyOf(object);
    if (key !== undefined) keys.push(key);
  }
  let value: Expression = cast;
  for (let next = around(resolver, value); next !== undefined; next = around(resolver, value)) value = next;
  if (value.parent?.kind === "Assign") {
    for (const target of value.parent.targets) {
      const key = resolver.keyOf(target);
      if (key !== undefined) keys.push(key);
    }
  }
  return keys;
}

function keepsRole(method: string): boolean {
  return roleKeepingMethods.has(method) && method !== "float";
}

/** `DDP(model.half())`, `model.half().cuda()`. */
function around(resolver: Resolver, value: Expression): Expression | undefined {
  const { parent } = value;
  if (parent?.kind === "Attribute" && parent.parent?.kind === "Call" && parent.parent.callee === parent)
    return keepsRole(parent.attribute.id) ? parent.parent : undefined;
  if (parent?.kind !== "Call" || parent.positional[0] !== value) return undefined;
  const name = resolver.qualifiedName(parent.callee) ?? "";
  return modelWrappers.has(name) && !name.startsWith("copy.") ? parent : undefined;
}

/** `.float()` behind it, on the model or a part of it (`model.head.float()`), or on parameters one by one. */
function isUndone(resolver: Resolver, cast: Call): boolean {
  const keys = keysOf(resolver, cast);
  return (resolver.index.callsByName.get("float") ?? []).some(({ callee }) => {
    if (callee.kind !== "Attribute") return false;
    const { object } = callee;
    if (object === cast || isParameterData(object)) return true;
    const key = resolver.keyOf(object);
    return key !== undefined && keys.some((own) => key === own || key.startsWith(`${own}.`));
  });
}

/** `p.data.float()`. */
function isParameterData(expression: Expression): boolean {
  return (
    expression.kind === "Attribute" &&
    expression.attribute.id === "data" &&
    expression.object.kind === "Name" &&
    /^(p|param|parameter|weight)$/.test(expression.object.id)
  );
}

/** Adapters are made after the cast, in fp32, and they are what is trained. */
export function trainsAdapters({ index }: Resolver): boolean {
  for (const names of [index.namesById, index.attributesByName])
    for (const name of names.keys()) if (/lora|peft|adapter/i.test(name)) return true;
  return false;
}
