/** Inputs of a model that were made to require gradients: whoever runs the model on them wants to differentiate. */
import type { Call, Expression, Node } from "../../python/tree";
import { enclosingFunction } from "../../python/walk";
import type { Resolver } from "../resolve";
import { callsWithKeyword } from "../resolve-index";
import { atEntry, type Flow } from "./flow";
import { argumentsOf } from "./shapes";

/** What gives a value without the gradients of what it was called on. */
const withoutGradients = /^(detach|numpy|item|tolist|argmax|argmin|long|int|bool|size|dim)$/;
/** A coordinate is made, cut, scaled and joined with others; longer ways are not followed. */
const longestWay = 4;

/**
 * `x.requires_grad_()` or `x.requires_grad = True` before `model(x)` in the same function, or an `x` that is made of what
 * `requires_grad_()` or `requires_grad=True` gave.
 */
export function takesDifferentiated(forward: Call, resolver: Resolver, flow: Flow): boolean {
  const given = argumentsOf(forward);
  if (isRequestedFor(given, forward, resolver)) return true;
  if (!asksForGradients(resolver)) return false;
  return given.some((argument) => isMadeDifferentiable(argument, resolver, flow, 0));
}

function isRequestedFor(given: readonly Expression[], forward: Call, resolver: Resolver): boolean {
  const owner = enclosingFunction(forward);
  const keys = new Set(given.map((argument) => resolver.keyOf(argument)));
  keys.delete(undefined);
  if (keys.size === 0) return false;
  return requests(resolver).some(
    ({ node, of }) =>
      node.end <= forward.start && enclosingFunction(node) === owner && keys.has(resolver.keyOf(of)),
  );
}

/** By names alone, before anything is followed: hardly a file has either. */
function asksForGradients(resolver: Resolver): boolean {
  if (resolver.index.callsByName.has("requires_grad_")) return true;
  return callsWithKeyword(resolver, "requires_grad").some(hasFlag);
}

/** `torch.rand(n, 1, requires_grad=True)`. */
export function hasFlag({ keywords }: Call): boolean {
  return keywords.some(({ name, value }) => name.id === "requires_grad" && isTrue(value));
}

function isTrue(value: Expression): boolean {
  return value.kind === "Boolean" && value.value;
}

/** `coordinates.clone().requires_grad_(True)`, `torch.cat([torch.rand(n, 1, requires_grad=True) * width, y], dim=1)`. */
function isMadeDifferentiable(value: Expression, resolver: Resolver, flow: Flow, way: number): boolean {
  const anyOf = (parts: readonly Expression[]): boolean =>
    parts.some((part) => isMadeDifferentiable(part, resolver, flow, way));
  switch (value.kind) {
    case "Name":
      if (way >= longestWay) return false;
      return (flow.reaching(value) ?? []).some(
        (one) =>
          one !== atEntry &&
          one.kind === "assign" &&
          one.value !== undefined &&
          isMadeDifferentiable(one.value, resolver, flow, way + 1),
      );
    case "Call":
      return isCallDifferentiable(value, resolver, anyOf);
    case "BinaryOperation":
      return anyOf([value.left, value.right]);
    case "UnaryOperation":
      return anyOf([value.operand]);
    case "Subscript":
      return anyOf([value.object]);
    case "Tuple":
    case "List":
      return anyOf(value.elements);
    default:
      return false;
  }
}

function isCallDifferentiable(
  call: Call,
  resolver: Resolver,
  anyOf: (parts: readonly Expression[]) => boolean,
): boolean {
  const { callee } = call;
  const name = resolver.qualifiedName(callee);
  if (name?.startsWith("torch.")) return hasFlag(call) || anyOf(call.positional);
  if (name !== undefined || callee.kind !== "Attribute") return false;
  const method = callee.attribute.id;
  if (method === "requires_grad_") return !isSwitchedOff(call);
  return !withoutGradients.test(method) && anyOf([callee.object]);
}

/** `requires_grad_(False)`. */
export function isSwitchedOff({ positional: [flag] }: Call): boolean {
  return flag?.kind === "Boolean" && !flag.value;
}

function requests({ index }: Resolver): { readonly node: Node; readonly of: Expression }[] {
  const found: { node: Node; of: Expression }[] = [];
  for (const call of index.callsByName.get("requires_grad_") ?? []) {
    if (call.callee.kind === "Attribute" && !isSwitchedOff(call))
      found.push({ node: call, of: call.callee.object });
  }
  for (const attribute of index.attributesByName.get("requires_grad") ?? []) {
    const assign = attribute.parent;
    if (assign?.kind !== "Assign" || !assign.targets.includes(attribute)) continue;
    if (isTrue(assign.value)) found.push({ node: assign, of: attribute.object });
  }
  return found;
}
