/** The call of the trained model in the loop that trains it, and the way there from where the script begins. */
import type { Call, FunctionDefinition, Lambda, Node } from "../../python/tree";
import { walk } from "../../python/walk";
import type { ScriptForward, ScriptValue, SetupContext } from "../script-setup";
import { identify, type Place, type TrainingLoop } from "../training-loop";
import { modelOf } from "./optimizer";

/** Helpers that are followed from the loop to the call. */
const maximalDepth = 4;

type CallPlace = Place & { readonly kind: "call" };

export function forwardOf(context: SetupContext): ScriptValue<ScriptForward> | undefined {
  const model = modelOf(context)?.value;
  const { loops } = context.trainingLoops;
  const [loop] = loops;
  if (loop === undefined || model?.construction === undefined) return undefined;
  // Loops over different batches: which of them fills the GPU is not known.
  if (loops.some((other) => loaderKey(context, other) !== loaderKey(context, loop))) return undefined;
  const found = new ForwardFinder(context, model.construction).inLoop(loop);
  return found === undefined ? undefined : { value: found, span: found.call };
}

function loaderKey({ resolver }: SetupContext, { loader }: TrainingLoop): string | undefined {
  return loader === undefined ? undefined : (resolver.keyOf(loader) ?? `${loader.start}`);
}

class ForwardFinder {
  constructor(
    private readonly context: SetupContext,
    private readonly construction: Call,
  ) {}

  inLoop(loop: TrainingLoop): ScriptForward | undefined {
    const places = loop.backwards[0]?.places ?? [];
    const outermost = places.findLastIndex((place) => place.kind === "loop");
    // The helper that holds the backward first, then the loop that calls it.
    for (let end = places.length; end > outermost; end--) {
      const place = places[end - 1];
      if (end < places.length && place?.kind !== "loop" && place?.kind !== "call") continue;
      const path = places.slice(0, end);
      const region = regionOf(path);
      const found = region === undefined ? undefined : this.inRegion(region, path, 0);
      if (found === undefined) continue;
      return { root: loop.root, through: callsOn(found.path), call: found.call };
    }
    return undefined;
  }

  /** The first call of the model, in the order of the text; helpers of the file are followed. */
  private inRegion(
    region: readonly Node[],
    path: readonly Place[],
    depth: number,
  ): { readonly path: readonly Place[]; readonly call: Call } | undefined {
    let found: { readonly path: readonly Place[]; readonly call: Call } | undefined;
    for (const node of region) {
      walk(node, {
        enter: (inner) => {
          if (found !== undefined || inner.kind === "FunctionDefinition" || inner.kind === "ClassDefinition")
            return false;
          if (inner.kind === "Call") found = this.atCall(inner, path, depth);
          return undefined;
        },
      });
    }
    return found;
  }

  private atCall(call: Call, path: readonly Place[], depth: number) {
    const { resolver } = this.context;
    if (resolver.roleOf(call.callee) === "model") {
      const { constructions } = identify(resolver, call.callee, path);
      return constructions.has(this.construction) ? { path, call } : undefined;
    }
    const target = depth < maximalDepth ? resolver.functionOf(call) : undefined;
    if (target === undefined || path.some((place) => place.kind === "call" && place.target === target))
      return undefined;
    return this.inRegion(target.body, [...path, { kind: "call", call, target }], depth + 1);
  }
}

/** The code at the end of a path: the body of its innermost loop or function. */
function regionOf(path: readonly Place[]): readonly Node[] | undefined {
  const place = path.findLast(({ kind }) => kind === "loop" || kind === "call");
  if (place?.kind === "loop") return place.node.body;
  if (place?.kind !== "call") return undefined;
  return place.target.kind === "Lambda" ? [place.target.body] : place.target.body;
}

function callsOn(path: readonly Place[]): { call: Call; target: FunctionDefinition | Lambda }[] {
  return path
    .filter((place): place is CallPlace => place.kind === "call")
    .map(({ call, target }) => ({ call, target }));
}
