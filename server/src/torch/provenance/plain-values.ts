/** Values that carry no graph by what they are, so that nothing has to be followed to know it. */
import type { Call, Expression } from "../../python/tree";
import { keepsGraph, severingFunctions, tensorConstructors } from "../api-graph";
import type { Resolver } from "../resolve";

/**
 * True for numbers and texts, comparisons, displays of such values, new objects of a class of this file and results of
 * torch's functions that are no operations: `carried.ts` never answers "yes" for them, nor names a parameter.
 */
export function isPlain(value: Expression, resolver: Resolver): boolean {
  switch (value.kind) {
    case "Integer":
    case "Float":
    case "String":
    case "Boolean":
    case "None":
    case "Comparison":
    case "Lambda":
      return true;
    case "UnaryOperation":
      return value.operator === "not" || isPlain(value.operand, resolver);
    case "Tuple":
    case "List":
    case "Set":
      return value.elements.every((element) => isPlain(element, resolver));
    case "Dict":
      return value.entries.every((entry) => isPlain(entry.value, resolver));
    case "Call":
      return isPlainCall(value, resolver);
    default:
      return false;
  }
}

function isPlainCall(call: Call, resolver: Resolver): boolean {
  const name = resolver.qualifiedName(call.callee);
  if (name === undefined) return resolver.constructedClass(call) !== undefined;
  if (severingFunctions.has(name) || tensorConstructors.has(name)) return true;
  return name.startsWith("torch.") && !keepsGraph(name);
}
