/**
 * A tensor with its graph given to `Trainer.log` of transformers, which appends its argument to `state.log_history` and
 * never takes it out again (`Trainer.log` in src/transformers/trainer.py).
 */
import type { Call, Expression } from "../../python/tree";
import { enclosingFunction } from "../../python/walk";
import { excerpt } from "../excerpt";
import { insertAt } from "../fix";
import { defineRule, oneLower, type RuleContext } from "../rule";

type MessageId = "kept" | "named" | "made" | "item";

export const rule = defineRule<MessageId>({
  name: "logged-tensor",
  group: "graph",
  level: "information",
  summary: {
    en: "A tensor with its graph is handed to a logger that keeps it.",
    "zh-cn": "带计算图的张量交给了会保留它的日志记录器。",
  },
  messages: {
    kept: {
      en: "`{call}` puts `{value}` into the trainer's `log_history` as it is: the tensor and its graph stay until the run ends, and saving the state fails, since a tensor with a graph can be neither copied nor written as JSON. Log the number: `{value}.item()`.",
      "zh-cn":
        "`{call}` 会把 `{value}` 原样放进训练器的 `log_history`：张量及其计算图会一直保留到运行结束，而且保存状态会失败，因为带计算图的张量既不能复制也不能写成 JSON。请记录数值：`{value}.item()`。",
    },
    named: {
      en: "If `{value}` is a tensor with its graph: `{call}` puts it into the trainer's `log_history` as it is, where it stays until the run ends, and saving the state fails, since a tensor with a graph can be neither copied nor written as JSON. Log the number: `{value}.item()`.",
      "zh-cn":
        "如果 `{value}` 是带计算图的张量：`{call}` 会把它原样放进训练器的 `log_history`，一直保留到运行结束，而且保存状态会失败，因为带计算图的张量既不能复制也不能写成 JSON。请记录数值：`{value}.item()`。",
    },
    made: { en: "The graph begins here.", "zh-cn": "计算图从这里开始。" },
    item: { en: "Log the number only: `.item()`", "zh-cn": "只记录数值：`.item()`" },
  },
  calls: ["log"],
  create: (context) => ({
    Call(call) {
      const { callee } = call;
      if (callee.kind === "Attribute" && callee.attribute.id === "log") check(context, call, callee.object);
    },
  }),
});

function check(context: RuleContext<MessageId>, call: Call, receiver: Expression): void {
  const { torch } = context;
  const [logs] = call.positional;
  if (logs?.kind !== "Dict" || !isTrainer(context, call, receiver)) return;
  for (const { value } of logs.entries) {
    const carried = torch.provenance.carried(value);
    if (carried.graph === "yes") report(context, call, value);
  }
}

/** `self` in a subclass of the Trainer that leaves `log` to it. */
function isTrainer({ torch }: RuleContext<MessageId>, call: Call, receiver: Expression): boolean {
  const around = enclosingFunction(call);
  if (receiver.kind !== "Name" || around?.kind !== "FunctionDefinition") return false;
  const owner = torch.resolve.enclosingClass(around);
  if (owner === undefined || around.parameters[0]?.name.id !== receiver.id) return false;
  return (
    torch.frameworks.ofClass(owner)?.name === "hf-trainer" &&
    torch.resolve.methodOf(owner, "log") === undefined
  );
}

function report(context: RuleContext<MessageId>, call: Call, value: Expression): void {
  const { source, torch } = context;
  const carried = torch.provenance.carried(value);
  const named = carried.certainty === "name";
  const [made] = carried.sources;
  const plain = value.kind === "Name" || value.kind === "Attribute" || value.kind === "Call";
  context.report({
    at: value,
    message: named ? "named" : "kept",
    values: { call: `${source.slice(call.callee)}()`, value: excerpt(source, value) },
    ...(named ? { level: oneLower("information") } : {}),
    related: made === undefined ? [] : [{ at: made, message: "made" }],
    fixes: plain
      ? [
          {
            title: "item",
            safety: carried.scalar ? "safe" : "review",
            edits: [insertAt(value.end, ".item()")],
          },
        ]
      : [],
  });
}
