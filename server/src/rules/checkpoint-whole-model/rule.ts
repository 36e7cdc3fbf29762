/** Checkpointing with the whole model as its only segment: everything is recomputed at once. */
import { foldInteger } from "../../python/constant";
import type { Call, ClassDefinition, Expression, FunctionDefinition, Node } from "../../python/tree";
import { enclosingFunction, enclosingLoop, walk } from "../../python/walk";
import type { ScriptModel } from "../../torch/script-setup";
import { defineRule, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  whole: {
    en: "`{model}` as a whole is one checkpointed segment: backward recomputes all of it before the first gradient, so all its activations exist at once, as they would without checkpointing, and the forward runs twice. Checkpoint its repeated blocks one by one; then the activations of one block exist at a time.",
    "zh-cn":
      "整个 `{model}` 是唯一的重计算段：反向在算出第一个梯度之前就要把它全部重算，所有激活同时存在，与不做激活重计算时一样，前向却要跑两遍。请逐个对其中重复的块做激活重计算，这样同一时刻只存在一个块的激活。",
  },
  oneSegment: {
    en: "`{call}` with one segment checkpoints nothing: the last segment always runs without it, and here that is everything. Give about the square root of the number of layers.",
    "zh-cn":
      "`{call}` 只有一段时不做任何激活重计算：最后一段总是照常运行，而这里它就是全部。请给出大约为层数平方根的段数。",
  },
  trained: { en: "This model is trained.", "zh-cn": "这是被训练的模型。" },
};

const wholeSegment =
  /^torch\.(utils\.checkpoint\.checkpoint|distributed\.algorithms\._checkpoint\.checkpoint_wrapper\.(ptd_)?checkpoint_wrapper)$/;
const sequential = /^torch\.utils\.checkpoint\.checkpoint_sequential$/;

export const rule = defineRule<MessageId>({
  name: "checkpoint-whole-model",
  group: "checkpointing",
  level: "warning",
  summary: {
    en: "The whole model is one checkpointed segment, recomputed all at once.",
    "zh-cn": "整个模型是一个重计算段，反向时一次全部重算。",
  },
  messages,
  calls: ["checkpoint", "checkpoint_sequential", "checkpoint_wrapper", "ptd_checkpoint_wrapper"],
  create: (context) => ({
    Call(call) {
      const name = context.torch.resolve.qualifiedName(call.callee);
      if (name === undefined) return;
      if (sequential.test(name)) checkSegments(context, call);
      else if (wholeSegment.test(name)) checkSegment(context, call);
    },
  }),
});

/** The loop of `checkpoint_sequential` leaves its last segment out, so that one segment means none. */
function checkSegments(context: RuleContext<MessageId>, call: Call): void {
  const segments = call.positional[1] ?? call.keywords.find(({ name }) => name.id === "segments")?.value;
  if (segments === undefined || foldInteger(segments, context.scopes) !== 1) return;
  context.report({
    at: call,
    message: "oneSegment",
    values: { call: `${context.source.slice(call.callee)}()` },
  });
}

function checkSegment(context: RuleContext<MessageId>, call: Call): void {
  const model = context.torch.scriptSetup.model?.value;
  const [segment] = call.positional;
  if (model === undefined || segment === undefined) return;
  const isWhole = isTrained(context, segment, model)
    ? isOnlyPass(context, call)
    : model.classDefinition !== undefined && coversForward(context, call, segment, model.classDefinition);
  if (!isWhole) return;
  const made = model.construction ?? model.expression;
  context.report({
    at: call,
    message: "whole",
    values: { model: context.source.slice(model.expression) },
    related: [{ at: made, message: "trained" }],
  });
}

/** The expression is the model whose parameters the optimizer has. */
function isTrained({ torch }: RuleContext, segment: Expression, model: ScriptModel): boolean {
  const { resolve } = torch;
  const plain =
    segment.kind === "Attribute" && /^(forward|module)$/.test(segment.attribute.id)
      ? segment.object
      : segment;
  const key = resolve.keyOf(plain);
  if (key !== undefined && key === resolve.keyOf(model.expression)) return true;
  const object = resolve.objectOf(plain);
  return (
    object?.role === "model" &&
    object.construction !== undefined &&
    object.construction === model.construction
  );
}

/** Several passes before one backward (chunks of a batch, two towers) are several segments. */
function isOnlyPass({ torch }: RuleContext, call: Call): boolean {
  const { resolve } = torch;
  const owner = enclosingFunction(call);
  const hasOther = resolve
    .callsOf((name) => wholeSegment.test(name))
    .some((other) => other !== call && enclosingFunction(other) === owner);
  if (hasOther || isInComprehension(call)) return false;
  const loop = enclosingLoop(call);
  if (loop !== undefined) return hasBackward(loop);
  if (owner?.kind !== "FunctionDefinition" || hasBackward(owner)) return owner?.kind !== "Lambda";
  return resolve.callsTo(owner).every((caller) => {
    const around = enclosingLoop(caller);
    return around === undefined || hasBackward(around);
  });
}

function isInComprehension(call: Call): boolean {
  for (let around: Node | undefined = call.parent; around !== undefined; around = around.parent) {
    if (around.kind === "Comprehension") return true;
    if (around.kind === "FunctionDefinition" || around.kind === "ClassDefinition") return false;
  }
  return false;
}

function hasBackward(root: Node): boolean {
  let found = false;
  walk(root, {
    enter(node) {
      if (node.kind === "Attribute" && /^(manual_)?backward$/.test(node.attribute.id)) found = true;
    },
  });
  return found;
}

/** `forward` of the trained class does nothing but checkpoint one method, function or submodule of it. */
function coversForward(
  { torch, source }: RuleContext,
  call: Call,
  segment: Expression,
  trained: ClassDefinition,
): boolean {
  const { resolve } = torch;
  const forward = resolve.methodOf(trained, "forward");
  if (forward === undefined || enclosingFunction(call) !== forward || enclosingLoop(call) !== undefined)
    return false;
  const isOwn = segment.kind === "Attribute" && resolve.classOf(segment.object) === trained;
  if (!isOwn && segment.kind !== "Lambda" && !isLocalFunction(resolve.scopes, segment, forward)) return false;
  const own = source.slice(segment);
  return !callsOf(forward).some((other) => {
    if (other === call || source.slice(other.callee) === own) return false;
    const { callee } = other;
    if (wholeSegment.test(resolve.qualifiedName(callee) ?? "")) return true;
    return callee.kind === "Attribute" && resolve.classOf(callee.object) === trained;
  });
}

function isLocalFunction(
  scopes: RuleContext["scopes"],
  segment: Expression,
  forward: FunctionDefinition,
): boolean {
  if (segment.kind !== "Name") return false;
  const [binding, other] = scopes.lookup(segment);
  return other === undefined && binding?.kind === "function" && enclosingFunction(binding.node) === forward;
}

/** The calls that a function makes itself; those of functions in it are part of the segment. */
function callsOf(target: FunctionDefinition): Call[] {
  const calls: Call[] = [];
  for (const statement of target.body) {
    walk(statement, {
      enter(node) {
        if (node.kind === "FunctionDefinition" || node.kind === "Lambda") return false;
        if (node.kind === "Call") calls.push(node);
        return undefined;
      },
    });
  }
  return calls;
}
