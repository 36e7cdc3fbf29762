/**
 * The gradient scaler works on every micro-batch of a loop that steps only every k of them. What then happens stands in
 * `torch/amp/grad_scaler.py`: `update` asserts that an optimizer was checked since the last one, a second `unscale_`
 * before `update` raises, and both together divide gradients by the scale more than once.
 */
import { message as textOf } from "../../messages/message";
import type { Node } from "../../python/tree";
import { statementList } from "../../python/walk";
import type { TraceEvent, TrainingLoop } from "../../torch/training-loop";
import { identify, relate } from "../../torch/training-loop";
import { Guards, type AccumulationGuard } from "../../torch/training-loop/guard";
import {
  accumulatesSeveral,
  firstLine,
  foundFromEveryBeginning,
  moveBehindStep,
  takeOut,
  runsOutsideUpdate,
  stepsText,
  stepText,
} from "../accumulation";
import { insertLineBefore, takeStatement } from "../fix";
import { defineRule, oneLower, type RuleContext, type TextEdit } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  update: {
    en: '`{call}` runs on every micro-batch, but `{step}` only once every `{k}` of them: where nothing was unscaled since the last update it raises "No inf checks were recorded prior to update". Update once, after the step.',
    "zh-cn":
      "`{call}` 在每个微批次都执行，而 `{step}` 每 `{k}` 个微批次才执行一次：自上次更新以来没有任何梯度被反缩放时，它会抛出 “No inf checks were recorded prior to update”。请在 step 之后只更新一次。",
  },
  unscale: {
    en: '`{call}` runs on every micro-batch, but `{step}` only once every `{k}` of them: on the second micro-batch it raises "unscale_() has already been called on this optimizer since the last update()". Unscale once, right before the step.',
    "zh-cn":
      "`{call}` 在每个微批次都执行，而 `{step}` 每 `{k}` 个微批次才执行一次：在第二个微批次它会抛出 “unscale_() has already been called on this optimizer since the last update()”。请只在 step 之前反缩放一次。",
  },
  mixed: {
    en: "`{call}` runs on every micro-batch, but `{step}` only once every `{k}` of them: gradients that are unscaled already are divided by the scale again with each further micro-batch, so next to nothing is left of all but the last. Unscale and update once for each step.",
    "zh-cn":
      "`{call}` 在每个微批次都执行，而 `{step}` 每 `{k}` 个微批次才执行一次：已经反缩放的梯度在之后的每个微批次又被除以缩放因子，除最后一个微批次外几乎什么都不剩。每次 step 只应反缩放和更新一次。",
  },
  step: {
    en: "`{call}` runs on every micro-batch, but the gradients are reset only once every `{k}` of them: it unscales the gradients in place, the next backward adds scaled ones to them, and each step applies the mixture. Step and update under the condition that resets.",
    "zh-cn":
      "`{call}` 在每个微批次都执行，而梯度每 `{k}` 个微批次才清零一次：它会就地反缩放梯度，下一次反向传播又把缩放过的梯度加上去，每次 step 应用的都是这种混合。请在清零的同一条件下执行 step 和 update。",
  },
  byName: {
    en: "If `{scaler}` is a gradient scaler: {what}",
    "zh-cn": "如果 `{scaler}` 是梯度缩放器：{what}",
  },
  guard: { en: "The step waits for this condition.", "zh-cn": "step 要等到这个条件成立。" },
  resets: { en: "The gradients are reset under this condition.", "zh-cn": "梯度在这个条件下清零。" },
  inner: {
    en: "This loop runs the backwards of one update.",
    "zh-cn": "这个循环执行同一次更新的多次反向传播。",
  },
  backward: { en: "Scaled gradients are added here.", "zh-cn": "缩放过的梯度在这里累加。" },
  theStep: { en: "The step is here.", "zh-cn": "step 在这里。" },
  move: { en: "Move `{call}` after the step", "zh-cn": "把 `{call}` 移到 step 之后" },
  moveBefore: { en: "Move `{call}` before the step", "zh-cn": "把 `{call}` 移到 step 之前" },
  moveBoth: {
    en: "Move `unscale_` before the step and `update` after it",
    "zh-cn": "把 `unscale_` 移到 step 之前，把 `update` 移到 step 之后",
  },
  drop: {
    en: "Remove `{call}`: the step's branch does it already",
    "zh-cn": "删除 `{call}`：step 所在的分支中已经有了",
  },
};

