/** `torch.utils.checkpoint.checkpoint` without `use_reentrant`: PyTorch warns and takes the old variant. */
import type { Call, Expression } from "../../python/tree";
import { ancestors, walk } from "../../python/walk";
import { appendArgument } from "../fix";
import { defineRule, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  notGiven: {
    en: "`{call}` without `use_reentrant` warns and takes the reentrant variant: where no input of the segment requires gradients, its parameters get none, with no more than a warning; `torch.autograd.grad` and keyword arguments do not work with it. A later release is to make the missing argument an error. Give `use_reentrant=False`, as PyTorch recommends.",
    "zh-cn":
      "`{call}` 没有给出 `use_reentrant`，会发出警告并采用可重入变体：如果该段没有任何输入需要梯度，其参数就得不到梯度，而且只有一条警告；`torch.autograd.grad` 和关键字参数也无法与它一起使用。以后的版本会把缺少该参数视为错误。请按 PyTorch 的建议给出 `use_reentrant=False`。",
  },
  add: { en: "Add `use_reentrant=False`", "zh-cn": "添加 `use_reentrant=False`" },
};

const checkpoints = /^torch\.utils\.checkpoint\.(checkpoint|checkpoint_sequential)$/;

export const rule = defineRule<MessageId>({
  name: "checkpoint-use-reentrant",
  group: "checkpointing",
  level: "information",
  summary: {
    en: "`checkpoint` is called without `use_reentrant`.",
    "zh-cn": "调用 `checkpoint` 时没有给出 `use_reentrant`。",
  },
  messages,
  calls: ["checkpoint", "checkpoint_sequential"],
  create: (context) => ({
    Call(call) {
      const name = context.torch.resolve.qualifiedName(call.callee);
      if (name === undefined || !checkpoints.test(name)) return;
      if (mayGiveIt(call, name) || dependsOnVersion(call)) return;
      report(context, call);
    },
  }),
});

/** By name, in place (the fourth of `checkpoint_sequential`), or inside a `**` that nobody can read. */
function mayGiveIt(call: Call, name: string): boolean {
  if (call.keywordSpreads.length > 0) return true;
  if (call.keywords.some((given) => given.name.id === "use_reentrant")) return true;
  if (!name.endsWith("_sequential")) return false;
  return call.positional.length > 3 || call.positional.some(({ kind }) => kind === "Starred");
}

/** In a branch for old releases, which do not know the argument. */
function dependsOnVersion(call: Call): boolean {
  for (const around of ancestors(call)) {
    if (around.kind === "FunctionDefinition") return false;
    if (around.kind === "If" && mentionsVersion(around.test)) return true;
  }
  return false;
}

function mentionsVersion(test: Expression): boolean {
  let found = false;
  walk(test, {
    enter(node) {
      const name = node.kind === "Name" ? node.id : node.kind === "Attribute" ? node.attribute.id : "";
      if (/version/i.test(name)) found = true;
    },
  });
  return found;
}

function report(context: RuleContext<MessageId>, call: Call): void {
  const { source } = context;
  const edit = appendArgument(source, call, "use_reentrant=False");
  context.report({
    at: call,
    message: "notGiven",
    values: { call: `${source.slice(call.callee)}()` },
    fixes: edit === undefined ? [] : [{ title: "add", safety: "review", edits: [edit] }],
  });
}
