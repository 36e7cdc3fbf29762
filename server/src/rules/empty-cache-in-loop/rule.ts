/** `torch.cuda.empty_cache()` unconditionally in a loop over batches. */
import type {
  Call,
  Expression,
  For,
  FunctionDefinition,
  If,
  Node,
  Span,
  Statement,
  While,
} from "../../python/tree";
import { ancestors, enclosingStatement, statementList, walk } from "../../python/walk";
import { frameworkHookAround } from "../../torch/frameworks/batch-hooks";
import type { Resolver } from "../../torch/resolve";
import { indentationUnit, replaceSpan, startsItsLine, takeStatement } from "../fix";
import { defineRule, type Report, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  inLoop: {
    en: "`{call}` runs for every batch: it frees nothing that is still referenced, and gives the cached blocks back only for the next batch to allocate them again, which synchronizes and costs time. Remove it, or call it where much memory has really been let go (after a phase, after `del model`).",
    "zh-cn":
      "`{call}` 在每个批次都执行：仍被引用的张量它释放不了，只是把缓存块还给驱动，下一个批次又要重新申请，既要同步又耗时间。请删除它，或只在确实放掉大量显存之后调用（阶段结束、`del model` 之后）。",
  },
  inHook: {
    en: "`{call}` runs for every batch, because the framework calls `{hook}` once a batch: it frees nothing that is still referenced, and gives the cached blocks back only for the next batch to allocate them again, which synchronizes and costs time. Remove it, or move it to the end of an epoch.",
    "zh-cn":
      "框架每个批次都会调用 `{hook}`，所以 `{call}` 在每个批次都执行：仍被引用的张量它释放不了，只是把缓存块还给驱动，下一个批次又要重新申请，既要同步又耗时间。请删除它，或移到每轮结束时。",
  },
  loop: { en: "this loop runs once a batch", "zh-cn": "这个循环每个批次执行一次" },
  calledHere: { en: "called here, once a batch", "zh-cn": "在这里调用，每个批次一次" },
  insideHelper: { en: "the cache is emptied here", "zh-cn": "缓存在这里清空" },
  remove: { en: "Remove `{call}`", "zh-cn": "删除 `{call}`" },
  guard: { en: "Run it every {count} batches only", "zh-cn": "改为每 {count} 个批次执行一次" },
};

/** `torch.cuda.empty_cache`, and the same for other backends. */
const emptyCache = /^torch\.(cuda|xpu|mps|npu|mtia|accelerator)(\.memory)?\.empty_cache$/;
const batchesBetween = 100;

export const rule = defineRule<MessageId>({
  name: "empty-cache-in-loop",
  group: "allocator",
  level: "warning",
  summary: {
    en: "`empty_cache()` on every batch costs time and frees nothing in use",
    "zh-cn": "每个批次都调用 `empty_cache()`：耗时间，也释放不了仍在使用的显存",
  },
  messages,
  create: (context) => ({
    Call(call) {
      const { callee } = call;
      // Cheap look first: most calls are something else.
      const name =
        callee.kind === "Attribute" ? callee.attribute.id : callee.kind === "Name" ? callee.id : "";
      if (callee.kind === "Attribute" && name !== "empty_cache") return;
      const qualified = context.torch.resolve.qualifiedName(callee);
      if (qualified !== undefined && emptyCache.test(qualified)) check(context, call);
    },
  }),
});

function check(context: RuleContext<MessageId>, call: Call): void {
  const place = placeOf(context, call);
  if (place.kind === "loop") {
    reportHere(context, call, { related: [{ at: headOf(place.loop), message: "loop" }] }, place.loop);
    return;
  }
  if (place.kind !== "function") return;
  const hook = frameworkHookAround(context.torch, place.target);
  if (hook !== undefined) {
    reportHere(context, call, { message: "inHook", values: { call: textOf(context, call), hook } });
    return;
  }
  checkCallers(context, call, place.target);
}

/** The call hides in a helper: all its callers run it once a batch, or some of them do. */
function checkCallers(context: RuleContext<MessageId>, call: Call, target: FunctionDefinition): void {
  const { resolve } = context.torch;
  if (resolve.isUsedAsValue(target)) return;
  // Calls that merely share a method's name do not count.
  const callers = resolve.callsTo(target).filter((caller) => resolve.functionOf(caller) === target);
  const perBatch: { readonly caller: Call; readonly loop: For | While }[] = [];
  for (const caller of callers) {
    const place = placeOf(context, caller);
    if (place.kind === "loop") perBatch.push({ caller, loop: place.loop });
  }
  const [first] = perBatch;
  if (first === undefined) return;
  if (perBatch.length === callers.length) {
    reportHere(context, call, {
      related: [
        { at: first.caller, message: "calledHere" },
        { at: headOf(first.loop), message: "loop" },
      ],
    });
    return;
  }
  // Elsewhere the helper is used rightly, so the place to look at is the call in the loop.
  for (const { caller, loop } of perBatch) {
    context.report({
      at: caller,
      message: "inLoop",
      values: { call: textOf(context, caller) },
      related: [
        { at: call, message: "insideHelper" },
        { at: headOf(loop), message: "loop" },
      ],
    });
  }
}

