import type { Expression } from "./tree";

/** `step` of `step`, `optimizer.step` and `self.optimizer.step`: what a callee is called, whoever has it. */
export function lastName(expression: Expression): string | undefined {
  if (expression.kind === "Name") return expression.id;
  if (expression.kind === "Attribute") return expression.attribute.id;
  return undefined;
}
