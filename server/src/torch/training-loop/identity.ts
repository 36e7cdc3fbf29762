/**
 * Which optimizer or model an event means: the same, another one, or unknown. Parameters of helpers are followed back
 * through the calls on the event's path.
 */
import type { Call, Expression, Node } from "../../python/tree";
import { walk } from "../../python/walk";
import type { Resolver } from "../resolve";
import type { Place, TraceEvent } from "./event";

export type Relation = "same" | "different" | "unknown";

/** What is known about the object that an expression means at a place. */
export interface Identity {
  /** Keys of the variables or attributes it may be; empty when unknown. */
  readonly keys: ReadonlySet<string>;
  /** The calls that may have made it; empty when unknown. */
  readonly constructions: ReadonlySet<Call>;
  /** Set when it is a parameter of the function the trace begins in. */
  readonly rootParameter: Node | undefined;
  /** The expression in the outermost function it could be followed to. */
  readonly expression: Expression;
}

const maximalSteps = 20;

/** Follows an expression to what it names outside the helpers on the path. */
export function identify(resolver: Resolver, expression: Expression, places: readonly Place[]): Identity {
  let current = expression;
  let path = places;
  let rootParameter: Node | undefined;
  let elementOf = "";
  for (let step = 0; step < maximalSteps; step++) {
    if (current.kind !== "Name") break;
    const bindings = resolver.scopes.lookup(current);
    const [binding] = bindings;
    if (bindings.length !== 1 || binding === undefined) break;
    if (binding.kind === "parameter") {
      const index = path.findLastIndex(
        (place) => place.kind === "call" && place.target === binding.scope.owner,
      );
      const place = path[index];
      if (place?.kind !== "call" || place.target.kind !== "FunctionDefinition") {
        rootParameter = binding.scope.owner;
        break;
      }
      const argument = resolver.argumentFor(place.call, place.target, binding.name);
      if (argument === undefined) break;
      current = argument;
      path = path.slice(0, index);
      continue;
    }
    if (binding.kind === "for" && binding.value !== undefined) {
      const members = membersOf(resolver, binding.value);
      if (members !== undefined) {
        return joined(
          members.map((member) => identify(resolver, member, path)),
          binding.value,
        );
      }
      elementOf += "element of ";
      current = binding.value;
      break;
    }
    if (binding.path.length > 0 || !isReference(binding.value)) break;
    current = binding.value;
  }
  const key = resolver.keyOf(current);
  return {
    keys: new Set(key === undefined ? [] : [elementOf + key]),
    constructions: elementOf === "" ? constructionsOf(resolver, current) : new Set(),
    rootParameter: elementOf === "" ? rootParameter : undefined,
    expression: current,
  };
}

/** The calls that may have made an object; empty as soon as one of its values is not understood. */
function constructionsOf(resolver: Resolver, expression: Expression): ReadonlySet<Call> {
  const values = isReference(expression) ? resolver.valuesOf(expression) : [];
  const key = resolver.keyOf(expression);
  // `optimizer = None` before, `optimizer = wrap(optimizer)` behind: neither makes another one.
  const makes = values.filter(
    (value) => value.kind !== "None" && !(value.kind === "Call" && isGiven(resolver, value, key)),
  );
  const sources = values.length > 1 && makes.length > 0 ? makes : [expression];
  const found = new Set<Call>();
  for (const source of sources) {
    const construction = resolver.objectOf(source)?.construction;
    if (construction === undefined) return new Set();
    found.add(construction);
  }
  return found;
}

function isGiven(resolver: Resolver, call: Call, key: string | undefined): boolean {
  return key !== undefined && call.positional.some((argument) => resolver.keyOf(argument) === key);
}

function isReference(value: Expression | undefined): value is Expression {
  return value?.kind === "Name" || value?.kind === "Attribute";
}

/** The members of `[a, b]`, `(a, b)` or a variable bound to such a display. */
function membersOf(resolver: Resolver, iterable: Expression): readonly Expression[] | undefined {
  const display =
    iterable.kind === "Name" || iterable.kind === "Attribute" ? resolver.valuesOf(iterable) : [iterable];
  const [only, other] = display;
  if (other !== undefined || (only?.kind !== "List" && only?.kind !== "Tuple")) return undefined;
  return only.elements.some(({ kind }) => kind === "Starred") ? undefined : only.elements;
}

function joined(identities: readonly Identity[], expression: Expression): Identity {
  return {
    keys: new Set(identities.flatMap(({ keys }) => [...keys])),
    constructions: new Set(
      identities.every(({ constructions }) => constructions.size > 0)
        ? identities.flatMap(({ constructions }) => [...constructions])
        : [],
    ),
    rootParameter: undefined,
    expression,
  };
}

/** Whether two identities mean the same object; `different` only when both are known. */
export function relate(a: Identity, b: Identity): Relation {
  for (const key of a.keys) if (b.keys.has(key)) return "same";
  for (const construction of a.constructions) if (b.constructions.has(construction)) return "same";
  if (a.constructions.size > 0 && b.constructions.size > 0) return "different";
  if (a.rootParameter !== undefined && a.rootParameter === b.rootParameter) return "different";
  return "unknown";
}

/** Whether a zeroing resets the gradients that a step applies. */
export function zeroingReaches(resolver: Resolver, zeroing: TraceEvent, step: TraceEvent): Relation {
  if (zeroing.subject === undefined || step.subject === undefined) return "unknown";
  const stepped = identify(resolver, step.subject, step.places);
  const zeroed = identify(resolver, zeroing.subject, zeroing.places);
  if (zeroing.of === "optimizer") {
    const relation = relate(zeroed, stepped);
    return relation === "different" && shareModel(resolver, zeroed, stepped) ? "unknown" : relation;
  }
  if (zeroing.of !== "model") return "unknown";
  const owned = modelKeys(resolver, stepped);
  if (owned.size === 0 || zeroed.keys.size === 0) return "unknown";
  for (const key of zeroed.keys) if (owned.has(key)) return "same";
  return "unknown";
}

/** Two optimizers over one model: zeroing through either may be enough. */
function shareModel(resolver: Resolver, a: Identity, b: Identity): boolean {
  const ofA = modelKeys(resolver, a);
  const ofB = modelKeys(resolver, b);
  if (ofA.size === 0 || ofB.size === 0) return true;
  for (const key of ofA) if (ofB.has(key)) return true;
  return false;
}

/** Keys of the objects whose parameters the optimizer was made with: `model` in `Adam(model.parameters())`. */
export function modelKeys(resolver: Resolver, optimizer: Identity): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const construction of optimizer.constructions) {
    const first =
      construction.positional[0] ?? construction.keywords.find(({ name }) => name.id === "params")?.value;
    if (first !== undefined) for (const model of modelsIn(resolver, first)) keys.add(model);
  }
  return keys;
}

function modelsIn(resolver: Resolver, parameters: Expression): string[] {
  const keys: string[] = [];
  const sources = [parameters, ...(isReference(parameters) ? resolver.valuesOf(parameters) : [])];
  for (const source of sources) {
    walk(source, {
      enter(node) {
        if (
          node.kind !== "Call" ||
          node.callee.kind !== "Attribute" ||
          !/^(named_)?parameters$/.test(node.callee.attribute.id)
        )
          return;
        const key = resolver.keyOf(node.callee.object);
        if (key !== undefined) keys.push(key);
      },
    });
  }
  return keys;
}