function reportHere(
  context: RuleContext<MessageId>,
  call: Call,
  more: Partial<Report<MessageId>>,
  loop?: For | While,
): void {
  context.report({
    at: call,
    message: "inLoop",
    values: { call: textOf(context, call) },
    fixes: fixes(context, call, loop),
    ...more,
  });
}

type Found =
  | { readonly kind: "loop"; readonly loop: For | While }
  /** Unconditionally in a function, outside any loop of it. */
  | { readonly kind: "function"; readonly target: FunctionDefinition }
  | { readonly kind: "elsewhere" };

/** Where a call stands: directly in a loop over batches, directly in a function, or behind a condition. */
function placeOf(context: RuleContext, call: Call): Found {
  const statement = enclosingStatement(call);
  if (statement === undefined || (statement.kind !== "ExpressionStatement" && !holdsPlainly(statement))) {
    return { kind: "elsewhere" };
  }
  let below: Node = statement;
  if (isAfterRelease(context, statement)) return { kind: "elsewhere" };
  for (const node of ancestors(statement)) {
    switch (node.kind) {
      case "If":
        if (!isAlwaysOnGpu(context, node) || !node.body.includes(below as Statement))
          return { kind: "elsewhere" };
        break;
      case "Try":
        if (node.handlers.some(({ body }) => body.includes(below as Statement))) return { kind: "elsewhere" };
        break;
      case "With":
        break;
      case "For":
      case "While":
        if (!node.body.includes(below as Statement)) return { kind: "elsewhere" };
        if (isAfterRelease(context, below as Statement) || isEveryFew(node.body, below))
          return { kind: "elsewhere" };
        return isPerBatch(context, node) ? { kind: "loop", loop: node } : { kind: "elsewhere" };
      case "FunctionDefinition":
        if (isEveryFew(node.body, below)) return { kind: "elsewhere" };
        return { kind: "function", target: node };
      default:
        return { kind: "elsewhere" };
    }
    below = node;
  }
  return { kind: "elsewhere" };
}

/** `value = helper(x)`, `return helper(x)`: a statement that always runs the call it holds. */
function holdsPlainly(statement: Statement): boolean {
  return statement.kind === "Assign" || statement.kind === "AugmentedAssign" || statement.kind === "Return";
}

/** A condition that holds throughout a run on a GPU: `if torch.cuda.is_available():`, `if device.type == "cuda":`. */
function isAlwaysOnGpu({ torch }: RuleContext, { test }: If): boolean {
  if (test.kind === "Call") {
    return /^torch\.(cuda|xpu|backends\.mps|mps|accelerator)\.is_available$/.test(
      torch.resolve.qualifiedName(test.callee) ?? "",
    );
  }
  if (test.kind === "Comparison" && test.operators[0] === "==") {
    const compared = test.operands[1];
    return compared?.kind === "String" && /^(cuda|xpu|mps)(:\d+)?$/.test(compared.value ?? "");
  }
  return /^(use_)?(cuda|gpu)(_available)?$/i.test(nameOf(test));
}

function nameOf(expression: Expression): string {
  if (expression.kind === "Name") return expression.id;
  return expression.kind === "Attribute" ? expression.attribute.id : "";
}

/** A model is let go before the call in the same block: now there is something to give back. */
function isAfterRelease({ torch }: RuleContext, statement: Statement): boolean {
  const place = statementList(statement);
  if (place === undefined) return false;
  return place.list
    .slice(0, place.index)
    .some(
      (earlier) =>
        (earlier.kind === "Delete" &&
          earlier.targets.some((target) => isModel(torch.resolve.roleOf(target)))) ||
        movesModelAway(torch.resolve, earlier),
    );
}

function isModel(role: string | undefined): boolean {
  return role === "model" || role === "optimizer" || role === "engine";
}

/** `model.cpu()`, `model.to("cpu")`, `model = None`. */
function movesModelAway(resolve: Resolver, statement: Statement): boolean {
  if (statement.kind === "Assign") {
    return (
      statement.value.kind === "None" && statement.targets.some((target) => isModel(resolve.roleOf(target)))
    );
  }
  if (statement.kind !== "ExpressionStatement" || statement.expression.kind !== "Call") return false;
  const { callee, positional } = statement.expression;
  if (callee.kind !== "Attribute" || resolve.roleOf(callee.object) !== "model") return false;
  if (callee.attribute.id === "cpu") return true;
  const [device] = positional;
  return (
    callee.attribute.id === "to" &&
    device?.kind === "String" &&
    (device.value === "cpu" || device.value === "meta")
  );
}

