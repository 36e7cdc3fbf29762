/** The learning rate scheduler steps on every micro-batch of a loop whose optimizer steps only every k of them. */
import { message as textOf } from "../../messages/message";
import type { Call, Expression } from "../../python/tree";
import type { Accumulation, TraceEvent, TrainingLoop } from "../../torch/training-loop";
import { identify } from "../../torch/training-loop";
import {
  accumulatesSeveral,
  firstLine,
  foundFromEveryBeginning,
  moveBehindStep,
  runsOutsideUpdate,
  runsWithEachBackward,
  stepsText,
  stepText,
} from "../accumulation";
import { defineRule, oneLower, type RuleContext } from "../rule";
import { unitOfSchedule, type ScheduleUnit } from "./unit";

type MessageId = keyof typeof messages;

const messages = {
  updates: {
    en: "`{call}` runs on every micro-batch, but `{step}` only once every `{k}` of them: the schedule counts updates, so it runs `{k}` times too fast. Step it after the optimizer, under the same condition.",
    "zh-cn":
      "`{call}` 在每个微批次都执行，而 `{step}` 每 `{k}` 个微批次才执行一次：该调度以更新次数计数，因此会以 `{k}` 倍的速度走完。请在优化器之后、同一条件下执行它。",
  },
  open: {
    en: "`{call}` runs on every micro-batch, but `{step}` only once every `{k}` of them. If the schedule of `{scheduler}` counts updates, it runs `{k}` times too fast: step it after the optimizer, under the same condition.",
    "zh-cn":
      "`{call}` 在每个微批次都执行，而 `{step}` 每 `{k}` 个微批次才执行一次。如果 `{scheduler}` 的调度以更新次数计数，就会以 `{k}` 倍的速度走完：请在优化器之后、同一条件下执行它。",
  },
  accelerate: {
    en: "`{call}` runs on every micro-batch: `{scheduler}` did not go through `accelerator.prepare`, so it does not wait for the micro-batch that synchronizes and advances `{k}` times an update. Prepare it, or step it under `if accelerator.sync_gradients:`.",
    "zh-cn":
      "`{call}` 在每个微批次都执行：`{scheduler}` 没有经过 `accelerator.prepare`，因此不会等到同步的那个微批次，每次更新会前进 `{k}` 次。请对它执行 prepare，或放到 `if accelerator.sync_gradients:` 之下。",
  },
  byName: {
    en: "If `{scheduler}` is a learning rate scheduler, this holds. {what}",
    "zh-cn": "如果 `{scheduler}` 是学习率调度器：{what}",
  },
  guard: { en: "The update waits for this condition.", "zh-cn": "更新要等到这个条件成立。" },
  inner: {
    en: "This loop runs the backwards of one update.",
    "zh-cn": "这个循环执行同一次更新的多次反向传播。",
  },
  theStep: { en: "The update is here.", "zh-cn": "更新在这里。" },
  made: { en: "The length of the schedule is given here.", "zh-cn": "调度的长度在这里给出。" },
  move: { en: "Move `{call}` after the step", "zh-cn": "把 `{call}` 移到更新之后" },
};

export const rule = defineRule<MessageId>({
  name: "scheduler-step-per-microbatch",
  group: "accumulation",
  level: "warning",
  summary: {
    en: "The learning rate scheduler steps on every micro-batch while accumulating.",
    "zh-cn": "梯度累积时，学习率调度器在每个微批次都执行 step。",
  },
  messages,
  create: (context) => ({
    finish() {
      const found = foundFromEveryBeginning(
        context,
        (loop) => earlySteps(context, loop),
        ({ event }) => event.node,
      );
      for (const early of found) report(context, early);
    },
  }),
});

interface Early {
  readonly loop: TrainingLoop;
  readonly accumulation: Accumulation;
  readonly event: TraceEvent;
  readonly scheduler: Expression;
  readonly construction: Call | undefined;
  readonly step: TraceEvent;
  readonly message: "updates" | "open" | "accelerate";
  /** True when the schedule is seen to count updates. */
  readonly certain: boolean;
}

