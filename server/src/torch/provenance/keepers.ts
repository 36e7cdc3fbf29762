/**
 * Methods that keep an argument with its graph in their object, such as `update` of an averaging meter, seen from another
 * file: a call of one is a store of this file.
 */
import { isOnlyBoundBy } from "../../python/scope";
import type { Call, Expression, FunctionDefinition, Node } from "../../python/tree";
import { enclosingLoop, enclosingStatement, someNode } from "../../python/walk";
import type { ImportedFunction } from "../imported";
import type { Resolver } from "../resolve";
import { enclosingClass, isInForward } from "../resolve-index";
import type { CarriedValues } from "./carried";
import type { Flow } from "./flow";
import type { KeptOptions } from "./kept";
import { isPlain } from "./plain-values";
import type { BackwardCall } from "./sinks";
import { isBounded, type Store } from "./stores";
import type { ParameterUse } from "./value";

export interface KeeperFacts {
  readonly resolver: Resolver;
  readonly flow: Flow;
  readonly carried: CarriedValues;
  readonly stores: readonly Store[];
}

/** Which arguments a method keeps in attributes of its object, for files that call it. */
export function keptArguments(method: FunctionDefinition, facts: KeeperFacts): readonly ParameterUse[] {
  const { resolver, flow, carried } = facts;
  const holder = enclosingClass(method);
  // A module's lists are read and emptied by whoever trains it.
  if (holder === undefined || resolver.isModuleClass(holder) || /^(__init__|forward)$/.test(method.name.id))
    return [];
  return facts.stores
    .filter(
      (store) =>
        resolver.enclosingFunction(store.statement) === method &&
        keepsInObject(store) &&
        !isBounded(store, resolver, flow),
    )
    .flatMap((store) => carried.of(store.value, store.path).parameters)
    .filter(({ owner }) => owner === method);
}

/** `self.values.append(v)`, `self.sum += v`; a key that is written out is overwritten each time. */
function keepsInObject({ kind, holder, keys }: Store): boolean {
  if (kind === "subscript" || holder.kind !== "Attribute") return false;
  return keys.length === 0 && holder.object.kind === "Name" && holder.object.id === "self";
}

/** Calls in loops of this file that hand a value to such a method of another file. */
export function handedStores(resolver: Resolver, backwards: readonly BackwardCall[]): Store[] {
  const stores: Store[] = [];
  for (const call of resolver.index.calls) {
    const statement = enclosingStatement(call);
    if (call.callee.kind !== "Attribute" || statement?.kind !== "ExpressionStatement") continue;
    if (enclosingLoop(call) === undefined || isInForward(call)) continue;
    const given = [...call.positional, ...call.keywords.map(({ value }) => value)];
    if (given.every((value) => isPlain(value, resolver))) continue;
    const holder = call.callee.object;
    const holderKey = resolver.keyOf(holder);
    const method = holderKey === undefined ? undefined : resolver.imported.functionOf(call);
    if (holderKey === undefined || method === undefined) continue;
    if (isBackwarded(holderKey, resolver, backwards)) continue;
    for (const [value, path] of keptBy(call, method, resolver)) {
      const how = call.callee.attribute.id;
      stores.push({
        kind: "handed",
        statement,
        holder,
        holderKey,
        how,
        keys: [],
        key: undefined,
        value,
        path,
      });
    }
  }
  return stores;
}

function* keptBy(
  call: Call,
  { definition, file }: ImportedFunction,
  resolver: Resolver,
): Generator<readonly [Expression, ParameterUse["path"]]> {
  for (const { name, path } of file.torch.provenance.keptArguments(definition)) {
    const value = resolver.argumentFor(call, definition, name);
    if (value !== undefined) yield [value, path];
  }
}

/** `tracker.total().backward()`: what it keeps is needed. */
function isBackwarded(key: string, resolver: Resolver, backwards: readonly BackwardCall[]): boolean {
  return backwards.some(({ values }) =>
    values.some((value) =>
      someNode(
        value,
        (node) => (node.kind === "Name" || node.kind === "Attribute") && resolver.keyOf(node) === key,
      ),
    ),
  );
}

/**
 * True when nothing of what the object keeps can reach a backward: it is made in the function that fills it, only its own
 * methods and attributes are used there, and neither that function nor who gets its result computes gradients. A buffer of
 * log-probabilities is filled the same way, and its loss is made of them.
 */
export function isNeverBackwarded(
  { holder, holderKey, statement }: Store,
  { resolver, flow, backwards, needed }: Pick<KeptOptions, "resolver" | "flow" | "backwards" | "needed">,
): boolean {
  const owner = resolver.enclosingFunction(statement);
  const around = owner ?? resolver.module;
  if (holder.kind !== "Name" || needed.possibly.has(around) || needed.surely.has(around)) return false;
  const bindings = resolver.scopes.lookup(holder);
  if (!isOnlyBoundBy(bindings, ({ kind, scope }) => kind === "assignment" && scope.owner === around))
    return false;
  const isInside = ({ start, end }: Node): boolean => around.start <= start && end <= around.end;
  if (backwards.some(({ call }) => isInside(call))) return false;
  return flow.readsOf(holderKey).every(({ parent }) => parent?.kind === "Attribute");
}
