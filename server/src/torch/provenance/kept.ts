/**
 * Values with a graph that outlive the iteration that made them. Quiet by construction where a container is made or
 * emptied within the iteration, is bounded, or where a later backward needs what is kept.
 */
import type { Assign, Call, Expression, FunctionDefinition, Node, Statement } from "../../python/tree";
import { ancestors, enclosingLoop, enclosingStatement, statementList } from "../../python/walk";
import { clearingMethods } from "../api-graph";
import type { Resolver } from "../resolve";
import { callsWithin, enclosingClass, flattenTarget, isInForward, push } from "../resolve-index";
import type { CarriedValues } from "./carried";
import { atEntry, type Definition, type Flow } from "./flow";
import type { GraphSources } from "./graph-sources";
import { isNeverBackwarded } from "./keepers";
import type { Needed } from "./needed";
import type { Loop, Reach } from "./reach";
import { isPlain } from "./plain-values";
import { argumentsOf } from "./shapes";
import { isShortLoop } from "./short-loops";
import type { BackwardCall } from "./sinks";
import { isBounded, readsItself, sameVariable, type Store } from "./stores";
import type { Carried } from "./value";

export interface KeptValue {
  readonly store: Store;
  /** What is kept, where the finding belongs: the stored value, or the argument of a call that stores it. */
  readonly value: Expression;
  readonly carried: Carried;
  /** Each of its iterations adds one: a loop, or a method that a framework calls for each batch. */
  readonly loop: Loop | FunctionDefinition;
  /** The call that hands the value to a function of this file which stores it (`meter.update(loss)`). */
  readonly through: Call | undefined;
  /** The backward of the same iteration that frees the activations; `undefined` when none does. */
  readonly freedBy: Freed | undefined;
}

/** A backward of the script, or that of a framework, which takes the loss that the script returns. */
export type Freed = BackwardCall | { readonly returned: Expression };

export interface KeptOptions {
  readonly resolver: Resolver;
  readonly flow: Flow;
  readonly carried: CarriedValues;
  readonly needed: Needed;
  readonly reach: Reach;
  readonly sources: GraphSources;
  readonly backwards: readonly BackwardCall[];
  /** Every call that began a part of the graph that a backward of the value walks. */
  readonly walkedFrom: (value: Expression) => ReadonlySet<Node>;
  /** Assignments to an element, such as `d[k] = v`. */
  readonly assigned: readonly ElementAssignment[];
}

export interface ElementAssignment {
  readonly statement: Assign;
  readonly element: Expression;
}

/** All kept values among the stores, in source order. */
export function keptValues(stores: readonly Store[], options: KeptOptions): KeptValue[] {
  const finder = new KeptFinder(stores, options);
  const found = new Map<Expression, KeptValue>();
  for (const kept of stores.flatMap((store) => finder.find(store))) {
    // One call may store its argument twice: in a list and in a dictionary.
    if (!found.has(kept.value)) found.set(kept.value, kept);
  }
  return [...found.values()].sort((a, b) => a.value.start - b.value.start);
}

class KeptFinder {
  private readonly cleared = new Map<Loop, Map<string, boolean>>();
  private clearingCalls: ReadonlyMap<string, readonly Call[]> | undefined;
  private anyGraphInLoops: boolean | undefined;

  constructor(
    private readonly stores: readonly Store[],
    private readonly options: KeptOptions,
  ) {}

  /** Asks where the value is kept before what it carries: the second is dear, and most stores keep nothing. */
  find(store: Store): KeptValue[] {
    const { resolver } = this.options;
    if (isPlain(store.value, resolver)) return [];
    const outermost = outermostLoop(store.statement);
    if (store.holder.kind === "Name" && isInForward(store.statement)) return [];
    if (outermost !== undefined) return this.findInLoops(store, outermost);
    if (!this.graphsBeginInLoops() || !this.outlivesFunction(store)) return [];
    const found = this.findOutsideLoops(store);
    return found.length > 0 && isBounded(store, resolver, this.options.flow) ? [] : found;
  }

  /** What a call in a loop leads to is kept only where an iteration begins a graph. */
  private graphsBeginInLoops(): boolean {
    const { resolver, sources } = this.options;
    return (this.anyGraphInLoops ??= resolver.index.loops.some(
      (loop) => enclosingLoop(loop) === undefined && sources.mayRunIn(loop),
    ));
  }

  private findOutsideLoops(store: Store): KeptValue[] {
    const { carried, reach } = this.options;
    const open = carried.of(store.value, store.path);
    const loops = open.graph === "yes" ? reach.callingLoops(store.statement) : [];
    const loop = loops.find((one) => !this.isClearedIn(one, store.holderKey));
    const kept = loop && this.judgeStored(store, loop);
    return kept ? [kept] : this.throughCalls(store, open);
  }

