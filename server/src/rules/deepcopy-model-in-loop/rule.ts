/**
 * `copy.deepcopy(model.state_dict())` in a training loop on the GPU: each copy takes the memory of the weights again, and the
 * new one is made while the one before is still held.
 */
import type { Call, Expression, Node } from "../../python/tree";
import { ancestors, enclosingFunction, enclosingStatement } from "../../python/walk";
import { gpuEvidence } from "../../torch/gpu";
import { headOf } from "../../torch/per-batch";
import { readsOfTarget } from "../../torch/reads";
import type { LoopNode } from "../../torch/training-loop";
import { quoted } from "../call-text";
import { replaceSpan } from "../fix";
import { sizeOfWeights } from "../model-size";
import { defineRule, type Level, type Report, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  each: {
    en: "Each iteration copies all weights of `{model}` on the GPU, and makes the new copy while `{holder}` still holds the one before: two more sets of weights{size, select, unknown {} other { (each {size})}} at the peak. Copy to the CPU.",
    "zh-cn":
      "每次迭代都在 GPU 上复制 `{model}` 的全部权重，而且制作新副本时 `{holder}` 仍持有上一个：峰值时多出两份权重{size, select, unknown {} other {（每份{size}）}}。请复制到 CPU。",
  },
  best: {
    en: "`{holder}` keeps a second set of the weights of `{model}`{size, select, unknown {} other { ({size})}} on the GPU all through training, a third while it is renewed. A copy on the CPU takes no GPU memory.",
    "zh-cn":
      "`{holder}` 在整个训练期间都在 GPU 上保存 `{model}` 的第二份权重{size, select, unknown {} other {（{size}）}}，更新时还有第三份。放在 CPU 上则完全不占显存。",
  },
  piled: {
    en: "Each iteration adds a copy of all weights of `{model}`{size, select, unknown {} other { ({size})}} to `{holder}`, on the GPU, and nothing takes them out. Copy to the CPU.",
    "zh-cn":
      "每次迭代都在 GPU 上向 `{holder}` 添加一份 `{model}` 的全部权重{size, select, unknown {} other {（{size}）}}，而没有任何代码会移除它们。请复制到 CPU。",
  },
  loop: { en: "This loop trains.", "zh-cn": "这个循环进行训练。" },
  onGpu: { en: "This shows that the file works on a GPU.", "zh-cn": "由此可见这个文件使用 GPU。" },
  copy: { en: "Copy each tensor to the CPU", "zh-cn": "把每个张量复制到 CPU" },
};

export const rule = defineRule<MessageId>({
  name: "deepcopy-model-in-loop",
  group: "loading",
  level: "warning",
  summary: {
    en: "A training loop copies all weights on the GPU with `copy.deepcopy`.",
    "zh-cn": "训练循环用 `copy.deepcopy` 在 GPU 上复制全部权重。",
  },
  messages,
  create: (context) => ({
    finish() {
      const { resolve } = context.torch;
      for (const call of resolve.index.callsByName.get("deepcopy") ?? [])
        if (resolve.qualifiedName(call.callee) === "copy.deepcopy") check(context, call);
    },
  }),
});

interface Copied {
  readonly model: Expression;
  /** `model.state_dict()`; `undefined` where the module itself is copied. */
  readonly state: Call | undefined;
}

function copiedBy({ torch: { resolve } }: RuleContext, call: Call): Copied | undefined {
  const [argument, other] = call.positional;
  if (argument === undefined || other !== undefined) return undefined;
  const isState =
    argument.kind === "Call" &&
    argument.callee.kind === "Attribute" &&
    argument.callee.attribute.id === "state_dict";
  const model = isState ? argument.callee.object : argument;
  if (model.kind !== "Name" && model.kind !== "Attribute") return undefined;
  const object = resolve.objectOf(model);
  if (object?.role !== "model") return undefined;
  return { model, state: isState ? argument : undefined };
}

interface Held {
  readonly holder: Expression;
  readonly appended: boolean;
}

/** Where the copy goes: a variable, an attribute, a list. What is saved or handed on at once is gone again. */
function heldBy(call: Call): Held | undefined {
  const { parent } = call;
  if (parent?.kind === "Assign") {
    const [target, other] = parent.targets;
    if (other !== undefined || (target?.kind !== "Name" && target?.kind !== "Attribute")) return undefined;
    return { holder: target, appended: false };
  }
  if (parent?.kind !== "Call" || parent.callee.kind !== "Attribute") return undefined;
  const { object, attribute } = parent.callee;
  if (attribute.id !== "append" || (object.kind !== "Name" && object.kind !== "Attribute")) return undefined;
  return { holder: object, appended: true };
}

