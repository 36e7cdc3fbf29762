/** Backward and step in a loop, and nothing resets the gradients between two updates. */
import type { Span, Statement } from "../../python/tree";
import { statementList } from "../../python/walk";
import { isMadeUp } from "../../torch/provenance/try-out";
import { callsWithin } from "../../torch/resolve-index";
import { headOf } from "../../torch/per-batch";
import type { TrainingLoop, TraceEvent } from "../../torch/training-loop";
import { identify, zeroingReaches } from "../../torch/training-loop";
import { stepText } from "../accumulation";
import { insertLineAfter, insertLineBefore } from "../fix";
import { defineRule, oneLower, type RuleContext, type TextEdit } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  never: {
    en: "`{step}` applies the gradients of all iterations so far: each backward adds to `.grad`, and nothing in this loop resets it. Call `{optimizer}.zero_grad()` once per update.",
    "zh-cn":
      "`{step}` 应用的是到目前为止所有迭代的梯度之和：每次反向传播都会累加到 `.grad`，而这个循环里没有任何清零操作。请在每次更新时调用一次 `{optimizer}.zero_grad()`。",
  },
  outside: {
    en: "`{step}` applies the gradients of all iterations since the reset outside this loop: each backward adds to `.grad`. Call `{optimizer}.zero_grad()` once per update, inside the loop.",
    "zh-cn":
      "`{step}` 应用的是自循环外那次清零以来所有迭代的梯度之和：每次反向传播都会累加到 `.grad`。请在循环内、每次更新时调用一次 `{optimizer}.zero_grad()`。",
  },
  neverByName: {
    en: "If `{optimizer}` is a PyTorch optimizer: `{step}` applies the gradients of all iterations so far: each backward adds to `.grad`, and nothing in this loop resets it. Call `{optimizer}.zero_grad()` once per update.",
    "zh-cn":
      "如果 `{optimizer}` 是 PyTorch 优化器：`{step}` 应用的是到目前为止所有迭代的梯度之和：每次反向传播都会累加到 `.grad`，而这个循环里没有任何清零操作。请在每次更新时调用一次 `{optimizer}.zero_grad()`。",
  },
  outsideByName: {
    en: "If `{optimizer}` is a PyTorch optimizer: `{step}` applies the gradients of all iterations since the reset outside this loop: each backward adds to `.grad`. Call `{optimizer}.zero_grad()` once per update, inside the loop.",
    "zh-cn":
      "如果 `{optimizer}` 是 PyTorch 优化器：`{step}` 应用的是自循环外那次清零以来所有迭代的梯度之和：每次反向传播都会累加到 `.grad`。请在循环内、每次更新时调用一次 `{optimizer}.zero_grad()`。",
  },
  loop: { en: "This loop repeats backward and step.", "zh-cn": "这个循环反复执行反向传播和更新。" },
  backward: { en: "Gradients are added to `.grad` here.", "zh-cn": "梯度在这里累加到 `.grad`。" },
  resetOutside: { en: "They are reset here, outside the loop.", "zh-cn": "清零在这里，位于循环之外。" },
  insert: { en: "Insert `{text}`", "zh-cn": "插入 `{text}`" },
};

export const rule = defineRule<MessageId>({
  name: "missing-zero-grad",
  group: "accumulation",
  level: "error",
  summary: {
    en: "Backward and step in a loop without resetting gradients.",
    "zh-cn": "循环中执行反向传播和更新，却没有清零梯度。",
  },
  messages,
  create: (context) => ({
    finish() {
      const reported = new Set<unknown>();
      for (const beginnings of context.torch.trainingLoops.byLoop.values()) {
        for (const step of beginnings[0]?.steps ?? []) {
          if (reported.has(step.node)) continue;
          const missing = beginnings.flatMap((loop) => stepsWithoutZeroing(context, loop, step));
          const seen = beginnings.filter(({ steps }) => steps.some(({ node }) => node === step.node)).length;
          const [first] = missing;
          if (first === undefined || missing.length < seen) continue;
          reported.add(step.node);
          report(context, first);
        }
      }
    },
  }),
});

interface Missing {
  readonly loop: TrainingLoop;
  readonly step: TraceEvent;
  readonly outside: TraceEvent | undefined;
}

/** The steps at the same place as `like` whose gradients nothing resets, as seen from one beginning. */
function stepsWithoutZeroing(context: RuleContext, loop: TrainingLoop, like: TraceEvent): Missing[] {
  const steps = loop.steps.filter(({ node }) => node === like.node);
  if (steps.length === 0 || !isPlainLoop(loop)) return [];
  return steps
    .filter((step) => step.subject !== undefined && !isMadeInside(context, loop, step))
    .filter((step) => !loop.zeroings.some((zeroing) => reaches(context, zeroing, step)))
    .map((step) => ({
      loop,
      step,
      outside: loop.outside.find((event) => isResetBefore(context, event, step)),
    }));
}

