/**
 * Attention that is written out: scores for each pair of positions, a softmax, a product with the values, and nothing else that
 * needs the scores. `scaled_dot_product_attention` computes the same without keeping a matrix of that size.
 * https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
 */
import { lastName } from "../../python/last-name";
import type { Call, Expression, FunctionDefinition, Node } from "../../python/tree";
import { enclosingFunction, isWithin, someNode } from "../../python/walk";
import type { TorchFacts } from "../../torch/facts";
import { atEntry } from "../../torch/provenance/flow";
import { excerpt } from "../excerpt";
import { defineRule, type RuleContext } from "../rule";
import { isScale, projectionOf } from "./heads";
import { productOf, scoredBy, softmaxOf } from "./products";

type MessageId = "written" | "softmax" | "values";

export const rule = defineRule<MessageId>({
  name: "attention-materialized",
  group: "model",
  level: "information",
  summary: {
    en: "Attention keeps a matrix of scores that `scaled_dot_product_attention` would not.",
    "zh-cn": "注意力保留了一个分数矩阵，而 `scaled_dot_product_attention` 不会保留它。",
  },
  messages: {
    written: {
      en: "`{scores}` makes a number for each pair of positions{heads, select, yes { and each head} other {}}, and softmax{dropout, select, yes { and dropout keep} other { keeps}} as many for backward: memory that grows with {pairs, select, same {the square of the length} other {the product of both lengths}}. Nothing else reads them, so `torch.nn.functional.scaled_dot_product_attention` can compute the same and keep none of it, where its fused kernels apply.",
      "zh-cn":
        "`{scores}` 为每一对位置{heads, select, yes {、每个头} other {}}生成一个数，softmax{dropout, select, yes { 和 dropout} other {}} 还要为反向传播保留同样多的数：显存随{pairs, select, same {长度的平方} other {两个长度的乘积}}增长。这些数没有其他用途，因此 `torch.nn.functional.scaled_dot_product_attention` 可以得到同样的结果，并在其融合内核适用时完全不保留它们。",
    },
    softmax: { en: "The scores become weights here.", "zh-cn": "分数在这里变为权重。" },
    values: { en: "The weights are applied here.", "zh-cn": "权重在这里被使用。" },
  },
  calls: ["softmax", "attn_softmax", "attend"],
  create: (context) => ({
    Call(call) {
      check(context, call);
    },
  }),
});

function check(context: RuleContext<MessageId>, softmax: Call): void {
  const { torch, source } = context;
  const around = enclosingFunction(softmax);
  const given = around?.kind === "FunctionDefinition" ? softmaxOf(torch.resolve, softmax) : undefined;
  if (given === undefined || around?.kind !== "FunctionDefinition" || isOfAnotherKind(torch, around)) return;
  const chain = new Chain(torch);
  const scores = chain.scoresBehind(given);
  const pair = scores && scoredBy(torch.resolve, scores);
  const values = pair && chain.valuesBehind(softmax);
  if (scores === undefined || pair === undefined || values === undefined || !chain.isAlone(around)) return;
  const [queries, keys] = pair.map((one) => projectionOf(torch, one));
  if (queries === undefined || keys === undefined || queries.hasHeads !== keys.hasHeads) return;
  if (!queries.hasHeads && queries.from !== keys.from) return;
  context.report({
    at: scores,
    message: "written",
    values: {
      scores: excerpt(source, scores),
      heads: queries.hasHeads ? "yes" : "no",
      dropout: chain.drops ? "yes" : "no",
      pairs: queries.from === keys.from ? "same" : "two",
    },
    related: [
      { at: softmax, message: "softmax" },
      { at: values, message: "values" },
    ],
  });
}

const otherKinds =
  /window|relative_?pos|rel_?pos|alibi|scaled_dot_product|flash|xformers|memory_efficient|sdpa|^create_graph$|channel/i;

/** Over windows of a fixed size, with a bias of its own for each pair, or beside a fused way that is there already. */
function isOfAnotherKind({ resolve }: TorchFacts, around: FunctionDefinition): boolean {
  const owner = resolve.enclosingClass(around) ?? around;
  return (
    otherKinds.test(owner.name.id) ||
    someNode(owner, (node) => {
      if (node.kind === "Name") return otherKinds.test(node.id);
      return node.kind === "Attribute" && otherKinds.test(node.attribute.id);
    })
  );
}

/** From the scores to the values, and every variable on the way. */
class Chain {
  drops = false;
  private readonly nodes = new Set<Node>();
  private readonly keys = new Set<string>();

  constructor(private readonly torch: TorchFacts) {}

