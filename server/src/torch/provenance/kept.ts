/**
 * Values with a graph that outlive the iteration that made them. Quiet by construction where a container is made or
 * emptied within the iteration, is bounded, or where a later backward needs what is kept.
 */
import type { Call, Expression, FunctionDefinition, Node, Statement } from "../../python/tree";
import {
  ancestors,
  enclosingFunction,
  enclosingLoop,
  enclosingLoops,
  enclosingStatement,
} from "../../python/walk";
import { callsWithin, enclosingClass, flattenTarget, isInForward } from "../resolve-index";
import type { CarriedValues } from "./carried";
import { atEntry, type Definition } from "./flow";
import type { GraphSources } from "./graph-sources";
import { containerOf } from "./held-objects";
import { isNeverBackwarded } from "./keepers";
import type { GradientMode } from "./gradient-mode";
import type { Needed } from "./needed";
import { isSkippedBy, neverBoth } from "./never-both";
import type { Loop } from "./reach";
import { Lifetimes, type LifetimeOptions } from "./lifetimes";
import { isPlain } from "./plain-values";
import { argumentsOf } from "./shapes";
import { isShortLoop } from "./short-loops";
import type { BackwardCall } from "./sinks";
import { isBounded, type Store } from "./stores";
import type { Carried, ParameterUse } from "./value";

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

export interface KeptOptions extends LifetimeOptions {
  readonly carried: CarriedValues;
  readonly needed: Needed;
  readonly sources: GraphSources;
  readonly backwards: readonly BackwardCall[];
  /** The calls of functions of both modes that run no backward. */
  readonly withoutBackward: () => ReadonlySet<Call>;
  readonly gradientMode: (node: Node) => GradientMode;
  /** Every call that began a part of the graph that a backward of the value walks. */
  readonly walkedFrom: (value: Expression) => ReadonlySet<Node>;
}

const keptForLater: ReadonlySet<Store["kind"]> = new Set(["append", "sum", "rebind"]);

