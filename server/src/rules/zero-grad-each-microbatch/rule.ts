/** Gradients are reset on every micro-batch of a loop that steps only every k of them. */
import type { Call, Node, Span, Statement } from "../../python/tree";
import { statementList } from "../../python/walk";
import type { Accumulation, Place, TraceEvent, TrainingLoop } from "../../torch/training-loop";
import { zeroingReaches } from "../../torch/training-loop";
import { headOf } from "../../torch/per-batch";
import {
  accumulatesSeveral,
  canRunTogether,
  firstLine,
  foundFromEveryBeginning,
  lastOfUpdate,
  runsWithEachBackward,
  stepsText,
  stepText,
  takeOut,
} from "../accumulation";
import { deleteStatement, insertLineAfter, insertLineBefore } from "../fix";
import { defineRule, oneLower, type RuleContext, type TextEdit } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  guarded: {
    en: "`{zeroing}` runs on every micro-batch, but `{step}` only once every `{k}` of them: an update applies the gradients of its last micro-batch at most, those of the earlier ones are thrown away. Reset after the step, under the same condition.",
    "zh-cn":
      "`{zeroing}` 在每个微批次都执行，而 `{step}` 每 `{k}` 个微批次才执行一次：每次更新最多只用到最后一个微批次的梯度，之前的都被丢弃。请在更新之后、同一条件下清零。",
  },
  microLoop: {
    en: "`{zeroing}` runs in each round of the inner loop, but `{step}` only after it: an update applies the gradients of the last round at most, those of the earlier ones are thrown away. Reset once before the inner loop.",
    "zh-cn":
      "`{zeroing}` 在内层循环的每一轮都执行，而 `{step}` 在内层循环之后才执行：每次更新最多只用到最后一轮的梯度，之前的都被丢弃。请在内层循环之前清零一次。",
  },
  accelerateBefore: {
    en: "Under `accumulate()` a prepared optimizer's `zero_grad()` acts on the micro-batch that synchronizes, and here it comes before that one's backward: the gradients of the earlier micro-batches are thrown away. Call it after `{step}`.",
    "zh-cn":
      "在 `accumulate()` 中，经 `prepare` 的优化器的 `zero_grad()` 只在同步的那个微批次生效，而这里它先于该微批次的反向传播：之前微批次的梯度被丢弃。请把它放到 `{step}` 之后。",
  },
  accelerateModel: {
    en: "`{zeroing}` resets on every micro-batch: unlike a prepared optimizer's `zero_grad()`, the model's knows nothing of `accumulate()`. An update applies the gradients of its last micro-batch at most. Call the optimizer's `zero_grad()` after `{step}`.",
    "zh-cn":
      "`{zeroing}` 在每个微批次都会清零：与经 `prepare` 的优化器的 `zero_grad()` 不同，模型的 `zero_grad()` 并不理会 `accumulate()`。每次更新最多只用到最后一个微批次的梯度。请在 `{step}` 之后调用优化器的 `zero_grad()`。",
  },
  guard: { en: "The step waits for this condition.", "zh-cn": "更新要等到这个条件成立。" },
  inner: {
    en: "This loop runs the backwards of one update.",
    "zh-cn": "这个循环执行同一次更新的多次反向传播。",
  },
  step: { en: "The update is here.", "zh-cn": "更新在这里。" },
  backward: { en: "Gradients are added here.", "zh-cn": "梯度在这里累加。" },
  move: { en: "Move `{zeroing}` after the step", "zh-cn": "把 `{zeroing}` 移到更新之后" },
  moveOut: { en: "Move `{zeroing}` before the inner loop", "zh-cn": "把 `{zeroing}` 移到内层循环之前" },
  drop: {
    en: "Remove `{zeroing}`: the step's branch resets already",
    "zh-cn": "删除 `{zeroing}`：更新分支中已经清零",
  },
};

export const rule = defineRule<MessageId>({
  name: "zero-grad-each-microbatch",
  group: "accumulation",
  level: "error",
  summary: {
    en: "Gradients are reset on every micro-batch while accumulating.",
    "zh-cn": "梯度累积时每个微批次都清零梯度。",
  },
  messages,
  create: (context) => ({
    finish() {
      const found = foundFromEveryBeginning(
        context,
        (loop) => wrongZeroings(context, loop),
        ({ zeroing }) => zeroing.node,
      );
      for (const wrong of found) report(context, wrong);
    },
  }),
});

interface Wrong {
  readonly loop: TrainingLoop;
  readonly zeroing: TraceEvent;
  readonly step: TraceEvent;
  readonly message: "guarded" | "microLoop" | "accelerateBefore" | "accelerateModel";
}