/**
 * A reset outside the loop from which on the gradients pile up: before the loop, or behind it in a loop around both. The reset
 * of a model that the optimizer is not known to update may be one of another.
 */
function isResetBefore({ torch }: RuleContext, event: TraceEvent, step: TraceEvent): boolean {
  if (event.kind !== "zeroing") return false;
  const relation = zeroingReaches(torch.resolve, event, step);
  if (relation === "different" || (relation === "unknown" && event.of === "model")) return false;
  const apart = event.places.findIndex((place, index) => nodeOf(place) !== nodeOf(step.places[index]));
  const shared = apart < 0 ? event.places : event.places.slice(0, apart);
  if (shared.some(({ kind }) => kind === "loop")) return true;
  const [ours, theirs] = [event, step].map((one) => nodeOf(one.places[shared.length]) ?? one.node);
  return ours !== undefined && theirs !== undefined && ours.start < theirs.start;
}

function nodeOf(place: TraceEvent["places"][number] | undefined): Span | undefined {
  return place?.kind === "call" ? place.call : place?.node;
}

function reaches(context: RuleContext, zeroing: TraceEvent, step: TraceEvent): boolean {
  return zeroingReaches(context.torch.resolve, zeroing, step) !== "different";
}

/** A loop of the script's own, all of whose code we see. */
function isPlainLoop(loop: TrainingLoop): boolean {
  if (loop.framework !== undefined && loop.framework.name !== "fsdp" && loop.framework.name !== "torchtune")
    return false;
  if (loop.unknownCode.length > 0 || loop.backwards.some(({ through }) => through === "unknown"))
    return false;
  if ([...loop.events, ...loop.outside].some(({ kind }) => kind === "gradient-hook")) return false;
  // A loop that always stops in its first iteration repeats nothing.
  const last = loop.loop.body.at(-1);
  return last?.kind !== "Break" && last?.kind !== "Return" && last?.kind !== "Raise";
}

/** The optimizer is made in the same iteration: it owns fresh gradients. */
function isMadeInside({ torch }: RuleContext, { loop }: TrainingLoop, step: TraceEvent): boolean {
  if (step.subject === undefined) return false;
  const inLoop = ({ start, end }: Span): boolean => start >= loop.start && end <= loop.end;
  const identity = identify(torch.resolve, step.subject, step.places);
  if ([...identity.constructions].some(inLoop)) return true;
  if (identity.expression.kind !== "Name") return false;
  return torch.scopes
    .lookup(identity.expression)
    .some(({ target }) => target !== undefined && inLoop(target));
}

function report(context: RuleContext<MessageId>, { loop, step, outside }: Missing): void {
  const { subject } = step;
  if (subject === undefined) return;
  const optimizer = context.source.slice(subject);
  const byName = loop.backwards.every(({ certainty }) => certainty === "name") || step.certainty === "name";
  const edits = insertion(context, loop, step, `${optimizer}.zero_grad()`);
  context.report({
    at: step.node,
    message:
      outside === undefined ? (byName ? "neverByName" : "never") : byName ? "outsideByName" : "outside",
    values: { optimizer, step: stepText(context, step) },
    ...(byName || isOnMadeUpData(context, loop) ? { level: oneLower("error") } : {}),
    related: [
      ...loop.backwards.slice(0, 1).map((backward) => ({ at: backward.node, message: "backward" as const })),
      { at: headOf(loop.loop), message: "loop" as const },
      ...(outside === undefined ? [] : [{ at: outside.node, message: "resetOutside" as const }]),
    ],
    fixes:
      edits === undefined
        ? []
        : [
            {
              title: "insert",
              values: { text: `${optimizer}.zero_grad()` },
              safety: "review",
              edits: [edits],
            },
          ],
  });
}

/** `layer(torch.ones(4, 512, 64))` in every round: the time or the memory of a step is measured, nothing is learnt. */
function isOnMadeUpData({ torch: { resolve } }: RuleContext, { loop }: TrainingLoop): boolean {
  const forwards = [...callsWithin(resolve.index, loop)].filter(
    ({ callee, positional }) => positional.length > 0 && resolve.roleOf(callee) === "model",
  );
  return (
    forwards.length > 0 &&
    forwards.every(({ positional }) => positional.every((given) => isMadeUp(given, resolve)))
  );
}

/** Before the backward where it stands beside the step, else behind the step. */
function insertion(
  { source }: RuleContext,
  loop: TrainingLoop,
  step: TraceEvent,
  text: string,
): TextEdit | undefined {
  const own = statementList(step.statement)?.list;
  const backward = loop.backwards.findLast(({ statement }) => isBefore(statement, step.statement, own));
  if (backward === undefined || loop.accumulation !== undefined)
    return insertLineAfter(source, step.statement, text);
  return insertLineBefore(source, backward.statement, text);
}

function isBefore(statement: Statement, step: Statement, list: readonly Statement[] | undefined): boolean {
  return list !== undefined && list.includes(statement) && statement.start < step.start;
}
