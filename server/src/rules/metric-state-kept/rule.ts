/**
 * A metric of torchmetrics that is updated with every batch and never reset. `compute` covers all that came since the last
 * `reset`, and calling the metric adds to the same state (torchmetrics/metric.py, `Metric.forward`, `Metric.reset`); metrics of
 * curves, ranks and boxes keep every prediction for it.
 */
import type { Attribute, Call, Expression, For, Node, Statement, While } from "../../python/tree";
import { ancestors, enclosingLoops, enclosingStatement, isWithin } from "../../python/walk";
import { frameworkHookAround } from "../../torch/frameworks/batch-hooks";
import { isConditional } from "../../torch/provenance/self-stores";
import { excerpt } from "../excerpt";
import { insertLineAfter } from "../fix";
import { headOf } from "../../torch/per-batch";
import { defineRule, type RuleContext } from "../rule";
import { clonedMetric, isMetric, keepsPredictions } from "./metrics";

type MessageId = "mixed" | "grows" | "made" | "updated" | "epochs" | "reset";
type Loop = For | While;

export const rule = defineRule<MessageId>({
  name: "metric-state-kept",
  group: "frameworks",
  level: "warning",
  summary: {
    en: "A metric of torchmetrics is updated with every batch and never reset.",
    "zh-cn": "torchmetrics 的指标随每个批次更新，却从不重置。",
  },
  messages: {
    mixed: {
      en: "Nothing resets `{metric}`: what `compute()` gives covers every batch since the training began, not those of this epoch{keeps, select, yes {, and all predictions so far stay in memory} other {}}. Call `{reset}` after it.",
      "zh-cn":
        "没有任何代码重置 `{metric}`：`compute()` 给出的结果涵盖训练开始以来的所有批次，而不只是本轮的批次{keeps, select, yes {，而且迄今为止的所有预测都留在内存中} other {}}。请在其后调用 `{reset}`。",
    },
    grows: {
      en: "`{metric}` keeps the predictions and targets of every call for a later `compute()`, which nobody calls, and nothing resets it: they pile up on their device for as long as the training runs. Use the function of the same metric in `torchmetrics.functional` for the value of one batch, or call `{reset}` when an epoch ends.",
      "zh-cn":
        "`{metric}` 会为之后的 `compute()` 保存每次调用的预测和目标，但没有任何代码调用 `compute()`，也没有任何代码重置它：只要训练还在进行，它们就会一直堆积在所在的设备上。若只需要单个批次的值，请使用 `torchmetrics.functional` 中的同名函数，或在每轮结束时调用 `{reset}`。",
    },
    made: { en: "The metric is made once, here.", "zh-cn": "指标只在这里创建一次。" },
    updated: { en: "Each batch is added here.", "zh-cn": "每个批次在这里加入。" },
    epochs: {
      en: "It goes on from one iteration of this loop to the next.",
      "zh-cn": "它从这个循环的一次迭代延续到下一次。",
    },
    reset: { en: "Reset it: `{reset}`", "zh-cn": "重置它：`{reset}`" },
  },
  create: (context) => ({
    finish() {
      const { resolve } = context.torch;
      const made = resolve.callsOf(isMetric);
      for (const one of made) check(context, one, one);
      if (made.length === 0) return;
      for (const copy of resolve.index.callsByName.get("clone") ?? []) {
        const original = clonedMetric(resolve, copy);
        if (original !== undefined) check(context, copy, original);
      }
    },
  }),
});

/** A metric and all that the file does with it. */
interface Metric {
  readonly made: Call;
  readonly key: string;
  /** `metric.update(…)`, `metric(…)`. */
  readonly updates: readonly Call[];
  readonly computes: readonly Call[];
}

/** `made` is a metric's construction, or the `clone()` of `original`. */
function check(context: RuleContext<MessageId>, made: Call, original: Call): void {
  const metric = metricOf(context, made);
  if (metric === undefined) return;
  const keeps = keepsPredictions(original, context.torch.resolve);
  for (const compute of metric.computes) {
    const epochs = goesOnAfter(context, metric, compute);
    if (epochs === undefined) continue;
    reportMixed(context, metric, compute, epochs, keeps);
    return;
  }
  if (metric.computes.length > 0 || !keeps) return;
  const update = metric.updates.find((one) => one.callee.kind !== "Attribute" || !isMethod(one, "update"));
  const perBatch = update && runsWithEachBatch(context, metric, update);
  if (update !== undefined && perBatch !== undefined) reportGrowing(context, metric, update, perBatch);
}

