/**
 * A LightningModule that appends what its steps compute to an attribute, and nothing that empties it. Lightning keeps nothing of
 * a step since 2.0 and tells its users to keep outputs in an attribute and to free them at the end of the epoch
 * (lightning/pytorch/core/hooks.py, `on_train_epoch_end`: "free up the memory: self.training_step_outputs.clear()").
 */
import { keyword } from "../../python/keyword";
import { isOnlyBoundBy } from "../../python/scope";
import type { ClassDefinition, Expression, FunctionDefinition, Node, Statement } from "../../python/tree";
import { isWithin } from "../../python/walk";
import { frameworkHookAround } from "../../torch/frameworks/batch-hooks";
import type { Store } from "../../torch/provenance";
import { growsInSelf, hasOtherBases, isConditional, isEmptied } from "../../torch/provenance/self-stores";
import { excerpt } from "../excerpt";
import { insertLineAfter } from "../fix";
import { outputOf, type Output } from "../outputs-kept-on-device/outputs";
import { outputSize } from "../outputs-kept-on-device/size";
import { defineRule, oneLower, type Report, type RuleContext } from "../rule";

type MessageId = "kept" | "named" | "made" | "begins" | "clear";

export const rule = defineRule<MessageId>({
  name: "lightning-outputs-kept",
  group: "frameworks",
  level: "warning",
  summary: {
    en: "A LightningModule keeps the outputs of its steps and never empties them.",
    "zh-cn": "LightningModule 保存了各步的输出，却从不清空。",
  },
  messages: {
    kept: {
      en: "`{holder}` keeps `{value}` of every batch on the device, and nothing empties it when an epoch ends: the outputs of all epochs pile up, and what is computed from them mixes those of earlier epochs in. Call `{clear}` at the end of the epoch.",
      "zh-cn":
        "`{holder}` 会把每个批次的 `{value}` 留在设备上，而一轮结束时没有任何代码清空它：所有轮次的输出会不断堆积，由它们计算出的结果也混入了之前轮次的内容。请在每轮结束时调用 `{clear}`。",
    },
    named: {
      en: "If `{model}` gives more than a few numbers a sample: `{holder}` keeps `{value}` of every batch on the device, and nothing empties it when an epoch ends: the outputs of all epochs pile up, and what is computed from them mixes those of earlier epochs in. Call `{clear}` at the end of the epoch.",
      "zh-cn":
        "如果 `{model}` 对每个样本的输出不止几个数：`{holder}` 会把每个批次的 `{value}` 留在设备上，而一轮结束时没有任何代码清空它：所有轮次的输出会不断堆积，由它们计算出的结果也混入了之前轮次的内容。请在每轮结束时调用 `{clear}`。",
    },
    made: { en: "The model's output is made here.", "zh-cn": "模型的输出在这里产生。" },
    begins: { en: "It is made once, here.", "zh-cn": "它只在这里创建一次。" },
    clear: { en: "Empty it at the end of the epoch: `{clear}`", "zh-cn": "在每轮结束时清空它：`{clear}`" },
  },
  create(context) {
    return {
      finish() {
        if (context.torch.resolve.index.classes.length === 0) return;
        for (const store of context.torch.provenance.stores)
          if (store.kind === "append") check(context, store);
      },
    };
  },
});

/** What runs again with each epoch; a test or a prediction runs once. */
const hooksOfEpochs: Readonly<Record<string, string>> = {
  training_step: "on_train_epoch_end",
  on_train_batch_end: "on_train_epoch_end",
  validation_step: "on_validation_epoch_end",
  on_validation_batch_end: "on_validation_epoch_end",
};

/** The step whose result a hook is given as `outputs`. */
const stepBefore: Readonly<Record<string, string>> = {
  on_train_batch_end: "training_step",
  on_validation_batch_end: "validation_step",
};

function check(context: RuleContext<MessageId>, store: Store): void {
  const { resolve, provenance } = context.torch;
  const method = resolve.enclosingFunction(store.statement);
  if (method?.kind !== "FunctionDefinition" || !growsInSelf(store, resolve, provenance.flow)) return;
  const owner = resolve.enclosingClass(method);
  if (owner === undefined || isConditional(store.statement, method)) return;
  const hook = hookRunning(context, method, owner);
  if (hook === undefined || hasOtherBases(owner, resolve) || isEmptied(store, resolve)) return;
  if (runsOnCpu(context)) return;
  for (const { value, isGiven } of partsOf(context, store.value, method, owner)) {
    // With its graph it is another rule's case.
    if (hook === "training_step" && provenance.carried(value).graph !== "no") continue;
    const output = outputOf(context.torch, value);
    const size = output && sizeOf(context, output);
    if (output === undefined || size === "small") continue;
    report(context, {
      store,
      owner,
      hook,
      value: isGiven ? store.value : value,
      output,
      isSure: size === "large",
    });
    return;
  }
}

function sizeOf(context: RuleContext<MessageId>, { sizedBy }: Output): "small" | "large" | "unknown" {
  return sizedBy === undefined ? "unknown" : outputSize(context, sizedBy);
}