  /** Whether the loops may begin a graph is known without following a value, and for most of a library's they may not. */
  private findInLoops(store: Store, outermost: Loop): KeptValue[] {
    const { resolver, flow, sources } = this.options;
    if (!sources.mayRunIn(outermost)) return [];
    for (const loop of this.keepingLoops(store)) {
      if (isBounded(store, resolver, flow) || this.isSetUp(store)) return [];
      const kept = this.judgeStored(store, loop);
      if (kept) return [kept];
    }
    return [];
  }

  private judgeStored(store: Store, loop: Loop): KeptValue | undefined {
    const closed = this.options.carried.closed(store.value, store.path);
    return this.judge(store, store.value, closed, loop, undefined);
  }

  /** `meter.update(loss)`: the finding belongs to the call that gives the value away. */
  private throughCalls(store: Store, open: Carried): KeptValue[] {
    const { resolver, carried } = this.options;
    const found: KeptValue[] = [];
    for (const use of open.parameters) {
      for (const call of resolver.callsTo(use.owner)) {
        const argument = resolver.argumentFor(call, use.owner, use.name);
        if (argument === undefined || found.some(({ value }) => value === argument)) continue;
        const given = carried.close(carried.ofArgument(call, use));
        for (let loop = enclosingLoop(call); loop !== undefined; loop = enclosingLoop(loop)) {
          if (!this.receiverOutlives(call, loop)) break;
          const kept = this.judge(store, argument, given, loop, call);
          if (kept) found.push(kept);
          if (kept) break;
        }
      }
    }
    return found;
  }

  /** The object that stores was not made anew in this iteration. */
  private receiverOutlives(call: Call, loop: Loop): boolean {
    const { flow, reach, resolver } = this.options;
    if (call.callee.kind !== "Attribute") return true;
    let receiver = call.callee.object;
    while (receiver.kind === "Subscript") receiver = receiver.object;
    const reaching = flow.reaching(receiver) ?? [];
    if (reaching.some((one) => one !== atEntry && reach.isInBody(loop, one.node))) return false;
    const key = resolver.keyOf(receiver);
    return key === undefined || !this.isClearedIn(loop, key);
  }

  private judge(
    store: Store,
    value: Expression,
    carried: Carried,
    loop: Loop,
    through: Call | undefined,
  ): KeptValue | undefined {
    if (carried.graph !== "yes") return undefined;
    const { needed, reach } = this.options;
    // Parts of one result made before the loop share its graph: nothing grows with the iterations.
    if (![...carried.sources].some((source) => reach.runsIn(loop, source))) return undefined;
    // The steps of one sequence hang together through the state: what is kept of them holds no graph that is not held anyway.
    if ([...carried.sources].every((source) => enclosingLoop(source) === loop && this.carriesState(source)))
      return undefined;
    const marks = this.marksOf(store);
    if (marks.some((mark) => needed.surely.has(mark))) return undefined;
    const freedBy = this.freedBy(carried, loop);
    if (freedBy === undefined) {
      if (marks.some((mark) => needed.possibly.has(mark)) || this.isKeptAnyway(store, carried, loop))
        return undefined;
      if (this.belongsToModule(store) || this.mayBeBackwarded(value, loop)) return undefined;
      if (store.kind === "handed" && !isNeverBackwarded(store, this.options)) return undefined;
      if (this.isBackwardedElsewhere(carried)) return undefined;
    }
    return { store, value, carried, loop, through, freedBy };
  }

  /** A value of the same forward is kept beside it for a later backward: `policies.append(policy); values.append(value)`. */
  private isKeptAnyway(store: Store, { sources }: Carried, loop: Loop): boolean {
    const { needed, reach, walkedFrom } = this.options;
    if (store.kind !== "append") return false;
    return this.stores.some((other) => {
      if (other === store || other.kind !== "append" || !reach.isInBody(loop, other.statement)) return false;
      if (!this.marksOf(other).some((mark) => needed.surely.has(mark))) return false;
      const kept = walkedFrom(other.value);
      return [...sources].every((source) => kept.has(source));
    });
  }

  /** `output, hidden = decoder(token, hidden)`. */
  private carriesState(source: Node): boolean {
    const statement = source.parent;
    if (source.kind !== "Call" || statement?.kind !== "Assign") return false;
    const { resolver } = this.options;
    const given = new Set(argumentsOf(source).map((argument) => resolver.keyOf(argument)));
    given.delete(undefined);
    return statement.targets.some((target) =>
      flattenTarget(target, undefined).some((flat) => given.has(resolver.keyOf(flat.target))),
    );
  }

  /** `if step == 0: static_outputs.append(y)` runs in one round only. */
  private isSetUp(store: Store): boolean {
    let below: Node = store.statement;
    for (const at of ancestors(store.statement)) {
      if (at.kind === "FunctionDefinition") return false;
      if (at.kind === "If" && at.body.includes(below as Statement) && this.comparesCounter(at.test))
        return true;
      below = at;
    }
    return false;
  }