/** So many rounds after their backward leave some KiB of nodes behind: no pile. */
const fewNodes = 8;

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
  private readonly lifetimes: Lifetimes;
  private anyGraphInLoops: boolean | undefined;

  constructor(
    private readonly stores: readonly Store[],
    private readonly options: KeptOptions,
  ) {
    this.lifetimes = new Lifetimes(options);
  }

  /** Asks where the value is kept before what it carries: the second is dear, and most stores keep nothing. */
  find(store: Store): KeptValue[] {
    const { resolver } = this.options;
    if (isPlain(store.value, resolver)) return [];
    const outermost = outermostLoop(store.statement);
    if (store.holder.kind === "Name" && isInForward(store.statement)) return [];
    if (outermost !== undefined) return this.findInLoops(store, outermost);
    if (!this.lifetimes.outlivesFunction(store) || !this.graphsBeginInLoops()) return [];
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
    const loop = loops.find((one) => !this.lifetimes.isClearedIn(one, store.holderKey));
    const kept = loop && this.judgeStored(store, loop);
    return kept ? [kept] : this.throughCalls(store, open);
  }

  /** Whether the loops may begin a graph is known without following a value, and for most of a library's they may not. */
  private findInLoops(store: Store, outermost: Loop): KeptValue[] {
    const { resolver, flow, sources } = this.options;
    if (!sources.mayRunIn(outermost)) return [];
    for (const loop of this.lifetimes.keepingLoops(store)) {
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
  private throughCalls(store: Store, open: Carried, helpers: readonly Call[] = []): KeptValue[] {
    const { resolver, carried } = this.options;
    const found: KeptValue[] = [];
    for (const use of open.parameters) {
      for (const call of resolver.callsTo(use.owner)) {
        const argument = resolver.argumentFor(call, use.owner, use.name);
        if (argument === undefined || found.some(({ value }) => value === argument)) continue;
        const kept = this.keptBy(store, call, argument, use, helpers);
        if (kept) found.push(kept);
        else if (helpers.length === 0 && this.isHelper(call, use.owner))
          found.push(...this.throughCalls(store, carried.ofArgument(call, use), [call]));
      }
    }
    return found;
  }

  private keptBy(
    store: Store,
    call: Call,
    argument: Expression,
    use: ParameterUse,
    helpers: readonly Call[],
  ): KeptValue | undefined {
    const { carried } = this.options;
    const given = carried.close(carried.ofArgument(call, use));
    for (const loop of enclosingLoops(call)) {
      if (![call, ...helpers].every((one) => this.receiverOutlives(one, loop))) return undefined;
      const kept = this.judge(store, argument, given, loop, call);
      if (kept) return kept;
    }
    return undefined;
  }

  /** `self.meters[phase][name].update(value)` in a method that others call: what it is called on is seen to be of the class. */
  private isHelper(call: Call, target: FunctionDefinition): boolean {
    const { resolver } = this.options;
    const method = resolver.enclosingFunction(call);
    const holder = method?.kind === "FunctionDefinition" ? enclosingClass(method) : undefined;
    const owner = enclosingClass(target);
    if (holder === undefined || owner === undefined || resolver.isModuleClass(holder)) return false;
    if (call.callee.kind !== "Attribute") return false;
    const receiver = containerOf(call.callee.object);
    if (receiver.kind !== "Attribute" || receiver.object.kind !== "Name") return false;
    if (resolver.classOfSelf(receiver.object) !== holder) return false;
    const key = resolver.keyOf(receiver);
    return (resolver.index.namesById.get(owner.name.id) ?? []).some((name) => {
      const statement = enclosingStatement(name);
      if (statement?.kind !== "Assign") return false;
      return statement.targets.some((target) => resolver.keyOf(containerOf(target)) === key);
    });
  }

  /** The object that stores was not made anew in this iteration. */
  private receiverOutlives(call: Call, loop: Loop): boolean {
    const { flow, reach, resolver } = this.options;
    if (call.callee.kind !== "Attribute") return true;
    const receiver = containerOf(call.callee.object);
    // As with the containers of a `forward`: who calls it says whether there is a graph, and it ends with the call.
    if (receiver.kind === "Name" && isInForward(call)) return false;
    const reaching = flow.reaching(receiver) ?? [];
    if (reaching.some((one) => one !== atEntry && reach.isInBody(loop, one.node))) return false;
    const key = resolver.keyOf(receiver);
    return key === undefined || !this.lifetimes.isClearedIn(loop, key);
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
    if (this.isAddedWithoutGraph(store)) return undefined;
    const marks = this.marksOf(store);
    if (marks.some((mark) => needed.surely.has(mark))) return undefined;
    const freedBy = this.freedBy(store, carried, loop);
    if (freedBy !== undefined && isShortLoop(loop, this.options.resolver, fewNodes)) return undefined;
    if (freedBy === undefined) {
      if (this.isKeptWithoutGraph(store, loop)) return undefined;
      if (this.isLeftToOthers(store) || this.isKeptAnyway(store, carried, loop)) return undefined;
      if (this.isPartOfWhatIsGiven(store, loop) || this.mayBeBackwarded(value, loop)) return undefined;
      if (store.kind === "handed" && !isNeverBackwarded(store, this.options)) return undefined;
      if (this.isBackwardedElsewhere(carried)) return undefined;
    }
    return { store, value, carried, loop, through, freedBy };
  }

  /**
   * A value of the same forward is kept beside it for a later backward: `policies.append(policy); values.append(value)`, or
   * `outputs.append(output); total += criterion(output, y)` whose sum is walked behind the loop.
   */
  private isKeptAnyway(store: Store, { sources }: Carried, loop: Loop): boolean {
    const { needed, reach, walkedFrom } = this.options;
    if (store.kind !== "append") return false;
    return this.stores.some((other) => {
      if (other === store || !keptForLater.has(other.kind) || !reach.isInBody(loop, other.statement))
        return false;
      if (!this.marksOf(other).some((mark) => needed.surely.has(mark))) return false;
      const kept = walkedFrom(other.value);
      return [...sources].every((source) => kept.has(source));
    });
  }

  /**
   * `codes.append(code); images.append(decode(code))` where the images go to whoever calls: their graph holds that of the
   * codes anyway.
   */
  private isPartOfWhatIsGiven(store: Store, loop: Loop): boolean {
    const { carried, flow, needed, reach } = this.options;
    if (store.kind !== "append" || store.value.kind !== "Name") return false;
    const made = (flow.reaching(store.value) ?? []).filter((one) => one !== atEntry);
    if (made.length === 0) return false;
    return this.stores.some((other) => {
      if (other === store || other.kind !== "append" || !reach.isInBody(loop, other.statement)) return false;
      if (!this.marksOf(other).some((mark) => needed.possibly.has(mark))) return false;
      if (carried.closed(other.value, other.path).graph !== "yes") return false;
      const flowing = needed.flowingInto(other.value);
      return made.every((one) => flowing.has(one));
    });
  }

  /** `with torch.no_grad(): total += loss`: the sum has no graph, whatever is added. */
  private isAddedWithoutGraph({ kind, statement }: Store): boolean {
    return (kind === "sum" || kind === "rebind") && this.options.gradientMode(statement) === "off";
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

  /** Code out of sight may need the graph of what is stored. */
  private isLeftToOthers(store: Store): boolean {
    const { needed } = this.options;
    return this.belongsToModule(store) || this.marksOf(store).some((mark) => needed.possibly.has(mark));
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
  private freedBy(store: Store, carried: Carried, loop: Loop): BackwardCall | undefined {
    const { backwards, reach } = this.options;
    const open = new Set(carried.sources);
    let freedBy: BackwardCall | undefined;
    for (const backward of backwards) {
      if (backward.retains === "yes" || !reach.runsIn(loop, backward.call)) continue;
      if (this.runsWithout(store, backward)) continue;
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

  /** `if mode == "train": loss.backward()` beside `if mode == "test": total += loss`, or in what `run("test")` calls. */
  private runsWithout({ statement, value }: Store, { call }: BackwardCall): boolean {
    const { flow, resolver, withoutBackward } = this.options;
    if (neverBoth(statement, call, resolver)) return true;
    const made =
      value.kind === "Name"
        ? (flow.reaching(value) ?? []).map((one) => (one === atEntry ? undefined : one.value))
        : [value];
    return (
      made.length > 0 &&
      made.every(
        (one) =>
          one?.kind === "Call" &&
          withoutBackward().has(one) &&
          resolver.functionOf(one) === enclosingFunction(call),
      )
    );
  }

  /** Every call for which the statement runs has turned gradients off: `with torch.no_grad(): run_epoch(loader, "test")`. */
  private isKeptWithoutGraph({ statement }: Store, loop: Loop): boolean {
    const { backwards, gradientMode, reach, resolver } = this.options;
    const owner = enclosingFunction(statement);
    if (owner?.kind !== "FunctionDefinition") return false;
    const excluded = backwards.some(
      ({ call }) => reach.runsIn(loop, call) && neverBoth(statement, call, resolver),
    );
    if (!excluded) return false;
    return !resolver
      .callsTo(owner)
      .some(
        (call) =>
          gradientMode(call) === "on" &&
          !isSkippedBy((name) => resolver.argumentOrDefault(call, owner, name), statement, resolver),
      );
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
}

function outermostLoop(node: Node): Loop | undefined {
  return [...enclosingLoops(node)].at(-1);
}
