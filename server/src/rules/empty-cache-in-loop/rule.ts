/** `torch.cuda.empty_cache()` unconditionally in a loop over batches. */
import type { Call, Expression, For, Statement, While } from "../../python/tree";
import { enclosingStatement, statementList } from "../../python/walk";
import { headOf, perBatchRun, type BatchCaller } from "../../torch/per-batch";
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
  inHelper: {
    en: "`{call}` calls `{empty}` for every batch here: that frees nothing that is still referenced, and gives the cached blocks back only for the next batch to allocate them again, which synchronizes and costs time. Leave it to callers that have really let go of much memory (after a phase, after `del model`).",
    "zh-cn":
      "`{call}` 在这里对每个批次都调用 `{empty}`：仍被引用的张量它释放不了，只是把缓存块还给驱动，下一个批次又要重新申请，既要同步又耗时间。请只让确实放掉大量显存的调用方来清空缓存（阶段结束、`del model` 之后）。",
  },
  loop: { en: "This loop runs once a batch.", "zh-cn": "这个循环每个批次执行一次。" },
  calledHere: { en: "It is called here, once a batch.", "zh-cn": "在这里调用，每个批次一次。" },
  insideHelper: { en: "The cache is emptied here.", "zh-cn": "缓存在这里清空。" },
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
    en: "`empty_cache()` on every batch costs time and frees nothing in use.",
    "zh-cn": "每个批次都调用 `empty_cache()`：耗时间，也释放不了仍在使用的显存。",
  },
  messages,
  calls: ["empty_cache"],
  create: (context) => ({
    Call(call) {
      const qualified = context.torch.resolve.qualifiedName(call.callee);
      if (qualified !== undefined && emptyCache.test(qualified)) check(context, call);
    },
  }),
});

function check(context: RuleContext<MessageId>, call: Call): void {
  const run = perBatchRun(context.torch, call);
  switch (run?.kind) {
    case "loop":
      reportHere(context, call, { related: [{ at: headOf(run.loop), message: "loop" }] }, run.loop);
      return;
    case "hook":
      reportHere(context, call, {
        message: "inHook",
        values: { call: textOf(context, call), hook: run.hook },
      });
      return;
    case "helper":
      reportHelper(context, call, run.callers, run.all);
      return;
    default:
  }
}

/** The call hides in a helper: all its callers run it once a batch, or some of them do. */
function reportHelper(
  context: RuleContext<MessageId>,
  call: Call,
  callers: readonly BatchCaller[],
  all: boolean,
): void {
  const [first] = callers;
  if (first === undefined) return;
  if (all) {
    reportHere(context, call, {
      related: [
        { at: first.caller, message: "calledHere" },
        { at: headOf(first.loop), message: "loop" },
      ],
    });
    return;
  }
  // Elsewhere the helper is used rightly, so the place to look at is the call in the loop.
  for (const { caller, loop } of callers) {
    context.report({
      at: caller,
      message: "inHelper",
      values: { call: textOf(context, caller), empty: textOf(context, call) },
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
