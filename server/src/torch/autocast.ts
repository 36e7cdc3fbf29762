/** Regions that run under `autocast`. */
import { foldConstant } from "../python/constant";
import type { Call, Expression, Node, Statement, With, WithItem } from "../python/tree";
import { ancestors } from "../python/walk";
import { autocastContexts } from "./api";
import type { Resolver } from "./resolve";

/** The region whose autocast holds at a node. */
export interface AutocastRegion {
  /** The `with`, or the function whose decorator it is. */
  readonly node: Node;
  readonly item: WithItem | undefined;
  readonly context: Expression;
  /** The call that makes the context; `undefined` for a framework's method. */
  readonly call: Call | undefined;
}

/**
 * The innermost autocast around a node, in its own function only. `undefined` without one, and where the innermost is
 * switched off.
 */
export function autocastAround(resolver: Resolver, node: Node): AutocastRegion | undefined {
  let below: Node = node;
  for (const at of ancestors(node)) {
    if (at.kind === "With" && at.body.includes(below as Statement)) {
      const found = regionOfWith(resolver, at);
      if (found === "off") return undefined;
      if (found !== undefined) return found;
    }
    if (at.kind === "FunctionDefinition") {
      for (const { expression } of at.decorators) {
        const call = autocastCall(resolver, expression);
        if (call !== undefined && !isOff(resolver, call))
          return { node: at, item: undefined, context: expression, call };
      }
      return undefined;
    }
    if (at.kind === "Lambda" || at.kind === "ClassDefinition") return undefined;
    below = at;
  }
  return undefined;
}

function regionOfWith(resolver: Resolver, node: With): AutocastRegion | "off" | undefined {
  for (const item of [...node.items].reverse()) {
    const call = autocastCall(resolver, item.context);
    if (call !== undefined)
      return isOff(resolver, call) ? "off" : { node, item, context: item.context, call };
    if (isFrameworkAutocast(resolver, item.context))
      return { node, item, context: item.context, call: undefined };
  }
  return undefined;
}

/** The call `torch.autocast(…)` that an expression is, holds in one of its arms, or is bound to. */
export function autocastCall(resolver: Resolver, context: Expression): Call | undefined {
  const isReference = context.kind === "Name" || context.kind === "Attribute";
  const pending: Expression[] = isReference ? [...resolver.valuesOf(context)] : [context];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (at.kind === "Call" && isAutocast(resolver, at)) return at;
    if (at.kind === "Conditional") pending.push(at.orelse, at.body);
  }
  return undefined;
}

function isAutocast(resolver: Resolver, call: Call): boolean {
  return autocastContexts.has(resolver.qualifiedName(call.callee) ?? "");
}

/** `accelerator.autocast()`, `fabric.autocast()`. */
function isFrameworkAutocast(resolver: Resolver, context: Expression): boolean {
  return (
    context.kind === "Call" &&
    context.callee.kind === "Attribute" &&
    context.callee.attribute.id === "autocast" &&
    resolver.roleOf(context.callee.object) === "framework"
  );
}

/** `enabled=False`, or the first argument of the old form. */
export function isOff(resolver: Resolver, call: Call): boolean {
  const isOld = resolver.qualifiedName(call.callee) !== "torch.amp.autocast";
  const enabled =
    call.keywords.find(({ name }) => name.id === "enabled")?.value ?? call.positional[isOld ? 0 : 2];
  const value = enabled && foldConstant(enabled, resolver.scopes);
  return value?.kind === "boolean" && !value.value;
}
