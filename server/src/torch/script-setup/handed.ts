/**
 * Training loops that show no backward: the loss and the optimizer are handed to something that does the rest, such as
 * `loss_scaler(loss, optimizer, parameters=model.parameters())`, whose class may stand in any file. Where the loop is, is
 * all that is said here; what it does is found out by running it.
 */
import type { Call, Node } from "../../python/tree";
import { enclosingLoop } from "../../python/walk";
import { argumentsOf } from "../provenance/shapes";
import type { Resolver } from "../resolve";
import { callsWithin, lastPart } from "../resolve-index";
import type { LoopNode } from "../training-loop";

const updateName = /scaler|backward|step|optim|update/i;
const lossName = /(^|_)loss(es)?(_|\d|$)/i;
const optimizerName = /(^|_)opt(im(izer)?)?s?(_|\d|$)/i;

/** The one loop, in the file or in a function of it, whose iterations hand both over; undefined where several do. */
export function loopOfHandedLoss(resolver: Resolver, within?: Node): LoopNode | undefined {
  const calls = within === undefined ? resolver.index.calls : callsWithin(resolver.index, within);
  const loops = new Set<LoopNode>();
  for (const call of calls) {
    const loop = handsOver(call, resolver) ? enclosingLoop(call) : undefined;
    if (loop !== undefined) loops.add(loop);
  }
  const [only, other] = loops;
  return other === undefined ? only : undefined;
}

function handsOver(call: Call, resolver: Resolver): boolean {
  if (!updateName.test(lastPart(call.callee) ?? "")) return false;
  const names = argumentsOf(call).map((argument) => lastPart(argument) ?? "");
  if (!names.some((name) => lossName.test(name)) || !names.some((name) => optimizerName.test(name)))
    return false;
  return resolver.functionOf(call) === undefined;
}
