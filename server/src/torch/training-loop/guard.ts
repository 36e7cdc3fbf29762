/** The condition under which an accumulating loop steps: `if (i + 1) % k == 0:` in the forms people write it. */
import { keyword } from "../../python/keyword";
import type { Call, Comparison, Expression, Node } from "../../python/tree";
import { dottedPath, isWithin, someNode, walk } from "../../python/walk";
import type { FrameworkFacts } from "../frameworks";
import type { Resolver } from "../resolve";
import { lastNameOf } from "./classify";
import type { BranchPlace, LoopNode, Place } from "./event";

export type GuardForm =
  /** `i % k`, compared or used as a truth value. */
  | "modulus"
  /** `count == k` with `count += 1` and a reset. */
  | "counter"
  /** An inner loop that runs the backwards of one update. */
  | "micro-loop"
  /** `accelerator.accumulate(model)` or `accelerator.sync_gradients`. */
  | "accelerate";

export interface AccumulationGuard {
  readonly form: GuardForm;
  /** The accumulation steps as written; `undefined` when the form does not show them. */
  readonly steps: Expression | undefined;
  /** The condition, the inner loop or the `with` statement. */
  readonly node: Node;
  /** The arm that steps; `undefined` for micro-loops and `accelerator.accumulate`. */
  readonly branch: BranchPlace | undefined;
}

interface Match {
  readonly form: GuardForm;
  readonly steps: Expression | undefined;
}

const maximalDepth = 6;

export class Guards {
  constructor(
    private readonly resolver: Resolver,
    private readonly frameworkFacts: FrameworkFacts,
  ) {}

  /** The accumulation guard that an arm is, or `undefined` when its condition is about something else. */
  ofBranch(branch: BranchPlace, loop: LoopNode): AccumulationGuard | undefined {
    if (branch.test === undefined) return undefined;
    const match = this.match(branch.test, branch.taken, loop, 0);
    return match === undefined ? undefined : { ...match, node: branch.test, branch };
  }

  /** The inner loop as a guard; `undefined` when it does not look like one over micro-batches. */
  ofMicroLoop(loop: LoopNode): AccumulationGuard | undefined {
    if (loop.kind !== "For") return undefined;
    const steps = this.microBatches(loop.iterable, 0);
    return steps === undefined
      ? undefined
      : { form: "micro-loop", steps, node: loop.iterable, branch: undefined };
  }

  /** `with accelerator.accumulate(model)` on a path. */
  ofWith(places: readonly Place[]): AccumulationGuard | undefined {
    for (const place of places) {
      if (place.kind !== "with") continue;
      for (const { context } of place.node.items) {
        const call = this.accumulateCall(context);
        if (call === undefined) continue;
        return {
          form: "accelerate",
          steps: this.accumulationArgument(),
          node: call,
          branch: undefined,
        };
      }
    }
    return undefined;
  }

  /** The `gradient_accumulation_steps` given to the only `Accelerator(…)` of the file. */
  accumulationArgument(): Expression | undefined {
    const maker = this.frameworkFacts.makerOf("accelerate");
    return maker === undefined ? undefined : keyword(maker, "gradient_accumulation_steps");
  }

  private accumulateCall(context: Expression): Call | undefined {
    if (context.kind !== "Call" || context.callee.kind !== "Attribute") return undefined;
    if (context.callee.attribute.id !== "accumulate") return undefined;
    return this.isAccelerator(context.callee.object) ? context : undefined;
  }

  private isAccelerator(expression: Expression): boolean {
    const known = this.frameworkFacts.ofObject(expression);
    if (known !== undefined) return known.name === "accelerate";
    return /accelerator/i.test(lastNameOf(expression) ?? "");
  }

  private match(test: Expression, taken: boolean, loop: LoopNode, depth: number): Match | undefined {
    if (depth > maximalDepth) return undefined;
    switch (test.kind) {
      case "UnaryOperation":
        return test.operator === "not" ? this.match(test.operand, !taken, loop, depth + 1) : undefined;
      case "BooleanOperation":
        for (const operand of test.operands) {
          const match = this.match(operand, taken, loop, depth + 1);
          if (match !== undefined) return match;
        }
        return undefined;
      case "Comparison":
        return this.matchComparison(test, taken, loop);
      case "BinaryOperation":
        // `if (i + 1) % k: continue`: the remainder as a truth value.
        return taken ? undefined : this.matchModulus(test, loop);
      case "NamedExpression":
        return this.match(test.value, taken, loop, depth + 1);
      case "Attribute":
        if (test.attribute.id === "sync_gradients" && this.isAccelerator(test.object)) {
          return taken ? { form: "accelerate", steps: this.accumulationArgument() } : undefined;
        }
        return this.matchVariable(test, taken, loop, depth);
      case "Name":
        return this.matchVariable(test, taken, loop, depth);
      case "Call":
        return this.matchCall(test, taken, loop, depth);
      default:
        return undefined;
    }
  }

  private matchVariable(
    variable: Expression,
    taken: boolean,
    loop: LoopNode,
    depth: number,
  ): Match | undefined {
    for (const value of this.resolver.valuesOf(variable)) {
      const match = this.match(value, taken, loop, depth + 1);
      if (match !== undefined) return match;
    }
    return undefined;
  }

