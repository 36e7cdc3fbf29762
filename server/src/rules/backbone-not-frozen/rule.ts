/**
 * The only optimizer is given one part of a pretrained model, and the rest still requires gradients. What is saved for
 * backward and what gets a `.grad` is decided by `requires_grad` alone, whoever owns the parameters
 * (https://docs.pytorch.org/docs/stable/notes/autograd.html, "Setting requires_grad").
 */
import { keyword } from "../../python/keyword";
import type { Attribute, Call, Expression } from "../../python/tree";
import { enclosingStatement } from "../../python/walk";
import { isOptimizer } from "../../torch/api-kinds";
import { headOf } from "../../torch/per-batch";
import { callsWithin } from "../../torch/resolve-index";
import type { TrainingLoop } from "../../torch/training-loop";
import { insertLineBefore } from "../fix";
import { sizeOfGradients } from "../model-size";
import { defineRule, type RuleContext } from "../rule";

type MessageId = "trained" | "model" | "loop" | "freeze";

export const rule = defineRule<MessageId>({
  name: "backbone-not-frozen",
  group: "model",
  level: "warning",
  summary: {
    en: "The optimizer trains the head only, and the rest of the model still requires gradients.",
    "zh-cn": "优化器只训练头部，而模型的其余部分仍然需要梯度。",
  },
  messages: {
    trained: {
      en: "This optimizer updates `{part}` only, but all of `{model}` requires gradients: forward keeps the activations of the whole network for backward, and every parameter gets a gradient that stays{size, select, unknown {} other { ({size} in all)}}, of which only those of `{part}` are used. Freeze the rest before training: `{freeze}`, then `{thaw}`.",
      "zh-cn":
        "这个优化器只更新 `{part}`，但 `{model}` 的全部参数都需要梯度：前向会为反向传播保留整个网络的激活，每个参数都会得到一份一直占用内存的梯度{size, select, unknown {} other {（合计{size}）}}，其中只有 `{part}` 的梯度被用到。请在训练前冻结其余部分：先 `{freeze}`，再 `{thaw}`。",
    },
    model: { en: "The model is made here.", "zh-cn": "模型在这里创建。" },
    loop: { en: "It is trained in this loop.", "zh-cn": "它在这个循环中训练。" },
    freeze: { en: "Freeze all but `{part}`", "zh-cn": "冻结 `{part}` 以外的部分" },
  },
  calls: ["parameters"],
  create: (context) => {
    let asksAPart = false;
    return {
      Call({ callee }) {
        asksAPart ||= callee.kind === "Attribute" && callee.object.kind === "Attribute";
      },
      finish() {
        if (asksAPart) check(context);
      },
    };
  },
});

/** Models that come with trained weights. Their classes are not of this file, so that nothing in them is frozen unseen. */
const pretrained =
  /^(torchvision\.models\.|timm\.create_model$|timm\.models\.|transformers\.\w+\.from_pretrained$)/;

function check(context: RuleContext<MessageId>): void {
  const { torch, source } = context;
  const [optimizer, ...others] = torch.resolve.index.calls.filter((call) =>
    isOptimizer(torch.resolve.qualifiedName(call.callee) ?? ""),
  );
  if (optimizer === undefined || others.length > 0) return;
  const part = trainedPart(context, optimizer);
  const model = part && modelOf(part);
  const construction = model && torch.resolve.objectOf(model)?.construction;
  if (part === undefined || model === undefined || construction === undefined) return;
  if (!pretrained.test(torch.resolve.qualifiedName(construction.callee) ?? "")) return;
  if (mayFreeze(context)) return;
  const loop = torch.trainingLoops.loops.find((one) => runs(context, one, construction));
  if (loop === undefined) return;
  const texts = { part: source.slice(part), model: source.slice(model) };
  const freeze = `${texts.model}.requires_grad_(False)`;
  const thaw = `${texts.part}.requires_grad_(True)`;
  const statement = enclosingStatement(optimizer);
  const lines = [freeze, thaw].join(`${source.lineEnd}${source.indentationAt(statement?.start ?? 0)}`);
  const edit = statement && insertLineBefore(source, statement, lines);
  context.report({
    at: optimizer,
    message: "trained",
    values: { ...texts, freeze, thaw, size: sizeOfGradients(model, context) },
    related: [
      { at: construction, message: "model" },
      { at: headOf(loop.loop), message: "loop" },
    ],
    fixes: edit && [{ title: "freeze", values: { part: texts.part }, safety: "review", edits: [edit] }],
  });
}

/** `model.fc` of `SGD(model.fc.parameters())`, also behind a variable, in `list(…)` or in the only group. */
function trainedPart({ torch }: RuleContext, optimizer: Call): Attribute | undefined {
  let given = optimizer.positional[0] ?? keyword(optimizer, "params");
  if (given?.kind === "Name") {
    const values: readonly Expression[] = torch.resolve.valuesOf(given);
    given = values.length === 1 ? values[0] : undefined;
  }
  if (given?.kind === "List" && given.elements.length === 1) given = groupOf(given.elements[0]);
  if (given?.kind === "Call" && torch.resolve.qualifiedName(given.callee) === "builtins.list")
    given = given.positional[0];
  if (given?.kind !== "Call" || given.callee.kind !== "Attribute") return undefined;
  const { attribute, object } = given.callee;
  return attribute.id === "parameters" && object.kind === "Attribute" ? object : undefined;
}

/** What is under `"params"` in a group. */
function groupOf(group: Expression | undefined): Expression | undefined {
  if (group?.kind !== "Dict") return undefined;
  return group.entries.find(({ key }) => key?.kind === "String" && key.value === "params")?.value;
}

/** `model` of `model.fc`; of what lies in a wrapper (`model.module.fc`) nothing is said. */
function modelOf(part: Attribute): Expression | undefined {
  return part.object.kind === "Name" || part.object.kind === "Attribute" ? part.object : undefined;
}

/** Anything in the file that decides on gradients of parameters, or is named after it. */
function mayFreeze({ torch }: RuleContext): boolean {
  const { index } = torch.resolve;
  if (index.attributesByName.has("requires_grad") || index.attributesByName.has("requires_grad_"))
    return true;
  const names = [...index.callsByName.keys(), ...index.functionNames];
  return names.some((name) => /freez|frozen|requires_?grad|peft|lora/i.test(name));
}

/** The model itself is run in the loop, or in a function that the loop calls, with a graph. */
function runs({ torch }: RuleContext, { loop }: TrainingLoop, construction: Call): boolean {
  return [loop, ...torch.provenance.reach.functionsFrom([loop])].some((part) =>
    [...callsWithin(torch.resolve.index, part)].some(
      (call) =>
        torch.resolve.objectOf(call.callee)?.construction === construction &&
        torch.provenance.gradientMode(call) === "on",
    ),
  );
}
