/** A model with batch normalization accumulates over micro-batches too small for its statistics. */
import type { Expression, Node } from "../../python/tree";
import { someNode } from "../../python/walk";
import type { ScriptValue } from "../../torch/script-setup";
import type { Accumulation, TrainingLoop } from "../../torch/training-loop";
import { identify, modelKeys } from "../../torch/training-loop";
import { lastNameOf } from "../../torch/training-loop/classify";
import { accumulatesSeveral, foundFromEveryBeginning } from "../accumulation";
import { defineRule, oneLower, type RuleContext } from "../rule";
import { batchNormOf, isHandled } from "./layers";

type MessageId = keyof typeof messages;

/** Below this many samples the error of batch normalization grows quickly: https://arxiv.org/abs/1803.08494, table 2. */
const enoughSamples = 16;

const messages = {
  found: {
    en: "The BatchNorm layers of `{model}` take their statistics from one micro-batch of {samples} {samples, plural, one {sample} other {samples}}, however many an update accumulates. GroupNorm and LayerNorm do not depend on the batch; SyncBatchNorm takes the samples of all processes.",
    "zh-cn":
      "无论一次更新累积多少个微批次，`{model}` 的 BatchNorm 层都只用一个微批次的 {samples} 个样本计算统计量。GroupNorm 和 LayerNorm 不依赖批次；SyncBatchNorm 使用所有进程的样本。",
  },
  layer: { en: "This normalizes over the micro-batch.", "zh-cn": "这里在微批次上归一化。" },
  batch: { en: "The samples of a batch are given here.", "zh-cn": "每批的样本数在这里给出。" },
};

export const rule = defineRule<MessageId>({
  name: "batchnorm-in-accumulation",
  group: "accumulation",
  level: "information",
  summary: {
    en: "BatchNorm sees the small micro-batch, not the accumulated batch.",
    "zh-cn": "BatchNorm 只看到较小的微批次，而不是累积后的批次。",
  },
  messages,
  create: (context) => ({
    finish() {
      const found = foundFromEveryBeginning(
        context,
        (loop) => smallBatches(context, loop),
        ({ accumulation }) => accumulation.node,
      );
      for (const small of found) report(context, small);
    },
  }),
});

interface Small {
  readonly loop: TrainingLoop;
  readonly accumulation: Accumulation;
  readonly model: string;
  readonly layer: Node;
  readonly samples: number;
  readonly batch: ScriptValue<number>;
}

function smallBatches(context: RuleContext, loop: TrainingLoop): Small[] {
  const { accumulation } = loop;
  if (accumulation === undefined || accumulation.partly || !accumulatesSeveral(context, accumulation))
    return [];
  if (accumulation.form === "accelerate" && accumulation.steps === undefined) return [];
  const { batch, model } = context.torch.scriptSetup;
  if (batch === undefined || model === undefined) return [];
  const samples = samplesOf(context, loop, accumulation, batch.value);
  if (samples === undefined || samples >= enoughSamples) return [];
  if (!trains(context, accumulation, model.value.expression) || isHandled(context)) return [];
  const layer = batchNormOf(context, model.value);
  if (layer === undefined) return [];
  const name = context.source.slice(model.value.expression);
  return [{ loop, accumulation, model: name, layer, samples, batch }];
}

/** The loader's batch, or its share where an inner loop goes over `x.chunk(k)`. */
function samplesOf(
  { torch }: RuleContext,
  { microLoop }: TrainingLoop,
  { form }: Accumulation,
  batch: number,
): number | undefined {
  if (form !== "micro-loop" || microLoop?.kind !== "For") return batch;
  const divides = someNode(
    microLoop.iterable,
    (node) => node.kind === "Call" && /^(chunk|tensor_split|split)$/.test(lastNameOf(node.callee) ?? ""),
  );
  if (!divides) return batch;
  const parts = torch.scriptSetup.accumulate?.value;
  return parts === undefined ? undefined : Math.ceil(batch / parts);
}

/** True when the steps of the loop are those of the script's model. */
function trains({ torch }: RuleContext, { guardedSteps }: Accumulation, model: Expression): boolean {
  const { resolve } = torch;
  const key = resolve.keyOf(model);
  if (key === undefined) return false;
  return guardedSteps.some(({ subject, places }) => {
    if (subject === undefined) return false;
    const keys = modelKeys(resolve, identify(resolve, subject, places));
    return keys.has(key) || keys.has(`${key}.module`);
  });
}

function report(context: RuleContext<MessageId>, small: Small): void {
  const { loop, accumulation, model, layer, samples, batch } = small;
  context.report({
    at: accumulation.node,
    message: "found",
    values: { model, samples },
    ...(loop.certainty === "name" ? { level: oneLower("information") } : {}),
    related: [
      { at: layer, message: "layer" },
      { at: batch.span, message: "batch" },
    ],
  });
}
