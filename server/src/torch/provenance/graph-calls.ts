/**
 * What the graph of a value is made of, models behind models included: `carried` names the last model that was called,
 * `D` of `D(G(z))`; here are both calls.
 */
import type { Expression, Node } from "../../python/tree";
import type { CarriedValues } from "./carried";
import { argumentsOf } from "./shapes";

/** Every call that began a part of the graph, those whose results went into another model included. */
export function graphCallsOf(value: Expression, carried: Pick<CarriedValues, "closed">): ReadonlySet<Node> {
  const found = new Set<Node>();
  const pending: Node[] = [...carried.closed(value).sources];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (found.has(at)) continue;
    found.add(at);
    if (at.kind !== "Call") continue;
    for (const argument of argumentsOf(at)) pending.push(...carried.closed(argument).sources);
  }
  return found;
}
