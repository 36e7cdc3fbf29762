/**
 * Training loops of a file: which loop repeats forward, backward and step, and what zeroes, guards and scales in it.
 * Plain data for the rules and the estimate; computed on first use, and for nothing in a file without a backward.
 */
import type { Expression, FunctionDefinition, Lambda, Node } from "../python/tree";
import { enclosingFunction } from "../python/walk";
import type { Framework, FrameworkFacts } from "./frameworks";
import type { Certainty, Resolver } from "./resolve";
import { callsWithin } from "./resolve-index";
import type { BranchPlace, LoopNode, LoopPlace, Place, TraceEvent } from "./training-loop/event";
import { Guards, type AccumulationGuard } from "./training-loop/guard";
import { isEpochLoop, loaderOf } from "./training-loop/loader";
import { Tracer, type Unit } from "./training-loop/trace";
import { weaker } from "./training-loop/classify";

export type { AccumulationGuard, GuardForm } from "./training-loop/guard";
export type { BranchPlace, LoopNode, Place, TraceEvent } from "./training-loop/event";
export { identify, modelKeys, relate, zeroingReaches } from "./training-loop/identity";

/** One loop whose iterations run a backward, seen from one place where a run of it can begin. */
export interface TrainingLoop {
  /**
   * The innermost loop that holds both backward and step; where nothing steps, the innermost around the backward. One
   * iteration is a micro-batch, or an update when there is a `microLoop`.
   */
  readonly loop: LoopNode;
  /** The loop inside `loop` that runs the backwards of one update, when there is one. */
  readonly microLoop: LoopNode | undefined;
  /** The loop around `loop`, in this function or in its caller. */
  readonly outerLoop: LoopNode | undefined;
  /** True when `loop` itself counts epochs (`for epoch in range(…)`). */
  readonly isEpochLoop: boolean;
  /** What the batches come from: `loader` in `for i, b in enumerate(tqdm(loader))` or behind `next(iterator)`. */
  readonly loader: Expression | undefined;
  /** The function in which the trace begins; `undefined` for the module's own code. */
  readonly root: FunctionDefinition | Lambda | undefined;
  /** What happens in one iteration, in the order in which it runs, helpers followed. */
  readonly events: readonly TraceEvent[];
  /** All of them, those of updates that an inner loop completes by itself included. */
  readonly backwards: readonly TraceEvent[];
  readonly steps: readonly TraceEvent[];
  readonly zeroings: readonly TraceEvent[];
  /** Code that may do anything with gradients. */
  readonly unknownCode: readonly TraceEvent[];
  /** What happens outside `loop` in the same trace: before it, after it, in loops around it. */
  readonly outside: readonly TraceEvent[];
  /** The accumulation that the loop does, and the steps under it; `undefined` when each backward is followed by its step. */
  readonly accumulation: Accumulation | undefined;
  readonly framework: Framework | undefined;
  /** The weakest evidence among backwards and steps. */
  readonly certainty: Certainty;
}

export interface Accumulation extends AccumulationGuard {
  /** The steps that wait for the guard. */
  readonly guardedSteps: readonly TraceEvent[];
  /** True when some step of the loop does not wait. */
  readonly partly: boolean;
}

/** All training loops; the same `loop` appears once for each beginning from which it is reached. */
export interface TrainingLoops {
  readonly loops: readonly TrainingLoop[];
  /** The same by `loop` node: a finding must hold in every one of a group. */
  readonly byLoop: ReadonlyMap<LoopNode, readonly TrainingLoop[]>;
  /** True for loops that run a backward in each iteration, and for loops over a loader. */
  isBatchLoop(loop: LoopNode): boolean;
  /** For other files that call a function of this one: whether it, or what it calls, may step, reset or change gradients. */
  touchesGradients(target: FunctionDefinition): boolean;
  /** The index of places at which an event lies below the loop; `undefined` when it does not. */
  placesInside(event: TraceEvent, loop: LoopNode): readonly Place[];
}

const backwardNames: readonly string[] = ["backward", "manual_backward"];

export function createTrainingLoops(resolver: Resolver, frameworkFacts: FrameworkFacts): TrainingLoops {
  const loops = hasBackward(resolver) ? findLoops(resolver, frameworkFacts) : [];
  const byLoop = groupedByLoop(loops);
  const withBackward = new Set(loops.flatMap(({ loop, microLoop }) => [microLoop ?? loop]));
  const touching = new Map<FunctionDefinition, boolean>();
  let tracer: Tracer | undefined;
  return {
    loops,
    byLoop,
    isBatchLoop: (loop) => {
      if (withBackward.has(loop)) return !isEpochLoop(loop);
      return loaderOf(resolver, loop) !== undefined;
    },
    touchesGradients: (target) => {
      const known = touching.get(target);
      if (known !== undefined) return known;
      touching.set(target, false); // files whose functions call each other
      tracer ??= new Tracer({ resolver, frameworkFacts });
      const touches = stepsBySomeName(resolver, target) || tracer.trace(target).length > 0;
      touching.set(target, touches);
      return touches;
    },
    placesInside,
  };
}

