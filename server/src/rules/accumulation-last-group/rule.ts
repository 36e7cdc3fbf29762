/** The loop steps every k micro-batches, and what is left over at its end takes no step. */
import { message as textOf } from "../../messages/message";
import type { Node } from "../../python/tree";
import { someNode } from "../../python/walk";
import type { Resolver } from "../../torch/resolve";
import type { Accumulation, LoopNode, Place, TraceEvent, TrainingLoop } from "../../torch/training-loop";
import { identify, relate } from "../../torch/training-loop";
import { headOf } from "../../torch/per-batch";
import { accumulatesSeveral, foundFromEveryBeginning, stepsText, stepText } from "../accumulation";
import { defineRule, oneLower, type RuleContext, type TextEdit } from "../rule";
import { countedBy, passOf, plainGuard, type Counted, type Pass, type PlainGuard } from "./count";
import { integerOf, isSlice, lengthFrom, lengthOf } from "./length";

type MessageId = keyof typeof messages;

const messages = {
  thrown: {
    en: "Unless a pass happens to end with a full group of `{k}`, its last micro-batches never reach `{step}`, and the reset before the next pass throws their gradients away. Step on the last micro-batch too.",
    "zh-cn":
      "除非一轮恰好以完整的一组（`{k}` 个）结束，否则最后几个微批次到不了 `{step}`，它们的梯度会在下一轮之前被清零丢弃。请在最后一个微批次也执行更新。",
  },
  left: {
    en: "Unless a pass happens to end with a full group of `{k}`, its last micro-batches never reach `{step}`: their gradients are lost, or stay in `.grad` and the first update of the next pass applies them on top of its own. Step on the last micro-batch too.",
    "zh-cn":
      "除非一轮恰好以完整的一组（`{k}` 个）结束，否则最后几个微批次到不了 `{step}`：它们的梯度要么丢失，要么留在 `.grad` 中，由下一轮的第一次更新一并应用。请在最后一个微批次也执行更新。",
  },
  byName: {
    en: "If `{optimizer}` is an optimizer, this holds. {what}",
    "zh-cn": "如果 `{optimizer}` 是优化器：{what}",
  },
  loop: { en: "This loop is one pass over the micro-batches.", "zh-cn": "这个循环遍历一轮微批次。" },
  step: { en: "The update is here.", "zh-cn": "更新在这里。" },
  reset: { en: "The gradients that are left are reset here.", "zh-cn": "剩余的梯度在这里被清零。" },
  extend: { en: "Step on the last micro-batch too", "zh-cn": "在最后一个微批次也执行更新" },
};

export const rule = defineRule<MessageId>({
  name: "accumulation-last-group",
  group: "accumulation",
  level: "information",
  summary: {
    en: "The micro-batches left over at the end of a pass take no step.",
    "zh-cn": "一轮结束时剩余的微批次没有执行更新。",
  },
  messages,
  create: (context) => ({
    finish() {
      const found = foundFromEveryBeginning(
        context,
        (loop) => lostGroups(context, loop),
        ({ guard }) => guard.test,
      );
      for (const lost of found) report(context, lost);
    },
  }),
});

interface Lost {
  readonly loop: TrainingLoop;
  readonly accumulation: Accumulation;
  readonly guard: PlainGuard;
  readonly counted: Counted;
  readonly pass: Pass;
  readonly step: TraceEvent;
  /** Resets the gradients before each pass. */
  readonly reset: TraceEvent | undefined;
}

