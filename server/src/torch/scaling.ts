/** Loss scaling in a training loop: which backward runs on a scaled loss, and which scaler it is. */
import { foldConstant } from "../python/constant";
import { dottedPath } from "../python/walk";
import type { Call, Expression } from "../python/tree";
import type { Resolver } from "./resolve";
import type { Place, TraceEvent } from "./training-loop/event";

/** The scaler of `scaler.scale(loss).backward()`; `undefined` for any other backward. */
export function scalerOfBackward(resolver: Resolver, backward: TraceEvent): Expression | undefined {
  const { node } = backward;
  if (node.kind !== "Call" || node.callee.kind !== "Attribute") return undefined;
  const scaled = scaledLoss(resolver, node.callee.object);
  return scaled?.callee.kind === "Attribute" ? scaled.callee.object : undefined;
}

/** `scaler.scale(loss)`, and a variable that holds it. */
function scaledLoss(resolver: Resolver, loss: Expression): Call | undefined {
  const values = loss.kind === "Name" ? resolver.valuesOf(loss) : [loss];
  return values.find(
    (value): value is Call =>
      value.kind === "Call" &&
      value.callee.kind === "Attribute" &&
      value.callee.attribute.id === "scale" &&
      isScalerObject(resolver, value.callee.object),
  );
}

/** The scaler of `scaler.step(optimizer)`; `undefined` for any other step. */
export function scalerOfStep(resolver: Resolver, step: TraceEvent): Expression | undefined {
  const { node } = step;
  if (node.kind !== "Call" || node.callee.kind !== "Attribute" || node.positional.length === 0)
    return undefined;
  return isScalerObject(resolver, node.callee.object) ? node.callee.object : undefined;
}

function isScalerObject(resolver: Resolver, expression: Expression): boolean {
  const role = resolver.roleOf(expression);
  if (role !== undefined) return role === "scaler";
  const name = dottedPath(expression)?.split(".").at(-1);
  return name !== undefined && /scaler$/i.test(name);
}

/** True when the scaler is made with `enabled=False` (an option's default does not count): it does nothing then. */
export function isDisabled(resolver: Resolver, scaler: Expression): boolean {
  const construction = resolver.objectOf(scaler)?.construction;
  const enabled = construction?.keywords.find(({ name }) => name.id === "enabled")?.value;
  const value = enabled && foldConstant(enabled, resolver.scopes);
  return value?.kind === "boolean" && !value.value;
}

/**
 * False when two places of one trace cannot both be passed in one run: they lie in different arms of one condition, or in
 * arms of conditions whose texts exclude each other.
 */
export function canBothRun(
  a: readonly Place[],
  b: readonly Place[],
  textOf: (test: Expression) => string,
): boolean {
  const arms = a.flatMap((place) => armOf(place, textOf));
  return b
    .flatMap((place) => armOf(place, textOf))
    .every((arm) => !arms.some((other) => other.text === arm.text && other.taken !== arm.taken));
}

function armOf(
  place: Place,
  textOf: (test: Expression) => string,
): { readonly text: string; readonly taken: boolean }[] {
  if (place.kind !== "branch" || place.test === undefined) return [];
  let test = place.test;
  let { taken } = place;
  for (;;) {
    if (test.kind === "UnaryOperation" && test.operator === "not") {
      test = test.operand;
      taken = !taken;
      continue;
    }
    const [left, right] = test.kind === "Comparison" ? test.operands : [];
    // `scaler is None` and `scaler` exclude each other.
    if (test.kind === "Comparison" && left && right?.kind === "None" && test.operators.length === 1) {
      if (test.operators[0] === "is") taken = !taken;
      test = left;
      continue;
    }
    return [{ text: textOf(test), taken }];
  }
}
