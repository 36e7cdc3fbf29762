/**
 * Functions that train or evaluate as a parameter says: `run_epoch(loader, mode)` with its backward under
 * `if mode == "train":`. A call for evaluation runs the forward with gradients on unless it turns them off.
 */
import type { Call, Expression, FunctionDefinition, Node, Statement } from "../../python/tree";
import { ancestors, enclosingFunction, enclosingStatement } from "../../python/walk";
import type { Provenance } from "../provenance";
import type { Resolver } from "../resolve";
import type { EvaluationPass } from "./evaluation";
import { forwardReceiver } from "./shapes";
import { callsWithin } from "../resolve-index";

/** A backward that runs only where the parameter has some value. */
interface Guard {
  readonly owner: FunctionDefinition;
  readonly test: Expression;
  readonly parameter: string;
}

/** The calls that evaluate with gradients on, each as a pass of its own. */
export function evaluatingCalls(resolver: Resolver, provenance: Provenance): EvaluationPass[] {
  return [...guardedOwners(resolver, provenance)].flatMap(([owner, guards]) =>
    passesOf(owner, guards, resolver, provenance),
  );
}

/** The calls of such functions that run no backward, whatever their gradient mode. */
export function callsWithoutBackward(resolver: Resolver, provenance: Provenance): ReadonlySet<Call> {
  const found = [...guardedOwners(resolver, provenance)].flatMap(([owner, guards]) =>
    resolver.sureCallsTo(owner).filter((call) => guards.every((guard) => skips(call, guard, resolver))),
  );
  return new Set(found);
}

/** Functions all of whose backwards wait for the value of a parameter. */
function guardedOwners(
  resolver: Resolver,
  provenance: Provenance,
): ReadonlyMap<FunctionDefinition, readonly Guard[]> {
  const guards = new Map<FunctionDefinition, Guard[]>();
  const unguarded = new Set<FunctionDefinition>();
  for (const { call } of provenance.backwards) {
    const owner = enclosingFunction(call);
    if (owner?.kind !== "FunctionDefinition") continue;
    const guard = guardOf(call, owner, resolver);
    if (guard === undefined) unguarded.add(owner);
    else guards.set(owner, [...(guards.get(owner) ?? []), guard]);
  }
  for (const owner of unguarded) guards.delete(owner);
  return guards;
}

function passesOf(
  owner: FunctionDefinition,
  guards: readonly Guard[],
  resolver: Resolver,
  provenance: Provenance,
): EvaluationPass[] {
  const forward = forwardOf(owner, guards, resolver, provenance);
  if (forward === undefined || provenance.gradientUse.differentiatesIn(owner)) return [];
  const name = forwardReceiver(forward);
  const model = resolver.objectOf(name);
  if (model === undefined || resolver.isFrozen(name)) return [];
  const calls = resolver.sureCallsTo(owner).filter((call) => provenance.gradientMode(call) === "on");
  return calls.flatMap((call) => {
    const statement = enclosingStatement(call);
    const evaluates = guards.every((guard) => skips(call, guard, resolver));
    if (!evaluates || statement === undefined) return [];
    const around = enclosingFunction(call);
    return [
      {
        forwards: [call],
        model,
        modelName: modelAsSeenBy(call, owner, name, resolver),
        certainty: model.certainty,
        statements: [statement],
        owner: around?.kind === "FunctionDefinition" ? around : undefined,
        evalCall: undefined,
        inner: forward,
      },
    ];
  });
}

/** The first forward of the function that no condition on one of the parameters keeps from running. */
function forwardOf(
  owner: FunctionDefinition,
  guards: readonly Guard[],
  resolver: Resolver,
  provenance: Provenance,
): Call | undefined {
  return [...callsWithin(resolver.index, owner)].find((call) => {
    if (enclosingFunction(call) !== owner) return false;
    if (guards.some(({ parameter }) => isUnderTestOf(call, parameter, owner, resolver))) return false;
    const role = resolver.roleOf(forwardReceiver(call));
    if (role !== "model" && role !== "engine") return false;
    return provenance.modes.lexicallyAt(call) === undefined && provenance.carriedHere(call).graph !== "no";
  });
}