const changingNames: readonly string[] = [
  "step",
  "zero_grad",
  "backward",
  "apply",
  "register_step_post_hook",
];

/** A step of anything, whatever it is called, in the function or in those of its file that it calls. */
function stepsBySomeName(resolver: Resolver, target: FunctionDefinition): boolean {
  const { index } = resolver;
  const seen = new Set<Node>();
  const pending: Node[] = [target];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const { start, end } = at;
    const isInside = (node: Node): boolean => start <= node.start && node.end <= end;
    if (changingNames.some((name) => (index.attributesByName.get(name) ?? []).some(isInside))) return true;
    for (const call of callsWithin(index, at)) {
      const called = resolver.functionOf(call);
      if (called !== undefined) pending.push(called);
    }
  }
  return false;
}

function groupedByLoop(loops: readonly TrainingLoop[]): ReadonlyMap<LoopNode, readonly TrainingLoop[]> {
  const groups = new Map<LoopNode, TrainingLoop[]>();
  for (const loop of loops) {
    const group = groups.get(loop.loop);
    if (group === undefined) groups.set(loop.loop, [loop]);
    else group.push(loop);
  }
  return groups;
}

function hasBackward({ index }: Resolver): boolean {
  return backwardNames.some((name) => index.attributesByName.has(name));
}

function findLoops(resolver: Resolver, frameworkFacts: FrameworkFacts): TrainingLoop[] {
  const tracer = new Tracer({ resolver, frameworkFacts });
  const units = unitsWithBackward(resolver);
  for (const unit of units) tracer.trace(unit);
  const guards = new Guards(resolver, frameworkFacts);
  const found: TrainingLoop[] = [];
  for (const unit of units) {
    if (tracer.followed.has(unit)) continue;
    found.push(...loopsIn(unit, tracer.trace(unit), resolver, frameworkFacts, guards));
  }
  return found;
}

/** The functions with a backward in them, and those that may lead to one through calls (by name: more than needed). */
function unitsWithBackward({ module, index }: Resolver): Unit[] {
  const found = new Set<Unit>();
  const pending: Unit[] = [];
  const add = (node: Node): void => {
    // Nested functions may be closures of the ones around them.
    let around = enclosingFunction(node);
    while (around?.kind === "Lambda") around = enclosingFunction(around);
    const unit = around ?? module;
    if (found.has(unit)) return;
    found.add(unit);
    pending.push(unit);
  };
  for (const name of backwardNames)
    for (const attribute of index.attributesByName.get(name) ?? []) add(attribute);
  // What a name leads to is the same for all functions of that name, one another included.
  const followed = new Set<string>();
  for (let unit = pending.pop(); unit !== undefined; unit = pending.pop()) {
    if (unit.kind !== "FunctionDefinition" || followed.has(unit.name.id)) continue;
    followed.add(unit.name.id);
    for (const call of index.callsByName.get(unit.name.id) ?? []) add(call);
    // `optimizer.step(closure)`, `closure = lambda: train(x)`: used as a value.
    for (const name of index.namesById.get(unit.name.id) ?? []) if (name.parent !== unit) add(name);
  }
  return [...found].sort((a, b) => a.start - b.start);
}

function loopsIn(
  unit: Unit,
  events: readonly TraceEvent[],
  resolver: Resolver,
  frameworkFacts: FrameworkFacts,
  guards: Guards,
): TrainingLoop[] {
  const backwards = events.filter(({ kind }) => kind === "backward");
  if (backwards.length === 0) return [];
  const steps = events.filter(({ kind }) => kind === "optimizer-step");
  const groups = new Map<LoopPlace, TraceEvent[]>();
  for (const backward of backwards) {
    const place = updateLoopOf(backward, steps);
    if (place === undefined) continue;
    const group = groups.get(place);
    if (group === undefined) groups.set(place, [backward]);
    else group.push(backward);
  }
  return [...groups].map(([place, group]) =>
    trainingLoop(unit, place, group, events, resolver, frameworkFacts, guards),
  );
}

/** The innermost loop that a backward shares with a step; without such, the innermost around the backward. */
function updateLoopOf(backward: TraceEvent, steps: readonly TraceEvent[]): LoopPlace | undefined {
  let shared: LoopPlace | undefined;
  let depth = -1;
  for (const step of steps) {
    let common = 0;
    while (common < backward.places.length && backward.places[common] === step.places[common]) common++;
    for (let index = common - 1; index > depth; index--) {
      const place = backward.places[index];
      if (place?.kind !== "loop") continue;
      shared = place;
      depth = index;
      break;
    }
  }
  return shared ?? backward.places.findLast((place) => place.kind === "loop");
}

