/** Matrix products of attention: `q @ k.transpose(-2, -1)` gives scores, `weights @ v` applies them. */
import { keyword } from "../../python/keyword";
import { lastName } from "../../python/last-name";
import type { Call, Expression } from "../../python/tree";
import type { Resolver } from "../../torch/resolve";

export interface Product {
  readonly left: Expression;
  readonly right: Expression;
  /** The letters of an `einsum`: those of both operands and of the result. */
  readonly letters?: readonly [string, string, string];
}

/** `a @ b`, `torch.matmul(a, b)`, `torch.bmm(a, b)`, `a.matmul(b)`, `torch.einsum("…", a, b)`. */
export function productOf(resolve: Resolver, expression: Expression): Product | undefined {
  if (expression.kind === "BinaryOperation")
    return expression.operator === "@" ? { left: expression.left, right: expression.right } : undefined;
  if (expression.kind !== "Call" || expression.keywordSpreads.length > 0) return undefined;
  const { callee, positional } = expression;
  const name = resolve.qualifiedName(callee);
  const [first, second, third, fourth] = positional;
  if (name === "torch.matmul" || name === "torch.bmm")
    return first && second && third === undefined ? { left: first, right: second } : undefined;
  if (name === "torch.einsum") {
    const letters = first?.kind === "String" ? lettersOf(first.value ?? "") : undefined;
    return letters && second && third && fourth === undefined
      ? { left: second, right: third, letters }
      : undefined;
  }
  const isMethod =
    name === undefined && callee.kind === "Attribute" && /^(matmul|bmm)$/.test(callee.attribute.id);
  return isMethod && first && second === undefined ? { left: callee.object, right: first } : undefined;
}

function lettersOf(equation: string): readonly [string, string, string] | undefined {
  const parts = /^(\w+),(\w+)->(\w+)$/.exec(equation.replace(/\s|\.\.\./g, ""));
  const [, left, right, out] = parts ?? [];
  return left && right && out ? [left, right, out] : undefined;
}

/** The queries and keys of a product that gives a number for each pair of them. */
export function scoredBy(
  resolve: Resolver,
  expression: Expression,
): readonly [Expression, Expression] | undefined {
  const product = productOf(resolve, expression);
  if (product === undefined) return undefined;
  const { left, right, letters } = product;
  if (letters === undefined) {
    const keys = transposed(right);
    return keys && [left, keys];
  }
  const [queries, keys, scores] = letters;
  const features = queries.at(-1) ?? "";
  // "bhid,bhjd->bhij"
  const isPairwise =
    keys.at(-1) === features &&
    !scores.includes(features) &&
    scores === `${queries.slice(0, -1)}${keys.at(-2) ?? ""}` &&
    queries.at(-2) !== keys.at(-2);
  return isPairwise ? [left, right] : undefined;
}

/** `k` of `k.transpose(-2, -1)` and `k.mT`. */
function transposed(expression: Expression): Expression | undefined {
  if (expression.kind === "Attribute")
    return expression.attribute.id === "mT" ? expression.object : undefined;
  if (expression.kind !== "Call" || expression.callee.kind !== "Attribute") return undefined;
  if (!/^(transpose|swapaxes|swapdims)$/.test(expression.callee.attribute.id)) return undefined;
  const axes = expression.positional.map((axis) => axisOf(axis)).sort();
  return /^(-1,-2|1,2|2,3)$/.test(axes.join()) ? expression.callee.object : undefined;
}

/** An axis that is written out. */
export function axisOf(expression: Expression | undefined): number | undefined {
  if (expression?.kind === "Integer") return expression.value;
  if (expression?.kind !== "UnaryOperation" || expression.operator !== "-") return undefined;
  return expression.operand.kind === "Integer" ? -expression.operand.value : undefined;
}

/** What a softmax over the last axis is taken of: `F.softmax(x, dim=-1)`, `x.softmax(-1)`, `self.softmax(x)`. */
export function softmaxOf(resolve: Resolver, call: Call): Expression | undefined {
  const { callee } = call;
  const name = resolve.qualifiedName(callee);
  const [first, second] = call.positional;
  if (name !== undefined) {
    if (!/^torch\.(softmax|nn\.functional\.softmax)$/.test(name)) return undefined;
    return axisOf(keyword(call, "dim") ?? second) === -1 ? first : undefined;
  }
  if (callee.kind !== "Attribute") return undefined;
  const [made, other] = resolve.valuesOf(callee);
  if (made !== undefined) {
    if (
      other !== undefined ||
      made.kind !== "Call" ||
      resolve.qualifiedName(made.callee) !== "torch.nn.Softmax"
    )
      return undefined;
    return axisOf(keyword(made, "dim") ?? made.positional[0]) === -1 ? first : undefined;
  }
  const axis = keyword(call, "dim") ?? first;
  return lastName(callee) === "softmax" && axisOf(axis) === -1 ? callee.object : undefined;
}
