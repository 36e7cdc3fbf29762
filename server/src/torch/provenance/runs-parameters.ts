/**
 * Whether a module's `forward` may run anything with parameters while gradients are on. Detectors and the like run their
 * networks under `no_grad` and give back crops and boxes.
 */
import type { Attribute, ClassDefinition, Expression, FunctionDefinition } from "../../python/tree";
import { someNode } from "../../python/walk";
import type { Resolver } from "../resolve";
import { isSuper } from "../resolve-index";
import type { GradientModes } from "./gradient-mode";

/** False only where everything that `forward` and the methods it uses take from `self` is understood to be plain data. */
export function mayRunParameters(
  forward: FunctionDefinition,
  owner: ClassDefinition,
  resolver: Resolver,
  modes: GradientModes,
): boolean {
  const seen = new Set<FunctionDefinition>();
  const pending = [forward];
  for (let method = pending.pop(); method !== undefined; method = pending.pop()) {
    if (seen.has(method) || modes.isTurnedOffBy(method)) continue;
    seen.add(method);
    const runs = someNode(method, (node) => {
      if (node.kind === "Call" && runsModel(node.callee, resolver)) return true;
      if (node.kind !== "Attribute" || !isSelf(node.object)) return false;
      const used = resolver.methodOf(owner, node.attribute.id);
      if (used === undefined) return !isPlain(node, resolver) && modes.lexicallyAt(node) !== "off";
      pending.push(used);
      return false;
    });
    if (runs) return true;
  }
  return false;
}

function isSelf(object: Expression): boolean {
  return object.kind === "Name" && object.id === "self";
}

/** `super().forward(x)`, a model of the file around it. */
function runsModel(callee: Expression, resolver: Resolver): boolean {
  if (callee.kind === "Attribute" && isSuper(callee.object)) return true;
  return callee.kind === "Name" && resolver.roleOf(callee) === "model";
}

/** `self.image_size`: numbers, flags, and what the constructor was given and nobody calls. */
function isPlain(attribute: Attribute, resolver: Resolver): boolean {
  if (attribute.parent?.kind === "Call" && attribute.parent.callee === attribute) return false;
  if (/^(training|device)$/.test(attribute.attribute.id)) return true;
  const values = resolver.valuesOf(attribute);
  return values.length > 0 && values.every((value) => isPlainValue(value, resolver));
}

function isPlainValue(value: Expression, resolver: Resolver): boolean {
  switch (value.kind) {
    case "Integer":
    case "Float":
    case "String":
    case "Boolean":
    case "None":
    case "Comparison":
      return true;
    case "Conditional":
      return isPlainValue(value.body, resolver) && isPlainValue(value.orelse, resolver);
    case "List":
    case "Tuple":
      return value.elements.every((element) => isPlainValue(element, resolver));
    case "Name":
      return resolver.roleOf(value) === undefined;
    case "Call":
      return resolver.qualifiedName(value.callee) === "torch.device";
    default:
      return false;
  }
}
