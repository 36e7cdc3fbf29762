/** Which code runs in one iteration of a loop: its body and the functions of this file that the body calls. */
import type { Call, Expression, For, FunctionDefinition, Node, While } from "../../python/tree";
import { enclosingFunction, enclosingLoop } from "../../python/walk";
import type { Resolver } from "../resolve";
import { callsWithin } from "../resolve-index";

export type Loop = For | While;

export interface Reach {
  /** True when a node runs within an iteration of the loop, directly or in a function called from there. */
  runsIn(loop: Loop, node: Node): boolean;
  /** True when a node lies in the part of a loop that is repeated, or in a function's body. */
  isInBody(round: Loop | FunctionDefinition, node: Node): boolean;
  /** The functions of this file that an iteration may run. */
  functionsIn(loop: Loop): ReadonlySet<FunctionDefinition>;
  /** The functions of this file that run when the nodes do, through calls or passed as arguments. */
  functionsFrom(nodes: readonly Node[]): ReadonlySet<FunctionDefinition>;
  /** The loops that run a node through calls of its function, when no loop of the function itself does. */
  callingLoops(node: Node): readonly Loop[];
}

export function createReach(resolver: Resolver): Reach {
  const reached = new Map<Loop, ReadonlySet<FunctionDefinition>>();
  const direct = new Map<Node, readonly FunctionDefinition[]>();

  function functionsIn(loop: Loop): ReadonlySet<FunctionDefinition> {
    let functions = reached.get(loop);
    if (functions === undefined) {
      functions = collect([loop]);
      reached.set(loop, functions);
    }
    return functions;
  }

  function collect(roots: readonly Node[]): ReadonlySet<FunctionDefinition> {
    const functions = new Set<FunctionDefinition>();
    const pending: Node[] = [...roots];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      for (const target of directlyFrom(at)) {
        if (functions.has(target)) continue;
        functions.add(target);
        pending.push(target);
      }
    }
    return functions;
  }

  /** What a node runs by its own text, found once: many loops reach the same functions. */
  function directlyFrom(node: Node): readonly FunctionDefinition[] {
    let called = direct.get(node);
    if (called === undefined) direct.set(node, (called = calledIn(node)));
    return called;
  }

  function calledIn(node: Node): FunctionDefinition[] {
    const called: FunctionDefinition[] = [];
    for (const call of callsWithin(resolver.index, node)) {
      const target = resolver.functionOf(call) ?? forwardOf(call.callee);
      if (target) called.push(target);
      for (const argument of [...call.positional, ...call.keywords.map(({ value }) => value)]) {
        const passed = functionNamed(argument);
        if (passed) called.push(passed);
      }
    }
    return called;
  }

  function forwardOf(callee: Expression): FunctionDefinition | undefined {
    const owner = resolver.qualifiedName(callee) === undefined ? resolver.classOf(callee) : undefined;
    return owner && (resolver.methodOf(owner, "forward") ?? resolver.methodOf(owner, "__call__"));
  }

  function functionNamed(argument: Expression): FunctionDefinition | undefined {
    if (argument.kind !== "Name") return undefined;
    const [binding] = resolver.scopes.lookup(argument);
    const node = binding?.kind === "function" ? binding.node : undefined;
    return node?.kind === "FunctionDefinition" ? node : undefined;
  }

  /** `optimizer.step(closure)` calls the closure. */
  function stepsWith(closure: FunctionDefinition): Call[] {
    return (resolver.index.namesById.get(closure.name.id) ?? []).flatMap((name) => {
      const call = name.parent;
      if (call?.kind !== "Call" || call.callee.kind !== "Attribute") return [];
      return call.callee.attribute.id === "step" && functionNamed(name) === closure ? [call] : [];
    });
  }

  function isInBody({ body }: Loop | FunctionDefinition, node: Node): boolean {
    const first = body[0];
    const last = body.at(-1);
    return first !== undefined && last !== undefined && node.start >= first.start && node.end <= last.end;
  }

  return {
    isInBody,
    functionsIn,
    functionsFrom: collect,
    runsIn(loop, node) {
      if (isInBody(loop, node)) return true;
      for (let owner = enclosingFunction(node); owner !== undefined; owner = enclosingFunction(owner)) {
        if (owner.kind === "FunctionDefinition" && functionsIn(loop).has(owner)) return true;
      }
      return false;
    },
    callingLoops(node) {
      const found = new Set<Loop>();
      const seen = new Set<FunctionDefinition>();
      const pending: Node[] = [node];
      for (let at = pending.pop(); at !== undefined && seen.size < 30; at = pending.pop()) {
        const owner = enclosingFunction(at);
        if (owner?.kind !== "FunctionDefinition" || seen.has(owner)) continue;
        seen.add(owner);
        for (const call of [...resolver.callsTo(owner), ...stepsWith(owner)]) {
          const loop = enclosingLoop(call);
          if (loop) found.add(loop);
          else pending.push(call);
        }
      }
      return [...found];
    },
  };
}
