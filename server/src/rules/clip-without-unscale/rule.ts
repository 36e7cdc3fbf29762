/**
 * Clipping of gradients that still carry the scale of `GradScaler`. https://docs.pytorch.org/docs/stable/notes/amp_examples.html
 * "Working with Unscaled Gradients": `scaler.unscale_(optimizer)` comes before.
 */
import type { Expression } from "../../python/tree";
import { enclosingLoop } from "../../python/walk";
import { canBothRun, isDisabled, scalerOfBackward, scalerOfStep } from "../../torch/scaling";
import type { Resolver } from "../../torch/resolve";
import { identify, modelKeys, type TraceEvent, type TrainingLoop } from "../../torch/training-loop";
import { insertLineBefore } from "../fix";
import { defineRule, oneLower, type Report, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  scaled: {
    en: "`{clip}` clips gradients that are still multiplied by the scale of `{scaler}` (65,536 at first): they are that much larger, so nearly every step is clipped, and after `{scaler}.step` has divided by the scale next to nothing is left. Call {unscaling} before.",
    "zh-cn":
      "`{clip}` 裁剪的梯度仍乘着 `{scaler}` 的缩放系数（初始为 65,536）：它们被放大了同样的倍数，几乎每一步都会被裁剪，而 `{scaler}.step` 再除以系数后所剩无几。请先调用 {unscaling}。",
  },
  named: {
    en: "If `{scaler}` is a `GradScaler`: `{clip}` clips gradients that are still multiplied by its scale (65,536 at first), so nearly every step is clipped, and after `{scaler}.step` has divided by the scale next to nothing is left. Call {unscaling} before.",
    "zh-cn":
      "如果 `{scaler}` 是 `GradScaler`：`{clip}` 裁剪的梯度仍乘着它的缩放系数（初始为 65,536），几乎每一步都会被裁剪，而 `{scaler}.step` 再除以系数后所剩无几。请先调用 {unscaling}。",
  },
  backward: { en: "The loss is scaled here.", "zh-cn": "损失在这里被放大。" },
  step: { en: "The gradients are divided by the scale only here.", "zh-cn": "直到这里梯度才除以缩放系数。" },
  unscale: {
    en: "Insert `{scaler}.unscale_({optimizer})`",
    "zh-cn": "插入 `{scaler}.unscale_({optimizer})`",
  },
};

export const rule = defineRule<MessageId>({
  name: "clip-without-unscale",
  group: "precision",
  level: "error",
  summary: {
    en: "Gradients are clipped while they still carry the scale of `GradScaler`.",
    "zh-cn": "梯度在仍带有 `GradScaler` 缩放系数时被裁剪。",
  },
  messages,
  create: (context) => ({
    finish() {
      const { callsByName } = context.torch.resolve.index;
      if (!callsByName.has("scale") || !callsByName.has("step")) return;
      const reported = new Set<TraceEvent["node"]>();
      for (const group of context.torch.trainingLoops.byLoop.values()) checkLoop(context, group, reported);
    },
  }),
});

/** What one loop does wrong must hold from every beginning from which it is reached. */
function checkLoop(
  context: RuleContext<MessageId>,
  group: readonly TrainingLoop[],
  reported: Set<TraceEvent["node"]>,
): void {
  const found = group.map((loop) => scaledClips(context, loop));
  for (const one of found[0] ?? []) {
    const everywhere = found.every((others) => others.some(({ clip }) => clip.node === one.clip.node));
    if (!everywhere || reported.has(one.clip.node)) continue;
    reported.add(one.clip.node);
    report(context, one);
  }
}

/** `optimizer` holds the parameters that are clipped. */
function ownsClipped(resolve: Resolver, step: TraceEvent, clip: TraceEvent): boolean {
  if (step.subject === undefined || clip.subject === undefined) return false;
  const owned = modelKeys(resolve, identify(resolve, step.subject, step.places));
  // `self.params = model.parameters()` of an updater that is given the model.
  const parameters = [clip.subject, ...resolve.valuesOf(clip.subject)];
  return parameters.some((given) => {
    const model = given.kind === "Call" && given.callee.kind === "Attribute" ? given.callee.object : given;
    return [...identify(resolve, model, clip.places).keys].some((key) => owned.has(key));
  });
}

