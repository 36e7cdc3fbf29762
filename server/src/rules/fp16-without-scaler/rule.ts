/**
 * Training under fp16 autocast without loss scaling. https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling: small
 * gradients are not representable in fp16 and flush to zero.
 */
import { keyword } from "../../python/keyword";
import type { Call, Expression, FunctionDefinition, Node, Span, With } from "../../python/tree";
import { walk } from "../../python/walk";
import { autocastCall, isOff } from "../../torch/autocast";
import type { Resolver } from "../../torch/resolve";
import type { TrainingLoop } from "../../torch/training-loop";
import { defineRule, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  unscaled: {
    en: "The forward runs in fp16 and the loss is not scaled: gradients below 3e-8 become zero on their way back through the fp16 operations. Scale the loss with `torch.amp.GradScaler` and step through it, or use `dtype=torch.bfloat16`, which needs no scaling.",
    "zh-cn":
      "前向传播以 fp16 运行，而损失没有放大：小于 3e-8 的梯度在经过 fp16 运算反向传播时会变为零。请用 `torch.amp.GradScaler` 放大损失并通过它更新，或使用无需放大的 `dtype=torch.bfloat16`。",
  },
  backward: { en: "The loss is not scaled here.", "zh-cn": "这里没有放大损失。" },
  step: { en: "The optimizer steps without a scaler.", "zh-cn": "优化器没有通过缩放器更新。" },
};

/** Somebody scales: a scaler by whatever name, apex, a loss multiplied by hand. */
const scaling = /scaler|loss_?scal|scale_loss|GradScal|dynamic_scale/i;

export const rule = defineRule<MessageId>({
  name: "fp16-without-scaler",
  group: "precision",
  level: "warning",
  summary: {
    en: "Training under fp16 autocast without a `GradScaler`: small gradients become zero.",
    "zh-cn": "在 fp16 autocast 下训练却没有 `GradScaler`：小梯度会变为零。",
  },
  messages,
  create: (context) => ({
    finish() {
      const { index } = context.torch.resolve;
      if (!index.callsByName.has("autocast") || !index.callsByName.has("step")) return;
      if (scales(context)) return;
      const reported = new Set<Call>();
      for (const loop of context.torch.trainingLoops.loops) checkLoop(context, loop, reported);
    },
  }),
});

function scales({ torch }: RuleContext): boolean {
  const { namesById, attributesByName } = torch.resolve.index;
  for (const name of [...namesById.keys(), ...attributesByName.keys()]) if (scaling.test(name)) return true;
  return torch.frameworks.made.length > 0 || attributesByName.has("set_autocast_gpu_dtype");
}

function checkLoop(context: RuleContext<MessageId>, loop: TrainingLoop, reported: Set<Call>): void {
  const [backward] = loop.backwards;
  const [step] = loop.steps;
  if (backward === undefined || step === undefined || loop.framework !== undefined) return;
  // Whoever else gets the trainer, or takes the loss, may scale.
  if (loop.unknownCode.some(({ of }) => of === "trainer" || of === "optimizer")) return;
  if ([...loop.backwards, ...loop.steps].some(({ through }) => through !== undefined)) return;
  if (loop.certainty === "name" || isMultiplied(backward.subject)) return;
  for (const call of fp16RegionsOf(context, loop)) {
    if (reported.has(call)) continue;
    reported.add(call);
    context.report({
      at: call,
      message: "unscaled",
      related: [
        { at: backward.node, message: "backward" },
        { at: step.node, message: "step" },
      ],
    });
  }
}

/** `(loss * 1024).backward()`. */
function isMultiplied(loss: Expression | undefined): boolean {
  return loss?.kind === "BinaryOperation" && loss.operator === "*";
}

/** The `autocast(…)` calls of regions in the loop, or in functions it runs, that hold a forward of a model. */
function fp16RegionsOf(context: RuleContext, loop: TrainingLoop): Call[] {
  const { resolve, provenance } = context.torch;
  const code: readonly Node[] = [loop.loop, ...provenance.reach.functionsFrom([loop.loop])];
  const found: Call[] = [];
  for (const root of code) {
    walk(root, {
      enter(node) {
        if (node.kind === "With") {
          for (const { context: entered } of node.items) {
            const call = autocastCall(resolve, entered);
            if (call !== undefined && isFp16(resolve, call) && trainsIn(context, node)) found.push(call);
          }
        }
        return node === root || !isFunction(node);
      },
    });
  }
  return found;
}

function isFunction(node: Node): node is FunctionDefinition {
  return node.kind === "FunctionDefinition" || node.kind === "Lambda" || node.kind === "ClassDefinition";
}

/** On CUDA, with float16 as its dtype, said or by default. */
function isFp16(resolve: Resolver, call: Call): boolean {
  if (isOff(resolve, call) || call.keywordSpreads.length > 0) return false;
  const name = resolve.qualifiedName(call.callee);
  const isOld = name === "torch.cuda.amp.autocast";
  if (!isOld && name !== "torch.amp.autocast") return false;
  const dtype = keyword(call, "dtype") ?? call.positional[1];
  if (dtype !== undefined) {
    const dtypeName = resolve.qualifiedName(dtype);
    return dtypeName === "torch.float16" || dtypeName === "torch.half";
  }
  const device = keyword(call, "device_type") ?? call.positional[0];
  return isOld || (device?.kind === "String" && device.value === "cuda");
}

/** A model that is not frozen is called with gradients on. */
function trainsIn({ torch }: RuleContext, region: With): boolean {
  let found: Span | undefined;
  for (const statement of region.body) {
    walk(statement, {
      enter(node) {
        if (node.kind !== "Call" || found !== undefined) return found === undefined;
        if (torch.resolve.roleOf(node.callee) !== "model" || torch.resolve.isFrozen(node.callee)) return true;
        if (torch.provenance.gradientMode(node) === "on") found = node;
        return true;
      },
    });
  }
  return found !== undefined;
}
