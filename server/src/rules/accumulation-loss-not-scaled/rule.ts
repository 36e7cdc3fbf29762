/** The optimizer steps every k backwards, and the loss is not divided by k. */
import { FileMemo } from "../../python/file-memo";
import type { Expression } from "../../python/tree";
import { dottedPath, nodesOf, someNode } from "../../python/walk";
import type { Accumulation, TraceEvent, TrainingLoop } from "../../torch/training-loop";
import type { Resolver } from "../../torch/resolve";
import { push } from "../../torch/resolve-index";
import { judgeLoss } from "../../torch/training-loop/loss";
import { accumulatesSeveral, foundFromEveryBeginning, runsOutsideUpdate, stepText } from "../accumulation";
import { excerpt } from "../excerpt";
import { defineRule, oneLower, type RuleContext, type TextEdit } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  notScaled: {
    en: "`{loss}` is a mean over one micro-batch and is not divided by the accumulation steps: {resets, select, yes {once nothing resets the gradients on every micro-batch, } other {}}`{step}` applies the sum over `{k}` micro-batches, `{k}` times the gradient of their mean. Backward through `{scaled}`.",
    "zh-cn":
      "`{loss}` 是单个微批次上的平均值，却没有除以累积次数：{resets, select, yes {一旦不再每个微批次都重置梯度，} other {}}`{step}` 应用的是 `{k}` 个微批次的梯度之和，是平均梯度的 `{k}` 倍。请对 `{scaled}` 做反向传播。",
  },
  notScaledByName: {
    en: "If `{loss}` is a mean over one micro-batch, it has to be divided by the accumulation steps: {resets, select, yes {once nothing resets the gradients on every micro-batch, } other {}}`{step}` applies the sum over `{k}` micro-batches, `{k}` times the gradient of their mean. Backward through `{scaled}`.",
    "zh-cn":
      "如果 `{loss}` 是单个微批次上的平均值，就需要除以累积次数：{resets, select, yes {一旦不再每个微批次都重置梯度，} other {}}`{step}` 应用的是 `{k}` 个微批次的梯度之和，是平均梯度的 `{k}` 倍。请对 `{scaled}` 做反向传播。",
  },
  guard: { en: "The step waits for this condition.", "zh-cn": "更新要等到这个条件成立。" },
  inner: {
    en: "This loop runs the backwards of one update.",
    "zh-cn": "这个循环执行同一次更新的多次反向传播。",
  },
  step: { en: "The summed gradients are applied here.", "zh-cn": "累加的梯度在这里应用。" },
  divide: { en: "Divide the loss by `{divisor}`", "zh-cn": "把损失除以 `{divisor}`" },
};

export const rule = defineRule<MessageId>({
  name: "accumulation-loss-not-scaled",
  group: "accumulation",
  level: "error",
  summary: {
    en: "Gradients are accumulated over micro-batches without dividing the loss.",
    "zh-cn": "跨微批次累积梯度时没有按累积次数缩放损失。",
  },
  messages,
  create: (context) => ({
    finish() {
      const found = foundFromEveryBeginning(
        context,
        (loop) => unscaled(context, loop),
        ({ backward }) => backward.node,
      );
      for (const one of found) report(context, one);
    },
  }),
});

interface Unscaled {
  readonly loop: TrainingLoop;
  readonly accumulation: Accumulation;
  readonly steps: Expression;
  readonly backward: TraceEvent;
  readonly byName: boolean;
  /** Every micro-batch resets the gradients: there is no sum until that is mended. */
  readonly resets: boolean;
}

function unscaled(context: RuleContext, loop: TrainingLoop): Unscaled[] {
  const { accumulation } = loop;
  const steps = accumulation?.steps;
  if (accumulation === undefined || steps === undefined || accumulation.partly) return [];
  if (accumulation.form === "accelerate") return [];
  if (!accumulatesSeveral(context, accumulation)) return [];
  if (scalesElsewhere(loop) || dividesBy(context, steps)) return [];
  const resets = loop.zeroings.some((zeroing) => runsOutsideUpdate(context, zeroing, loop));
  const found: Unscaled[] = [];
  for (const backward of loop.backwards) {
    if (backward.subject === undefined || backward.withGradient || throughScales(context, backward)) continue;
    const { verdict, certainty } = judgeLoss(context.torch.resolve, backward.subject, backward.places);
    if (verdict !== "mean") continue;
    const byName = certainty === "name" || loop.certainty === "name";
    found.push({ loop, accumulation, steps, backward, byName, resets });
  }
  // Several losses of one iteration: if one of them is divided, or not understood, the script does its own arithmetic.
  return found.length === loop.backwards.length ? found : [];
}

/** Gradients that are scaled, read or hooked by hand, and code that we do not see, may divide later. */
function scalesElsewhere(loop: TrainingLoop): boolean {
  const byHand = [...loop.events, ...loop.outside].some(
    ({ kind }) => kind === "gradient-scaling" || kind === "gradient-hook" || kind === "gradient-read",
  );
  return byHand || loop.unknownCode.length > 0;
}

function throughScales(context: RuleContext, { through }: TraceEvent): boolean {
  if (through === undefined) return false;
  if (through === "unknown") return true;
  const scaling = through.duties["loss-scaling"];
  if (scaling !== "configured") return scaling === "always";
  const maker = context.torch.frameworks.makerOf(through.name);
  return (
    maker === undefined ||
    maker.keywordSpreads.length > 0 ||
    maker.keywords.some(({ name }) => /accumul/.test(name.id))
  );
}