function wrongZeroings(context: RuleContext, loop: TrainingLoop): Wrong[] {
  // Gradients that are read, scaled or handled by hand may be summed elsewhere.
  const byHand = loop.events.some(
    ({ kind }) => kind === "gradient-read" || kind === "gradient-scaling" || kind === "gradient-hook",
  );
  if (byHand || loop.unknownCode.some(({ of }) => of !== "model")) return [];
  if (loop.framework?.duties.zeroing === "always") return [];
  const { accumulation } = loop;
  if (accumulation?.form === "accelerate" && accumulation.branch === undefined) {
    return underAccumulate(context, loop, accumulation);
  }
  if (accumulation?.branch !== undefined) return outsideGuard(context, loop, accumulation);
  return insideMicroLoop(context, loop);
}

function outsideGuard(context: RuleContext, loop: TrainingLoop, accumulation: Accumulation): Wrong[] {
  if (
    accumulation.guardedSteps.some(
      ({ places }) => places.some(isLoopBelow(loop)) && loop.microLoop !== undefined,
    )
  ) {
    return [];
  }
  if (!accumulatesSeveral(context, accumulation)) return [];
  const wrong: Wrong[] = [];
  for (const zeroing of loop.zeroings) {
    const step = accumulation.guardedSteps.find(
      (candidate) => canRunTogether(zeroing, candidate) && resetsFor(context, zeroing, candidate, loop),
    );
    if (step !== undefined && runsWithEachBackward(zeroing, loop, testsGradient)) {
      wrong.push({ loop, zeroing, step, message: "guarded" });
    }
  }
  return wrong;
}

function insideMicroLoop(context: RuleContext, loop: TrainingLoop): Wrong[] {
  const { microLoop } = loop;
  if (microLoop === undefined || loop.steps.length === 0) return [];
  const isInside = ({ places }: TraceEvent): boolean =>
    places.some((place) => place.kind === "loop" && place.node === microLoop);
  if (loop.steps.some(isInside)) return [];
  const wrong: Wrong[] = [];
  for (const zeroing of loop.zeroings) {
    if (!isInside(zeroing) || !runsWithEachBackward(zeroing, loop, testsGradient)) continue;
    const step = loop.steps.find(
      (candidate) => isOfOuterLoop(candidate, loop) && resetsFor(context, zeroing, candidate, loop),
    );
    if (step !== undefined) wrong.push({ loop, zeroing, step, message: "microLoop" });
  }
  return wrong;
}

function underAccumulate(context: RuleContext, loop: TrainingLoop, accumulation: Accumulation): Wrong[] {
  if (!isAskedToAccumulate(context, accumulation)) return [];
  const firstBackward = loop.events.findIndex(({ kind }) => kind === "backward");
  const [step] = loop.steps;
  if (step === undefined) return [];
  const wrong: Wrong[] = [];
  for (const zeroing of loop.zeroings) {
    if (!isUnder(zeroing, accumulation.node) || !runsWithEachBackward(zeroing, loop, testsGradient)) continue;
    if (zeroing.of === "model") wrong.push({ loop, zeroing, step, message: "accelerateModel" });
    else if (zeroing.of === "optimizer" && loop.events.indexOf(zeroing) < firstBackward) {
      wrong.push({ loop, zeroing, step, message: "accelerateBefore" });
    }
  }
  return wrong;
}

/** False where the Accelerator is seen to be made without accumulation. */
function isAskedToAccumulate(context: RuleContext, accumulation: Accumulation): boolean {
  if (accumulation.steps !== undefined) return accumulatesSeveral(context, accumulation);
  const maker = context.torch.frameworks.makerOf("accelerate");
  return maker === undefined || givesAccumulationOtherwise(maker);
}

function givesAccumulationOtherwise(maker: Call): boolean {
  return (
    maker.keywordSpreads.length > 0 ||
    maker.keywords.some(({ name }) => /gradient_accumulation_plugin|deepspeed_plugin/.test(name.id))
  );
}

function isUnder({ places }: TraceEvent, context: Node): boolean {
  return places.some(
    (place) => place.kind === "with" && place.node.items.some((item) => item.context === context),
  );
}

/** True when the zeroing is one of the optimizer's gradients that the step applies, as far as can be told. */
function resetsFor(context: RuleContext, zeroing: TraceEvent, step: TraceEvent, loop: TrainingLoop): boolean {
  if (!resetsAllParameters(context, zeroing)) return false;
  const relation = zeroingReaches(context.torch.resolve, zeroing, step);
  if (relation !== "unknown") return relation === "same";
  return new Set(loop.steps.map(({ node }) => node)).size === 1;
}

