/** How a module uses the names that hold constants: whether a list, a dict or a class attribute may be changed. */
import type { Expression, Module, Name, Node } from "./tree";
import type { Binding, Scopes } from "./scope";
import { FileMemo } from "./file-memo";
import { walk } from "./walk";

/** Builtins that only read what they are given. */
const READERS: ReadonlySet<string> = new Set(
  ["all", "any", "bool", "enumerate", "len", "list", "max", "min", "print", "range", "reversed"]
    .concat(["set", "sorted", "str", "sum", "tuple", "zip", "dict", "isinstance"])
    .map((name) => `builtins.${name}`),
);

/** True when no use of a list or dict can change it or hand it to somebody who might. */
export function isOnlyRead(binding: Binding, scopes: Scopes): boolean {
  return scopes.referencesTo(binding.scope, binding.name).every((name) => isHarmless(name, scopes));
}

function isHarmless(name: Name, scopes: Scopes): boolean {
  const user = name.parent;
  switch (user?.kind) {
    case "Subscript":
      return user.index === name || isItemRead(user);
    case "For":
      return user.iterable === name;
    case "Comprehension":
      return user.clauses.some((clause) => clause.iterable === name || clause.conditions.includes(name));
    case "Comparison":
    case "If":
    case "While":
    case "UnaryOperation":
    case "Assert":
    case "String":
      return true;
    case "Starred":
      return user.parent?.kind === "Call" || user.parent?.kind === "Tuple" || user.parent?.kind === "List";
    case "Dict":
      return user.entries.some((entry) => entry.key === undefined && entry.value === name);
    case "Call":
      if (user.keywordSpreads.includes(name)) return true;
      return user.positional.includes(name) && READERS.has(scopes.qualifiedName(user.callee) ?? "");
    default:
      return false;
  }
}

/** `x[i]` where the item is a value that its user cannot change in place: not stored to, called on or passed on. */
function isItemRead(item: Expression): boolean {
  const user = item.parent;
  switch (user?.kind) {
    case "Assign":
      return user.value === item;
    case "AnnotatedAssign":
      return user.value === item;
    case "AugmentedAssign":
      return user.value === item;
    case "Delete":
    case "For":
    case "With":
    case "Tuple":
    case "List":
    case "Starred":
      return !isTarget(item);
    case "Subscript":
      return user.index === item || isItemRead(user);
    case "Attribute":
      return false;
    default:
      return true;
  }
}

function isTarget(expression: Expression): boolean {
  let below: Node = expression;
  for (let user = expression.parent; user !== undefined; below = user, user = user.parent) {
    switch (user.kind) {
      case "Tuple":
      case "List":
      case "Starred":
        continue;
      case "Assign":
        return user.value !== below;
      case "For":
        return user.target === below;
      case "With":
        return user.items.some((item) => item.target === below);
      case "Comprehension":
        return user.clauses.some((clause) => clause.target === below);
      case "Delete":
        return true;
      default:
        return false;
    }
  }
  return false;
}

interface ModuleUses {
  readonly storedAttributes: ReadonlySet<string>;
  readonly lastStarImport: number;
}

const knownUses = new FileMemo<ModuleUses>();

function usesOf(scopes: Scopes): ModuleUses {
  const module = scopes.module.owner as Module;
  return knownUses.of(module, () => findUses(module));
}

function findUses(module: Module): ModuleUses {
  const stored = new Set<string>();
  let last = -1;
  walk(module, {
    enter(node) {
      if (node.kind === "ImportFrom" && node.names.some(({ name }) => name === "*")) last = node.start;
      if (node.kind === "Attribute" && isStored(node)) stored.add(node.attribute.id);
      if (node.kind === "Call" && node.callee.kind === "Name" && node.callee.id === "setattr") {
        const name = node.positional[1];
        if (name?.kind === "String" && name.value !== undefined) stored.add(name.value);
      }
    },
  });
  return { storedAttributes: stored, lastStarImport: last };
}

function isStored(node: Expression): boolean {
  const user = node.parent;
  if (user?.kind === "AugmentedAssign" || user?.kind === "AnnotatedAssign") return user.target === node;
  return isTarget(node);
}

/** Names of the attributes that the module stores to, on whatever object. */
export function storedAttributes(scopes: Scopes): ReadonlySet<string> {
  return usesOf(scopes).storedAttributes;
}

/** Where the last star import stands; -1 when there is none. */
export function lastStarImport(scopes: Scopes): number {
  return usesOf(scopes).lastStarImport;
}
