/** Outputs of a model, without their graph, that pile up on the GPU until a loop over batches ends. */
import { lastName } from "../../python/last-name";
import type { Node } from "../../python/tree";
import { headOf } from "../../torch/per-batch";
import type { Store } from "../../torch/provenance";

import { excerpt } from "../excerpt";
import { insertAt } from "../fix";
import { joinsIn, type Join } from "../joined";
import { defineRule, oneLower, type Report, type RuleContext } from "../rule";
import { pileOf, type Pile } from "./piles";

type MessageId =
  "kept" | "named" | "handedOut" | "namedHandedOut" | "made" | "loop" | "joined" | "returned" | "cpu";

export const rule = defineRule<MessageId>({
  name: "outputs-kept-on-device",
  group: "graph",
  level: "warning",
  summary: {
    en: "Outputs of all batches are collected on the GPU and joined or returned after the loop.",
    "zh-cn": "所有批次的输出都堆积在 GPU 上，循环结束后才拼接或返回。",
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
    handedOut: {
      en: "`{holder}` keeps `{value}` on the GPU for every batch, and all of them are still there when `{holder}` is returned. Move each batch to host memory: `.cpu()`.",
      "zh-cn":
        "`{holder}` 会把每个批次的 `{value}` 一直留在 GPU 上，返回 `{holder}` 时它们仍全部占用显存。请把每个批次移到主机内存：`.cpu()`。",
    },
    namedHandedOut: {
      en: "If `{model}` is a model on the GPU that gives more than a few numbers a sample: `{holder}` keeps `{value}` on the GPU for every batch, and all of them are still there when `{holder}` is returned. Move each batch to host memory: `.cpu()`.",
      "zh-cn":
        "如果 `{model}` 是 GPU 上的模型，且每个样本的输出不止几个数：`{holder}` 会把每个批次的 `{value}` 一直留在 GPU 上，返回 `{holder}` 时它们仍全部占用显存。请把每个批次移到主机内存：`.cpu()`。",
    },
    made: { en: "The model's output is made here.", "zh-cn": "模型的输出在这里产生。" },
    loop: { en: "Each iteration of this loop adds one.", "zh-cn": "这个循环的每次迭代都会再增加一个。" },
    joined: { en: "They are joined here, after the loop.", "zh-cn": "循环结束后在这里拼接。" },
    returned: { en: "They are returned here.", "zh-cn": "它们在这里被返回。" },
    cpu: { en: "Keep the value in host memory: `.cpu()`", "zh-cn": "把数值保留在主机内存中：`.cpu()`" },
  },
  create(context) {
    return {
      finish() {
        const joins = joinsIn(context.torch);
        for (const store of context.torch.provenance.stores) check(context, store, joins);
      },
    };
  },
});

function check(context: RuleContext<MessageId>, store: Store, joins: readonly Join[]): void {
  const pile = pileOf(context, store, joins);
  // A model that computes its loss itself gives one number; whoever collects losses says so.
  if (pile?.size === "unknown" && /loss/i.test(lastName(store.holder) ?? "")) return;
  // With a graph it is another rule's case.
  if (pile === undefined || context.torch.provenance.carried(store.value).graph !== "no") return;
  report(context, pile);
}

function report(context: RuleContext<MessageId>, { store, output, size, loop, end }: Pile): void {
  const { source, torch } = context;
  const object = torch.resolve.objectOf(output.callee);
  const named = object?.certainty === "name" || size === "unknown";
  const isJoined = end.kind === "Call";
  const related: { at: Node | ReturnType<typeof headOf>; message: MessageId }[] = [
    { at: headOf(loop), message: "loop" },
    { at: end, message: isJoined ? "joined" : "returned" },
  ];
  if (output.end < store.statement.start || output.start > store.statement.end)
    related.unshift({ at: output, message: "made" });
  context.report({
    at: store.value,
    message: isJoined ? (named ? "named" : "kept") : named ? "namedHandedOut" : "handedOut",
    values: {
      holder: excerpt(source, store.holder),
      value: excerpt(source, store.value),
      ...(isJoined ? { join: `${source.slice(end.callee)}()` } : {}),
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
