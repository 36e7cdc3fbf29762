/**
 * Whether a later pass over the data trains more than the first: `if epoch == 5: unfreeze(model)`. A step of the first passes
 * then is no measure of those behind it.
 */
import type { Expression, Node } from "../../python/tree";
import { enclosingFunction, someNode } from "../../python/walk";
import type { ScriptValue, SetupContext } from "../script-setup";
import type { Resolver } from "../resolve";

/** Functions between the condition and what it changes, or between a loop and the condition. */
const maximalDepth = 3;

/** The place that turns gradients on, or gives the optimizer more, in some passes only. */
export function changedLater(context: SetupContext): ScriptValue<true> | undefined {
  const places = turnedOn(context.resolver);
  if (places.length === 0) return undefined;
  const passes = new Passes(context.resolver, passLoops(context));
  const place = places.find((node) => passes.decide(node, 0));
  return place && { value: true, span: place };
}

/** The loops that repeat what trains. */
function passLoops({ trainingLoops, elsewhere }: SetupContext): ReadonlySet<Node> {
  const found = new Set<Node>();
  for (const { backwards } of trainingLoops.loops)
    for (const { places } of backwards)
      for (const place of places) if (place.kind === "loop") found.add(place.node);
  for (let node = elsewhere?.call.parent; node !== undefined; node = node.parent)
    if (node.kind === "For" || node.kind === "While") found.add(node);
  return found;
}

/** `p.requires_grad = True`, `requires_grad_()`, `add_param_group(…)`; a value that is not known may be true. */
function turnedOn({ index }: Resolver): Node[] {
  const assigned = index.attributeStores.filter(
    ({ target, value }) =>
      target.kind === "Attribute" && target.attribute.id === "requires_grad" && !isFalse(value),
  );
  const called = (index.callsByName.get("requires_grad_") ?? []).filter(
    ({ positional: [first], keywords }) => !isFalse(first ?? keywords[0]?.value),
  );
  const added = index.callsByName.get("add_param_group") ?? [];
  return [...assigned.map(({ target }) => target), ...called, ...added];
}

function isFalse(value: Expression | undefined): boolean {
  return value?.kind === "Boolean" && !value.value;
}

/** Which conditions ask in which pass of a loop they are. */
class Passes {
  constructor(
    private readonly resolver: Resolver,
    private readonly loops: ReadonlySet<Node>,
  ) {}

  /** A condition around the node, or around a call of its function, asks for it. */
  decide(node: Node, depth: number): boolean {
    if (depth > maximalDepth) return false;
    let child = node;
    for (let holder = node.parent; holder !== undefined; holder = holder.parent) {
      if (holder.kind === "FunctionDefinition")
        return this.resolver.callsTo(holder).some((call) => this.decide(call, depth + 1));
      if (holder.kind === "If" && child !== holder.test && this.asks(holder.test)) return true;
      child = holder;
    }
    return false;
  }

  private asks(test: Expression): boolean {
    return someNode(
      test,
      (node) => (node.kind === "Name" && this.counts(node, node.id, 0)) || isTrainersEpoch(node),
    );
  }

  /** The name is the variable of such a loop around the place, or a parameter that is given one. */
  private counts(place: Node, name: string, depth: number): boolean {
    for (let holder = place.parent; holder !== undefined; holder = holder.parent) {
      if (holder.kind === "FunctionDefinition" || holder.kind === "Lambda") break;
      if (!this.loops.has(holder)) continue;
      const isName = (node: Node): boolean => node.kind === "Name" && node.id === name;
      if (holder.kind === "For" && someNode(holder.target, isName)) return true;
      if (holder.kind === "While" && someNode(holder, (node) => countsUp(node, name))) return true;
    }
    const around = enclosingFunction(place);
    if (around?.kind !== "FunctionDefinition" || depth > maximalDepth) return false;
    if (!around.parameters.some((parameter) => parameter.name.id === name)) return false;
    return this.resolver.callsTo(around).some((call) => {
      const given = this.resolver.argumentFor(call, around, name);
      return given?.kind === "Name" && this.counts(call, given.id, depth + 1);
    });
  }
}

/** `self.current_epoch` of a LightningModule. */
function isTrainersEpoch(node: Node): boolean {
  return node.kind === "Attribute" && /^(current_epoch|global_step)$/.test(node.attribute.id);
}

function countsUp(node: Node, name: string): boolean {
  return node.kind === "AugmentedAssign" && node.target.kind === "Name" && node.target.id === name;
}
