/** Dictionaries that a helper is given and makes larger: `update(results, outputs)` with each batch. */
import type { Assign, Call, Expression, Name, Subscript } from "../../python/tree";
import { ancestors, enclosingFunction, enclosingLoop, isWithin } from "../../python/walk";
import type { RuleContext } from "../rule";

type Loop = NonNullable<ReturnType<typeof enclosingLoop>>;

/**
 * The loop over batches in which the helper is called with a dictionary from before it, which is looked at nowhere else in the
 * loop. The keys are those of another dictionary that the helper goes over, so that each batch has the same.
 */
export function loopOfCallers(
  { torch }: RuleContext,
  statement: Assign,
  target: Subscript,
): Loop | undefined {
  const helper = enclosingFunction(statement);
  const { object, index } = target;
  if (helper?.kind !== "FunctionDefinition" || object.kind !== "Name") return undefined;
  if (index.kind !== "String" && !(index.kind === "Name" && isKeyOfItems(statement, index))) return undefined;
  const { resolve } = torch;
  const [binding, other] = torch.scopes.lookup(object);
  if (binding?.kind !== "parameter" || other !== undefined || binding.scope.owner !== helper)
    return undefined;
  if (resolve.isUsedAsValue(helper)) return undefined;
  for (const call of resolve.callsTo(helper)) {
    if (resolve.functionOf(call) !== helper) continue;
    const given = resolve.argumentFor(call, helper, object.id);
    const loop = given && batchLoopOver(torch, call, given);
    if (loop !== undefined) return loop;
  }
  return undefined;
}

/** `for key, value in outputs.items()` around the statement. */
function isKeyOfItems(statement: Assign, key: Name): boolean {
  for (const at of ancestors(statement)) {
    if (at.kind === "FunctionDefinition") return false;
    if (at.kind !== "For") continue;
    const { target, iterable } = at;
    const [first] = target.kind === "Tuple" ? target.elements : [];
    if (first?.kind !== "Name" || first.id !== key.id) continue;
    return (
      iterable.kind === "Call" &&
      iterable.callee.kind === "Attribute" &&
      iterable.callee.attribute.id === "items"
    );
  }
  return false;
}

/** Each round of the loop calls the helper, and nothing else there has to do with the dictionary. */
function batchLoopOver(torch: RuleContext["torch"], call: Call, given: Expression): Loop | undefined {
  const key = torch.resolve.keyOf(given);
  const loop = enclosingLoop(call);
  if (key === undefined || loop === undefined || !torch.trainingLoops.isBatchLoop(loop)) return undefined;
  const { flow } = torch.provenance;
  const isNew = flow.definitionsOf(key).some(({ target }) => isWithin(target, loop));
  const isUsed = flow.readsOf(key).some((read) => isWithin(read, loop) && read !== given);
  return isNew || isUsed || flow.definitionsOf(key).length === 0 ? undefined : loop;
}