export const rule = defineRule<MessageId>({
  name: "scaler-step-per-microbatch",
  group: "accumulation",
  level: "error",
  summary: {
    en: "The gradient scaler updates or unscales on every micro-batch while accumulating.",
    "zh-cn": "梯度累积时，梯度缩放器在每个微批次都更新或反缩放。",
  },
  messages,
  create: (context) => ({
    finish() {
      if (!usesScaler(context)) return;
      const guards = new Guards(context.torch.resolve, context.torch.frameworks);
      const found = foundFromEveryBeginning(
        context,
        (loop) => wrongIn(context, loop, guards),
        ({ event }) => event.node,
      );
      for (const wrong of found) report(context, wrong);
    },
  }),
});

interface Wrong {
  readonly loop: TrainingLoop;
  readonly event: TraceEvent;
  /** The step that waits; `undefined` when it is the step itself that does not. */
  readonly step: TraceEvent | undefined;
  readonly guard: AccumulationGuard;
  readonly message: "update" | "unscale" | "mixed" | "step";
  /** All calls of the scaler that do not wait, this one too. */
  readonly partners: readonly TraceEvent[];
}

function usesScaler({ torch }: RuleContext): boolean {
  const { callsByName } = torch.resolve.index;
  return callsByName.has("scale") && (callsByName.has("update") || callsByName.has("unscale_"));
}

function wrongIn(context: RuleContext, loop: TrainingLoop, guards: Guards): Wrong[] {
  if (loop.framework !== undefined && loop.framework.duties.stepping !== "never") return [];
  const { accumulation } = loop;
  if (accumulation === undefined) return stepsWithEachBackward(context, loop, guards);
  const [step] = accumulation.guardedSteps;
  if (step === undefined || !isThroughScaler(context, step)) return [];
  const outside = loop.events.filter(
    (event) =>
      (event.kind === "scaler-update" ||
        (event.kind === "unscale" && isSameOptimizer(context, event, step))) &&
      isEnabled(context, event) &&
      runsOutsideUpdate(context, event, loop),
  );
  const updates = outside.filter(({ kind }) => kind === "scaler-update");
  const unscales = outside.filter(({ kind }) => kind === "unscale");
  const both = updates.length > 0 && unscales.length > 0;
  return outside.map((event) => ({
    loop,
    event,
    step,
    guard: accumulation,
    message: both ? "mixed" : event.kind === "unscale" ? "unscale" : "update",
    partners: outside,
  }));
}

/** Steps through a scaler that do not wait, where the gradients are reset under an accumulation guard only. */
function stepsWithEachBackward(context: RuleContext, loop: TrainingLoop, guards: Guards): Wrong[] {
  const [zeroing, ...more] = loop.zeroings;
  const [step, another] = loop.steps;
  if (zeroing === undefined || more.length > 0 || step === undefined || another !== undefined) return [];
  if (!isThroughScaler(context, step) || !isEnabled(context, step) || loop.microLoop !== undefined) return [];
  if (zeroing.of !== "optimizer" && zeroing.of !== "model") return [];
  if (loop.unknownCode.length > 0) return [];
  const depth = zeroing.places.findIndex((place) => place.kind === "loop" && place.node === loop.loop);
  for (const place of zeroing.places.slice(depth + 1)) {
    if (place.kind !== "branch" || step.places.includes(place)) continue;
    if (loop.backwards.some(({ places }) => places.includes(place))) continue;
    const guard = guards.ofBranch(place, loop.loop);
    if (guard !== undefined && accumulatesSeveral(context, guard))
      return [{ loop, event: step, step: undefined, guard, message: "step", partners: [] }];
  }
  return [];
}

function isThroughScaler({ torch }: RuleContext, { node }: TraceEvent): boolean {
  if (node.kind !== "Call" || node.callee.kind !== "Attribute") return false;
  const { object } = node.callee;
  return torch.resolve.roleOf(object) === "scaler" || /scaler/i.test(nameOf(object));
}

function nameOf(node: Node): string {
  if (node.kind === "Name") return node.id;
  return node.kind === "Attribute" ? node.attribute.id : "";
}

/** False for `GradScaler(enabled=False)`. */
function isEnabled({ torch }: RuleContext, { node }: TraceEvent): boolean {
  if (node.kind !== "Call" || node.callee.kind !== "Attribute") return false;
  const construction = torch.resolve.objectOf(node.callee.object)?.construction;
  const enabled = construction?.keywords.find(({ name }) => name.id === "enabled")?.value;
  return !(enabled?.kind === "Boolean" && !enabled.value);
}

function isSameOptimizer({ torch }: RuleContext, unscale: TraceEvent, step: TraceEvent): boolean {
  if (unscale.subject === undefined || step.subject === undefined) return false;
  const a = identify(torch.resolve, unscale.subject, unscale.places);
  const b = identify(torch.resolve, step.subject, step.places);
  return relate(a, b) === "same";
}

