/**
 * Copies that a script makes of its models when a pass over its data is over, as of the best weights so far: they are there
 * in every pass behind the first. Whether one was the best is not asked: the first that was tried is.
 */
import { lastName } from "../../../python/last-name";
import type { Node, Statement } from "../../../python/tree";
import { childrenOf } from "../../../python/walk";
import { isUnknown } from "../../unknown";
import type { Frame } from "../frame";
import { filledByCall } from "../effects";
import { blocksOf, followingIn } from "../in-place";
import type { Interpreter } from "../interpreter";
import type { WayToLoop } from "./iteration";

/**
 * Makes them, once the iteration has run: in the loops around the training loop, in its function and in those that lead to it.
 * What cannot be followed is noted. `frames`: the module's and those of the functions on the way, outermost first.
 */
export function makeKeptCopies(interpreter: Interpreter, way: WayToLoop, frames: readonly Frame[]): void {
  const places: readonly Node[] = [...way.through.map(({ call }) => call), way.loop];
  const { frame } = interpreter;
  places.forEach((place, i) => {
    const own = frames[i + frames.length - places.length];
    if (own === undefined) return;
    interpreter.frame = own;
    for (const statement of restOfPass(place).flatMap(copyingIn)) {
      const fault = interpreter.guard(() => {
        interpreter.execution.unobserved(() => interpreter.execute([statement]));
        return undefined;
      });
      if (isUnknown(fault)) interpreter.note(fault);
    }
  });
  interpreter.frame = frame;
}

/** What follows a place in the loops around it, up to its function. */
function restOfPass(place: Node): Statement[] {
  const rest: Statement[] = [];
  let pending: Statement[] = [];
  let child = place;
  for (let holder = place.parent; holder !== undefined; holder = holder.parent) {
    if (holder.kind === "FunctionDefinition" || holder.kind === "Lambda") break;
    pending.push(...followingIn(holder, child));
    if (holder.kind === "For" || holder.kind === "While") {
      rest.push(...pending);
      pending = [];
    }
    child = holder;
  }
  return rest;
}

/** The statement if it keeps a copy, or those inside of it that do. */
function copyingIn(statement: Statement): Statement[] {
  if (statement.kind === "Assign" || statement.kind === "AnnotatedAssign")
    return statement.value !== undefined && copies(statement.value, false) ? [statement] : [];
  // `snapshots.append(copy.deepcopy(model))`, not `torch.save(copy.deepcopy(model), path)`
  if (statement.kind === "ExpressionStatement")
    return filledByCall(statement.expression).length > 0 && copies(statement.expression, false)
      ? [statement]
      : [];
  if (statement.kind === "FunctionDefinition" || statement.kind === "ClassDefinition") return [];
  return blocksOf(statement).flatMap((block) => block.flatMap(copyingIn));
}

/** `copy.deepcopy(model.state_dict())`, `{name: value.clone() for name, value in …}`. */
function copies(node: Node, isInComprehension: boolean): boolean {
  if (node.kind === "Lambda") return false;
  if (node.kind === "Call") {
    const { callee } = node;
    const name = lastName(callee) ?? "";
    if (name === "deepcopy" || (isInComprehension && name === "clone")) return true;
  }
  const isInside = isInComprehension || node.kind === "Comprehension";
  return childrenOf(node).some((child) => copies(child, isInside));
}