interface ScaledClip {
  readonly clip: TraceEvent;
  readonly backward: TraceEvent;
  readonly step: TraceEvent;
  readonly scaler: Expression;
  /** The only step, or the one over the clipped parameters. */
  readonly isSureStep: boolean;
  /** All steps that may be meant. */
  readonly steps: readonly TraceEvent[];
}

function scaledClips(context: RuleContext, loop: TrainingLoop): ScaledClip[] {
  const { resolve } = context.torch;
  // Somebody divides by the scale, or multiplies the bound by it.
  const { callsByName } = resolve.index;
  if (callsByName.has("get_scale") || loop.unknownCode.some(({ of }) => of === "trainer")) return [];
  if (loop.events.some(({ kind }) => kind === "gradient-scaling" || kind === "gradient-hook")) return [];
  const textOf = (test: Expression): string => context.source.slice(test);
  const found: ScaledClip[] = [];
  loop.events.forEach((clip, index) => {
    if (clip.kind !== "clip" || clip.through !== undefined) return;
    const before = loop.events.slice(0, index);
    const after = loop.events.slice(index + 1);
    const fits = (event: TraceEvent): boolean => canBothRun(event.places, clip.places, textOf);
    const backward = before.find(
      (event) => event.kind === "backward" && fits(event) && scalerOfBackward(resolve, event) !== undefined,
    );
    const steps = after.filter(
      ({ kind, places }) => kind === "optimizer-step" && canBothRun(places, clip.places, textOf),
    );
    const step = steps.find((one) => ownsClipped(resolve, one, clip)) ?? steps[0];
    const scaler = step && scalerOfStep(resolve, step);
    if (backward === undefined || step === undefined || scaler === undefined) return;
    if (!canBothRun(backward.places, step.places, textOf) || isDisabled(resolve, scaler)) return;
    const last = before.findLastIndex(({ kind }) => kind === "optimizer-step");
    if (before.slice(last + 1).some((event) => event.kind === "unscale" && fits(event))) return;
    const isSureStep = steps.length === 1 || ownsClipped(resolve, step, clip);
    found.push({ clip, backward, step, scaler, isSureStep, steps: isSureStep ? [step] : steps });
  });
  return found;
}

function report(
  context: RuleContext<MessageId>,
  { clip, backward, step, scaler, isSureStep, steps }: ScaledClip,
): void {
  const { source, torch } = context;
  const certainty = torch.resolve.objectOf(scaler)?.certainty ?? "name";
  const named = certainty === "name";
  const nameOf = ({ subject }: TraceEvent): string =>
    subject === undefined ? "optimizer" : source.slice(subject);
  const optimizer = nameOf(step);
  const call = clip.node.kind === "Call" ? source.slice(clip.node.callee) : source.slice(clip.node);
  const values = { scaler: source.slice(scaler), optimizer };
  const unscaling = [...new Set(steps.map(nameOf))].map((name) => `\`${values.scaler}.unscale_(${name})\``);
  context.report({
    at: clip.node,
    message: named ? "named" : "scaled",
    values: { scaler: values.scaler, unscaling: unscaling.join(", "), clip: call },
    level: named ? oneLower("error") : "error",
    related: [
      { at: backward.node, message: "backward" },
      { at: step.node, message: "step" },
    ],
    fixes: isSureStep ? fixes(context, clip, step, values) : [],
  });
}

/** Only where clipping and step stand together: unscaling twice between two updates is an error. */
function fixes(
  { source }: RuleContext<MessageId>,
  clip: TraceEvent,
  step: TraceEvent,
  values: { readonly scaler: string; readonly optimizer: string },
): Report<MessageId>["fixes"] {
  const together =
    clip.places.length === step.places.length &&
    clip.places.every((place, index) => place === step.places[index]);
  // `for p in model.parameters(): p.grad.clamp_(…)`: not once for each parameter.
  const onceAStep = enclosingLoop(clip.node) === enclosingLoop(step.node);
  if (!together || !onceAStep || step.subject === undefined || clip.statement.kind === "If") return [];
  const edit = insertLineBefore(source, clip.statement, `${values.scaler}.unscale_(${values.optimizer})`);
  return edit ? [{ title: "unscale", values, safety: "safe", edits: [edit] }] : [];
}
