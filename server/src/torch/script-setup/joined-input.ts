/** Whether a model is called with several parts of a batch at once. */
import type { Call, Node } from "../../python/tree";
import { someNode } from "../../python/walk";
import type { Resolver } from "../resolve";

const joining = /^torch\.(cat|concat|concatenate|[hv]?stack)$/;

/** `model(torch.cat([first, second]))`: what it is called with are several parts of a batch. */
export function takesJoined(resolver: Resolver, call: Call | undefined): boolean {
  const joins = (node: Node): boolean =>
    someNode(node, (one) => one.kind === "Call" && joining.test(resolver.qualifiedName(one.callee) ?? ""));
  return (call?.positional ?? [])
    .flatMap((argument) => [argument, ...resolver.valuesOf(argument)])
    .some(joins);
}
