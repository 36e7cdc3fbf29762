/** Backwards that functions of other files run on what they are given: `loss_scaler(loss, optimizer)`, `optimize(loss)`. */
import type { Call, Expression, FunctionDefinition } from "../../python/tree";
import { ancestors, enclosingFunction } from "../../python/walk";
import type { ImportedFunction } from "../imported";
import type { Resolver } from "../resolve";
import { methodOfImported } from "../resolve-imported";
import { lastPart } from "../resolve-index";
import { argumentsOf, scaledLeaf } from "./shapes";
import type { BackwardCall } from "./sinks";

/**
 * What such functions are called, and what they are given: other files are parsed for nothing else. Much is called an
 * update that has nothing to do with a backward (every cache has one), so those must be given a loss by its name too.
 */
const backwardName = /backward|scaler|step|optim|train/i;
const lossName = /loss|cost|objective|error|elbo|nll|^(l|err)$/i;

/** The calls of this file whose function, in another file, runs backward on an argument without a condition. */
export function importedBackwards(resolver: Resolver): BackwardCall[] {
  if (!resolver.imported.leadElsewhere) return [];
  const found: BackwardCall[] = [];
  for (const call of resolver.index.calls) {
    if (!mayRunBackward(call)) continue;
    const called = calledElsewhere(call, resolver);
    if (called === undefined) continue;
    for (const backward of called.file.torch.provenance.ownBackwards) {
      const values = valuesGiven(call, called.definition, backward, called.file.torch.resolve, resolver);
      if (values.length > 0) found.push({ ...backward, call, values });
    }
  }
  return found;
}

function mayRunBackward(call: Call): boolean {
  const given = argumentsOf(call);
  if (given.length === 0) return false;
  if (backwardName.test(lastPart(call.callee) ?? "")) return true;
  return given.some((value) => lossName.test(lastPart(scaledLeaf(value)) ?? ""));
}

function calledElsewhere(call: Call, resolver: Resolver): ImportedFunction | undefined {
  if (resolver.functionOf(call) !== undefined) return undefined;
  const name = resolver.qualifiedName(call.callee);
  if (name !== undefined && /^(torch|builtins)\./.test(name)) return undefined;
  return (
    resolver.imported.functionOf(call) ?? methodOfImported(resolver.imported.classOf(call.callee), "__call__")
  );
}

function valuesGiven(
  call: Call,
  target: FunctionDefinition,
  backward: BackwardCall,
  there: Resolver,
  here: Resolver,
): Expression[] {
  if (enclosingFunction(backward.call) !== target || isConditional(backward.call, target)) return [];
  return backward.values.flatMap((value) => {
    const leaf = scaledLeaf(value);
    if (leaf.kind !== "Name") return [];
    const isParameter = there.scopes
      .lookup(leaf)
      .some(({ kind, scope }) => kind === "parameter" && scope.owner === target);
    return isParameter ? (here.argumentFor(call, target, leaf.id) ?? []) : [];
  });
}

function isConditional(backward: Call, target: FunctionDefinition): boolean {
  for (const at of ancestors(backward)) {
    if (at === target) return false;
    if (at.kind === "If" || at.kind === "For" || at.kind === "While" || at.kind === "Match") return true;
  }
  return false;
}
