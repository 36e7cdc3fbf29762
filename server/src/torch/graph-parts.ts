/** Whether anything in the graph of a value comes from another iteration of a loop. */
import type { Expression, Node } from "../python/tree";
import { enclosingLoop, isWithin, walk } from "../python/walk";
import type { TorchFacts } from "./facts";
import type { Reach } from "./provenance";
import type { Definition, Reaching } from "./provenance/flow";

/** What is run again and again: a loop's body, or that of a function which a loop calls. */
export type Round = Parameters<Reach["isInBody"]>[0] & Node;

/**
 * False as soon as something in the value may be left from an earlier round, or from before the first, and may carry
 * a graph: a state that goes around, an attribute that others write.
 */
export function isMadeInRound(torch: TorchFacts, value: Expression, round: Round): boolean {
  const { flow, reach } = torch.provenance;
  const seen = new Set<Node>();
  const pending: Expression[] = [value];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const read of readsIn(at)) {
      if (seen.has(read)) continue;
      seen.add(read);
      if (seen.size > 400) return false;
      const reaching = flow.reaching(read) ?? [];
      for (const one of reaching) {
        if (typeof one === "symbol") {
          if (mayHoldGraph(torch, read)) return false;
          continue;
        }
        const inside = reach.isInBody(round, one.node);
        // A loop-carried definition: further down, or the very statement that reads it.
        // What an inner loop or a comprehension around the read goes over is of this round.
        const isAround = one.kind === "iterate" && isWithin(read, one.node);
        const isLater = inside && one.node.end > read.start && one.node !== round && !isAround;
        const earlier = isLater && !isOfInnerLoop(torch, read, one, reaching, round);
        if (!inside || earlier) {
          if (one.kind === "iterate" && one.node === round) continue;
          if (one.value !== undefined && torch.provenance.carried(one.value, one.path).graph !== "no") {
            // Models, loaders and the like are no tensors.
            if (torch.resolve.roleOf(read) === undefined) return false;
          }
          continue;
        }
        if (one.value !== undefined) pending.push(one.value);
        if (one.kind !== "augmented") continue;
        for (const before of flow.before(one)) {
          if (typeof before === "symbol" || !reach.isInBody(round, before.node)) return false;
          if (before.value !== undefined) pending.push(before.value);
        }
      }
    }
  }
  return true;
}

/** A variable whose value comes from outside this function. */
function mayHoldGraph(torch: TorchFacts, read: Expression): boolean {
  const { resolve, provenance } = torch;
  const role = resolve.roleOf(read);
  if (role !== undefined && role !== "tensor") return false;
  if (read.parent?.kind === "Call" && read.parent.callee === read) return false;
  const key = resolve.keyOf(read);
  if (key === undefined || resolve.qualifiedName(read) !== undefined) return false;
  return provenance.flow
    .definitionsOf(key)
    .some(({ value }) => value !== undefined && provenance.carried(value).graph === "yes");
}

function readsIn(root: Expression): Expression[] {
  const reads: Expression[] = [];
  walk(root, {
    enter(node) {
      if (node.kind === "Lambda") return false;
      if (node.kind === "Name" || node.kind === "Attribute") reads.push(node);
      return undefined;
    },
  });
  return reads;
}

/**
 * `total = total + loss` in a loop inside the round, where the round itself begins `total` before that loop: the variable is
 * carried around the inner loop only. Without that beginning something from outside the round would reach the read as well.
 */
function isOfInnerLoop(
  { provenance }: TorchFacts,
  read: Node,
  { node }: Definition,
  reaching: readonly Reaching[],
  round: Round,
): boolean {
  const { reach } = provenance;
  const loop = enclosingLoop(read);
  if (loop === undefined || loop === round || !reach.isInBody(round, loop)) return false;
  if (!reach.isInBody(loop, node)) return false;
  return reaching.every((one) => typeof one !== "symbol" && reach.isInBody(round, one.node));
}
