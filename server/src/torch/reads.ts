/** Where variables and attributes of a file are read. */
import type { Attribute, Expression } from "../python/tree";
import type { Resolver } from "./resolve";

/** Where a variable or attribute is read; attributes also through other names of the object (`stopper.best`). */
export function readsOfTarget(resolve: Resolver, target: Expression): readonly Expression[] {
  if (target.kind === "Name") {
    const scope = resolve.scopes.lookup(target)[0]?.scope;
    return scope === undefined ? [] : resolve.scopes.referencesTo(scope, target.id);
  }
  if (target.kind !== "Attribute") return [];
  const key = resolve.keyOf(target);
  const owner = resolve.classOf(target.object);
  return (resolve.index.attributesByName.get(target.attribute.id) ?? []).filter(
    (one) =>
      !isStored(one) &&
      ((key !== undefined && resolve.keyOf(one) === key) ||
        (owner !== undefined && resolve.classOf(one.object) === owner)),
  );
}

function isStored(attribute: Attribute): boolean {
  const { parent } = attribute;
  return parent?.kind === "Assign" && parent.targets.includes(attribute);
}
