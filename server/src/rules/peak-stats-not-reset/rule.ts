/** Peak memory read for several runs without a reset: each figure is the largest of all runs so far. */
import type { Call, Expression, For, FunctionDefinition, Node } from "../../python/tree";
import { ancestors, walk } from "../../python/walk";
import { headOf } from "../../torch/per-batch";
import type { Resolver } from "../../torch/resolve";
import { insertLineBefore } from "../fix";
import { defineRule, type Report, type RuleContext, type TextEdit } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  inLoop: {
    en: "`{call}` is read for each `{variable}`, and nothing resets it: it gives the highest point since the process began, so after the largest run every later one shows that figure. Call `torch.cuda.reset_peak_memory_stats()` before each run.",
    "zh-cn":
      "`{call}` 对每个 `{variable}` 各读取一次，却从未重置：它给出进程启动以来的最高点，所以在最大的一次运行之后，后面每次都显示那个数。请在每次运行之前调用 `torch.cuda.reset_peak_memory_stats()`。",
  },
  inHelper: {
    en: "`{call}` is returned by `{helper}`, which runs several times, and nothing resets it: it gives the highest point since the process began, so after the largest run every later one shows that figure. Call `torch.cuda.reset_peak_memory_stats()` before each run.",
    "zh-cn":
      "`{helper}` 返回 `{call}` 并会运行多次，却从未重置：它给出进程启动以来的最高点，所以在最大的一次运行之后，后面每次都显示那个数。请在每次运行之前调用 `torch.cuda.reset_peak_memory_stats()`。",
  },
  loop: { en: "There is one run for each of these.", "zh-cn": "对其中每一项运行一次。" },
  calledHere: { en: "One run is measured here.", "zh-cn": "在这里测量一次运行。" },
  insert: { en: "Reset the peak before each run", "zh-cn": "在每次运行之前重置峰值" },
};

const peak = /^torch\.(cuda|xpu|npu|accelerator)\.(max_memory_(allocated|reserved|cached))$/;
const resets = /reset_(peak|max|accumulated)_\w*|reset_memory|clear_memory_stats/i;
/** Each run in a process of its own has statistics of its own. */
const processes = /^(subprocess|multiprocessing|torch\.multiprocessing|concurrent\.futures)\./;
/** What a `range` counts when it is no count of steps. */
const sizeNames = /size|width|depth|length|dim|(^|_)bs$/i;
const runNames =
  /size|model|config|cfg|setting|method|name|seq|len|depth|width|attn|impl|dtype|precision|variant|mode|option|ckpt|checkpoint|opt|layer/i;

export const rule = defineRule<MessageId>({
  name: "peak-stats-not-reset",
  group: "allocator",
  level: "information",
  summary: {
    en: "Peak memory is compared between runs without being reset.",
    "zh-cn": "比较多次运行的显存峰值，却没有重置。",
  },
  messages,
  calls: ["max_memory_allocated", "max_memory_reserved", "max_memory_cached"],
  create: (context) => ({
    Call(call) {
      const { resolve } = context.torch;
      if (!peak.test(resolve.qualifiedName(call.callee) ?? "") || isHandled(resolve)) return;
      check(context, call);
    },
  }),
});

/** Something of the file resets statistics, or starts processes. */
function isHandled(resolve: Resolver): boolean {
  const { attributesByName, namesById, calls } = resolve.index;
  for (const name of [...attributesByName.keys(), ...namesById.keys()]) if (resets.test(name)) return true;
  return calls.some((call) => processes.test(resolve.qualifiedName(call.callee) ?? ""));
}

function check(context: RuleContext<MessageId>, call: Call): void {
  const { resolve } = context.torch;
  const loop = loopOverRuns(context, call);
  if (loop !== undefined) {
    reportLoop(context, call, loop);
    return;
  }
  const helper = resolve.enclosingFunction(call);
  if (
    helper?.kind !== "FunctionDefinition" ||
    isConditional(call, helper) ||
    !isReturned(resolve, call, helper)
  )
    return;
  const callers = resolve.sureCallsTo(helper);
  const [first] = callers;
  if (first === undefined) return;
  const around = callers.length === 1 ? loopOverRuns(context, first) : undefined;
  if (callers.length < 2 && around === undefined) return;
  context.report({
    at: call,
    message: "inHelper",
    values: { call: `${context.source.slice(call.callee)}()`, helper: helper.name.id },
    related: callers.slice(0, 3).map((caller) => ({ at: caller, message: "calledHere" as const })),
    fixes: fix(context, firstStatement(helper)),
  });
}

