/** Outputs of a model, without their graph, that pile up on the GPU until a loop over batches ends. */
import type { Call, Expression } from "../../python/tree";
import { ancestors, enclosingFunction, enclosingLoop } from "../../python/walk";
import { gpuEvidence } from "../../torch/gpu";
import { headOf } from "../../torch/per-batch";
import type { Store } from "../../torch/provenance";
import { excerpt } from "../excerpt";
import { insertAt } from "../fix";
import { joinsIn, type Join } from "../joined";
import { defineRule, oneLower, type Report, type RuleContext } from "../rule";
import { outputCall } from "./outputs";
import { outputSize } from "./size";

type MessageId = "kept" | "named" | "made" | "loop" | "joined" | "cpu";
type Loop = NonNullable<ReturnType<typeof enclosingLoop>>;

export const rule = defineRule<MessageId>({
  name: "outputs-kept-on-device",
  group: "graph",
  level: "warning",
  summary: {
    en: "Outputs of all batches are collected on the GPU and joined after the loop.",
    "zh-cn": "所有批次的输出都堆积在 GPU 上，循环结束后才拼接。",
  },
  messages: {
    kept: {
      en: "`{holder}` keeps `{value}` on the GPU for every batch until the loop ends, and `{join}` then needs the same memory once more for the joined copy. Move each batch to host memory: `.cpu()`.",
      "zh-cn":
        "`{holder}` 会把每个批次的 `{value}` 一直留在 GPU 上直到循环结束，之后 `{join}` 还要再占用同样多的显存来存放拼接结果。请把每个批次移到主机内存：`.cpu()`。",
    },
    named: {
      en: "If `{model}` is a model on the GPU that gives more than a few numbers a sample: `{holder}` keeps `{value}` on the GPU for every batch until the loop ends, and `{join}` then needs the same memory once more for the joined copy. Move each batch to host memory: `.cpu()`.",
      "zh-cn":
        "如果 `{model}` 是 GPU 上的模型，且每个样本的输出不止几个数：`{holder}` 会把每个批次的 `{value}` 一直留在 GPU 上直到循环结束，之后 `{join}` 还要再占用同样多的显存来存放拼接结果。请把每个批次移到主机内存：`.cpu()`。",
    },
    made: { en: "The model's output is made here.", "zh-cn": "模型的输出在这里产生。" },
    loop: { en: "Each iteration of this loop adds one.", "zh-cn": "这个循环的每次迭代都会再增加一个。" },
    joined: { en: "Joined here, after the loop.", "zh-cn": "循环结束后在这里拼接。" },
    cpu: { en: "Keep the value in host memory: .cpu()", "zh-cn": "把数值保留在主机内存中：.cpu()" },
  },
  create(context) {
    return {
      finish() {
        const joins = joinsIn(context.torch);
        if (joins.length === 0) return;
        for (const store of context.torch.provenance.stores) check(context, store, joins);
      },
    };
  },
});

function check(context: RuleContext<MessageId>, store: Store, joins: readonly Join[]): void {
  if (store.kind !== "append" || store.how !== "append" || store.keys.length > 0) return;
  const { torch } = context;
  const loop = batchLoopAround(context, store);
  if (loop === undefined || !runsEachTime(store, loop)) return;
  const join = joins.find(({ key, call }) => key === store.holderKey && call.start > loop.end);
  if (join === undefined || enclosingFunction(join.call) !== enclosingFunction(store.statement)) return;
  if (gpuEvidence(torch) === undefined) return;
  // With a graph it is another rule's case.
  if (torch.provenance.carried(store.value).graph !== "no") return;
  const output = outputCall(torch, store.value);
  if (output === undefined || !isMadeBefore(context, store, loop)) return;
  const size = outputSize(context, output);
  if (size !== "small") report(context, { store, output, size }, loop, join.call);
}

/** The loop over a loader that the container outlives. */
function batchLoopAround({ torch }: RuleContext<MessageId>, store: Store): Loop | undefined {
  let loop = enclosingLoop(store.statement);
  while (loop !== undefined && !torch.trainingLoops.isBatchLoop(loop)) loop = enclosingLoop(loop);
  return loop;
}

/** Every batch adds one: what is kept under a condition, such as every 200 steps, is no pile of batches. */
function runsEachTime({ statement }: Store, loop: Loop): boolean {
  for (const at of ancestors(statement)) {
    if (at === loop) return true;
    if (at.kind === "If" || at.kind === "Match") return false;
  }
  return false;
}

/** The container begins outside the loop, and nothing in it empties or moves what it holds. */
function isMadeBefore({ torch }: RuleContext<MessageId>, store: Store, loop: Loop): boolean {
  const { flow } = torch.provenance;
  const inLoop = ({ start, end }: Expression): boolean => start >= loop.start && end <= loop.end;
  const definitions = flow.definitionsOf(store.holderKey);
  if (
    definitions.some(({ target, value }) => inLoop(target) || (target.start < loop.start && !isList(value)))
  )
    return false;
  // Any other use in the loop may take things out again.
  const uses = flow.readsOf(store.holderKey).filter((read) => inLoop(read));
  return uses.every((use) => use === store.holder || isAppend(use));
}

/** `[]` or `list()`: nothing that has a bound. */
function isList(value: Expression | undefined): boolean {
  if (value?.kind === "List") return true;
  return value?.kind === "Call" && value.callee.kind === "Name" && value.callee.id === "list";
}

function isAppend(use: Expression): boolean {
  const { parent } = use;
  return parent?.kind === "Attribute" && parent.attribute.id === "append";
}

interface Kept {
  readonly store: Store;
  readonly output: Call;
  readonly size: "large" | "unknown";
}

function report(
  context: RuleContext<MessageId>,
  { store, output, size }: Kept,
  loop: Loop,
  join: Call,
): void {
  const { source, torch } = context;
  const object = torch.resolve.objectOf(output.callee);
  const named = object?.certainty === "name" || size === "unknown";
  const related: { at: Expression | ReturnType<typeof headOf>; message: MessageId }[] = [
    { at: headOf(loop), message: "loop" },
    { at: join, message: "joined" },
  ];
  if (output.end < store.statement.start || output.start > store.statement.end)
    related.unshift({ at: output, message: "made" });
  context.report({
    at: store.value,
    message: named ? "named" : "kept",
    values: {
      holder: excerpt(source, store.holder),
      value: excerpt(source, store.value),
      join: `${source.slice(join.callee)}()`,
      model: excerpt(source, output.callee),
    },
    ...(named ? { level: oneLower("warning") } : {}),
    related,
    fixes: fixesFor(store),
  });
}

function fixesFor({ value }: Store): NonNullable<Report<MessageId>["fixes"]> {
  if (
    value.kind !== "Name" &&
    value.kind !== "Call" &&
    value.kind !== "Attribute" &&
    value.kind !== "Subscript"
  )
    return [];
  return [{ title: "cpu", safety: "review", edits: [insertAt(value.end, ".cpu()")] }];
}
