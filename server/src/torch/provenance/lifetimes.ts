/** How long what holds a value lives: the loops whose iterations it outlives, and whether they empty it or make it anew. */
import type { Assign, Call, Expression, FunctionDefinition, Node, Statement } from "../../python/tree";
import {
  ancestors,
  enclosingFunction,
  enclosingLoop,
  enclosingLoops,
  enclosingStatement,
  statementList,
} from "../../python/walk";
import { clearingMethods } from "../api-graph";
import type { Resolver } from "../resolve";
import { enclosingClass, push } from "../resolve-index";
import { atEntry, type Definition, type Flow } from "./flow";
import type { Loop, Reach } from "./reach";
import { isShortLoop } from "./short-loops";
import { readsItself, sameVariable, type Store } from "./stores";

export interface ElementAssignment {
  readonly statement: Assign;
  readonly element: Expression;
}

export interface LifetimeOptions {
  readonly resolver: Resolver;
  readonly flow: Flow;
  readonly reach: Reach;
  /** Assignments to an element, such as `d[k] = v`. */
  readonly assigned: readonly ElementAssignment[];
}

export class Lifetimes {
  private readonly cleared = new Map<Loop, Map<string, boolean>>();
  private clearingCalls: ReadonlyMap<string, readonly Call[]> | undefined;

  constructor(private readonly options: LifetimeOptions) {}

  /** The loops of the same function whose iterations the holder outlives, innermost first. */
  *keepingLoops(store: Store): Generator<Loop> {
    if (this.endsLoop(store.statement)) return;
    for (const loop of enclosingLoops(store.statement)) {
      // A loop over a written-out list is no pile of batches; the loop around it may be.
      if (isShortLoop(loop, this.options.resolver)) continue;
      if (!this.outlivesIteration(store, loop)) return;
      yield loop;
    }
  }

  private outlivesIteration(store: Store, loop: Loop): boolean {
    const { flow, reach, resolver } = this.options;
    const isSum = store.kind === "sum" || store.kind === "rebind";
    if (isSum && store.keys.length === 0) return this.carriesOver(store, loop);
    if (store.kind === "subscript" && !this.keyGrows(store, loop)) return false;
    if (this.isResetIn(store, loop)) return false;
    const { holder } = store;
    const made = [...(flow.reaching(holder) ?? [])];
    if (holder.kind === "Attribute") made.push(...(flow.reaching(rootOf(holder)) ?? []));
    if (made.some((one) => one !== atEntry && this.changesIn(loop, one.node))) return false;
    return !this.isClearedIn(loop, store.holderKey) && !reach.isInBody(loop, holderScope(store, resolver));
  }

  /** `logs["loss"] = 0` in the loop starts the sum of `logs["loss"] += loss` anew. */
  private isResetIn(store: Store, loop: Loop): boolean {
    const target = targetOf(store.statement);
    if (store.keys.length === 0 || target === undefined) return false;
    const { reach, resolver } = this.options;
    return this.options.assigned.some(
      ({ statement, element }) =>
        statement !== store.statement &&
        reach.isInBody(loop, statement) &&
        sameVariable(element, target, resolver) &&
        !leavesOf(statement.value).some((leaf) => sameVariable(leaf, target, resolver)),
    );
  }

  private changesIn(loop: Loop, node: Node): boolean {
    return node === loop || this.options.reach.isInBody(loop, node);
  }

  /** True when a running sum takes in what it held an iteration ago, and nothing in the loop starts it anew. */
  private carriesOver(store: Store, loop: Loop): boolean {
    const { flow, reach, resolver } = this.options;
    const own = flow.definitionsOf(store.holderKey).filter(({ node }) => node === store.statement);
    const before = own.flatMap((definition) =>
      definition.kind === "augmented" ? flow.before(definition) : this.readsOfItself(store, definition),
    );
    if (!before.some((one) => one !== atEntry && own.includes(one))) return false;
    if (this.isClearedIn(loop, store.holderKey)) return false;
    return !flow
      .definitionsOf(store.holderKey)
      .some(
        (definition) =>
          this.changesIn(loop, definition.node) &&
          reach.isInBody(loop, definition.node) &&
          !this.takesItselfIn(definition, resolver) &&
          !this.isFirstTime(definition),
      );
  }