function reportLoop(context: RuleContext<MessageId>, call: Call, loop: For): void {
  context.report({
    at: call,
    message: "inLoop",
    values: {
      call: `${context.source.slice(call.callee)}()`,
      variable: context.source.slice(loop.target),
    },
    related: [{ at: headOf(loop), message: "loop" }],
    fixes: fix(context, loop.body[0]),
  });
}

/** A `for` over settings, models or sizes, each of which is a run; batches, epochs and steps are one run. */
function loopOverRuns({ torch }: RuleContext, call: Call): For | undefined {
  for (const around of ancestors(call)) {
    if (around.kind === "FunctionDefinition" || around.kind === "Lambda" || around.kind === "If")
      return undefined;
    if (around.kind === "While") return undefined;
    if (around.kind !== "For") continue;
    if (namesRuns(torch.resolve, around)) return around;
    if (torch.trainingLoops.isBatchLoop(around) || torch.trainingLoops.byLoop.has(around)) return undefined;
    if (isStepCounter(around)) return undefined;
  }
  return undefined;
}

function isStepCounter({ target }: For): boolean {
  const first = target.kind === "Tuple" ? target.elements[0] : target;
  return (
    first?.kind === "Name" &&
    /^(_+|i|j|k|it|iter\w*|epoch\w*|step\w*|global_step|rank|gpu\w*|dev\w*|batch_idx|idx|index)$/i.test(
      first.id,
    )
  );
}

/** The loop's variable is called like a setting, and what it runs over is written out. */
function namesRuns(resolve: Resolver, loop: For): boolean {
  const pattern = isRange(resolve, loop.iterable) ? sizeNames : runNames;
  return isWrittenOut(resolve, loop.iterable) && isCalled(loop.target, pattern);
}

/** One of the names in a target is like that. */
function isCalled(target: Expression, pattern: RegExp): boolean {
  let named = false;
  walk(target, {
    enter(node) {
      if (node.kind === "Name" && pattern.test(node.id)) named = true;
    },
  });
  return named;
}

function isRange(resolve: Resolver, iterable: Expression): boolean {
  return iterable.kind === "Call" && resolve.qualifiedName(iterable.callee) === "builtins.range";
}

function isWrittenOut(resolve: Resolver, iterable: Expression): boolean {
  if (iterable.kind === "List" || iterable.kind === "Tuple" || iterable.kind === "Dict") return true;
  if (iterable.kind === "Name" || iterable.kind === "Attribute") {
    const values = resolve.valuesOf(iterable);
    return values.length > 0 && values.every((value) => /^(List|Tuple|Dict)$/.test(value.kind));
  }
  if (iterable.kind !== "Call") return false;
  const name = resolve.qualifiedName(iterable.callee);
  if (isRange(resolve, iterable)) return true;
  const inner =
    iterable.callee.kind === "Attribute" && /^(items|keys|values)$/.test(iterable.callee.attribute.id)
      ? iterable.callee.object
      : /^(builtins\.(enumerate|zip|reversed|sorted)|itertools\.product)$/.test(name ?? "")
        ? iterable.positional[0]
        : undefined;
  return inner !== undefined && isWrittenOut(resolve, inner);
}

/** The figure, or something computed from it, is what the function gives back. */
function isReturned(resolve: Resolver, call: Call, helper: FunctionDefinition): boolean {
  const names = new Set<string>();
  for (const around of ancestors(call)) {
    if (around.kind === "Return") return true;
    if (around.kind === "Assign")
      for (const target of around.targets) if (target.kind === "Name") names.add(target.id);
    if (around === helper) break;
  }
  return resolve.returnedValues(helper).some((value) => {
    let mentioned = false;
    walk(value, {
      enter(node) {
        if (node.kind === "Name" && names.has(node.id)) mentioned = true;
      },
    });
    return mentioned;
  });
}

function isConditional(call: Call, helper: FunctionDefinition): boolean {
  for (const around of ancestors(call)) {
    if (around === helper) return false;
    if (around.kind === "If" || around.kind === "For" || around.kind === "While") return true;
  }
  return true;
}

function firstStatement({ body }: FunctionDefinition): Node | undefined {
  const [first, second] = body;
  return first?.kind === "ExpressionStatement" && first.expression.kind === "String" ? second : first;
}

function fix(context: RuleContext, before: Node | undefined): Report<MessageId>["fixes"] {
  let torch: string | undefined;
  for (const [local, bindings] of context.scopes.module.bindings) {
    if (bindings.length > 0 && bindings.every(({ importPath }) => importPath === "torch")) torch ??= local;
  }
  if (torch === undefined || before === undefined) return [];
  const edit: TextEdit | undefined = insertLineBefore(
    context.source,
    before,
    `${torch}.cuda.reset_peak_memory_stats()`,
  );
  return edit === undefined ? [] : [{ title: "insert", safety: "review", edits: [edit] }];
}