/** Something with a graph is divided by the same expression somewhere in the file: no count, no number for a log line. */
function dividesBy({ torch: { resolve } }: RuleContext, steps: Expression): boolean {
  const path = dottedPath(steps);
  if (path === undefined) return false;
  const { byPath, byKey } = dividendsIn(resolve);
  const key = resolve.keyOf(steps);
  const dividends = [
    ...(byPath.get(path) ?? []),
    ...((key === undefined ? undefined : byKey.get(key)) ?? []),
  ];
  return dividends.some((dividend) => !isNumber(resolve, dividend));
}

/** What is divided, by what it is divided by: as that is written, and which variable it is. */
interface Dividends {
  readonly byPath: ReadonlyMap<string, readonly Expression[]>;
  readonly byKey: ReadonlyMap<string, readonly Expression[]>;
}

const knownDividends = new FileMemo<Dividends>();

/** Of `a / b` and `a /= b`, found once for all loops of a file. */
function dividendsIn(resolve: Resolver): Dividends {
  return knownDividends.of(resolve.module, () => {
    const byPath = new Map<string, Expression[]>();
    const byKey = new Map<string, Expression[]>();
    for (const node of nodesOf(resolve.module)) {
      if (node.kind !== "BinaryOperation" && node.kind !== "AugmentedAssign") continue;
      if (node.operator !== "/") continue;
      const [dividend, divisor] =
        node.kind === "BinaryOperation" ? [node.left, node.right] : [node.target, node.value];
      const path = dottedPath(divisor);
      const key = resolve.keyOf(divisor);
      if (path !== undefined) push(byPath, path, dividend);
      if (key !== undefined) push(byKey, key, dividend);
    }
    return { byPath, byKey };
  });
}

/** A Python number: a count (`len(loader)`), `loss.item()`, a running sum of such. */
function isNumber(resolve: Resolver, expression: Expression, depth = 0): boolean {
  const isPlain = someNode(expression, (node) => {
    const name = node.kind === "Name" ? node.id : node.kind === "Attribute" ? node.attribute.id : undefined;
    return name !== undefined && /^(item|float|tolist|len|size)$|num|count|total_steps|epoch/i.test(name);
  });
  if (isPlain || expression.kind !== "Name" || depth > 2) return isPlain;
  const sums = resolve.scopes
    .lookup(expression)
    .flatMap(({ kind, node }) =>
      kind === "augmented" && node.kind === "AugmentedAssign" ? [node.value] : [],
    );
  return sums.length > 0 && sums.every((value) => isNumber(resolve, value, depth + 1));
}

function report(context: RuleContext<MessageId>, found: Unscaled): void {
  const { accumulation, steps, backward, byName, loop, resets } = found;
  const [step] = accumulation.guardedSteps;
  const { subject } = backward;
  if (step === undefined || subject === undefined) return;
  const { source } = context;
  const k = source.slice(steps);
  const divisor = divisorText(context, steps);
  const edits = division(context, backward, subject, steps);
  context.report({
    at: backward.node,
    message: byName ? "notScaledByName" : "notScaled",
    values: {
      loss: excerpt(source, subject),
      k,
      resets: resets ? "yes" : "no",
      scaled: `${bracketed(subject, excerpt(source, subject))} / ${divisor}`,
      step: stepText(context, step),
    },
    ...(byName || resets ? { level: oneLower("error") } : {}),
    related: [
      loop.microLoop !== undefined && accumulation.form === "micro-loop"
        ? { at: accumulation.node, message: "inner" }
        : { at: accumulation.node, message: "guard" },
      { at: step.node, message: "step" },
    ],
    fixes: edits === undefined ? [] : [{ title: "divide", values: { divisor }, safety: "review", edits }],
  });
}

/** The text of a loss as an operand. */
function bracketed(loss: Expression, text: string): string {
  return isPrimary(loss) ? text : `(${text})`;
}

function isPrimary({ kind }: Expression): boolean {
  return kind === "Name" || kind === "Attribute" || kind === "Call" || kind === "Subscript";
}

/** `k`, `(batch_size // micro_batch)`. */
function divisorText({ source }: RuleContext, steps: Expression): string {
  const isPlain =
    steps.kind === "Name" ||
    steps.kind === "Attribute" ||
    steps.kind === "Integer" ||
    steps.kind === "Call" ||
    steps.kind === "Subscript";
  return isPlain ? source.slice(steps) : `(${source.slice(steps)})`;
}

/** `(loss / k).backward()`, `scaler.scale(loss / k)`; `undefined` where `k` cannot be named beside the loss. */
function division(
  context: RuleContext,
  backward: TraceEvent,
  loss: Expression,
  steps: Expression,
): TextEdit[] | undefined {
  const { source, torch } = context;
  const sameFunction = torch.resolve.enclosingFunction(steps) === torch.resolve.enclosingFunction(loss);
  if (!sameFunction || source.lineOf(loss.start) !== source.lineOf(loss.end)) return undefined;
  // The loss of `scale_loss(loss, optimizer) as scaled_loss` stands elsewhere than the backward.
  if (loss.start < backward.statement.start || loss.end > backward.statement.end) return undefined;
  const needsBrackets = loss.parent?.kind === "Attribute";
  if (!isPrimary(loss) && source.text[loss.start - 1] === "(") return undefined;
  const text = `${bracketed(loss, source.slice(loss))} / ${divisorText(context, steps)}`;
  return [{ start: loss.start, end: loss.end, text: needsBrackets ? `(${text})` : text }];
}
