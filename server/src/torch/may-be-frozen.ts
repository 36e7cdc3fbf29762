/**
 * Whether something in a file may switch a model's gradients off in a way that `Resolver.isFrozen` does not follow: through
 * a helper, together with other models, with a flag.
 */
import { lastName } from "../python/last-name";
import type { Call, Expression, Statement } from "../python/tree";
import { ancestors, isStatement, someNode, isWithin } from "../python/walk";
import type { TorchFacts } from "./facts";
import type { ResolvedObject } from "./resolve";

const freezingName = /freez|requires_grad|toggle_?grad|set_grad\b|no_grad/i;

/** True also where the model has no name to look for. */
export function mayBeFrozen(torch: TorchFacts, model: Expression): boolean {
  const { resolve, provenance } = torch;
  if (resolve.isFrozen(model)) return true;
  const key = resolve.keyOf(model);
  if (key === undefined) return true;
  return [key, ...keysOfWholes(torch, model)].some((one) =>
    provenance.flow.readsOf(one).some((read) => isSwitch(torch, read)),
  );
}

/** The variables that hold what the model is a part of: `vgg` of `part = vgg.features[:16].cuda()`. */
function keysOfWholes({ resolve }: TorchFacts, part: Expression): string[] {
  const keys: string[] = [];
  for (const value of resolve.valuesOf(part)) {
    let at = value;
    for (;;) {
      if (at.kind === "Call") at = at.callee;
      else if (at.kind === "Attribute" || at.kind === "Subscript") at = at.object;
      else break;
      const key = at.kind === "Call" ? undefined : resolve.keyOf(at);
      if (key !== undefined && resolve.roleOf(at) === "model") keys.push(key);
    }
  }
  return keys;
}

/**
 * Parts of the model are told that they need no gradients: `param.requires_grad = False` in a loop over its parameters or
 * those of a part, `model.backbone.requires_grad_(False)`, or the like in its class. Its graph begins behind them.
 */
export function freezesParts(
  { resolve, provenance }: TorchFacts,
  model: Expression,
  { classDefinition, importedClass }: Pick<ResolvedObject, "classDefinition" | "importedClass">,
): boolean {
  const owner = classDefinition ?? importedClass?.definition;
  if (owner?.body.some((statement) => switchesOff(statement)) === true) return true;
  const key = resolve.keyOf(model);
  if (key === undefined) return false;
  return provenance.flow.readsOf(key).some((read) => {
    for (const at of ancestors(read)) {
      if (at.kind === "For")
        return isWithin(read, at.iterable) && at.body.some((inner) => switchesOff(inner));
      if (at.kind === "Call" && isWithin(read, at.callee) && isSwitchedOff(at)) return true;
      if (isStatement(at)) return false;
    }
    return false;
  });
}

function switchesOff(statement: Statement): boolean {
  return someNode(statement, (node) => {
    if (node.kind === "Call") return isSwitchedOff(node);
    if (node.kind !== "Assign" || node.value.kind !== "Boolean" || node.value.value) return false;
    return node.targets.some(
      (target) => target.kind === "Attribute" && target.attribute.id === "requires_grad",
    );
  });
}

/** `….requires_grad_(False)`. */
function isSwitchedOff({ callee, positional: [mode] }: Call): boolean {
  if (callee.kind !== "Attribute" || callee.attribute.id !== "requires_grad_") return false;
  return mode?.kind === "Boolean" && !mode.value;
}

function isSwitch({ resolve }: TorchFacts, read: Expression): boolean {
  if (read.parent?.kind === "Attribute" && read.parent.attribute.id === "requires_grad_") return true;
  for (const at of ancestors(read)) {
    if (at.kind === "Call" && !isWithin(read, at.callee)) {
      if (freezingName.test(lastName(at.callee) ?? "")) return true;
      const target = resolve.functionOf(at);
      if (target !== undefined && setsRequiresGrad(target.body, resolve.index)) return true;
    }
    if (at.kind === "For" && isWithin(read, at.iterable)) return setsRequiresGrad(at.body, resolve.index);
    if (isStatement(at)) return false;
  }
  return false;
}

function setsRequiresGrad(
  body: readonly Statement[],
  { attributesByName }: TorchFacts["resolve"]["index"],
): boolean {
  const first = body[0];
  const last = body.at(-1);
  if (first === undefined || last === undefined) return false;
  return ["requires_grad", "requires_grad_"].some((name) =>
    attributesByName.get(name)?.some(({ start, end }) => start >= first.start && end <= last.end),
  );
}

/** True when gradients are asked for with respect to the value: `torch.autograd.grad(score, value)`, in helpers too. */
export function isDifferentiatedBy(torch: TorchFacts, value: Expression): boolean {
  const { resolve } = torch;
  const key = resolve.keyOf(value);
  for (const call of resolve.index.callsByName.get("grad") ?? []) {
    if (resolve.qualifiedName(call.callee) !== "torch.autograd.grad") continue;
    const inputs = call.positional[1] ?? call.keywords.find(({ name }) => name.id === "inputs")?.value;
    for (const input of inputsIn(inputs)) {
      if (key !== undefined && resolve.keyOf(input) === key) return true;
      if (givenFor(torch, input).some((argument) => argument === value || resolve.keyOf(argument) === key))
        return true;
    }
  }
  return false;
}

function inputsIn(inputs: Expression | undefined): readonly Expression[] {
  if (inputs === undefined) return [];
  return inputs.kind === "List" || inputs.kind === "Tuple" ? inputs.elements : [inputs];
}

/** What callers give for a parameter. */
function givenFor({ resolve, scopes }: TorchFacts, input: Expression): Expression[] {
  if (input.kind !== "Name") return [];
  return scopes.lookup(input).flatMap((binding) => {
    const owner = binding.scope.owner;
    if (binding.kind !== "parameter" || owner.kind !== "FunctionDefinition") return [];
    return resolve
      .callsTo(owner)
      .flatMap((call: Call) => resolve.argumentFor(call, owner, binding.name) ?? []);
  });
}
