import { defineRule, oneLower, type RuleContext } from "../rule";
import type { KeptValue } from "../../torch/provenance";
import type { Node } from "../../python/tree";
import { isTestFile } from "../../torch/provenance/try-out";
import { excerpt } from "../excerpt";
import { sizeOfKeptGraph } from "../graph-size";
import { adviceFor, fixesFor, holderOf, keptMessages, keptText, placeOf, relatedTo } from "./reporting";

/** Tensors whose graph no backward frees, kept past the iteration that made them. */
export const rule = defineRule({
  name: "loss-graph-retained",
  group: "graph",
  level: "error",
  summary: {
    en: "A tensor is kept past its iteration together with its whole graph.",
    "zh-cn": "张量连同整个计算图被保留到了本次迭代之后。",
  },
  messages: {
    ...keptMessages,
    kept: {
      en: "`{holder}` keeps `{value}` together with its graph, and no backward of this iteration frees that graph: the activations of every iteration{size, select, unknown {} other { ({size})}} stay allocated as long as `{holder}` holds them. {advice}{noGrad, select, yes {, or run this part under `torch.no_grad()`} other {}}.",
      "zh-cn":
        "`{holder}` 保留了 `{value}` 及其计算图，而本次迭代中没有任何 backward 释放该计算图：只要 `{holder}` 还持有它们，每次迭代的激活{size, select, unknown {} other {（{size}）}}都不会被释放。{advice}{noGrad, select, yes {，或者在 `torch.no_grad()` 下运行这部分代码} other {}}。",
    },
    named: {
      en: "If `{model}` is a model with trainable parameters: `{holder}` keeps `{value}` together with its graph, and no backward of this iteration frees it, so the activations of every iteration stay allocated. {advice}{noGrad, select, yes {, or run this part under `torch.no_grad()`} other {}}.",
      "zh-cn":
        "如果 `{model}` 是带有可训练参数的模型：`{holder}` 保留了 `{value}` 及其计算图，而本次迭代中没有任何 backward 释放它，因此每次迭代的激活都不会被释放。{advice}{noGrad, select, yes {，或者在 `torch.no_grad()` 下运行这部分代码} other {}}。",
    },
  },
  create(context) {
    return {
      finish() {
        if (isTestFile(context.torch.scopes)) return;
        for (const kept of context.torch.provenance.kept) {
          if (kept.freedBy === undefined) report(kept, context);
        }
      },
    };
  },
});

/** Outside of evaluation passes the model is taken to be in training mode. */
function isTraining(forward: Node, { torch }: RuleContext): boolean {
  const pass = torch.provenance.evaluationPasses.find(({ forwards }) =>
    forwards.some((call) => call === forward),
  );
  return pass?.evalCall === undefined;
}

function report(kept: KeptValue, context: RuleContext): void {
  const named = kept.carried.certainty === "name";
  const [source] = kept.carried.sources;
  const model = source?.kind === "Call" ? excerpt(context.source, source.callee) : "";
  context.report({
    at: placeOf(kept, context),
    message: named ? "named" : "kept",
    values: {
      value: keptText(kept, context),
      holder: holderOf(kept, context),
      advice: adviceFor(kept, context),
      model,
      // Derivatives taken on the way need the graph: only what is kept can be cut from it.
      noGrad: context.torch.provenance.gradientUse.differentiatesIn(kept.loop) ? "no" : "yes",
      size:
        named || source === undefined
          ? "unknown"
          : sizeOfKeptGraph(source, isTraining(source, context), context),
    },
    level: named ? oneLower("error") : "error",
    related: relatedTo(kept, context),
    fixes: fixesFor(kept, context),
  });
}