function resetsAllParameters({ torch }: RuleContext, zeroing: TraceEvent): boolean {
  if (zeroing.of === "optimizer" || zeroing.of === "model") return true;
  if (zeroing.of !== "gradient") return false;
  // `for p in model.parameters(): p.grad = None`
  const over = zeroing.places.findLast((place) => place.kind === "loop");
  if (over?.kind !== "loop" || over.node.kind !== "For") return false;
  const { iterable } = over.node;
  if (iterable.kind !== "Call" || iterable.callee.kind !== "Attribute") return false;
  return (
    iterable.callee.attribute.id === "parameters" && torch.resolve.roleOf(iterable.callee.object) === "model"
  );
}

/** `if p.grad is not None:` around a reset. */
function testsGradient(place: Place): boolean {
  if (place.kind !== "branch" || place.test?.kind !== "Comparison") return false;
  const [left] = place.test.operands;
  return left?.kind === "Attribute" && left.attribute.id === "grad";
}

/** False for a step in another inner loop, such as training before an evaluation that computes gradients of its own. */
function isOfOuterLoop({ places }: TraceEvent, { loop }: TrainingLoop): boolean {
  const nearest = places.findLast((place) => place.kind === "loop");
  return nearest === undefined || nearest.node === loop;
}

function isLoopBelow({ loop }: TrainingLoop): (place: Place) => boolean {
  return (place) => place.kind === "loop" && place.node !== loop && place.node.start >= loop.start;
}

function report(context: RuleContext<MessageId>, { loop, zeroing, step, message }: Wrong): void {
  const { accumulation } = loop;
  const text =
    zeroing.node.kind === "Call"
      ? context.source.slice(zeroing.node)
      : context.source.slice(zeroing.statement);
  const certain = zeroing.certainty !== "name" || step.certainty !== "name";
  const byHalf = message === "accelerateBefore" && accumulation?.steps === undefined;
  const fix = fixOf(context, { loop, zeroing, step, message });
  context.report({
    at: zeroing.node,
    message,
    values: {
      zeroing: firstLine(text),
      step: stepText(context, step),
      k: stepsText(context, accumulation?.steps),
    },
    ...(certain && !byHalf ? {} : { level: oneLower("error") }),
    related: [
      ...(message === "guarded" && accumulation !== undefined
        ? [{ at: accumulation.node as Span, message: "guard" as const }]
        : []),
      ...(message === "microLoop" && loop.microLoop !== undefined
        ? [{ at: headOf(loop.microLoop), message: "inner" as const }]
        : []),
      ...loop.backwards.slice(0, 1).map(({ node }) => ({ at: node, message: "backward" as const })),
      { at: step.node, message: "step" },
    ],
    fixes: fix === undefined ? [] : [{ ...fix, values: { zeroing: firstLine(text) }, safety: "review" }],
  });
}

interface MoveFix {
  readonly title: "move" | "moveOut" | "drop";
  readonly edits: readonly TextEdit[];
}

function fixOf(context: RuleContext, { loop, zeroing, step, message }: Wrong): MoveFix | undefined {
  const { source } = context;
  const { statement } = zeroing;
  const siblings = statementList(statement)?.list;
  if (statement.kind !== "ExpressionStatement" || statement.expression !== zeroing.node) return undefined;
  if (siblings === undefined || message === "accelerateModel") return undefined;
  if (resetsInBranch(loop, zeroing, step)) {
    const removal = deleteStatement(source, statement, siblings);
    return removal === undefined ? undefined : { title: "drop", edits: [removal] };
  }
  const { resolve } = context.torch;
  const target: Statement = message === "microLoop" ? (loop.microLoop ?? step.statement) : step.statement;
  if (resolve.enclosingFunction(target) !== resolve.enclosingFunction(statement)) return undefined;
  const taken = takeOut(source, zeroing, step, target);
  if (taken === undefined) return undefined;
  const { text, removal } = taken;
  const addition =
    message === "microLoop"
      ? insertLineBefore(source, target, text)
      : insertLineAfter(source, lastOfUpdate(loop, step), text);
  if (addition === undefined) return undefined;
  return { title: message === "microLoop" ? "moveOut" : "move", edits: [removal, addition] };
}

/** True when the step's own block resets already. */
function resetsInBranch(loop: TrainingLoop, zeroing: TraceEvent, step: TraceEvent): boolean {
  const list = statementList(step.statement)?.list;
  if (list === undefined || list.includes(zeroing.statement)) return false;
  return loop.zeroings.some((other) => other !== zeroing && list.includes(other.statement));
}
