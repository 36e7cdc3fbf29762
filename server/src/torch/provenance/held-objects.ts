/** Containers whose elements are objects of somebody's classes: what `meters["loss"].add(value)` keeps, their class says. */
import { FileMemo } from "../../python/file-memo";
import { lastName } from "../../python/last-name";
import type { Expression } from "../../python/tree";
import type { Resolver } from "../resolve";

const known = new FileMemo<ReadonlySet<string>>();

/** Whether the file puts new objects into the container of this key: `{"loss": Meter()}`, `meters[name] = Meter()`. */
export function holdsObjects(key: string, resolver: Resolver): boolean {
  return known.of(resolver.module, () => containersOfObjects(resolver)).has(key);
}

function containersOfObjects(resolver: Resolver): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const statement of resolver.index.assignments) {
    if (statement.kind !== "Assign") continue;
    for (const target of statement.targets) {
      const isElement = target.kind === "Subscript";
      const holds = isElement
        ? isObject(statement.value, resolver)
        : elementsOf(statement.value).some(
            (element) => isObject(element, resolver) || isFactory(element, resolver),
          );
      const key = holds ? resolver.keyOf(containerOf(target)) : undefined;
      if (key !== undefined) keys.add(key);
    }
  }
  return keys;
}

/** `d` of `d[a][b]`. */
export function containerOf(expression: Expression): Expression {
  let at = expression;
  while (at.kind === "Subscript") at = at.object;
  return at;
}

/** An object, or a container of such. */
function isObject(value: Expression, resolver: Resolver): boolean {
  const isMade = value.kind === "Call" && isOwnClass(value.callee, resolver);
  return (
    isMade || elementsOf(value).some((element) => isObject(element, resolver) || isFactory(element, resolver))
  );
}

/** `Meter` of `defaultdict(Meter)`. */
function isFactory(element: Expression, resolver: Resolver): boolean {
  return element.parent?.kind === "Call" && isOwnClass(element, resolver);
}

/** A class by its name; containers and queues keep what is put in as it is, tensors are no objects of that kind. */
function isOwnClass(named: Expression, resolver: Resolver): boolean {
  if (!/^[A-Z]/.test(lastName(named) ?? "")) return false;
  const path = resolver.qualifiedName(named) ?? "";
  return !/^(collections|queue|multiprocessing|torch|asyncio|typing|numpy|builtins)\./.test(path);
}

function elementsOf(value: Expression): readonly Expression[] {
  switch (value.kind) {
    case "Dict":
      return value.entries.map((entry) => entry.value);
    case "List":
    case "Tuple":
      return value.elements;
    case "Comprehension":
      return [value.element];
    case "Call": {
      if (lastName(value.callee) !== "defaultdict") return [];
      return value.positional.map((argument) => (argument.kind === "Lambda" ? argument.body : argument));
    }
    default:
      return [];
  }
}
