/**
 * A model in fp16 trained with `GradScaler`. torch/amp/grad_scaler.py, `_unscale_grads_`: gradients in fp16 raise
 * "Attempting to unscale FP16 gradients."
 */
import type { Call } from "../../python/tree";
import { trainedCasts, trainsAdapters, type TrainedCast } from "../../torch/low-precision";
import { isDisabled, scalerOfStep } from "../../torch/scaling";
import { defineRule, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  half: {
    en: 'The weights are cast to fp16 here, so their gradients are fp16, and `{step}` stops with "Attempting to unscale FP16 gradients". `GradScaler` is made for fp32 weights: leave the model in fp32 and run the forward under `autocast`.',
    "zh-cn":
      "权重在这里转换为 fp16，因此梯度也是 fp16，`{step}` 会以 “Attempting to unscale FP16 gradients” 中止。`GradScaler` 用于 fp32 权重：请让模型保持 fp32，并在 `autocast` 下执行前向传播。",
  },
  step: { en: "The gradients are unscaled here.", "zh-cn": "梯度在这里除以缩放系数。" },
  optimizer: { en: "This optimizer holds the fp16 weights.", "zh-cn": "这个优化器持有 fp16 权重。" },
};

export const rule = defineRule<MessageId>({
  name: "half-model-with-scaler",
  group: "precision",
  level: "error",
  summary: {
    en: "A model in fp16 is trained with `GradScaler`, which stops at fp16 gradients.",
    "zh-cn": "用 `GradScaler` 训练 fp16 模型，遇到 fp16 梯度就会中止。",
  },
  messages,
  create: (context) => ({
    finish() {
      const { index } = context.torch.resolve;
      if (!index.namesById.has("GradScaler") && !index.attributesByName.has("GradScaler")) return;
      if (trainsAdapters(context.torch.resolve)) return;
      for (const found of trainedCasts(context.torch)) check(context, found);
    },
  }),
});

function check(
  context: RuleContext<MessageId>,
  { cast, precision, loop, step, optimizer }: TrainedCast,
): void {
  const { torch, source } = context;
  const scaler = scalerOfStep(torch.resolve, step);
  if (precision !== "fp16" || scaler === undefined || isDisabled(torch.resolve, scaler)) return;
  if (torch.resolve.objectOf(scaler)?.certainty === "name" || step.node.kind !== "Call") return;
  // A fused optimizer divides by the scale itself; `unscale_` does not.
  if (isFused(optimizer) && !loop.events.some(({ kind }) => kind === "unscale")) return;
  context.report({
    at: cast,
    message: "half",
    values: { step: source.slice(step.node.callee) },
    related: [
      { at: optimizer, message: "optimizer" },
      { at: step.node, message: "step" },
    ],
  });
}

function isFused(optimizer: Call): boolean {
  const fused = optimizer.keywords.find(({ name }) => name.id === "fused")?.value;
  return (
    optimizer.keywordSpreads.length > 0 ||
    (fused !== undefined && !(fused.kind === "Boolean" && !fused.value))
  );
}
