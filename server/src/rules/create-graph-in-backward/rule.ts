/**
 * `backward(create_graph=True)` in a loop. PyTorch warns of it: gradients that carry a graph refer to their parameters
 * and the parameters to them, and neither is freed before `.grad` is reset.
 */
import type { Call, Expression, KeywordArgument } from "../../python/tree";
import { enclosingLoop } from "../../python/walk";
import { headOf } from "../../torch/per-batch";
import { excerpt } from "../excerpt";
import { leastGraphBehind } from "../graph-size";
import { unknownSize } from "../model-size";
import { defineRule, type RuleContext } from "../rule";

type MessageId = "created" | "loop";

export const rule = defineRule<MessageId>({
  name: "create-graph-in-backward",
  group: "graph",
  level: "warning",
  summary: {
    en: "`backward(create_graph=True)` in a loop: parameters and gradients keep each other's graph alive.",
    "zh-cn": "循环中的 `backward(create_graph=True)`：参数与梯度互相保持对方的计算图。",
  },
  messages: {
    created: {
      en: "`{call}` leaves gradients that carry a graph: each parameter refers to its `.grad` and that graph back to the parameter, so the activations of the iteration{size, select, unknown {} other { ({size})}} stay until every `.grad` is set to `None`. For second derivatives use `torch.autograd.grad(…, create_graph=True)`; otherwise leave the argument out.",
      "zh-cn":
        "`{call}` 留下的梯度自带计算图：每个参数引用它的 `.grad`，而该计算图又引用参数，因此在所有 `.grad` 都设为 `None` 之前，本次迭代的激活{size, select, unknown {} other {（{size}）}}都会保留。需要二阶导数时请用 `torch.autograd.grad(…, create_graph=True)`；否则请去掉这个参数。",
    },
    loop: {
      en: "Each iteration of this loop makes such a graph.",
      "zh-cn": "这个循环的每次迭代都会产生这样的计算图。",
    },
  },
  calls: ["backward", "manual_backward"],
  create: (context) => ({
    Call(call) {
      const argument = creating(call);
      if (argument !== undefined) check(context, call);
    },
  }),
});

/** Optimizers that take second derivatives from `.grad`, such as AdaHessian. */
const needsIt = /hess|sophia|newton|kfac|k_fac|curvature|second_?order|shampoo/i;

/** The argument `create_graph=True` of `x.backward(…)`. */
function creating(call: Call): KeywordArgument | undefined {
  if (call.callee.kind !== "Attribute") return undefined;
  return call.keywords.find(
    ({ name, value }) => name.id === "create_graph" && value.kind === "Boolean" && value.value,
  );
}

function check(context: RuleContext<MessageId>, call: Call): void {
  const { torch, source } = context;
  if (torch.resolve.qualifiedName(call.callee) !== undefined) return;
  const loop = enclosingLoop(call) ?? torch.provenance.reach.callingLoops(call)[0];
  if (loop === undefined || usesSecondOrder(context)) return;
  const carried = lossOf(call).map((loss) => torch.provenance.carried(loss));
  const made = carried
    .find(({ certainty }) => certainty !== "name")
    ?.sources.values()
    .next().value;
  context.report({
    at: call,
    message: "created",
    values: {
      call: excerpt(source, call),
      size: made === undefined ? unknownSize : leastGraphBehind(made, true, context),
    },
    related: [{ at: headOf(loop), message: "loop" }],
  });
}

/** `loss` of `loss.backward(…)` and of `accelerator.backward(loss, …)`; which of the two it is the graph tells. */
function lossOf({ callee, positional }: Call): readonly Expression[] {
  return [...(callee.kind === "Attribute" ? [callee.object] : []), ...positional.slice(0, 1)];
}

/** Something in the file is named after second derivatives: it may read them from `.grad`. */
function usesSecondOrder({ torch }: RuleContext<MessageId>): boolean {
  const { index } = torch.resolve;
  return (
    [...index.callsByName.keys()].some((name) => needsIt.test(name)) ||
    index.functions.some(({ name }) => needsIt.test(name.id)) ||
    index.classes.some(({ name }) => needsIt.test(name.id))
  );
}
