/**
 * Loops whose rounds train or evaluate: `for phase in ["train", "val"]:` with its backward under `if phase == "train":`. The
 * forward of the other rounds builds a graph too, unless `torch.set_grad_enabled(phase == "train")` stands around it.
 */
import type { Call, Expression, For, If, Node, Statement } from "../../python/tree";
import { ancestors, enclosingFunction, isWithin, someNode, statementList, walk } from "../../python/walk";
import type { Provenance } from "../provenance";
import type { Resolver } from "../resolve";
import { callsWithin } from "../resolve-index";
import { holds } from "./both-modes";
import type { EvaluationPass } from "./evaluation";
import { forwardReceiver } from "./shapes";

/** The forwards of such loops that run with gradients on, each a pass that trains where a condition holds. */
export function evaluatingPhases(resolver: Resolver, provenance: Provenance): EvaluationPass[] {
  const tested = namesTestedAround(provenance);
  return resolver.index.loops.flatMap((loop) => {
    // Seen in the text alone, before anybody asks what the loop runs: hardly any loop is one of phases.
    if (loop.kind !== "For" || loop.target.kind !== "Name" || !tested.has(loop.target.id)) return [];
    const guard = trainingGuard(loop, loop.target.id, provenance);
    if (guard === undefined || !hasOtherRounds(loop, loop.target.id, guard, resolver)) return [];
    const pass = passOf(loop, guard, resolver, provenance);
    return pass === undefined ? [] : [pass];
  });
}

/** The names that stand in the conditions under which the functions of this file call backward. */
function namesTestedAround({ backwards }: Provenance): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { call } of backwards) {
    for (const at of ancestors(call)) {
      if (at.kind === "FunctionDefinition") break;
      if (at.kind !== "If") continue;
      walk(at.test, {
        enter(node) {
          if (node.kind === "Name") names.add(node.id);
        },
      });
    }
  }
  return names;
}

/** The `if` on the loop's variable in which every backward of the loop stands. */
function trainingGuard(loop: For, phase: string, { backwards, reach }: Provenance): If | undefined {
  let guard: If | undefined;
  for (const { call } of backwards) {
    if (!reach.runsIn(loop, call)) continue;
    const around = guardAround(call, loop, phase);
    if (around === undefined || (guard !== undefined && guard !== around)) return undefined;
    guard = around;
  }
  return guard;
}

function guardAround(backward: Call, loop: For, phase: string): If | undefined {
  let below: Node = backward;
  for (const at of ancestors(backward)) {
    if (at === loop || at.kind === "FunctionDefinition") return undefined;
    if (at.kind === "If" && at.body.includes(below as Statement) && testsPhase(at.test, phase)) return at;
    below = at;
  }
  return undefined;
}

function testsPhase(test: Expression, phase: string): boolean {
  return holds(test, phase, undefined) !== "other";
}

/** A round in which the condition does not hold: by what the loop goes over, or by an arm that calls `eval()`. */
function hasOtherRounds(loop: For, phase: string, guard: If, resolver: Resolver): boolean {
  const [display] = loop.iterable.kind === "Name" ? resolver.valuesOf(loop.iterable) : [loop.iterable];
  if (display?.kind === "List" || display?.kind === "Tuple")
    return display.elements.some((element) => holds(guard.test, phase, element) === false);
  return someNode(
    loop,
    (node) =>
      node.kind === "If" &&
      node !== guard &&
      sameTest(node.test, guard.test) &&
      node.orelse.some((statement) => someNode(statement, switchesToEvaluation)),
  );
}

/** `phase == "train"` twice. */
function sameTest(a: Expression, b: Expression): boolean {
  if (a.kind === "Name" && b.kind === "Name") return a.id === b.id;
  if (a.kind !== "Comparison" || b.kind !== "Comparison") return false;
  const [left, right] = a.operands;
  const [otherLeft, otherRight] = b.operands;
  return (
    a.operators.length === 1 &&
    b.operators.length === 1 &&
    a.operators[0] === b.operators[0] &&
    left?.kind === "Name" &&
    otherLeft?.kind === "Name" &&
    left.id === otherLeft.id &&
    right?.kind === "String" &&
    otherRight?.kind === "String" &&
    right.value === otherRight.value
  );
}

function switchesToEvaluation(node: Node): boolean {
  return node.kind === "Call" && node.callee.kind === "Attribute" && node.callee.attribute.id === "eval";
}

/** The forward whose graph the backward walks in the rounds that train. */
function passOf(
  loop: For,
  guard: If,
  resolver: Resolver,
  provenance: Provenance,
): EvaluationPass | undefined {
  const walked = new Set(
    provenance.backwards
      .filter(({ call }) => isWithin(call, guard))
      .flatMap(({ values }) => values.flatMap((value) => [...provenance.graphCalls(value)])),
  );
  const owner = enclosingFunction(loop);
  const forward = [...callsWithin(resolver.index, loop)].find((call) => {
    if (!walked.has(call) || enclosingFunction(call) !== owner) return false;
    const role = resolver.roleOf(forwardReceiver(call));
    if (role !== "model" && role !== "engine") return false;
    return !isUnderPhase(call, loop) && provenance.modes.lexicallyAt(call) === undefined;
  });
  const model = forward && resolver.objectOf(forwardReceiver(forward));
  if (forward === undefined || model === undefined || provenance.gradientMode(forward) !== "on")
    return undefined;
  // The loss holds derivatives of what the forward gives, in every round: a physical equation, a penalty.
  if (provenance.gradientUse.differentiatesIn(loop)) return undefined;
  return {
    forwards: [forward],
    model,
    modelName: forwardReceiver(forward),
    // The backward of the other rounds proves it.
    certainty: "resolved",
    statements: statementsUpTo(guard, forward),
    owner: owner?.kind === "FunctionDefinition" ? owner : undefined,
    evalCall: undefined,
    trainsWhere: guard.test,
  };
}

/** Somebody has told the rounds apart: the forward stands in an arm of its own. */
function isUnderPhase(call: Call, loop: For): boolean {
  const phase = loop.target.kind === "Name" ? loop.target.id : "";
  for (const at of ancestors(call)) {
    if (at === loop) return false;
    if ((at.kind === "If" || at.kind === "Conditional") && testsPhase(at.test, phase)) return true;
    if (at.kind === "With") {
      const told = at.items.some(({ context }) =>
        someNode(context, (node) => node.kind === "Name" && node.id === phase),
      );
      if (told) return true;
    }
  }
  return false;
}

/** The neighbours from the forward to the backward, where both stand in one block. */
function statementsUpTo(guard: If, forward: Call): readonly Statement[] {
  const place = statementList(guard);
  if (place === undefined) return [];
  const first = place.list.findIndex((statement) => isWithin(forward, statement));
  return first >= 0 && first <= place.index ? place.list.slice(first, place.index + 1) : [];
}