/** The metric where it has one name, and every use of that is understood: nobody else can reset it. */
function metricOf({ torch }: RuleContext<MessageId>, made: Call): Metric | undefined {
  const { resolve, provenance } = torch;
  const value = throughMoves(made);
  const [target, other] =
    value.parent?.kind === "Assign" && value.parent.value === value ? value.parent.targets : [];
  if (target === undefined || other !== undefined) return undefined;
  const key = resolve.keyOf(target);
  if (key === undefined || provenance.flow.definitionsOf(key).length !== 1) return undefined;
  const named = usesOf(torch, target, key);
  if (named === undefined) return undefined;
  const updates: Call[] = [];
  const computes: Call[] = [];
  for (const use of named) {
    if (use === target) continue;
    const call = callOn(use);
    if (call === undefined) return undefined;
    if (call.callee === use || isMethod(call, "update")) updates.push(call);
    else if (isMethod(call, "compute")) computes.push(call);
    else if (!isMethod(call, "to") && !isMethod(call, "cuda") && !isMethod(call, "eval")) return undefined;
  }
  return updates.length === 0 ? undefined : { made, key, updates, computes };
}

/** All that names it; an attribute may be named from anywhere, and reset together with others of its module. */
function usesOf(
  { resolve, provenance }: RuleContext["torch"],
  target: Expression,
  key: string,
): readonly Expression[] | undefined {
  if (target.kind !== "Attribute") return target.kind === "Name" ? provenance.flow.readsOf(key) : undefined;
  const owner = resolve.classOf(target.object);
  if (owner === undefined || owner.bases.some((base) => resolve.qualifiedName(base) === undefined))
    return undefined;
  const resets = resolve.index.callsByName.get("reset") ?? [];
  // `for metric in self.children(): metric.reset()`, `getattr(self, name).reset()`
  if (resets.some(({ callee }) => callee.kind === "Attribute" && callee.object.kind !== "Attribute"))
    return undefined;
  const named = resolve.index.attributesByName.get(target.attribute.id) ?? [];
  // Another class may have a metric of that name too.
  return named.filter((one) => (resolve.classOf(one.object) ?? owner) === owner);
}

/** `metric(…)` and `metric.update(…)` of `metric`. */
function callOn(use: Expression): Call | undefined {
  const { parent } = use;
  if (parent?.kind === "Call" && parent.callee === use) return parent;
  if (parent?.kind !== "Attribute" || parent.object !== use) return undefined;
  return parent.parent?.kind === "Call" && parent.parent.callee === parent ? parent.parent : undefined;
}

function isMethod({ callee }: Call, name: string): boolean {
  return callee.kind === "Attribute" && callee.attribute.id === name;
}

/** `AUROC(…).to(device)` of `AUROC(…)`. */
function throughMoves(made: Call): Call {
  let at = made;
  for (;;) {
    const { parent } = at;
    const call =
      parent?.kind === "Attribute" && /^(to|cuda)$/.test(parent.attribute.id) ? parent.parent : undefined;
    if (call?.kind !== "Call" || call.callee !== parent) return at;
    at = call;
  }
}

/** What computes again with what came before: a loop over epochs, or the hook that a framework calls at their ends. */
type Again = { readonly loop: Loop } | { readonly hook: string };

/** `undefined` where the metric is made anew for each result, or the result is that of all batches so far on purpose. */
function goesOnAfter(context: RuleContext<MessageId>, metric: Metric, compute: Call): Again | undefined {
  const { resolve, provenance, trainingLoops, frameworks } = context.torch;
  const method = resolve.enclosingFunction(compute);
  if (method?.kind === "FunctionDefinition" && isEpochEnd(method.name.id)) {
    const steps = metric.updates.map((update) => runsInStep(context, update));
    const owner = resolve.enclosingClass(method);
    const isHook = owner !== undefined && /^lightning/.test(frameworks.ofClass(owner)?.name ?? "");
    return isHook && steps.length > 0 && !steps.includes(false) ? { hook: method.name.id } : undefined;
  }
  const loops = [
    ...enclosingLoops(compute),
    ...provenance.reach.callingLoops(compute).flatMap((one) => [one, ...enclosingLoops(one)]),
  ];
  if (loops.some((loop) => trainingLoops.isBatchLoop(loop))) return undefined;
  const epochs = loops.find((loop) => !isWithin(metric.made, loop));
  if (epochs === undefined || isMadeAnew(context, metric, epochs)) return undefined;
  const isFed = metric.updates.some((update) => {
    const inner = [...enclosingLoops(update)].find((loop) => trainingLoops.isBatchLoop(loop));
    return inner !== undefined && !isWithin(compute, inner) && provenance.reach.runsIn(epochs, update);
  });
  return isFed ? { loop: epochs } : undefined;
}

