/**
 * Results that the code reads as NumPy arrays as they are. PyTorch refuses that for a tensor with a graph ("Can't call
 * numpy() on Tensor that requires grad"), so a script that runs has none there: the model switches gradients off itself,
 * somebody around the function does, or what it gives are no tensors.
 */
import type { Call, Expression, Node } from "../../python/tree";
import { enclosingFunction, someNode } from "../../python/walk";
import type { Resolver } from "../resolve";
import { atEntry, type Flow, type Reaching } from "./flow";

/** What turns its argument into an array, whatever it is. */
const arrayFunctions =
  /^numpy\.(array|asarray|ascontiguousarray|hstack|vstack|dstack|stack|concatenate|append|save|savez|savez_compressed)$/;
/** What gives a tensor with the graph of the one before. */
const graphKeeping =
  /^(cpu|cuda|to|float|double|half|squeeze|unsqueeze|view|reshape|permute|transpose|contiguous|flatten|clone)$/;
const longestWay = 5;

/** Something in the function, or in the module's own code, around this call reads its result so. */
export function isReadAsArray(forward: Call, resolver: Resolver, flow: Flow): boolean {
  const owner = enclosingFunction(forward);
  return someNode(owner ?? resolver.module, (node) => {
    if (node.kind !== "Call" || node.start < forward.start || enclosingFunction(node) !== owner) return false;
    return readsIn(node, resolver).some((value) => comesFrom(value, forward, flow, 0));
  });
}

function readsIn(call: Call, resolver: Resolver): readonly Expression[] {
  const { callee } = call;
  if (callee.kind === "Attribute" && callee.attribute.id === "numpy") return [callee.object];
  if (!arrayFunctions.test(resolver.qualifiedName(callee) ?? "")) return [];
  return call.positional.flatMap((given) =>
    given.kind === "Tuple" || given.kind === "List" ? given.elements : [given],
  );
}

/** The value is the call's result, or a part of it in another shape. */
function comesFrom(value: Expression, forward: Call, flow: Flow, way: number): boolean {
  const at = unshaped(value, forward);
  if (at === forward) return true;
  if (at.kind !== "Name" || way > longestWay) return false;
  return madeBy(flow.reaching(at) ?? [], value, flow).some((made) => comesFrom(made, forward, flow, way + 1));
}

/** What was assigned before the reading; `boxes *= scale` keeps what `boxes` was. */
function madeBy(reaching: readonly Reaching[], reading: Node, flow: Flow): Expression[] {
  return reaching.flatMap((definition) => {
    if (definition === atEntry || !isBefore(definition.node, reading)) return [];
    if (definition.kind === "augmented") return madeBy(flow.before(definition), definition.node, flow);
    return definition.kind === "assign" && definition.value !== undefined ? [definition.value] : [];
  });
}

/** Backwards in the text only: what a loop brings around is an earlier round's. */
function isBefore(one: Node, other: Node): boolean {
  return one.end <= other.start;
}

function unshaped(value: Expression, forward: Call): Expression {
  let at = value;
  while (at !== forward) {
    if (at.kind === "Subscript") at = at.object;
    else if (
      at.kind === "Call" &&
      at.callee.kind === "Attribute" &&
      graphKeeping.test(at.callee.attribute.id)
    )
      at = at.callee.object;
    else break;
  }
  return at;
}
