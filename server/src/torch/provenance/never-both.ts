/** Stretches of one function that never run for the same values: arms of one `if`, and tests of one variable that exclude each other. */
import type { Expression, FunctionDefinition, Lambda, Name, Node, Statement } from "../../python/tree";
import { ancestors, enclosingFunction } from "../../python/walk";
import type { Resolver } from "../resolve";
import { holds } from "./both-modes";

/** An `if` around a node, and the arm that it stands in. */
interface Arm {
  readonly around: Node;
  readonly test: Expression;
  readonly taken: boolean;
}

/** What a variable is, or is not, where an arm runs. */
interface Fact {
  readonly name: string;
  readonly value: Expression | undefined;
  /** For a variable tested by itself: whether it holds. */
  readonly truth: boolean | undefined;
  readonly test: Expression;
  readonly taken: boolean;
}

/** True when both nodes stand in the same function and no run of one iteration reaches both. */
export function neverBoth(a: Node, b: Node, resolver: Resolver): boolean {
  const owner = enclosingFunction(a);
  if (owner !== enclosingFunction(b)) return false;
  const armsOfA = armsAround(a);
  const armsOfB = armsAround(b);
  if (armsOfA.length === 0 || armsOfB.length === 0) return false;
  if (
    armsOfA.some((arm) => armsOfB.some((other) => other.around === arm.around && other.taken !== arm.taken))
  )
    return true;
  const factsOfB = factsOf(armsOfB);
  return factsOf(armsOfA).some(
    (fact) => isSteady(fact, owner, resolver) && factsOfB.some((other) => excludes(fact, other)),
  );
}

/** True when a call gives a parameter of the function a value for which the node in it does not run. */
export function isSkippedBy(
  given: (parameter: string) => Expression | undefined,
  node: Node,
  resolver: Resolver,
): boolean {
  return armsAround(node).some(({ test, taken }) => {
    const variable = testedVariable(test);
    if (variable === undefined) return false;
    const bindings = resolver.scopes.lookup(variable);
    if (bindings.length !== 1 || bindings[0]?.kind !== "parameter") return false;
    const value = given(variable.id);
    const held = value === undefined ? "unknown" : holds(test, variable.id, value);
    return typeof held === "boolean" && held !== taken;
  });
}

function armsAround(node: Node): Arm[] {
  const arms: Arm[] = [];
  let below = node;
  for (const at of ancestors(node)) {
    if (at.kind === "FunctionDefinition") break;
    if (at.kind === "If") {
      const taken = at.body.includes(below as Statement);
      if (taken || at.orelse.includes(below as Statement)) arms.push({ around: at, test: at.test, taken });
    }
    below = at;
  }
  return arms;
}

function factsOf(arms: readonly Arm[]): Fact[] {
  return arms.flatMap(({ test, taken }) => {
    const name = testedVariable(test)?.id;
    if (name === undefined) return [];
    return [{ name, ...sayOf(test, taken), test, taken }];
  });
}

/** `mode` of `mode == "train"`, of `not mode` and of `mode` alone. */
function testedVariable(test: Expression): Name | undefined {
  if (test.kind === "UnaryOperation" && test.operator === "not") return testedVariable(test.operand);
  if (test.kind === "Name") return test;
  if (test.kind !== "Comparison" || test.operators.length !== 1) return undefined;
  const [left] = test.operands;
  return left?.kind === "Name" ? left : undefined;
}

/** The value that the variable has in the arm, where the test says it. */
function sayOf(test: Expression, taken: boolean): Pick<Fact, "value" | "truth"> {
  if (test.kind === "UnaryOperation" && test.operator === "not") return sayOf(test.operand, !taken);
  if (test.kind === "Name") return { value: undefined, truth: taken };
  const [, right] = test.kind === "Comparison" ? test.operands : [];
  const operator = test.kind === "Comparison" ? test.operators[0] : undefined;
  const equals =
    operator === "==" || operator === "is"
      ? taken
      : operator === "!=" || operator === "is not"
        ? !taken
        : false;
  return { value: equals ? right : undefined, truth: undefined };
}

function excludes(fact: Fact, other: Fact): boolean {
  if (fact.name !== other.name) return false;
  if (fact.truth !== undefined && other.truth !== undefined) return fact.truth !== other.truth;
  return contradicts(fact, other) || contradicts(other, fact);
}

/** The one says a value for which the other's arm does not run. */
function contradicts({ name, value }: Fact, { test, taken }: Fact): boolean {
  const held = value === undefined ? "unknown" : holds(test, name, value);
  return typeof held === "boolean" && held !== taken;
}

/** Bound once: by a call of the function, or by the loop around both. */
function isSteady(
  { name }: Fact,
  owner: FunctionDefinition | Lambda | undefined,
  resolver: Resolver,
): boolean {
  const names = resolver.index.namesById.get(name) ?? [];
  const inside = names.find((one) => enclosingFunction(one) === owner);
  const bindings = inside ? resolver.scopes.lookup(inside) : [];
  return bindings.length === 1;
}