function lostGroups(context: RuleContext, loop: TrainingLoop): Lost[] {
  const { accumulation } = loop;
  const { resolve } = context.torch;
  const [step] = accumulation?.guardedSteps ?? [];
  if (accumulation === undefined || step === undefined || accumulation.partly) return [];
  if (accumulation.form !== "modulus" && accumulation.form !== "counter") return [];
  if (!accumulatesSeveral(context, accumulation) || loop.microLoop !== undefined) return [];
  if (loop.framework !== undefined && loop.framework.duties.stepping !== "never") return [];
  const guard = plainGuard(resolve, accumulation);
  const counted =
    guard === undefined ? undefined : countedBy(resolve, guard, placesBefore(step, accumulation));
  const pass = counted === undefined ? undefined : passOf(resolve, counted, loop);
  if (guard === undefined || counted === undefined || pass === undefined) return [];
  if (dropsLast(resolve, loop) || leavesEarly(loop.loop, counted)) return [];
  if (stepsOnLast(resolve, accumulation, guard, counted, pass)) return [];
  const around = loopsAround(loop);
  if (loop.outside.some((event) => flushes(resolve, event, loop, step, around))) return [];
  const reset = loop.outside.find((event) => event.kind === "zeroing" && sameLoops(loopsOf(event), around));
  return [{ loop, accumulation, guard, counted, pass, step, reset }];
}

function placesBefore({ places }: TraceEvent, { branch }: Accumulation): readonly Place[] {
  const index = branch === undefined ? -1 : places.indexOf(branch);
  return index < 0 ? places : places.slice(0, index);
}

function loopsOf({ places }: TraceEvent): readonly LoopNode[] {
  return places.flatMap((place) => (place.kind === "loop" ? [place.node] : []));
}

/** The loops around the training loop, outermost first. */
function loopsAround({ loop, backwards }: TrainingLoop): readonly LoopNode[] {
  const [backward] = backwards;
  const loops = backward === undefined ? [] : loopsOf(backward);
  return loops.slice(0, Math.max(0, loops.indexOf(loop)));
}

function sameLoops(a: readonly LoopNode[], b: readonly LoopNode[]): boolean {
  return a.length === b.length && a.every((loop, index) => loop === b[index]);
}

/** A step beside the loop, or code behind it that may hold one: what is left over may be applied there. */
function flushes(
  resolve: Resolver,
  event: TraceEvent,
  loop: TrainingLoop,
  step: TraceEvent,
  around: readonly LoopNode[],
): boolean {
  if (!loopsOf(event).every((one) => around.includes(one))) return false;
  if (event.kind === "unknown-code") return event.of !== "model" && comesBehind(event, loop);
  if (event.kind !== "optimizer-step") return false;
  if (event.subject === undefined || step.subject === undefined) return true;
  const other = identify(resolve, event.subject, event.places);
  return relate(other, identify(resolve, step.subject, step.places)) !== "different";
}

/** True when an event runs after the loop, in the function of the loop or in one that calls it. */
function comesBehind(event: TraceEvent, { loop, backwards }: TrainingLoop): boolean {
  const isOnTheWay = (place: Place): boolean => place.kind !== "branch" || !place.behind;
  const way = backwards[0]?.places.filter(isOnTheWay) ?? [];
  const other = event.places.filter(isOnTheWay);
  for (const [index, place] of way.entries()) {
    const parted = other[index];
    if (parted === place) continue;
    return (parted === undefined ? event.statement.start : startOf(parted)) > startOf(place);
  }
  return event.statement.start > loop.start;
}

function startOf(place: Place): number {
  return place.kind === "call" ? place.call.start : place.node.start;
}

/** `drop_last=…` where the loader is made, or where its batch sampler is. */
function dropsLast(resolve: Resolver, { loader }: TrainingLoop): boolean {
  const construction = loader === undefined ? undefined : resolve.objectOf(loader)?.construction;
  if (construction === undefined) return false;
  if (construction.keywordSpreads.length > 0) return true;
  const isGiven = (node: Node): boolean =>
    node.kind === "Call" &&
    node.keywords.some(
      ({ name, value }) => name.id === "drop_last" && !(value.kind === "Boolean" && !value.value),
    );
  const sampler = construction.keywords.find(({ name }) => name.id === "batch_sampler")?.value;
  const made = sampler === undefined ? [] : [sampler, ...resolve.valuesOf(sampler)];
  return [construction, ...made].some((root) => someNode(root, isGiven));
}