/** `if step % n: continue` before the statement. */
function isEveryFew(body: readonly Statement[], below: Node): boolean {
  for (const statement of body) {
    if (statement === below) return false;
    if (statement.kind === "If" && statement.body.at(-1)?.kind === "Continue" && hasModulus(statement.test))
      return true;
  }
  return false;
}

function hasModulus(test: Expression): boolean {
  let found = false;
  walk(test, {
    enter(node) {
      if (node.kind === "BinaryOperation" && node.operator === "%") found = true;
    },
  });
  return found;
}

function isPerBatch({ torch }: RuleContext, loop: For | While): boolean {
  if (!torch.trainingLoops.isBatchLoop(loop)) return false;
  return !isWarmUp(torch.resolve.enclosingFunction(loop), loop) && !measuresMemory(torch.resolve, loop);
}

/** Warm-up and benchmark loops are not what a run spends its time in. */
function isWarmUp(around: Node | undefined, loop: For | While): boolean {
  const header = loop.kind === "For" ? [loop.target, loop.iterable] : [loop.test];
  let found = around?.kind === "FunctionDefinition" && /warm_?up|bench|profil/i.test(around.name.id);
  for (const part of header) {
    walk(part, {
      enter(node) {
        if (node.kind === "Name" && /warm_?up|bench|profil/i.test(node.id)) found = true;
        if (node.kind === "Attribute" && /warm_?up|bench|profil/i.test(node.attribute.id)) found = true;
      },
    });
  }
  return found;
}

/** A loop that takes memory figures of each round wants a clean cache. */
function measuresMemory(resolve: Resolver, loop: For | While): boolean {
  let measures = false;
  for (const statement of loop.body) {
    walk(statement, {
      enter(node) {
        if (node.kind !== "Call" || measures) return !measures;
        const name = resolve.qualifiedName(node.callee);
        if (name !== undefined && /\.(reset_peak_memory_stats|reset_max_memory_\w+)$/.test(name))
          measures = true;
        return;
      },
    });
  }
  return measures;
}

function headOf(loop: For | While): Span {
  return { start: loop.start, end: loop.kind === "For" ? loop.iterable.end : loop.test.end };
}

function textOf({ source }: RuleContext, call: Call): string {
  return `${source.slice(call.callee)}()`;
}

function fixes(
  context: RuleContext<MessageId>,
  call: Call,
  loop: For | While | undefined,
): Report<MessageId>["fixes"] {
  const { source, module } = context;
  const statement = enclosingStatement(call);
  if (statement?.kind !== "ExpressionStatement" || statement.expression !== call) return [];
  const whole = wholeBranch(statement);
  const siblings = statementList(whole)?.list;
  // A comment behind the call is about the call: it goes with it.
  const removal = siblings === undefined ? undefined : takeStatement(source, whole, siblings)?.removal;
  const found: NonNullable<Report<MessageId>["fixes"]>[number][] = [];
  if (removal !== undefined) {
    found.push({
      title: "remove",
      values: { call: textOf(context, call) },
      safety: "safe",
      edits: [removal],
    });
  }
  const counter = loop === undefined ? undefined : counterOf(loop);
  if (counter !== undefined && startsItsLine(source, statement)) {
    const inner = source.lineEnd + source.indentationAt(statement.start) + indentationUnit(source, module);
    const text = `if ${counter} % ${batchesBetween} == 0:${inner}${source.slice(statement)}`;
    found.push({
      title: "guard",
      values: { count: batchesBetween },
      safety: "review",
      edits: [replaceSpan(statement, text)],
    });
  }
  return found;
}

/** The `if torch.cuda.is_available():` that holds nothing but the statement goes with it. */
function wholeBranch(statement: Statement): Statement {
  const { parent } = statement;
  const isAlone = parent?.kind === "If" && parent.body.length === 1 && parent.orelse.length === 0;
  // An `elif` is no statement of its own in the text.
  if (!isAlone || (parent.parent?.kind === "If" && parent.parent.orelse.includes(parent))) return statement;
  return parent;
}

/** `i` in `for i, batch in enumerate(loader)`. */
function counterOf(loop: For | While): string | undefined {
  if (loop.kind !== "For" || loop.target.kind !== "Tuple") return undefined;
  const [first] = loop.target.elements;
  if (first?.kind !== "Name" || loop.iterable.kind !== "Call" || !isEnumerate(loop.iterable))
    return undefined;
  return first.id;
}

function isEnumerate(call: Call): boolean {
  let current: Expression = call;
  while (current.kind === "Call") {
    if (current.callee.kind === "Name" && current.callee.id === "enumerate") return true;
    const [first]: Expression[] = current.positional;
    if (first === undefined) return false;
    current = first;
  }
  return false;
}