function trainingLoop(
  unit: Unit,
  place: LoopPlace,
  own: readonly TraceEvent[],
  events: readonly TraceEvent[],
  resolver: Resolver,
  frameworkFacts: FrameworkFacts,
  guards: Guards,
): TrainingLoop {
  const loop = place.node;
  const inside = events.filter(({ places }) => places.includes(place));
  const backwards = inside.filter(({ kind }) => kind === "backward");
  const steps = inside.filter(({ kind }) => kind === "optimizer-step");
  const microLoop = innerLoopOf(own, place);
  const around = own[0]?.places ?? [];
  const outer = around.slice(0, around.indexOf(place)).findLast((candidate) => candidate.kind === "loop");
  return {
    loop,
    microLoop,
    outerLoop: outer?.kind === "loop" ? outer.node : undefined,
    isEpochLoop: isEpochLoop(loop),
    loader:
      (microLoop === undefined ? undefined : loaderOf(resolver, microLoop)?.loader) ??
      loaderOf(resolver, loop)?.loader,
    root: unit.kind === "Module" ? undefined : unit,
    events: inside,
    backwards,
    steps,
    zeroings: inside.filter(({ kind }) => kind === "zeroing"),
    unknownCode: events.filter(
      (event) => event.kind === "unknown-code" && (event.of === "everything" || event.places.includes(place)),
    ),
    outside: events.filter(({ places }) => !places.includes(place)),
    accumulation: accumulationOf(place, own, backwards, steps, microLoop, guards),
    framework: frameworkOf(loop, backwards, steps, frameworkFacts),
    certainty: [...backwards, ...steps].reduce<Certainty>(
      (sum, { certainty }) => weaker(sum, certainty),
      "resolved",
    ),
  };
}

/** The loop below `place` that holds all backwards. */
function innerLoopOf(backwards: readonly TraceEvent[], place: LoopPlace): LoopNode | undefined {
  let inner: LoopNode | undefined;
  for (const { places } of backwards) {
    const found = places.slice(places.indexOf(place) + 1).findLast((candidate) => candidate.kind === "loop");
    if (found?.kind !== "loop" || (inner !== undefined && inner !== found.node)) return undefined;
    inner = found.node;
  }
  return inner;
}

function accumulationOf(
  place: LoopPlace,
  own: readonly TraceEvent[],
  backwards: readonly TraceEvent[],
  steps: readonly TraceEvent[],
  microLoop: LoopNode | undefined,
  guards: Guards,
): Accumulation | undefined {
  if (steps.length === 0) return undefined;
  const first = own[0];
  const withAccumulate = first === undefined ? undefined : guards.ofWith(first.places);
  if (withAccumulate !== undefined) return { ...withAccumulate, guardedSteps: steps, partly: false };
  const guarded: TraceEvent[] = [];
  let guard: AccumulationGuard | undefined;
  for (const step of steps) {
    const own = guardOf(step, place, backwards, steps, guards);
    if (own === undefined) continue;
    guard ??= own;
    guarded.push(step);
  }
  if (guard !== undefined) return { ...guard, guardedSteps: guarded, partly: guarded.length < steps.length };
  const micro = microLoop === undefined ? undefined : guards.ofMicroLoop(microLoop);
  return micro === undefined ? undefined : { ...micro, guardedSteps: steps, partly: false };
}

/** The condition on a step's path that lets several backwards pass before it. */
function guardOf(
  step: TraceEvent,
  place: LoopPlace,
  backwards: readonly TraceEvent[],
  steps: readonly TraceEvent[],
  guards: Guards,
): AccumulationGuard | undefined {
  for (const arm of step.places.slice(step.places.indexOf(place) + 1)) {
    if (arm.kind !== "branch") continue;
    const within = backwards.filter(({ places }) => places.includes(arm));
    const elsewhere = backwards.filter((backward) => !within.includes(backward));
    if (elsewhere.length === 0) continue;
    // A backward of its own inside the arm: that update is complete there, unless the other arm only accumulates.
    if (within.length > 0 && !elsewhere.every((backward) => accumulatesInOtherArm(backward, arm, steps)))
      continue;
    const guard = guards.ofBranch(arm, place.node);
    if (guard !== undefined) return guard;
  }
  return undefined;
}

function accumulatesInOtherArm(
  backward: TraceEvent,
  arm: BranchPlace,
  steps: readonly TraceEvent[],
): boolean {
  const isOther = (place: Place): boolean =>
    place.kind === "branch" && place.node === arm.node && place.taken !== arm.taken;
  return backward.places.some(isOther) && !steps.some(({ places }) => places.some(isOther));
}

function frameworkOf(
  loop: LoopNode,
  backwards: readonly TraceEvent[],
  steps: readonly TraceEvent[],
  frameworkFacts: FrameworkFacts,
): Framework | undefined {
  for (const { through } of [...backwards, ...steps]) {
    if (through !== undefined && through !== "unknown") return through;
  }
  return frameworkFacts.around(loop);
}

function placesInside(event: TraceEvent, loop: LoopNode): readonly Place[] {
  const index = event.places.findLastIndex((place) => place.kind === "loop" && place.node === loop);
  return event.places.slice(index + 1);
}