/** `if i >= n: break`: the pass ends where somebody chose. */
function leavesEarly(loop: LoopNode, { variable }: Counted): boolean {
  return loop.body.some(
    (statement) =>
      statement.kind === "If" &&
      statement.body.at(-1)?.kind === "Break" &&
      someNode(statement.test, (node) => node.kind === "Name" && node.id === variable.id),
  );
}

/** True when the length of a pass is known and its last micro-batch steps. */
function stepsOnLast(
  resolve: Resolver,
  { steps }: Accumulation,
  { test, stepsWhen }: PlainGuard,
  { offset }: Counted,
  { source, isLength, first }: Pass,
): boolean {
  const length = isLength ? lengthFrom(resolve, source) : lengthOf(resolve, source);
  const k = steps === undefined ? undefined : integerOf(resolve, steps);
  // Whoever chose how many batches a pass has may have chosen a multiple.
  if (k === undefined || k <= 0) return source.kind === "Call" && isSlice(resolve, source);
  if (length === undefined) return false;
  // A counter begins anew with each update: the last one is complete when the length is a multiple.
  if (first === undefined) return length % k === 0;
  const last = first + length - 1 + offset;
  const remainder = ((last % k) + k) % k;
  if (test.kind !== "Comparison") return !stepsWhen && remainder === 0;
  const compared = test.operands.find(
    (operand) => !(operand.kind === "BinaryOperation" && operand.operator === "%"),
  );
  const wanted = compared === undefined ? undefined : integerOf(resolve, compared);
  return wanted === remainder;
}

function report(context: RuleContext<MessageId>, lost: Lost): void {
  const { loop, accumulation, guard, step, reset } = lost;
  const { source } = context;
  const values = { k: stepsText(context, accumulation.steps), step: stepText(context, step) };
  const message = reset === undefined ? "left" : "thrown";
  const byName = loop.certainty === "name" && step.certainty === "name";
  const edit = extension(context, lost);
  context.report({
    at: guard.test,
    ...(byName && step.subject !== undefined
      ? {
          message: "byName",
          values: { optimizer: source.slice(step.subject), what: textOf(messages[message], values) },
          level: oneLower("information"),
        }
      : { message, values }),
    related: [
      { at: headOf(loop.loop), message: "loop" },
      { at: step.node, message: "step" },
      ...(reset === undefined ? [] : [{ at: reset.node, message: "reset" as const }]),
    ],
    fixes: edit === undefined ? [] : [{ title: "extend", safety: "review", edits: [edit] }],
  });
}

/** `… or i + 1 == len(loader)`; `undefined` where the length or the index cannot be named beside the guard. */
function extension(
  { source, torch }: RuleContext,
  { loop, guard, counted, pass }: Lost,
): TextEdit | undefined {
  const { resolve } = torch;
  const { test, stepsWhen } = guard;
  const parent = test.parent;
  const isAlone = parent?.kind === "Assign" || (parent?.kind === "If" && parent.test === test);
  if (!isAlone || resolve.enclosingFunction(test) !== resolve.enclosingFunction(loop.loop)) return undefined;
  const length = lengthText(source.slice(pass.source), pass);
  if (length === undefined || (pass.first !== 0 && pass.first !== 1)) return undefined;
  const { id } = counted.variable;
  const last = pass.first === 0 ? `${id} + 1` : id;
  const text = stepsWhen ? ` or ${last} == ${length}` : ` and ${last} < ${length}`;
  return { start: test.end, end: test.end, text };
}

function lengthText(text: string, { source, isLength }: Pass): string | undefined {
  if (/[\r\n]/.test(text)) return undefined;
  if (isLength) return text;
  return source.kind === "Name" || source.kind === "Attribute" ? `len(${text})` : undefined;
}