  private comparesCounter(test: Expression): boolean {
    if (test.kind !== "Comparison" || test.operators.length !== 1 || test.operators[0] !== "==") return false;
    if (!test.operands.some(({ kind }) => kind === "Integer")) return false;
    return test.operands.some((operand) => {
      const reaching = operand.kind === "Name" ? (this.options.flow.reaching(operand) ?? []) : [];
      return reaching.length > 0 && reaching.every((one) => one !== atEntry && one.kind === "iterate");
    });
  }

  /** `self.aux_losses.append(…)` in a module: who calls the module may read, backward and empty it. */
  private belongsToModule(store: Store): boolean {
    const { resolver } = this.options;
    const owner = resolver.enclosingFunction(store.statement);
    const holder = owner?.kind === "FunctionDefinition" ? enclosingClass(owner) : undefined;
    return store.holder.kind === "Attribute" && holder !== undefined && resolver.isModuleClass(holder);
  }

  private marksOf(store: Store): (Definition | Node)[] {
    const definitions = this.options.flow
      .definitionsOf(store.holderKey)
      .filter(({ node }) => node === store.statement);
    return [store.statement, ...definitions];
  }

  /** The backward that walks everything the value was made from, in the same iteration. */
  private freedBy(carried: Carried, loop: Loop): BackwardCall | undefined {
    const { backwards, reach } = this.options;
    const open = new Set(carried.sources);
    let freedBy: BackwardCall | undefined;
    for (const backward of backwards) {
      if (backward.retains === "yes" || !reach.runsIn(loop, backward.call)) continue;
      for (const value of backward.values) {
        const walked = this.options.walkedFrom(value);
        for (const source of [...open]) {
          if (!walked.has(source)) continue;
          open.delete(source);
          freedBy ??= backward;
        }
      }
    }
    return open.size === 0 ? freedBy : undefined;
  }

  /** The graph begins in a function of another file, and that file computes gradients: perhaps of this very graph. */
  private isBackwardedElsewhere({ sources }: Carried): boolean {
    return [...sources].some((source) => source.kind === "Call" && this.runsBackwardElsewhere(source));
  }

  private runsBackwardElsewhere(call: Call): boolean {
    const called = this.options.resolver.imported.functionOf(call);
    return called !== undefined && called.file.torch.provenance.ownBackwards.length > 0;
  }

  /** An unknown call in the iteration takes the same value and may call backward: `loss_scaler(loss, optimizer)`. */
  private mayBeBackwarded(value: Expression, loop: Loop): boolean {
    const { resolver, reach, carried, walkedFrom } = this.options;
    const sources = carried.closed(value).sources;
    return [...callsWithin(resolver.index, loop)].some((call) => {
      if (
        !reach.isInBody(loop, call) ||
        resolver.functionOf(call) ||
        resolver.qualifiedName(call.callee)?.startsWith("torch.")
      )
        return false;
      const name =
        call.callee.kind === "Attribute"
          ? call.callee.attribute.id
          : call.callee.kind === "Name"
            ? call.callee.id
            : "";
      if (!/backward|scaler|step|optim|update_model|train/i.test(name) && !this.runsBackwardElsewhere(call))
        return false;
      return [...call.positional, ...call.keywords.map((keyword) => keyword.value)].some((argument) =>
        [...walkedFrom(argument)].some((source) => sources.has(source)),
      );
    });
  }

  // --- Loops ------------------------------------------------------------------------------------------------------

  /** The loops of the same function whose iterations the holder outlives, innermost first. */
  private *keepingLoops(store: Store): Generator<Loop> {
    if (this.endsLoop(store.statement)) return;
    for (let loop = enclosingLoop(store.statement); loop !== undefined; loop = enclosingLoop(loop)) {
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
          !this.takesItselfIn(definition, resolver),
      );
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
  private isClearedIn(loop: Loop, key: string): boolean {
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
  private outlivesFunction(store: Store): boolean {
    if (
      store.kind === "subscript" &&
      store.keys.every((key) => key.kind === "String" || key.kind === "Integer")
    )
      return false;
    const { resolver } = this.options;
    const root = rootOf(store.holder);
    const owner = resolver.enclosingFunction(store.statement);
    if (owner?.kind !== "FunctionDefinition" || isInit(owner) || owner.name.id === "forward") return false;
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

  private isClearedByAnyLoop(store: Store): boolean {
    const loops = this.options.reach.callingLoops(store.statement);
    return loops.length > 0 && loops.every((loop) => this.isClearedIn(loop, store.holderKey));
  }
}

function outermostLoop(node: Node): Loop | undefined {
  let found: Loop | undefined;
  for (let loop = enclosingLoop(node); loop !== undefined; loop = enclosingLoop(loop)) found = loop;
  return found;
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
