/** Outputs of the model that the training loop keeps on the GPU from batch to batch: each iteration needs more than the one before. */
import type { Call, Expression, Node } from "../../python/tree";
import { isWithin, someNode } from "../../python/walk";
import { storingMethods } from "../api-graph";
import type { Resolver } from "../resolve";
import type { SetupContext } from "../script-setup";
import type { LoopNode } from "../training-loop";

/** `outputs.append(out.detach())` in a training loop, into something that the loop does not begin anew. */
export function keepsOutputs({ resolver, trainingLoops }: SetupContext): boolean {
  const { index } = resolver;
  const stores = [...storingMethods].flatMap(([method, position]) =>
    (index.callsByName.get(method) ?? []).map((call) => ({ call, value: call.positional[position] })),
  );
  return stores.some(({ call, value }) => {
    if (value === undefined || !mayBeOutput(value, resolver)) return false;
    return trainingLoops.loops.some(({ loop }) => isWithin(call, loop) && !beginsAnew(call, loop, resolver));
  });
}

const toHost: ReadonlySet<string> = new Set(["cpu", "item", "tolist", "numpy"]);

function mayBeOutput(value: Expression, resolver: Resolver): boolean {
  const isOutput = (node: Node): boolean =>
    (node.kind === "Call" && resolver.roleOf(node.callee) === "model") ||
    (node.kind === "Name" && resolver.valuesOf(node).some((one) => isModelCall(one, resolver)));
  const leaves = (node: Node): boolean =>
    node.kind === "Call" && node.callee.kind === "Attribute" && toHost.has(node.callee.attribute.id);
  return someNode(value, isOutput) && !someNode(value, leaves);
}

function isModelCall(value: Expression, resolver: Resolver): boolean {
  return value.kind === "Call" && resolver.roleOf(value.callee) === "model";
}

/** `outputs = []` within the loop. */
function beginsAnew({ callee }: Call, loop: LoopNode, resolver: Resolver): boolean {
  const holder = callee.kind === "Attribute" ? resolver.keyOf(callee.object) : undefined;
  if (holder === undefined) return true;
  return resolver.index.assignments.some(
    (one) =>
      one.kind === "Assign" &&
      isWithin(one, loop) &&
      one.targets.some((target) => resolver.keyOf(target) === holder),
  );
}