/** `on_validation_epoch_end`; a test runs once. */
function isEpochEnd(name: string): boolean {
  return /^(on_)?(train|training|validation)_epoch_end$/.test(name);
}

function runsInStep({ torch }: RuleContext<MessageId>, update: Call): boolean {
  const method = torch.resolve.enclosingFunction(update);
  return (
    method?.kind === "FunctionDefinition" &&
    /^(training|validation)_step$/.test(frameworkHookAround(torch, method) ?? "") &&
    !isConditional(update, method)
  );
}

/** The function that makes it runs in each iteration of the loop. */
function isMadeAnew({ torch }: RuleContext<MessageId>, { made }: Metric, epochs: Loop): boolean {
  return torch.provenance.reach.runsIn(epochs, made);
}

/** The loop over batches, or the step of a framework, that calls the metric each time. */
function runsWithEachBatch(context: RuleContext<MessageId>, metric: Metric, update: Call): Again | undefined {
  const { torch } = context;
  const method = torch.resolve.enclosingFunction(update);
  if (runsInStep(context, update) && method?.kind === "FunctionDefinition") return { hook: method.name.id };
  const loops = [...enclosingLoops(update)];
  const batches = loops.find((loop) => torch.trainingLoops.isBatchLoop(loop));
  if (batches === undefined || isBelowCondition(update, batches)) return undefined;
  // Of one pass over a loader the sizes of the data set are the limit; it grows where passes follow each other.
  const around = [
    ...loops.filter((loop) => loop !== batches && isWithin(batches, loop)),
    ...torch.provenance.reach.callingLoops(batches),
  ];
  const epochs = around.find((loop) => !isWithin(metric.made, loop) && !isMadeAnew(context, metric, loop));
  return epochs && { loop: epochs };
}

function isBelowCondition(node: Node, until: Loop): boolean {
  for (const at of ancestors(node)) {
    if (at === until) return false;
    if (at.kind === "If" || at.kind === "Match") return true;
  }
  return false;
}

function reportMixed(
  context: RuleContext<MessageId>,
  metric: Metric,
  compute: Call,
  again: Again,
  keeps: boolean,
): void {
  const { source } = context;
  const name = source.slice((compute.callee as Attribute).object);
  const reset = `${name}.reset()`;
  const statement = enclosingStatement(compute);
  const edit = statement && canFollow(statement) ? insertLineAfter(source, statement, reset) : undefined;
  const [update] = metric.updates;
  context.report({
    at: compute,
    message: "mixed",
    values: {
      metric: excerpt(source, (compute.callee as Attribute).object),
      reset,
      keeps: keeps ? "yes" : "no",
    },
    related: [
      { at: metric.made, message: "made" },
      ...(update === undefined ? [] : [{ at: update, message: "updated" as const }]),
      ...("loop" in again ? [{ at: headOf(again.loop), message: "epochs" as const }] : []),
    ],
    fixes: edit ? [{ title: "reset", values: { reset }, safety: "review", edits: [edit] }] : [],
  });
}

function canFollow({ kind }: Statement): boolean {
  return kind === "ExpressionStatement" || kind === "Assign";
}

function reportGrowing(context: RuleContext<MessageId>, metric: Metric, update: Call, again: Again): void {
  const { source } = context;
  const name = source.slice(update.callee);
  context.report({
    at: update,
    message: "grows",
    values: { metric: name, reset: `${name}.reset()` },
    related: [
      { at: metric.made, message: "made" },
      ...("loop" in again ? [{ at: headOf(again.loop), message: "epochs" as const }] : []),
    ],
  });
}