/** The hook that runs the method each time: itself, or the steps that share it. */
function hookRunning(
  { torch }: RuleContext<MessageId>,
  method: FunctionDefinition,
  owner: ClassDefinition,
): string | undefined {
  const own = frameworkHookAround(torch, method);
  if (own !== undefined) return own in hooksOfEpochs ? own : undefined;
  const callers = torch.resolve.callsTo(method).map((call) => {
    const caller = torch.resolve.enclosingFunction(call);
    if (caller?.kind !== "FunctionDefinition" || torch.resolve.enclosingClass(caller) !== owner)
      return undefined;
    return isConditional(call, caller) ? undefined : frameworkHookAround(torch, caller);
  });
  if (callers.includes(undefined)) return undefined;
  return callers.find((hook) => hook !== undefined && hook in hooksOfEpochs);
}

/** What is kept: the value, the values of a display, what the step gave for a hook's `outputs`. */
function partsOf(
  context: RuleContext<MessageId>,
  value: Expression,
  method: FunctionDefinition,
  owner: ClassDefinition,
): readonly { readonly value: Expression; readonly isGiven: boolean }[] {
  const given = givenByStep(context, value, method, owner);
  return (given ?? [value])
    .flatMap((one) => elementsOf(context, one))
    .map((one) => ({ value: one, isGiven: given !== undefined }));
}

function elementsOf({ torch }: RuleContext<MessageId>, value: Expression): readonly Expression[] {
  const [only, other] = value.kind === "Name" ? torch.resolve.valuesOf(value) : [];
  const display = other === undefined ? (only ?? value) : value;
  if (display.kind === "Dict") return display.entries.map((entry) => entry.value);
  if (display.kind === "Tuple" || display.kind === "List") return display.elements;
  return [value];
}

/** What `outputs` or `outputs["logits"]` of `on_validation_batch_end` is; `undefined` for anything else. */
function givenByStep(
  { torch: { resolve, scopes } }: RuleContext<MessageId>,
  value: Expression,
  method: FunctionDefinition,
  owner: ClassDefinition,
): readonly Expression[] | undefined {
  const step = stepBefore[method.name.id];
  const name = value.kind === "Subscript" ? value.object : value;
  if (step === undefined || name.kind !== "Name" || name.id !== "outputs") return undefined;
  if (!isOnlyBoundBy(scopes.lookup(name), ({ kind }) => kind === "parameter")) return undefined;
  const target = resolve.methodOf(owner, step);
  const returned = target === undefined ? [] : resolve.returnedValues(target);
  if (value.kind !== "Subscript") return returned;
  const { index } = value;
  if (index.kind !== "String") return [];
  return returned.flatMap((one) =>
    one.kind === "Dict"
      ? one.entries.flatMap((entry) =>
          entry.key?.kind === "String" && entry.key.value === index.value ? [entry.value] : [],
        )
      : [],
  );
}

/** `Trainer(accelerator="cpu")`. */
function runsOnCpu({ torch }: RuleContext<MessageId>): boolean {
  return torch.frameworks.made.some(({ framework, call }) => {
    const accelerator = framework.name === "lightning" ? keyword(call, "accelerator") : undefined;
    return accelerator?.kind === "String" && accelerator.value === "cpu";
  });
}

interface Found {
  readonly store: Store;
  readonly owner: ClassDefinition;
  readonly hook: string;
  readonly value: Expression;
  readonly output: Output;
  readonly isSure: boolean;
}

function report(context: RuleContext<MessageId>, found: Found): void {
  const { store, value, output, isSure } = found;
  const { source, torch } = context;
  const [begins] = torch.provenance.flow.definitionsOf(store.holderKey);
  const clear = `${source.slice(filledBy(store))}.clear()`;
  const isElsewhere = !isWithin(output.call, store.statement);
  context.report({
    at: store.value,
    message: isSure ? "kept" : "named",
    values: {
      holder: excerpt(source, store.holder),
      value: excerpt(source, value),
      model: excerpt(source, output.call.callee),
      clear,
    },
    ...(isSure ? {} : { level: oneLower("warning") }),
    related: [
      ...(isElsewhere ? [{ at: output.call, message: "made" as const }] : []),
      ...(begins === undefined ? [] : [{ at: begins.node, message: "begins" as const }]),
    ],
    fixes: fixesFor(context, found, clear),
  });
}

/** `self.outputs["logits"]` of `self.outputs["logits"].append(…)`. */
function filledBy({ statement, holder }: Store): Expression {
  const call = statement.kind === "ExpressionStatement" ? statement.expression : undefined;
  return call?.kind === "Call" && call.callee.kind === "Attribute" ? call.callee.object : holder;
}

/** Behind the last statement of the epoch's end that reads the attribute. */
function fixesFor(
  context: RuleContext<MessageId>,
  { store, owner, hook }: Found,
  clear: string,
): NonNullable<Report<MessageId>["fixes"]> {
  const { source, torch } = context;
  const end = torch.resolve.methodOf(owner, hooksOfEpochs[hook] ?? "");
  const last = end?.body.findLast((statement) => reads(context, store, statement));
  if (last === undefined || last.kind === "Return") return [];
  const edit = insertLineAfter(source, last, clear);
  return edit ? [{ title: "clear", values: { clear }, safety: "review", edits: [edit] }] : [];
}

function reads({ torch }: RuleContext<MessageId>, store: Store, statement: Statement): boolean {
  return torch.provenance.flow.readsOf(store.holderKey).some((read: Node) => isWithin(read, statement));
}
