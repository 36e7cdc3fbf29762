/**
 * Where a graph may begin, by a look at each call alone: enough to see that a loop makes none, without following any
 * value. Whatever `carried.ts` may name as a source is among these.
 */
import type { Call, Expression, FunctionDefinition, Node } from "../../python/tree";
import type { Resolver } from "../resolve";
import { callsWithin } from "../resolve-index";
import type { Definition } from "./flow";
import type { Loop, Reach } from "./reach";

export interface GraphSources {
  /** False when no iteration of the loop can begin a graph. */
  mayRunIn(loop: Loop): boolean;
}

export interface GraphSourceOptions {
  readonly resolver: Resolver;
  readonly reach: Reach;
  /** Definitions whose value is backwarded. */
  readonly backwarded: Iterable<Definition>;
}

export function createGraphSources({ resolver, reach, backwarded }: GraphSourceOptions): GraphSources {
  const loops = new Map<Loop, boolean>();
  const functions = new Map<FunctionDefinition, boolean>();
  const values = [...backwarded].flatMap(({ value }) => value ?? []);

  function mayBegin(within: Node): boolean {
    if (values.some(({ start, end }) => start >= within.start && end <= within.end)) return true;
    for (const call of callsWithin(resolver.index, within)) if (mayBeModel(call, resolver)) return true;
    return false;
  }

  function mayBeginInFunction(target: FunctionDefinition): boolean {
    let known = functions.get(target);
    if (known === undefined) functions.set(target, (known = mayBegin(target)));
    return known;
  }

  return {
    mayRunIn(loop) {
      let known = loops.get(loop);
      if (known === undefined) {
        known = mayBegin(loop) || [...reach.functionsIn(loop)].some(mayBeginInFunction);
        loops.set(loop, known);
      }
      return known;
    },
  };
}

/** A model that is called: itself, by its `forward`, through a checkpoint, or by a function of another file. */
function mayBeModel(call: Call, resolver: Resolver): boolean {
  const { callee } = call;
  const name = resolver.qualifiedName(callee);
  if (name?.startsWith("torch.utils.checkpoint")) return true;
  return (
    (name === undefined && isCalledAsModel(callee, resolver)) ||
    resolver.imported.functionOf(call) !== undefined
  );
}

function isCalledAsModel(callee: Expression, resolver: Resolver): boolean {
  const receiver = callee.kind === "Attribute" && callee.attribute.id === "forward" ? callee.object : callee;
  return [callee, receiver].some((one) => {
    const role = resolver.roleOf(one);
    return role === "model" || role === "engine";
  });
}
