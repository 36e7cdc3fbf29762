/** Inputs of a model that were made to require gradients: whoever runs the model on them wants to differentiate. */
import type { Call, Expression, Node } from "../../python/tree";
import { enclosingFunction } from "../../python/walk";
import type { Resolver } from "../resolve";
import { argumentsOf } from "./shapes";

/** `x.requires_grad_()` or `x.requires_grad = True` before `model(x)` in the same function. */
export function takesDifferentiated(forward: Call, resolver: Resolver): boolean {
  const owner = enclosingFunction(forward);
  const keys = new Set(argumentsOf(forward).map((argument) => resolver.keyOf(argument)));
  keys.delete(undefined);
  if (keys.size === 0) return false;
  return requests(resolver).some(
    ({ node, of }) =>
      node.end <= forward.start && enclosingFunction(node) === owner && keys.has(resolver.keyOf(of)),
  );
}

function requests({ index }: Resolver): { readonly node: Node; readonly of: Expression }[] {
  const found: { node: Node; of: Expression }[] = [];
  for (const call of index.callsByName.get("requires_grad_") ?? []) {
    const [flag] = call.positional;
    const isOff = flag?.kind === "Boolean" && !flag.value;
    if (call.callee.kind === "Attribute" && !isOff) found.push({ node: call, of: call.callee.object });
  }
  for (const attribute of index.attributesByName.get("requires_grad") ?? []) {
    const assign = attribute.parent;
    if (assign?.kind !== "Assign" || !assign.targets.includes(attribute)) continue;
    if (assign.value.kind === "Boolean" && assign.value.value)
      found.push({ node: assign, of: attribute.object });
  }
  return found;
}