  /** The product behind scaling, masks and casts; the same one on every way. */
  scoresBehind(expression: Expression, depth = 0): Expression | undefined {
    if (depth > 12) return undefined;
    const { resolve, provenance } = this.torch;
    if (scoredBy(resolve, expression) !== undefined) return this.add(expression);
    const next = (inner: Expression): Expression | undefined => this.scoresBehind(inner, depth + 1);
    switch (expression.kind) {
      case "Name": {
        this.note(expression);
        const ways = (provenance.flow.reaching(expression) ?? [atEntry]).map((one) => {
          if (one === atEntry || one.value === undefined || one.path.length > 0) return undefined;
          this.nodes.add(one.node);
          if (one.kind === "assign") return next(one.value);
          if (one.kind !== "augmented" || !isScale(one.value)) return undefined;
          const before = provenance.flow
            .before(one)
            .map((earlier) =>
              earlier === atEntry || earlier.value === undefined ? undefined : next(earlier.value),
            );
          return before.every((found) => found === before[0]) ? before[0] : undefined;
        });
        return ways.every((way) => way === ways[0]) ? ways[0] : undefined;
      }
      case "BinaryOperation": {
        const { left, right, operator } = expression;
        if (operator === "*" || operator === "/")
          return isScale(right) ? next(left) : isScale(left) ? next(right) : undefined;
        return operator === "+" && isMask(right) ? next(left) : undefined;
      }
      case "Call": {
        const { callee } = expression;
        if (callee.kind !== "Attribute" || resolve.qualifiedName(callee) !== undefined) return undefined;
        return /^(masked_fill_?|float|to|type_as|contiguous)$/.test(callee.attribute.id)
          ? next(callee.object)
          : undefined;
      }
      default:
        return undefined;
    }
  }

  /** The one product that takes the weights. */
  valuesBehind(weights: Expression, depth = 0): Expression | undefined {
    const { resolve, provenance } = this.torch;
    let at: Expression = weights;
    for (let step = depth; step < 12; step++) {
      this.nodes.add(at);
      const { parent } = at;
      if (parent?.kind === "Assign") {
        const [target, other] = parent.targets;
        if (target?.kind !== "Name" || other !== undefined || parent.value !== at) return undefined;
        this.note(target);
        this.nodes.add(parent);
        const key = resolve.keyOf(target);
        const reads = key === undefined ? [] : provenance.flow.readsOf(key);
        const later = reads.filter((read) =>
          provenance.flow.reaching(read)?.some((one) => one !== atEntry && one.node === parent),
        );
        const ends = new Set(
          later.filter((read) => !isAboutShape(read)).map((read) => this.valuesBehind(read, step + 1)),
        );
        const [end] = ends;
        return ends.size === 1 ? end : undefined;
      }
      if (parent === undefined) return undefined;
      if (parent.kind === "BinaryOperation" || parent.kind === "Call") {
        const product = productOf(resolve, parent);
        if (product !== undefined) {
          const isFirst =
            product.left === at && (product.letters === undefined || isApplied(product.letters));
          return isFirst ? this.add(parent) : undefined;
        }
      }
      const outer = this.keptBy(at, parent);
      if (outer === undefined) return undefined;
      at = outer;
    }
    return undefined;
  }

  /** `self.dropout(weights)`, `F.dropout(weights, …)`, `weights.to(v.dtype)`: the same weights. */
  private keptBy(at: Expression, parent: Node): Expression | undefined {
    if (parent.kind === "Call" && parent.positional[0] === at) {
      if (!/drop/i.test(lastName(parent.callee) ?? "")) return undefined;
      this.drops = true;
      return parent;
    }
    const call = parent.kind === "Attribute" && parent.object === at ? parent.parent : undefined;
    if (parent.kind !== "Attribute" || call?.kind !== "Call" || call.callee !== parent) return undefined;
    return /^(to|type_as|float|half|contiguous)$/.test(parent.attribute.id) ? call : undefined;
  }

  /** Nothing else of the function reads scores or weights: they are not returned, stored or shown. */
  isAlone(around: FunctionDefinition): boolean {
    const { provenance } = this.torch;
    return [...this.keys].every((key) =>
      provenance.flow
        .readsOf(key)
        .filter((read) => isWithin(read, around))
        .every((read) => isAboutShape(read) || [...this.nodes].some((node) => isWithin(read, node))),
    );
  }

  private note(variable: Expression): void {
    const key = this.torch.resolve.keyOf(variable);
    if (key !== undefined) this.keys.add(key);
  }

  private add(node: Expression): Expression {
    this.nodes.add(node);
    return node;
  }
}

/** `+ mask`, `+ attention_mask[:, None]`. */
function isMask(expression: Expression): boolean {
  const root = expression.kind === "Subscript" ? expression.object : expression;
  return (root.kind === "Name" || root.kind === "Attribute") && /mask/i.test(lastName(root) ?? "");
}

/** "bhij,bhjd->bhid": each row of weights over all values. */
function isApplied([weights, values, out]: readonly [string, string, string]): boolean {
  return weights.at(-1) === values.at(-2) && out === `${weights.slice(0, -1)}${values.at(-1) ?? ""}`;
}

function isAboutShape({ parent }: Expression): boolean {
  return parent?.kind === "Attribute" && /^(shape|size|dtype|device|dim)$/.test(parent.attribute.id);
}
