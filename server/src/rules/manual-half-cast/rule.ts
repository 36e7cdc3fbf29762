/**
 * A trained model cast to half precision as a whole, without autocast: weights, gradients and the optimizer's state are in
 * half precision with it, and so are the inputs and outputs of normalisation and softmax.
 */
import { lastName } from "../../python/last-name";
import { trainedCasts, trainsAdapters, type TrainedCast } from "../../torch/low-precision";

import { scalerOfBackward, scalerOfStep } from "../../torch/scaling";
import { defineRule, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  fp16: {
    en: "The whole model is trained in fp16: normalisation, softmax, gradients and the state of the optimizer are fp16 too. Gradients below 3e-8 become zero, updates below about 1/2000 of a weight are lost{adam, select, yes {, and the `eps` of 1e-8 of `{optimizer}` is zero in fp16, so it divides by zero} other {}}. Keep the weights in fp32 and run the forward under `autocast`.",
    "zh-cn":
      "整个模型以 fp16 训练：归一化、softmax、梯度和优化器状态也都是 fp16。小于 3e-8 的梯度变为零，小于权重约 1/2000 的更新会丢失{adam, select, yes {，而且 `{optimizer}` 的 `eps`（1e-8）在 fp16 中为零，会除以零} other {}}。请让权重保持 fp32，并在 `autocast` 下执行前向传播。",
  },
  bf16: {
    en: "The whole model is trained in bf16: with 8 bits of precision, updates below about 1/256 of a weight are lost. Where that matters, keep the weights in fp32 and run the forward under `autocast` with bf16.",
    "zh-cn":
      "整个模型以 bf16 训练：精度只有 8 位，小于权重约 1/256 的更新会丢失。如果这有影响，请让权重保持 fp32，并在 bf16 的 `autocast` 下执行前向传播。",
  },
  optimizer: { en: "This optimizer updates the cast weights.", "zh-cn": "这个优化器更新转换后的权重。" },
};

/** Whose `eps` default is 1e-8. */
const adams = /^torch\.optim\.(Adam|AdamW|NAdam|RAdam|RMSprop)$/;
/** Copies of the weights in fp32, scaled losses and layers put back: mixed precision by hand. */
const byHand =
  /master|fp32|loss_scale|static_scale|copy_in_params|keep_batchnorm|bn_convert|network_to_half|stochastic_round/i;

export const rule = defineRule<MessageId>({
  name: "manual-half-cast",
  group: "precision",
  level: "warning",
  summary: {
    en: "A trained model is cast to half precision as a whole, without autocast.",
    "zh-cn": "被训练的模型整体转换为半精度，没有使用 autocast。",
  },
  messages,
  create: (context) => ({
    finish() {
      const { index } = context.torch.resolve;
      if (
        !["half", "bfloat16", "to", "from_pretrained", "from_config"].some((name) =>
          index.callsByName.has(name),
        )
      )
        return;
      if (
        !index.callsByName.has("backward") ||
        isMixedAnyhow(context) ||
        trainsAdapters(context.torch.resolve)
      )
        return;
      for (const found of trainedCasts(context.torch)) check(context, found);
    },
  }),
});

function isMixedAnyhow({ torch }: RuleContext): boolean {
  const { namesById, attributesByName, callsByName } = torch.resolve.index;
  const names = [...namesById.keys(), ...attributesByName.keys()];
  if (names.some((name) => byHand.test(name) || /autocast/.test(name))) return true;
  // Layers that are put back one by one: `layer.float()` in a loop over the modules.
  return (callsByName.get("float") ?? []).some(
    ({ callee }) =>
      callee.kind === "Attribute" && /^(m|mod|module|layer|bn|child)$/.test(lastName(callee.object) ?? ""),
  );
}

function check(
  context: RuleContext<MessageId>,
  { cast, precision, loop, step, optimizer }: TrainedCast,
): void {
  const { torch } = context;
  if (loop.framework !== undefined || step.through !== undefined) return;
  if (scalerOfStep(torch.resolve, step) !== undefined) return;
  if (loop.backwards.some((backward) => scalerOfBackward(torch.resolve, backward) !== undefined)) return;
  const name = torch.resolve.qualifiedName(optimizer.callee) ?? "";
  const own =
    optimizer.keywords.some((keyword) => keyword.name.id === "eps") || optimizer.keywordSpreads.length > 0;
  context.report({
    at: cast,
    message: precision,
    level: precision === "fp16" ? "warning" : "information",
    values: {
      adam: adams.test(name) && !own ? "yes" : "no",
      optimizer: name.slice("torch.optim.".length),
    },
    related: [{ at: optimizer, message: "optimizer" }],
  });
}
