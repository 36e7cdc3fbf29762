import { defineRule, oneLower, type RuleContext } from "../rule";
import type { KeptValue } from "../../torch/provenance";
import { isTestFile } from "../../torch/provenance/try-out";
import {
  adviceFor,
  fixesFor,
  holderOf,
  keptMessages,
  keptText,
  placeOf,
  relatedTo,
} from "../loss-graph-retained/reporting";

/** Tensors kept past their iteration whose activations a backward has freed: nodes and tensors still pile up. */
export const rule = defineRule({
  name: "graph-retained-after-backward",
  group: "graph",
  level: "warning",
  summary: {
    en: "A tensor is kept with its graph after the backward that freed the graph's activations.",
    "zh-cn": "张量在 backward 释放激活之后仍连同计算图节点一起被保留。",
  },
  messages: {
    ...keptMessages,
    kept: {
      en: "`{holder}` keeps `{value}` with its graph. The backward of this iteration frees the activations, but the graph''s nodes (host memory, about 1 KiB an operation){tensor, select, yes { and the tensor itself} other {}} pile up as long as `{holder}` holds them. {advice}.",
      "zh-cn":
        "`{holder}` 保留了 `{value}` 及其计算图。本次迭代的 backward 会释放激活，但只要 `{holder}` 还持有它们，计算图的节点（主机内存，每个算子约 1 KiB）{tensor, select, yes {和张量本身} other {}}就会不断累积。{advice}。",
    },
    named: {
      en: "If `{value}` is the loss: `{holder}` keeps it with its graph. The backward of this iteration frees the activations, but the graph''s nodes (host memory, about 1 KiB an operation){tensor, select, yes { and the tensor itself} other {}} pile up. {advice}.",
      "zh-cn":
        "如果 `{value}` 是损失：`{holder}` 会连同计算图一起保留它。本次迭代的 backward 会释放激活，但计算图的节点（主机内存，每个算子约 1 KiB）{tensor, select, yes {和张量本身} other {}}会不断累积。{advice}。",
    },
  },
  create(context) {
    return {
      finish() {
        if (isTestFile(context.torch.scopes)) return;
        for (const kept of context.torch.provenance.kept) {
          if (kept.freedBy !== undefined) report(kept, context);
        }
      },
    };
  },
});

function report(kept: KeptValue, context: RuleContext): void {
  const named = kept.carried.certainty === "name";
  context.report({
    at: placeOf(kept, context),
    message: named ? "named" : "kept",
    values: {
      value: keptText(kept, context),
      holder: holderOf(kept, context),
      // A sum holds its addends' nodes, not the addends.
      tensor: kept.store.kind === "sum" || kept.store.kind === "rebind" ? "no" : "yes",
      advice: adviceFor(kept, context),
    },
    level: named ? oneLower("warning") : "warning",
    related: relatedTo(kept, context),
    fixes: fixesFor(kept, context),
  });
}