function isUnderTestOf(
  call: Call,
  parameter: string,
  owner: FunctionDefinition,
  resolver: Resolver,
): boolean {
  return [...ancestors(call)].some(
    (at) => at.kind === "If" && mayTest(writtenOut(at.test, owner, resolver), parameter),
  );
}

function modelAsSeenBy(
  call: Call,
  owner: FunctionDefinition,
  name: Expression,
  resolver: Resolver,
): Expression {
  return (name.kind === "Name" ? resolver.argumentFor(call, owner, name.id) : undefined) ?? name;
}

function guardOf(backward: Call, owner: FunctionDefinition, resolver: Resolver): Guard | undefined {
  let below: Node = backward;
  for (const at of ancestors(backward)) {
    if (at === owner) return undefined;
    if (at.kind === "If" && at.body.includes(below as Statement)) {
      const test = writtenOut(at.test, owner, resolver);
      const parameter = owner.parameters.find(({ name }) => mayTest(test, name.id));
      if (parameter) return { owner, test, parameter: parameter.name.id };
    }
    below = at;
  }
  return undefined;
}

/** `optimizer is not None` for `training` behind `training = optimizer is not None`. */
function writtenOut(test: Expression, owner: FunctionDefinition, resolver: Resolver): Expression {
  if (test.kind !== "Name" || owner.parameters.some(({ name }) => name.id === test.id)) return test;
  const [value, ...others] = resolver.valuesOf(test);
  return value !== undefined && others.length === 0 && enclosingFunction(value) === owner ? value : test;
}

function mayTest(test: Expression, parameter: string): boolean {
  return holds(test, parameter, undefined) !== "other";
}

/** True when the call gives the parameter a value for which the backward does not run. */
function skips(call: Call, { owner, test, parameter }: Guard, resolver: Resolver): boolean {
  const given = resolver.argumentOrDefault(call, owner, parameter);
  return given !== undefined && holds(test, parameter, given) === false;
}

/** What a condition on a parameter or a variable is for a written-out value; `other` for conditions on something else. */
export function holds(
  test: Expression,
  parameter: string,
  given: Expression | undefined,
): boolean | "unknown" | "other" {
  const value = given === undefined ? undefined : literalOf(given);
  if (test.kind === "Name" && test.id === parameter)
    return value === undefined ? "unknown" : Boolean(value.is);
  if (test.kind === "UnaryOperation" && test.operator === "not") {
    const inner = holds(test.operand, parameter, given);
    return typeof inner === "boolean" ? !inner : inner;
  }
  if (test.kind === "BooleanOperation" && test.operator === "or") {
    const parts = test.operands.map((operand) => holds(operand, parameter, given));
    if (parts.includes("other")) return "other";
    return parts.includes(true) || (parts.includes("unknown") ? "unknown" : false);
  }
  if (test.kind !== "Comparison" || test.operators.length !== 1) return "other";
  const [left, right] = test.operands;
  if (left?.kind !== "Name" || left.id !== parameter || right === undefined) return "other";
  const wanted = literalOf(right);
  if (value === undefined || wanted === undefined) return "unknown";
  const [operator] = test.operators;
  if (operator === "==" || operator === "is") return value.is === wanted.is;
  return operator === "!=" || operator === "is not" ? value.is !== wanted.is : "unknown";
}

function literalOf(value: Expression): { readonly is: string | boolean | number | null } | undefined {
  switch (value.kind) {
    case "String":
      return value.value === undefined ? undefined : { is: value.value };
    case "Boolean":
    case "Integer":
      return { is: value.value };
    case "None":
      return { is: null };
    default:
      return undefined;
  }
}
