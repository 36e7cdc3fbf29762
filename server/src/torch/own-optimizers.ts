/**
 * Models whose class makes an optimizer of its own, as tutorials of reinforcement learning do: `self.optimizer =
 * optim.Adam(self.parameters())` in `__init__`. Which of its instances are trained is seen where that optimizer steps.
 */
import type { Attribute, ClassDefinition, Expression, Name } from "../python/tree";
import { someNode } from "../python/walk";
import type { TorchFacts } from "./facts";
import type { Resolver } from "./resolve";

/** `never steps`: nothing in this file or in that of the class does more with it than to reset or to save it. */
export type OwnOptimizer = "none" | "may step" | "never steps";

type Facts = Pick<TorchFacts, "resolve">;

export function ownOptimizerOf({ resolve }: Facts, model: Expression): OwnOptimizer {
  const object = resolve.objectOf(model);
  const elsewhere = object?.importedClass;
  const owner = object?.classDefinition ?? elsewhere?.definition;
  if (owner === undefined) return "none";
  const home = object?.classDefinition ? resolve : (elsewhere?.file.torch.resolve ?? resolve);
  const names = ownOptimizers(home, owner);
  if (names.length === 0) return "none";
  const isUsed = names.some(
    (name) =>
      usesOf(home, name).some((use) => isOfSelf(home, use.object, owner) || home !== resolve) ||
      usesOf(resolve, name).some((use) => mayBe(resolve, use.object, model)),
  );
  return isUsed ? "may step" : "never steps";
}

/** The attributes of a class that hold optimizers over its own parameters. */
function ownOptimizers(resolve: Resolver, owner: ClassDefinition): readonly string[] {
  const classes = resolve.withBases(owner);
  const found = resolve.index.attributeStores.flatMap(({ target, value }) => {
    if (target.kind !== "Attribute" || value?.kind !== "Call") return [];
    if (target.object.kind !== "Name" || !isSelfOf(resolve, target.object, classes)) return [];
    const isOverSelf = [...value.positional, ...value.keywords.map((keyword) => keyword.value)].some(
      (given) => someNode(given, (node) => node.kind === "Name" && isSelfOf(resolve, node, classes)),
    );
    return isOverSelf && resolve.roleOf(value) === "optimizer" ? [target.attribute.id] : [];
  });
  return [...new Set(found)];
}

function isOfSelf(resolve: Resolver, object: Expression, owner: ClassDefinition): boolean {
  return object.kind === "Name" && isSelfOf(resolve, object, resolve.withBases(owner));
}

function isSelfOf(resolve: Resolver, name: Name, classes: readonly ClassDefinition[]): boolean {
  const own = resolve.classOfSelf(name);
  return own !== undefined && classes.includes(own);
}

/** Reads of the attribute that may lead to a step. */
function usesOf(resolve: Resolver, name: string): readonly Attribute[] {
  return (resolve.index.attributesByName.get(name) ?? []).filter((attribute) => {
    const { parent } = attribute;
    if (parent?.kind === "Assign" && parent.targets.includes(attribute)) return false;
    return !(
      parent?.kind === "Attribute" &&
      /^(zero_grad|state_dict|load_state_dict|param_groups)$/.test(parent.attribute.id)
    );
  });
}

/** Whether an expression may be this very model: surely not only where both are made by constructions of their own. */
function mayBe(resolve: Resolver, expression: Expression, model: Expression): boolean {
  const key = resolve.keyOf(expression);
  if (key === undefined || key === resolve.keyOf(model)) return true;
  const values = resolve.valuesOf(expression);
  const isMade = ({ kind }: Expression): boolean => kind === "Call";
  return values.length === 0 || !values.every(isMade) || !resolve.valuesOf(model).every(isMade);
}
