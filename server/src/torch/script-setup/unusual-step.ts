/**
 * What a script does to a step of one model that neither its optimizer's construction nor its loss tell: gradients that stay,
 * options that a group of parameters gets later, parameters that are frozen or thawed once the optimizer is there. The training
 * loop itself then says what an iteration needs.
 */
import type { Assign, AugmentedAssign, Call, Expression, Node, Span } from "../../python/tree";
import { enclosingFunction, someNode } from "../../python/walk";
import { autocastContexts } from "../api";
import type { SetupContext } from "../script-setup";
import type { Resolver } from "../resolve";
import { accumulationOf } from "./batch";
import { precisionOf } from "./precision";

/** `made` is where the optimizer is constructed. */
export function isUnusualStep(context: SetupContext, made: Span): boolean {
  const { resolver } = context;
  const { index } = resolver;
  const optimizer = index.calls.find(({ start, end }) => start === made.start && end === made.end);
  return (
    leavesOpen(context) ||
    (index.callsByName.get("zero_grad") ?? []).some(keepsGradients) ||
    index.assignments.some(setsGroupOption) ||
    (optimizer !== undefined && gradientChanges(resolver).some((place) => isBehind(place, optimizer)))
  );
}

/** Accumulation or mixed precision whose numbers and switches are no constants: only the running code tells them. */
function leavesOpen(context: SetupContext): boolean {
  const { resolver, trainingLoops } = context;
  const accumulates = trainingLoops.loops.some(({ accumulation }) => accumulation !== undefined);
  if (accumulates && accumulationOf(context) === undefined) return true;
  const casts = resolver.callsOf((name) => autocastContexts.has(name)).length > 0;
  return casts && precisionOf(context) === undefined;
}

/** `zero_grad(set_to_none=False)`: the gradients are there from one iteration to the next. */
function keepsGradients({ positional: [first], keywords }: Call): boolean {
  const given = first ?? keywords.find(({ name }) => name.id === "set_to_none")?.value;
  return given?.kind === "Boolean" && !given.value;
}

/** `for group in optimizer.param_groups: group["momentum"] = 0.9`; learning rates and decays set no bytes. */
function setsGroupOption(node: Assign | AugmentedAssign): boolean {
  const targets = node.kind === "Assign" ? node.targets : [node.target];
  return targets.some(
    (target) =>
      target.kind === "Subscript" &&
      target.index.kind === "String" &&
      setsBytes.has(target.index.value ?? "") &&
      (hasGroups(target.object) || isGroupOfLoop(target.object)),
  );
}

const setsBytes: ReadonlySet<string> = new Set([
  "momentum",
  "amsgrad",
  "nesterov",
  "centered",
  "maximize",
  "foreach",
  "fused",
  "capturable",
  "params",
]);

function hasGroups(expression: Expression): boolean {
  return someNode(expression, (node) => node.kind === "Attribute" && node.attribute.id === "param_groups");
}

function isGroupOfLoop(expression: Expression): boolean {
  if (expression.kind !== "Name") return false;
  for (let node: Node | undefined = expression.parent; node !== undefined; node = node.parent)
    if (node.kind === "For" && hasGroups(node.iterable)) return true;
  return false;
}

/** `p.requires_grad = …`, `model.requires_grad_(…)`. */
function gradientChanges({ index }: Resolver): Node[] {
  const assigned = index.attributeStores
    .filter(({ target }) => target.kind === "Attribute" && target.attribute.id === "requires_grad")
    .map(({ target }) => target);
  return [...assigned, ...(index.callsByName.get("requires_grad_") ?? [])].flatMap((place) => {
    const within = enclosingFunction(place);
    const calls = within?.kind === "FunctionDefinition" ? index.callsByName.get(within.name.id) : undefined;
    return [place, ...(calls ?? [])];
  });
}

/** Further down in the same function: what comes first in another one nobody knows. */
function isBehind(place: Node, optimizer: Node): boolean {
  return place.start > optimizer.end && enclosingFunction(place) === enclosingFunction(optimizer);
}