function report(context: RuleContext<MessageId>, wrong: Wrong): void {
  const { loop, event, step, guard, message } = wrong;
  const call = firstLine(context.source.slice(event.node));
  const fix = fixOf(context, wrong);
  const values = {
    call,
    k: stepsText(context, guard.steps),
    ...(step === undefined ? {} : { step: stepText(context, step) }),
  };
  const scaler = scalerKnownByName(context, event);
  context.report({
    at: event.node,
    ...(scaler === undefined
      ? { message, values }
      : {
          message: "byName",
          values: { scaler, what: textOf(messages[message], values) },
          level: oneLower("error"),
        }),
    related: [
      {
        at: guard.node,
        message: step === undefined ? "resets" : guard.form === "micro-loop" ? "inner" : "guard",
      },
      ...loop.backwards.slice(0, 1).map(({ node }) => ({ at: node, message: "backward" as const })),
      ...(step === undefined ? [] : [{ at: step.node, message: "theStep" as const }]),
    ],
    fixes: fix === undefined ? [] : [{ ...fix, values: { call }, safety: "review" }],
  });
}

/** The scaler as written where nothing but its name says what it is. */
function scalerKnownByName({ torch, source }: RuleContext, { node }: TraceEvent): string | undefined {
  if (node.kind !== "Call" || node.callee.kind !== "Attribute") return undefined;
  const { object } = node.callee;
  const certainty = torch.resolve.objectOf(object)?.certainty ?? "name";
  return certainty === "name" ? source.slice(object) : undefined;
}

interface MoveFix {
  readonly title: "move" | "moveBefore" | "moveBoth" | "drop";
  readonly edits: readonly TextEdit[];
}

function fixOf(context: RuleContext, wrong: Wrong): MoveFix | undefined {
  const { loop, event, step, message, partners } = wrong;
  if (step === undefined) return undefined;
  const siblings = statementList(event.statement)?.list;
  if (siblings === undefined || event.statement.kind !== "ExpressionStatement") return undefined;
  if (standsInStepsBlock(loop, event, step)) {
    const taken = takeStatement(context.source, event.statement, siblings);
    return taken === undefined ? undefined : { title: "drop", edits: [taken.removal] };
  }
  if (message === "mixed") return moveBoth(context, loop, step, partners);
  if (event.kind === "scaler-update") {
    const edits = moveBehindStep(context, event, loop, step);
    return edits === undefined ? undefined : { title: "move", edits };
  }
  return moveUnscale(context, loop, event, step);
}

/** Either alone would leave the scaler with an unscaling too many or an update too early, which raises. */
function moveBoth(
  context: RuleContext,
  loop: TrainingLoop,
  step: TraceEvent,
  partners: readonly TraceEvent[],
): MoveFix | undefined {
  const [unscale, another] = partners.filter(({ kind }) => kind === "unscale");
  const [update, more] = partners.filter(({ kind }) => kind === "scaler-update");
  if (unscale === undefined || update === undefined || another !== undefined || more !== undefined)
    return undefined;
  const before = moveUnscale(context, loop, unscale, step);
  const after = moveBehindStep(context, update, loop, step);
  if (before === undefined || after === undefined) return undefined;
  return { title: "moveBoth", edits: [...before.edits, ...after] };
}

/** True when the step's own block does the same already. */
function standsInStepsBlock(loop: TrainingLoop, event: TraceEvent, step: TraceEvent): boolean {
  const list = statementList(step.statement)?.list;
  if (list === undefined || list.includes(event.statement)) return false;
  return loop.events.some(
    (other) => other.kind === event.kind && other !== event && list.includes(other.statement),
  );
}

/** Before the step, or before the clipping that stands before it; clipping outside the guard would see scaled gradients. */
function moveUnscale(
  { source, torch }: RuleContext,
  loop: TrainingLoop,
  event: TraceEvent,
  step: TraceEvent,
): MoveFix | undefined {
  const { resolve } = torch;
  const block = statementList(step.statement)?.list;
  if (block === undefined) return undefined;
  if (resolve.enclosingFunction(step.statement) !== resolve.enclosingFunction(event.statement))
    return undefined;
  const clips = loop.events.filter(({ kind }) => kind === "clip");
  if (!clips.every(({ statement }) => block.includes(statement))) return undefined;
  const target = [...clips.map(({ statement }) => statement), step.statement].sort(
    (a, b) => a.start - b.start,
  )[0];
  const taken = target === undefined ? undefined : takeOut(source, event, step, target);
  if (taken === undefined || target === undefined) return undefined;
  const addition = insertLineBefore(source, target, taken.text);
  return addition === undefined ? undefined : { title: "moveBefore", edits: [taken.removal, addition] };
}
