/** The call of the trained model in the loop that trains it, and the way there from where the script begins. */
import type { Call, Conditional, If, Node } from "../../python/tree";
import { walk } from "../../python/walk";
import type { ScriptForward, ScriptValue, SetupContext } from "../script-setup";
import { createGradientModes, type GradientModes } from "../provenance/gradient-mode";
import { identify, type Place, type TrainingLoop } from "../training-loop";
import { modelOf } from "./optimizer";
import { callsOn, fromTheBeginning } from "./way";

/** Helpers that are followed from the loop to the call. */
const maximalDepth = 4;

export function forwardOf(context: SetupContext): ScriptValue<ScriptForward> | undefined {
  const construction = modelOf(context)?.value.construction;
  return construction && forwardOfModel(context, construction);
}

/** The same of the model that is made here. */
export function forwardOfModel(
  context: SetupContext,
  construction: Call,
): ScriptValue<ScriptForward> | undefined {
  const { loops } = context.trainingLoops;
  const [loop] = loops;
  if (loop === undefined) return undefined;
  // Loops over different batches: which of them fills the GPU is not known.
  if (loops.some((other) => loaderKey(context, other) !== loaderKey(context, loop))) return undefined;
  const found = new ForwardFinder(context, construction).inLoop(loop);
  return found === undefined ? undefined : { value: found, span: found.call };
}

function loaderKey({ resolver }: SetupContext, { loader }: TrainingLoop): string | undefined {
  return loader === undefined ? undefined : (resolver.keyOf(loader) ?? `${loader.start}`);
}

interface FoundCall {
  readonly path: readonly Place[];
  readonly call: Call;
  /** The call or one that leads to it stands in a loop or a comprehension of the iteration. */
  readonly isRepeated: boolean;
}

class ForwardFinder {
  private readonly modes: GradientModes;
  private backwards: ReadonlySet<Node> = new Set();

  constructor(
    private readonly context: SetupContext,
    private readonly construction: Call,
  ) {
    this.modes = createGradientModes(context.resolver);
  }

  inLoop(loop: TrainingLoop): ScriptForward | undefined {
    const places = loop.backwards[0]?.places ?? [];
    const innermost = places.findLastIndex((place) => place.kind === "loop");
    const path = places.slice(0, innermost + 1);
    const region = regionOf(path);
    this.backwards = new Set(loop.backwards.map(({ node }) => node));
    const all = region === undefined ? [] : this.inRegion(region, path, 0);
    // What runs after the last backward, such as an evaluation every so many steps, belongs to no graph of this iteration.
    const found = all
      .slice(
        0,
        all.findLastIndex(({ call }) => this.backwards.has(call)),
      )
      .filter(({ call }) => !this.backwards.has(call));
    const [first] = found;
    if (first === undefined) return undefined;
    const others = found.slice(1).filter(({ call }) => !areAlternatives(first.call, call));
    return {
      ...fromTheBeginning(this.context, { root: loop.root, through: callsOn(first.path) }),
      call: first.call,
      others: others.map(({ call }) => call),
      isRepeated: found.some(({ isRepeated }) => isRepeated),
    };
  }

  /** The calls of the model that record a graph, and the backwards, in the order of the text; helpers are followed. */
  private inRegion(region: readonly Node[], path: readonly Place[], depth: number): FoundCall[] {
    const found: FoundCall[] = [];
    for (const node of region) {
      walk(node, {
        enter: (inner) => {
          if (inner.kind === "FunctionDefinition" || inner.kind === "ClassDefinition") return false;
          if (inner.kind !== "Call") return undefined;
          const calls = this.atCall(inner, path, depth);
          if (calls.length === 0) return undefined;
          const isRepeated = isRepeatedIn(inner, node);
          found.push(...calls.map((one) => (isRepeated ? { ...one, isRepeated } : one)));
          return undefined;
        },
      });
    }
    return found;
  }

  private atCall(call: Call, path: readonly Place[], depth: number): FoundCall[] {
    const { resolver } = this.context;
    if (this.backwards.has(call)) return [{ path, call, isRepeated: false }];
    if (resolver.roleOf(call.callee) === "model") {
      const { constructions } = identify(resolver, call.callee, path);
      const isTrained = constructions.has(this.construction) && this.modes.at(call) !== "off";
      return isTrained ? [{ path, call, isRepeated: false }] : [];
    }
    const target = depth < maximalDepth ? resolver.functionOf(call) : undefined;
    if (target === undefined || path.some((place) => place.kind === "call" && place.target === target))
      return [];
    return this.inRegion(target.body, [...path, { kind: "call", call, target }], depth + 1);
  }
}

/** Whether a statement may run a call more than once each time. */
export function isRepeatedIn(call: Call, statement: Node): boolean {
  for (let child: Node = call; child !== statement;) {
    const around: Node | undefined = child.parent;
    if (around === undefined) return false;
    if (around.kind === "While" || around.kind === "Comprehension" || around.kind === "Lambda") return true;
    if (around.kind === "For" && around.iterable !== child) return true;
    child = around;
  }
  return false;
}

/** Whether only one of two nodes runs: they stand in different arms of an `if`. */
function areAlternatives(one: Node, other: Node): boolean {
  for (let child = one, node = one.parent; node !== undefined; child = node, node = node.parent) {
    if (node.kind !== "If" && node.kind !== "Conditional") continue;
    const arm = armOf(node, child);
    for (let inner = other, outer = other.parent; outer !== undefined; inner = outer, outer = outer.parent) {
      if (outer === node) return arm !== undefined && arm !== armOf(node, inner);
    }
  }
  return false;
}

function armOf({ body, orelse }: If | Conditional, child: Node): "body" | "orelse" | undefined {
  const isIn = (arm: Node | readonly Node[]): boolean =>
    Array.isArray(arm) ? arm.includes(child) : arm === child;
  if (isIn(body)) return "body";
  return isIn(orelse) ? "orelse" : undefined;
}

/** The code at the end of a path: the body of its innermost loop or function. */
function regionOf(path: readonly Place[]): readonly Node[] | undefined {
  const place = path.findLast(({ kind }) => kind === "loop" || kind === "call");
  if (place?.kind === "loop") return place.node.body;
  if (place?.kind !== "call") return undefined;
  return place.target.kind === "Lambda" ? [place.target.body] : place.target.body;
}
