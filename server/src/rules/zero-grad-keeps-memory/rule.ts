/** `zero_grad(set_to_none=False)`: zero-filled gradients stay allocated through the next forward. */
import { formatBytes } from "../../memory/units";
import type { Attribute, Call, Expression, Span } from "../../python/tree";
import type { Certainty } from "../../torch/resolve";
import { callsWithKeyword } from "../../torch/resolve-index";
import { excerpt } from "../excerpt";
import { deleteArgument } from "../fix";
import { defineRule, oneLower, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  kept: {
    en: "`{call}` fills the gradients with zeros and keeps them: one tensor as large as each parameter{size, select, unknown {} other { (≈ {size} in all)}} stays on the device through the next forward, while activations are stored, and backward has to add to it. Without the argument gradients become `None` and their memory is free until backward.",
    "zh-cn":
      "`{call}` 用零填充梯度并保留它们：每个参数对应一个同样大小的张量{size, select, unknown {} other {（合计约 {size}）}}在下一次前向保存激活期间一直占用显存，反向传播还要往上累加。去掉该参数后，梯度变为 `None`，其显存在反向传播之前是空闲的。",
  },
  named: {
    en: "If `{receiver}` is an optimizer or a model: `{call}` fills the gradients with zeros and keeps them: one tensor as large as each parameter stays on the device through the next forward, while activations are stored. Without the argument gradients become `None` and their memory is free until backward.",
    "zh-cn":
      "如果 `{receiver}` 是优化器或模型：`{call}` 用零填充梯度并保留它们：每个参数对应一个同样大小的张量在下一次前向保存激活期间一直占用显存。去掉该参数后，梯度变为 `None`，其显存在反向传播之前是空闲的。",
  },
  drop: { en: "Drop `{argument}`", "zh-cn": "去掉 `{argument}`" },
};

/** Captured steps write to the same gradient tensors each time. */
const cudaGraphs =
  /^torch\.(cuda|accelerator|xpu)\.(graphs\.)?(CUDAGraph|XPUGraph|Graph|graph|make_graphed_callables)$/;

export const rule = defineRule<MessageId>({
  name: "zero-grad-keeps-memory",
  group: "allocator",
  level: "warning",
  summary: {
    en: "`zero_grad(set_to_none=False)` keeps zero-filled gradients through the next forward.",
    "zh-cn": "`zero_grad(set_to_none=False)` 让填零的梯度在下一次前向期间一直占用显存。",
  },
  messages,
  calls: ["zero_grad"],
  create: (context) => ({
    Call(call) {
      const { callee } = call;
      if (callee.kind !== "Attribute" || callee.attribute.id !== "zero_grad") return;
      const argument = falseArgument(call);
      if (argument === undefined) return;
      const certainty = certaintyOf(context, call, callee.object);
      if (certainty === undefined || needsTensors(context)) return;
      report(context, call, callee, argument, certainty);
    },
  }),
});

/** `set_to_none=False`, or `False` in its place. */
function falseArgument(call: Call): Span | undefined {
  const keyword = call.keywords.find(({ name }) => name.id === "set_to_none");
  const value = keyword?.value ?? call.positional[0];
  if (value?.kind !== "Boolean" || value.value) return undefined;
  return keyword ?? value;
}

/** How well the object is known to be an optimizer or model of PyTorch's; `undefined` for anything else. */
function certaintyOf({ torch }: RuleContext, call: Call, receiver: Expression): Certainty | undefined {
  const object = torch.resolve.objectOf(receiver);
  if (object?.role !== "optimizer" && object?.role !== "model") return undefined;
  // A method of this file does what it likes; so do the optimizers of libraries with flat gradients.
  if (torch.resolve.functionOf(call) !== undefined) return undefined;
  if (/^(apex|deepspeed|fairscale|colossalai)\./.test(object.className ?? "")) return undefined;
  return object.certainty;
}

/** Code that reads gradients, replays captured steps or views them in buckets relies on the tensors staying. */
function needsTensors({ torch }: RuleContext): boolean {
  const { index } = torch.resolve;
  const reads = index.attributesByName.get("grad") ?? [];
  if (reads.some((read) => torch.resolve.qualifiedName(read) === undefined)) return true;
  if (torch.resolve.callsOf((name) => cudaGraphs.test(name)).length > 0) return true;
  return callsWithKeyword(torch.resolve, "gradient_as_bucket_view").length > 0;
}

function report(
  context: RuleContext<MessageId>,
  call: Call,
  callee: Attribute,
  argument: Span,
  certainty: Certainty,
): void {
  const { source } = context;
  const named = certainty === "name";
  context.report({
    at: call,
    message: named ? "named" : "kept",
    values: {
      call: excerpt(source, call),
      receiver: excerpt(source, callee.object),
      size: named ? "unknown" : sizeOf(context),
    },
    level: named ? oneLower("warning") : "warning",
    fixes: [
      {
        title: "drop",
        values: { argument: source.slice(argument) },
        safety: "review",
        edits: [deleteArgument(source, call, argument)],
      },
    ],
  });
}

/** The bytes of the trained model's gradients where the estimate knows all of them. */
function sizeOf({ torch, estimates }: RuleContext): string {
  const model = torch.scriptSetup.model?.value.classDefinition;
  const estimate = model && estimates.ofClass(model.name.id);
  return estimate?.complete === true ? formatBytes(estimate.gradients.bytes) : "unknown";
}
