/** `gc.collect()` unconditionally in a loop over batches: a full collection for nothing that counting has not freed. */
import type { Call } from "../../python/tree";
import { enclosingStatement, statementList } from "../../python/walk";
import { headOf, perBatchRun } from "../../torch/per-batch";
import { takeStatement } from "../fix";
import { defineRule, type Report, type RuleContext } from "../rule";

type MessageId = keyof typeof messages;

const messages = {
  inLoop: {
    en: "`gc.collect()` runs for every batch: a full collection visits every object of the process, a tenth of a second and more once PyTorch is loaded, while the GPU waits. Tensors are freed by reference counting as soon as nothing names them; the collector finds only those in reference cycles. Remove it, or run it every few hundred batches.",
    "zh-cn":
      "`gc.collect()` 在每个批次都执行：完整回收要访问进程中的每个对象，加载 PyTorch 之后要花十分之一秒甚至更久，期间 GPU 在等待。没有名字引用的张量会由引用计数立即释放；回收器只能找出循环引用中的张量。请删除它，或每几百个批次执行一次。",
  },
  inHook: {
    en: "`gc.collect()` runs for every batch, because the framework calls `{hook}` once a batch: a full collection visits every object of the process, a tenth of a second and more once PyTorch is loaded, while the GPU waits. Tensors are freed by reference counting as soon as nothing names them. Remove it, or move it to the end of an epoch.",
    "zh-cn":
      "框架每个批次都会调用 `{hook}`，所以 `gc.collect()` 在每个批次都执行：完整回收要访问进程中的每个对象，加载 PyTorch 之后要花十分之一秒甚至更久，期间 GPU 在等待。没有名字引用的张量会由引用计数立即释放。请删除它，或移到每轮结束时。",
  },
  loop: { en: "This loop runs once a batch.", "zh-cn": "这个循环每个批次执行一次。" },
  calledHere: { en: "It is called here, once a batch.", "zh-cn": "在这里调用，每个批次一次。" },
  insideHelper: { en: "The collection runs here.", "zh-cn": "在这里执行回收。" },
  remove: { en: "Remove `gc.collect()`", "zh-cn": "删除 `gc.collect()`" },
};

/** Scripts that manage the collector themselves: its cost and its times are chosen. */
const regime = /^gc\.(disable|freeze|set_threshold)$/;

export const rule = defineRule<MessageId>({
  name: "gc-collect-in-loop",
  group: "allocator",
  level: "warning",
  summary: {
    en: "`gc.collect()` on every batch stalls training and frees no tensor that is still named.",
    "zh-cn": "每个批次都调用 `gc.collect()`：拖慢训练，也释放不了仍有名字引用的张量。",
  },
  messages,
  calls: ["collect"],
  create: (context) => ({
    Call(call) {
      // A generation is a choice: the young ones are cheap.
      if (call.positional.length + call.keywords.length + call.keywordSpreads.length > 0) return;
      if (context.torch.resolve.qualifiedName(call.callee) !== "gc.collect" || hasRegime(context)) return;
      check(context, call);
    },
  }),
});

function hasRegime({ torch }: RuleContext): boolean {
  return torch.resolve.callsOf((name) => regime.test(name)).length > 0;
}

function check(context: RuleContext<MessageId>, call: Call): void {
  const run = perBatchRun(context.torch, call);
  if (run === undefined) return;
  if (run.kind === "hook") {
    context.report({
      at: call,
      message: "inHook",
      values: { hook: run.hook },
      fixes: removal(context, call),
    });
    return;
  }
  if (run.kind === "loop") {
    const related = [{ at: headOf(run.loop), message: "loop" }] as const;
    context.report({ at: call, message: "inLoop", related, fixes: removal(context, call) });
    return;
  }
  const [first] = run.callers;
  if (run.all && first !== undefined) {
    context.report({
      at: call,
      message: "inLoop",
      related: [
        { at: first.caller, message: "calledHere" },
        { at: headOf(first.loop), message: "loop" },
      ],
      fixes: removal(context, call),
    });
    return;
  }
  // Elsewhere the helper is used rightly, so the place to look at is the call in the loop.
  for (const { caller, loop } of run.callers) {
    context.report({
      at: caller,
      message: "inLoop",
      related: [
        { at: call, message: "insideHelper" },
        { at: headOf(loop), message: "loop" },
      ],
    });
  }
}

/** Only as a proposal: memory that sits in reference cycles would stay longer. */
function removal({ source }: RuleContext, call: Call): Report<MessageId>["fixes"] {
  const statement = enclosingStatement(call);
  if (statement?.kind !== "ExpressionStatement" || statement.expression !== call) return [];
  const siblings = statementList(statement)?.list;
  const edit = siblings && takeStatement(source, statement, siblings)?.removal;
  return edit === undefined ? [] : [{ title: "remove", safety: "review", edits: [edit] }];
}
