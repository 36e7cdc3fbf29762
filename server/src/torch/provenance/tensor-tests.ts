/**
 * Code that asks whether a value is a tensor, as meters do: `if isinstance(value, torch.Tensor): value = value.item()`. What
 * is left where the answer is no carries no graph.
 */
import type { Expression, If, Node, Statement } from "../../python/tree";
import type { Resolver } from "../resolve";
import { lastPart } from "../resolve-index";

/** What a condition says of a variable when it holds: that it is a tensor, that it is none, or nothing. */
type Says = "tensor" | "no tensor" | undefined;

/** True where the conditions around a use of a variable leave only what is no tensor. */
export function isNoTensorAt(use: Expression, key: string, resolver: Resolver): boolean {
  let below: Node = use;
  for (let at = use.parent; at !== undefined; below = at, at = at.parent) {
    if (at.kind === "FunctionDefinition" || at.kind === "Lambda" || at.kind === "ClassDefinition")
      return false;
    if (
      at.kind === "If" &&
      below !== at.test &&
      saidIn(at, below as Statement, key, resolver) === "no tensor"
    )
      return true;
    if (at.kind === "Conditional" && below !== at.test) {
      const said = says(at.test, key, resolver);
      if ((below === at.body ? said : opposite(said)) === "no tensor") return true;
    }
  }
  return false;
}

/**
 * The condition under which a variable is given another value when it is a tensor. Behind it, what the variable held
 * before is no tensor.
 */
export function tensorTestAround(node: Node, key: string, resolver: Resolver): If | undefined {
  const { parent } = node;
  if (parent?.kind !== "If") return undefined;
  return saidIn(parent, node as Statement, key, resolver) === "tensor" ? parent : undefined;
}

function saidIn(condition: If, statement: Statement, key: string, resolver: Resolver): Says {
  const said = says(condition.test, key, resolver);
  return condition.body.includes(statement) ? said : opposite(said);
}

function says(test: Expression, key: string, resolver: Resolver): Says {
  if (test.kind === "UnaryOperation" && test.operator === "not")
    return opposite(says(test.operand, key, resolver));
  if (test.kind !== "Call") return undefined;
  const [asked, what] = test.positional;
  if (asked === undefined || resolver.keyOf(asked) !== key) return undefined;
  const name = resolver.qualifiedName(test.callee);
  if (name === "torch.is_tensor") return "tensor";
  if (what === undefined) return undefined;
  if (name === "builtins.hasattr")
    return what.kind === "String" && /^(item|detach|cpu|data|requires_grad)$/.test(what.value ?? "")
      ? "tensor"
      : undefined;
  return name === "builtins.isinstance" ? ofClasses(what) : undefined;
}

function ofClasses(what: Expression): Says {
  const classes = what.kind === "Tuple" ? what.elements : [what];
  const names = classes.map((one) => lastPart(one) ?? "");
  if (names.some((one) => /^(Tensor|Variable|Parameter)$/.test(one))) return "tensor";
  const plain = /^(int|float|bool|str|complex|number|Number|ndarray|floating|integer)$/;
  return names.length > 0 && names.every((one) => plain.test(one)) ? "no tensor" : undefined;
}

/** `not isinstance(x, Tensor)`; what is no number may still be anything, but meters are given numbers and tensors. */
function opposite(said: Says): Says {
  if (said === undefined) return undefined;
  return said === "tensor" ? "no tensor" : "tensor";
}