function earlySteps(context: RuleContext, loop: TrainingLoop): Early[] {
  const { accumulation } = loop;
  const [step] = accumulation?.guardedSteps ?? [];
  if (accumulation === undefined || step === undefined) return [];
  if (loop.framework !== undefined && loop.framework.duties.stepping !== "never") return [];
  const found: Early[] = [];
  for (const event of loop.events) {
    if (event.kind !== "scheduler-step" || event.subject === undefined) continue;
    // `scheduler.step(epoch + i / n)`: the position is given, not counted.
    if (event.node.kind !== "Call" || hasArguments(event.node)) continue;
    const scheduler = identify(context.torch.resolve, event.subject, event.places).expression;
    const construction = context.torch.resolve.objectOf(scheduler)?.construction;
    const verdict = judge(context, loop, accumulation, event, scheduler, construction);
    if (verdict === undefined) continue;
    found.push({ loop, accumulation, event, scheduler, construction, step, ...verdict });
  }
  return found;
}

function judge(
  context: RuleContext,
  loop: TrainingLoop,
  accumulation: Accumulation,
  event: TraceEvent,
  scheduler: Expression,
  construction: Call | undefined,
): Pick<Early, "message" | "certain"> | undefined {
  if (!accumulatesSeveral(context, accumulation) || isPrepared(context, scheduler)) return undefined;
  const unit: ScheduleUnit =
    construction === undefined ? "unknown" : unitOfSchedule(context, construction, accumulation.steps);
  if (unit === "micro-batches") return undefined;
  const certain = unit === "updates";
  if (accumulation.form === "accelerate" && accumulation.branch === undefined) {
    // An unknown one may have been prepared where it was made.
    if (construction === undefined || accumulation.steps === undefined) return undefined;
    if (!isInside(event, accumulation) || !runsWithEachBackward(event, loop)) return undefined;
    return { message: "accelerate", certain };
  }
  if (!runsOutsideUpdate(context, event, loop)) return undefined;
  return { message: certain ? "updates" : "open", certain };
}

function hasArguments({ positional, keywords, keywordSpreads }: Call): boolean {
  return positional.length + keywords.length + keywordSpreads.length > 0;
}

function isInside({ places }: TraceEvent, { node }: Accumulation): boolean {
  return places.some(
    (place) => place.kind === "with" && place.node.items.some((item) => item.context === node),
  );
}

/** The scheduler goes into or comes out of some `prepare(…)`, or of one whose arguments cannot be seen. */
function isPrepared({ torch }: RuleContext, scheduler: Expression): boolean {
  const { resolve } = torch;
  const key = resolve.keyOf(scheduler);
  return (resolve.index.callsByName.get("prepare") ?? []).some((call) => {
    if (call.positional.some(({ kind }) => kind === "Starred")) return true;
    const results = call.parent?.kind === "Assign" ? call.parent.targets.flatMap(membersOf) : [];
    return key !== undefined && [...call.positional, ...results].some((one) => resolve.keyOf(one) === key);
  });
}

function membersOf(target: Expression): readonly Expression[] {
  return target.kind === "Tuple" || target.kind === "List" ? target.elements : [target];
}

function report(context: RuleContext<MessageId>, early: Early): void {
  const { loop, accumulation, event, scheduler, construction, step, message, certain } = early;
  const { source } = context;
  const call = firstLine(source.slice(event.node));
  const values = {
    call,
    scheduler: source.slice(event.subject ?? scheduler),
    k: stepsText(context, accumulation.steps),
    step: stepText(context, step),
  };
  const byName = event.certainty === "name";
  const edits = message === "accelerate" ? undefined : moveBehindStep(context, event, loop, step);
  context.report({
    at: event.node,
    ...(byName && certain
      ? { message: "byName", values: { ...values, what: textOf(messages[message], values) } }
      : { message, values }),
    ...(byName || !certain ? { level: oneLower("warning") } : {}),
    related: [
      { at: accumulation.node, message: accumulation.form === "micro-loop" ? "inner" : "guard" },
      { at: step.node, message: "theStep" },
      ...(construction === undefined ? [] : [{ at: construction, message: "made" as const }]),
    ],
    fixes: edits === undefined ? [] : [{ title: "move", values: { call }, safety: "review", edits }],
  });
}
