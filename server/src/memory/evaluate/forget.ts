/** Statements that did not run to their end: what they may have changed, or would have, is no longer known. */
import type { Expression, Statement } from "../../python/tree";
import type { Unknown } from "../unknown";
import { assignUnknown } from "./assign";
import { doubtAttributes } from "./doubted";
import { effectsOf, type Effects } from "./effects";
import type { Interpreter } from "./interpreter";
import { ObjectValue } from "./values";

/** Steps that going through the targets may take, where the statements ended because they had taken too many. */
const forgettingSteps = 2_000;

/** Everything that the statements may assign or change in the current frame, or only some of it. */
export function forget(
  interpreter: Interpreter,
  statements: readonly Statement[],
  reason: Unknown,
  isForgotten: (target: Expression) => boolean = () => true,
): void {
  const limit = interpreter.stepLimit;
  interpreter.stepLimit = Math.max(limit, interpreter.steps + forgettingSteps);
  const effects = effectsOf(statements);
  for (const target of effects.targets)
    if (isForgotten(target)) interpreter.guard(() => assignUnknown(interpreter, target, reason));
  interpreter.guard(() => {
    doubtSetByName(interpreter, effects, reason);
  });
  interpreter.stepLimit = limit;
}

/** Statements that may run or not may set any attribute of what they give to `setattr(self, key, value)`. */
export function doubtSetByName(interpreter: Interpreter, { setByName }: Effects, reason: Unknown): void {
  for (const expression of setByName) {
    const object = interpreter.evaluate(expression);
    if (object instanceof ObjectValue) doubtAttributes(object, reason);
  }
}