  /** `if x is None: x = v; y = w`: the arm begins both once, not in each iteration. */
  private isFirstTime({ node }: Definition): boolean {
    const { parent } = node;
    if (parent?.kind !== "If") return false;
    const isTaken = parent.body.includes(node as Statement);
    const tested = saysNothing(parent.test, isTaken);
    const key = tested && this.options.resolver.keyOf(tested);
    if (key === undefined) return false;
    const arm = isTaken ? parent.body : parent.orelse;
    return this.options.flow.definitionsOf(key).some((one) => arm.includes(one.node as Statement));
  }

  private takesItselfIn(definition: Definition, resolver: Resolver): boolean {
    if (definition.kind === "augmented") return true;
    return definition.value !== undefined && readsItself(definition.value, definition.target, resolver);
  }

  private readsOfItself(store: Store, definition: Definition): readonly (Definition | typeof atEntry)[] {
    return leavesOf(store.value)
      .filter((leaf) => sameVariable(leaf, definition.target, this.options.resolver))
      .flatMap((leaf) => this.options.flow.reaching(leaf) ?? []);
  }

  /** `d[k] = v` keeps more with each iteration only where `k` changes with it. */
  private keyGrows(store: Store, loop: Loop): boolean {
    const { flow } = this.options;
    const changes = (one: Definition): boolean =>
      one.node === loop || (one.kind !== "iterate" && this.changesIn(loop, one.node));
    return store.keys.some((key) =>
      leavesOf(key).some((leaf) =>
        (flow.reaching(leaf) ?? []).some((one) => one !== atEntry && changes(one)),
      ),
    );
  }

  /** The statement runs once: the loop is left right after it. */
  private endsLoop(statement: Statement): boolean {
    const place = statementList(statement);
    return (
      place?.list.slice(place.index + 1).some(({ kind }) => kind === "Break" || kind === "Return") ?? false
    );
  }

  // --- Holders ----------------------------------------------------------------------------------------------------

  /** Asked for every store into a holder, answered once. */
  isClearedIn(loop: Loop, key: string): boolean {
    let byKey = this.cleared.get(loop);
    if (byKey === undefined) this.cleared.set(loop, (byKey = new Map<string, boolean>()));
    let cleared = byKey.get(key);
    if (cleared === undefined) byKey.set(key, (cleared = this.findClearing(loop, key)));
    return cleared;
  }

  private findClearing(loop: Loop, key: string): boolean {
    const { resolver, reach, flow } = this.options;
    this.clearingCalls ??= clearingCallsOf(resolver);
    for (const call of this.clearingCalls.get(key) ?? []) {
      if (reach.runsIn(loop, call) || this.runsUnseen(call, loop)) return true;
    }
    return (
      flow.definitionsOf(key).some((definition) => {
        if (definition.kind === "augmented" || this.takesItselfIn(definition, resolver)) return false;
        if (this.isFirstTime(definition)) return false;
        if (reach.isInBody(loop, definition.node)) return true;
        return (
          !isConstructor(definition.node) &&
          (reach.runsIn(loop, definition.node) || this.runsUnseen(definition.node, loop))
        );
      }) || this.isDeletedIn(loop, key)
    );
  }

  private isDeletedIn(loop: Loop, key: string): boolean {
    const { flow, reach, resolver } = this.options;
    return flow.readsOf(key).some((read) => {
      const statement = enclosingStatement(read);
      return statement?.kind === "Delete" && reach.isInBody(loop, statement) && resolver.keyOf(read) === key;
    });
  }

  /** In another function than the loop's that nothing in this file calls: a framework may call it after each step. */
  private runsUnseen(node: Node, loop: Loop): boolean {
    for (const ancestor of ancestors(node)) {
      if (ancestor.kind !== "FunctionDefinition") continue;
      return (
        ![...ancestors(loop)].includes(ancestor) &&
        enclosingClass(ancestor) !== undefined &&
        !isInit(ancestor) &&
        this.options.resolver.callsTo(ancestor).length === 0
      );
    }
    return false;
  }

  /** The holder lives on when the function returns: an attribute of an object, a name of an outer scope. */
  outlivesFunction(store: Store): boolean {
    if (
      store.kind === "subscript" &&
      store.keys.every((key) => key.kind === "String" || key.kind === "Integer")
    )
      return false;
    const { resolver } = this.options;
    const root = rootOf(store.holder);
    const owner = resolver.enclosingFunction(store.statement);
    if (owner?.kind !== "FunctionDefinition" || isInit(owner)) return false;
    if (owner.name.id === "forward" && !this.isGatheredForLater(store)) return false;
    const [binding] = resolver.scopes.lookup(root);
    if (binding === undefined) return false;
    if (store.holder.kind === "Name")
      return (
        binding.scope.owner !== owner &&
        (store.kind === "append" || store.kind === "sum" || store.kind === "rebind") &&
        !this.isClearedByAnyLoop(store)
      );
    if (root.id !== "self") return false;
    const reaching = this.options.flow.reaching(store.holder) ?? [atEntry];
    if (reaching.some((one) => one !== atEntry)) return false;
    return !this.isClearedByAnyLoop(store);
  }

