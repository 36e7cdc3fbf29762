/** A recurrent state that the model keeps itself: `out, self.hidden = self.lstm(x, self.hidden)` in its forward. */
import type { Attribute, Call, ClassDefinition } from "../../python/tree";
import { enclosingFunction } from "../../python/walk";
import type { BackwardCall } from "../../torch/provenance";
import { enclosingClass } from "../../torch/resolve-index";
import type { RuleContext } from "../rule";

export interface KeptState {
  readonly state: Attribute;
  /** The call of the model whose graph the backward walks. */
  readonly forward: Call;
  readonly backward: BackwardCall;
}

/** The state that a call of a recurrent layer takes from `self` and that goes back there, nothing else touching it. */
export function stateKeptByModel(
  context: RuleContext,
  call: Call,
  detaches: (owner: ClassDefinition) => boolean,
): KeptState | undefined {
  const around = enclosingFunction(call);
  const owner = around?.kind === "FunctionDefinition" ? enclosingClass(around) : undefined;
  if (around?.kind !== "FunctionDefinition" || around.name.id !== "forward" || owner === undefined)
    return undefined;
  const state = stateGivenBack(context, call);
  if (state === undefined || detaches(owner) || isTouchedElsewhere(context, state, owner)) return undefined;
  const walked = backwardOver(context, owner);
  return walked && { state, ...walked };
}

/** `self.hidden` where it is the call's second argument and the second thing that the call gives. */
function stateGivenBack({ torch: { resolve } }: RuleContext, call: Call): Attribute | undefined {
  const given = call.positional[1] ?? call.keywords.find(({ name }) => name.id === "hx")?.value;
  if (given?.kind !== "Attribute" || given.object.kind !== "Name" || given.object.id !== "self")
    return undefined;
  const isGivenBack = resolve.index.attributeStores.some(
    ({ target, value, path }) =>
      value === call &&
      target.kind === "Attribute" &&
      path.length === 1 &&
      path[0] === 1 &&
      isSame(target, given),
  );
  return isGivenBack ? given : undefined;
}

function isSame(one: Attribute, other: Attribute): boolean {
  return one.attribute.id === other.attribute.id && one.object.kind === "Name" && one.object.id === "self";
}

/** Anybody who writes or reads it, but for its beginning in `__init__`: `model.hidden = model.init_hidden()`. */
function isTouchedElsewhere(
  { torch: { resolve } }: RuleContext,
  state: Attribute,
  owner: ClassDefinition,
): boolean {
  const forward = enclosingFunction(state);
  return (resolve.index.attributesByName.get(state.attribute.id) ?? []).some((other) => {
    const place = enclosingFunction(other);
    if (place === forward) return !isSame(other, state);
    const isBeginning =
      place?.kind === "FunctionDefinition" && place.name.id === "__init__" && enclosingClass(place) === owner;
    return !isBeginning;
  });
}

/** A backward in each iteration of a loop that calls the model once before it. */
function backwardOver(
  { torch }: RuleContext,
  owner: ClassDefinition,
): { readonly forward: Call; readonly backward: BackwardCall } | undefined {
  for (const backward of torch.provenance.backwards) {
    for (const value of backward.values) {
      for (const source of torch.provenance.graphCalls(value)) {
        if (source.kind !== "Call" || source.start > backward.call.start) continue;
        if (torch.resolve.objectOf(source.callee)?.classDefinition === owner)
          return { forward: source, backward };
      }
    }
  }
  return undefined;
}