function check(context: RuleContext<MessageId>, call: Call): void {
  const { torch, source } = context;
  const held = heldBy(call);
  const copied = held && copiedBy(context, call);
  if (held === undefined || copied === undefined) return;
  const gpu = gpuEvidence(torch);
  const loop = gpu && trainingLoopAround(context, call);
  if (gpu === undefined || loop === undefined) return;
  // A helper's own variable is gone when it returns.
  const isHelper = enclosingFunction(loop) !== enclosingFunction(call);
  if (isHelper && held.holder.kind === "Name") return;
  const reads = readsOfTarget(torch.resolve, held.holder);
  if (!reads.every(isOnlyKept)) return;
  if (isRebuilt(context, copied.model, loop)) return;
  const { message, level } = kindOf(context, call, held, loop);
  context.report({
    at: call,
    message,
    level,
    values: {
      model: source.slice(copied.model),
      holder: source.slice(held.holder),
      size: sizeOfWeights(copied.model, context),
    },
    related: [
      {
        at: headOf(loop),
        message: "loop",
      },
      { at: gpu, message: "onGpu" },
    ],
    fixes: fixes(context, call, copied),
  });
}

/** The innermost loop around the call, if it trains in each iteration; helpers by the loops that call them. */
function trainingLoopAround({ torch }: RuleContext, call: Call): LoopNode | undefined {
  const { reach, backwards } = torch.provenance;
  const own = [...ancestors(call)].find(
    (node): node is LoopNode => node.kind === "For" || node.kind === "While",
  );
  const around = own === undefined ? reach.callingLoops(call) : [own];
  return around.find((loop) => backwards.some((backward) => reach.runsIn(loop, backward.call)));
}

function kindOf(
  context: RuleContext,
  call: Call,
  { holder, appended }: Held,
  loop: LoopNode,
): { readonly message: "each" | "best" | "piled"; readonly level: Level } {
  if (appended)
    return { message: "piled", level: isEmptied(context, holder, loop) ? "information" : "warning" };
  // What a helper does for the loop may hang on a condition at its call.
  const isHelper = enclosingFunction(loop) !== enclosingFunction(call);
  if (isHelper || isConditional(call, loop)) return { message: "best", level: "information" };
  return { message: "each", level: isLoadedBack(context, holder, loop) ? "information" : "warning" };
}

/** Each round goes back to the copy: the algorithm needs it, and only where it lies is open. */
function isLoadedBack({ torch }: RuleContext, holder: Expression, loop: LoopNode): boolean {
  return readsOfTarget(torch.resolve, holder).some(
    ({ parent, start }) =>
      start > loop.start &&
      start < loop.end &&
      parent?.kind === "Call" &&
      parent.callee.kind === "Attribute" &&
      parent.callee.attribute.id === "load_state_dict",
  );
}

/** The list is made anew in a loop around: it holds what one round needs. */
function isEmptied({ torch }: RuleContext, list: Expression, loop: LoopNode): boolean {
  const outer = [...ancestors(loop)].some((node) => node.kind === "For" || node.kind === "While");
  if (outer || list.kind !== "Name") return true;
  const methods = /^(clear|pop|popleft)$/;
  return readsOfTarget(torch.resolve, list).some(
    ({ parent }) => parent?.kind === "Attribute" && methods.test(parent.attribute.id),
  );
}

function isConditional(call: Call, loop: LoopNode): boolean {
  for (const node of ancestors(call)) {
    if (node === loop) return false;
    if (node.kind === "If" || node.kind === "Match" || node.kind === "Try") return true;
  }
  return false;
}

/** What is called, trained or calculated with is needed where it is; a state that is loaded or saved is not. */
function isOnlyKept({ parent }: Expression): boolean {
  switch (parent?.kind) {
    case "Return":
    case "Comparison":
      return true;
    case "Attribute":
      return /^(state_dict|append|clear|pop|popleft)$/.test(parent.attribute.id);
    case "Call":
      return (
        parent.callee.kind === "Attribute" && /^(load_state_dict|save)$/.test(parent.callee.attribute.id)
      );
    default:
      return false;
  }
}

/** The model is made in the loop: rounds of a search, folds, clients. */
function isRebuilt({ torch }: RuleContext, model: Expression, loop: LoopNode): boolean {
  if (model.kind !== "Name") return false;
  const isIn = (node: Node): boolean => torch.provenance.reach.isInBody(loop, node);
  return torch.resolve.scopes
    .lookup(model)
    .some(({ kind, node }) => kind !== "parameter" && (isIn(node) || node === loop));
}

function fixes(
  { source }: RuleContext<MessageId>,
  call: Call,
  { state }: Copied,
): Report<MessageId>["fixes"] {
  if (state === undefined || enclosingStatement(call) === undefined) return [];
  const text = `{key: value.to(${quoted(source, "cpu")}, copy=True) for key, value in ${source.slice(state)}.items()}`;
  return [{ title: "copy", safety: "review", edits: [replaceSpan(call, text)] }];
}