  /** `if should_step(i):` with a function of this file that returns the condition. */
  private matchCall(call: Call, taken: boolean, loop: LoopNode, depth: number): Match | undefined {
    const target = this.resolver.functionOf(call);
    if (target === undefined) {
      return call.positional.length === 1 && this.resolver.qualifiedName(call.callee) === "builtins.bool"
        ? this.match(call.positional[0] as Expression, taken, loop, depth + 1)
        : undefined;
    }
    for (const statement of target.body) {
      if (statement.kind !== "Return" || statement.value === undefined) continue;
      // Names in there are the function's own: what they depend on is not this loop's to judge.
      return this.match(statement.value, taken, loop, depth + 1);
    }
    return undefined;
  }

  private matchComparison(test: Comparison, taken: boolean, loop: LoopNode): Match | undefined {
    const [left, right, more] = test.operands;
    const [operator] = test.operators;
    if (left === undefined || right === undefined || more !== undefined || operator === undefined)
      return undefined;
    const remainder = this.matchModulus(left, loop) ?? this.matchModulus(right, loop);
    if (remainder !== undefined) {
      const equal = operator === "==" || operator === "is" || operator === "<" || operator === "<=";
      return equal === taken ? remainder : undefined;
    }
    return taken ? this.matchCounter(left, operator, right, loop) : undefined;
  }

  private matchModulus(expression: Expression, loop: LoopNode): Match | undefined {
    if (expression.kind !== "BinaryOperation" || expression.operator !== "%") return undefined;
    if (expression.right.kind === "Integer" && expression.right.value === 1) return undefined;
    if (!changesIn(this.resolver, expression.left, loop)) return undefined;
    return { form: "modulus", steps: expression.right };
  }

  /** `count == k` or `count >= k`, where the loop counts up and the guarded code begins again. */
  private matchCounter(
    left: Expression,
    operator: Comparison["operators"][number],
    right: Expression,
    loop: LoopNode,
  ): Match | undefined {
    if (operator !== "==" && operator !== ">=" && operator !== ">") return undefined;
    if (left.kind === "BinaryOperation" && left.operator === "-") {
      // `if step - last_step >= k:` with `last_step = step` behind the update.
      const last = dottedPath(left.right);
      return last !== undefined && assignsIn(loop, last) ? { form: "counter", steps: right } : undefined;
    }
    const counter = dottedPath(left);
    if (counter === undefined || operator === ">") return undefined;
    const assigned = (node: Node): Expression | undefined =>
      node.kind === "Assign" && node.targets.some((target) => dottedPath(target) === counter)
        ? node.value
        : undefined;
    const counts = someNode(loop, (node) => {
      if (node.kind === "AugmentedAssign")
        return node.operator === "+" && dottedPath(node.target) === counter;
      const value = assigned(node);
      return value !== undefined && value.kind !== "Integer";
    });
    const resets = someNode(loop, (node) => assigned(node)?.kind === "Integer");
    return counts && resets ? { form: "counter", steps: right } : undefined;
  }

  /** The number of micro-batches that an iterable gives, when it is one of micro-batches. */
  private microBatches(iterable: Expression, depth: number): Expression | undefined {
    if (depth > maximalDepth) return undefined;
    if (iterable.kind === "Call") {
      const name = lastNameOf(iterable.callee);
      const [first] = iterable.positional;
      if (name === "range") {
        const bound = iterable.positional.length > 1 ? iterable.positional[1] : first;
        return bound !== undefined && namesAccumulation(bound) ? bound : undefined;
      }
      if (name === "chunk" || name === "tensor_split") {
        const method = this.resolver.qualifiedName(iterable.callee) === undefined;
        return method ? first : iterable.positional[1];
      }
      if (first === undefined) return undefined;
      if (name !== undefined && /^(zip|enumerate|tqdm|trange|list|iter|track)$/.test(name)) {
        return this.microBatches(first, depth + 1);
      }
      return undefined;
    }
    if (iterable.kind === "Name" || iterable.kind === "Attribute") {
      for (const value of this.resolver.valuesOf(iterable)) {
        const steps = this.microBatches(value, depth + 1);
        if (steps !== undefined) return steps;
      }
    }
    return undefined;
  }
}

/** Names that say accumulation: `gradient_accumulation_steps`, `args.accum_iter`, `micro_batches`. */
export function namesAccumulation(expression: Expression): boolean {
  const name = lastNameOf(expression);
  return name !== undefined && /accum|micro|update_freq|grad_acc/i.test(name);
}

function assignsIn(loop: LoopNode, path: string): boolean {
  return someNode(
    loop,
    (node) => node.kind === "Assign" && node.targets.some((target) => dottedPath(target) === path),
  );
}

/** True unless every name in the expression is known not to change from one iteration of the loop to the next. */
function changesIn(resolver: Resolver, expression: Expression, loop: LoopNode): boolean {
  let names = 0;
  let changes = false;
  walk(expression, {
    enter(node) {
      if (node.kind === "Attribute" || node.kind === "Call" || node.kind === "Subscript") {
        // Counters on objects (`self.step`, `len(buffer)`) are taken to move.
        names++;
        changes = true;
        return false;
      }
      if (node.kind !== "Name") return;
      names++;
      for (const binding of resolver.scopes.lookup(node)) {
        if (binding.kind === "parameter") changes = true;
        if (isWithin(binding.target ?? binding.node, loop)) changes = true;
      }
      return;
    },
  });
  return names > 0 && changes;
}
