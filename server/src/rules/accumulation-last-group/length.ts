/** How many micro-batches a pass has, where the file says so. */
import { foldConstant } from "../../python/constant";
import type { Call, Expression } from "../../python/tree";
import type { Resolver } from "../../torch/resolve";
import { Constants } from "../../torch/script-setup/constants";

const maximalDepth = 4;

/** The number of items of a list of this file or of `range(n)`. */
export function lengthOf(resolver: Resolver, iterable: Expression, depth = 0): number | undefined {
  if (depth > maximalDepth) return undefined;
  switch (iterable.kind) {
    case "Name":
    case "Attribute": {
      const value = onlyValue(resolver, iterable);
      return value === undefined ? undefined : lengthOf(resolver, value, depth + 1);
    }
    case "List":
    case "Tuple":
      return iterable.elements.some(({ kind }) => kind === "Starred") ? undefined : iterable.elements.length;
    case "Comprehension": {
      const [clause, other] = iterable.clauses;
      if (clause === undefined || other !== undefined || clause.conditions.length > 0) return undefined;
      return lengthOf(resolver, clause.iterable, depth + 1);
    }
    case "Call": {
      const [first, second, third] = iterable.positional;
      if (isSlice(resolver, iterable))
        return second !== undefined && third === undefined ? integerOf(resolver, second) : undefined;
      const isRange = resolver.qualifiedName(iterable.callee) === "builtins.range";
      return isRange && first !== undefined && second === undefined
        ? (integerOf(resolver, first) ?? lengthFrom(resolver, first, depth + 1))
        : undefined;
    }
    default:
      return undefined;
  }
}

/** `itertools.islice(batches, n)`: a pass of as many batches as somebody chose. */
export function isSlice(resolver: Resolver, { callee }: Call): boolean {
  return resolver.qualifiedName(callee) === "itertools.islice";
}

/** The number that `len(batches)` gives, through names that are assigned once. */
export function lengthFrom(resolver: Resolver, expression: Expression, depth = 0): number | undefined {
  if (depth > maximalDepth) return undefined;
  if (expression.kind === "Name") {
    const value = onlyValue(resolver, expression);
    return value === undefined ? undefined : lengthFrom(resolver, value, depth + 1);
  }
  if (expression.kind !== "Call") return undefined;
  const [first] = expression.positional;
  const isLength = resolver.qualifiedName(expression.callee) === "builtins.len";
  return isLength && first !== undefined ? lengthOf(resolver, first, depth + 1) : undefined;
}

function onlyValue(resolver: Resolver, variable: Expression): Expression | undefined {
  const [value, other] = resolver.valuesOf(variable);
  return other === undefined ? value : undefined;
}

/**
 * A constant integer, through names that are assigned once; what a parameter or an argument of the command line is where
 * nobody gives another.
 */
export function integerOf(resolver: Resolver, expression: Expression): number | undefined {
  const value = foldConstant(expression, resolver.scopes);
  return value?.kind === "integer" ? value.value : new Constants(resolver).countOf(expression);
}