  /**
   * `self.history.append(loss)` in a `forward`, which nothing in a loop reads: whatever is gathered for the step that runs the
   * forward is read or emptied in it.
   */
  private isGatheredForLater({ kind, holder }: Store): boolean {
    if ((kind !== "append" && kind !== "sum") || holder.kind !== "Attribute") return false;
    const { resolver, reach } = this.options;
    const named = resolver.index.attributesByName.get(holder.attribute.id) ?? [];
    return named.every((one) => {
      if (one === holder) return true;
      const around = enclosingFunction(one);
      if (around?.kind === "FunctionDefinition" && isInit(around)) return true;
      return enclosingLoop(one) === undefined && reach.callingLoops(one).length === 0;
    });
  }

  private isClearedByAnyLoop(store: Store): boolean {
    const loops = this.options.reach.callingLoops(store.statement);
    return loops.length > 0 && loops.every((loop) => this.isClearedIn(loop, store.holderKey));
  }
}

/** What is `None` yet where an arm runs: `x` of `x is None` and `not x`, and of the other arm of `x is not None` and `x`. */
function saysNothing(test: Expression, isTaken: boolean): Expression | undefined {
  if (test.kind === "UnaryOperation" && test.operator === "not") return saysNothing(test.operand, !isTaken);
  if (test.kind !== "Comparison") return isTaken ? undefined : test;
  const [left, right, more] = test.operands;
  if (right?.kind !== "None" || more !== undefined) return undefined;
  return (test.operators[0] === "is" || test.operators[0] === "==") === isTaken ? left : undefined;
}

function leavesOf(expression: Expression): Expression[] {
  const leaves: Expression[] = [];
  const pending: Expression[] = [expression];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (at.kind === "BinaryOperation") pending.push(at.right, at.left);
    else if (at.kind === "UnaryOperation") pending.push(at.operand);
    else if (at.kind === "Conditional") pending.push(at.orelse, at.body);
    else if (at.kind === "Tuple") pending.push(...at.elements);
    else if (at.kind === "String")
      for (const part of at.parts) {
        if (typeof part !== "string") pending.push(part.expression);
      }
    else leaves.push(at);
  }
  return leaves;
}

/** What an assignment or a running sum writes to. */
function targetOf(statement: Statement): Expression | undefined {
  if (statement.kind === "AugmentedAssign") return statement.target;
  return statement.kind === "Assign" ? statement.targets[0] : undefined;
}

function rootOf(expression: Expression): Extract<Expression, { kind: "Name" }> {
  let at = expression;
  while (at.kind === "Attribute") at = at.object;
  return at as Extract<Expression, { kind: "Name" }>;
}

function baseOf(expression: Expression): Expression {
  let at = expression;
  while (at.kind === "Subscript") at = at.object;
  return at;
}

/** `losses.clear()`, `queue[0].pop()`: the calls that take something out of a variable, by its key. */
function clearingCallsOf(resolver: Resolver): ReadonlyMap<string, readonly Call[]> {
  const byKey = new Map<string, Call[]>();
  for (const method of clearingMethods) {
    for (const call of resolver.index.callsByName.get(method) ?? []) {
      if (call.callee.kind !== "Attribute") continue;
      const key = resolver.keyOf(baseOf(call.callee.object));
      if (key !== undefined) push(byKey, key, call);
    }
  }
  return byKey;
}

function holderScope(store: Store, resolver: Resolver): Node {
  const [binding] = resolver.scopes.lookup(rootOf(store.holder));
  return binding?.scope.owner.kind === "Comprehension" ? binding.scope.owner : resolver.module;
}

function isInit(target: FunctionDefinition): boolean {
  return target.name.id === "__init__";
}

function isConstructor(node: Node): boolean {
  for (const ancestor of ancestors(node)) {
    if (ancestor.kind === "FunctionDefinition") return isInit(ancestor);
  }
  return false;
}
