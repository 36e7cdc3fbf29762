/** Ways through a script: from where it begins to a node, and along the places of a training loop. */
import type { Call, FunctionDefinition, Lambda, Node } from "../../python/tree";
import { enclosingFunction } from "../../python/walk";
import type { ScriptStep, ScriptWay, SetupContext } from "../script-setup";
import type { Place, TrainingLoop } from "../training-loop";
import { launchOf } from "./launch";

/** Callers that are followed from a node to where the script begins. */
const maximalDepth = 4;

/** Where the script begins, and the calls that lead to a node; a function with several callers is a beginning itself. */
export function wayTo({ resolver }: Pick<SetupContext, "resolver">, node: Node): ScriptWay {
  const through: ScriptStep[] = [];
  let at = node;
  for (let depth = 0; depth < maximalDepth; depth++) {
    const around = enclosingFunction(at);
    if (around === undefined) return { root: undefined, through };
    const [caller, other] = around.kind === "FunctionDefinition" ? resolver.sureCallsTo(around) : [];
    const launched =
      caller === undefined && around.kind === "FunctionDefinition" ? launchOf(resolver, around) : undefined;
    const call = caller ?? launched?.call;
    if (call === undefined || other !== undefined) return { root: around, through };
    through.unshift({ call, target: around, launch: launched?.launch });
    at = call;
  }
  return { root: enclosingFunction(at), through };
}

/** A way that begins in a function, from where the script begins. */
export function fromTheBeginning(context: Pick<SetupContext, "resolver">, way: ScriptWay): ScriptWay {
  const [first] = way.root?.kind === "FunctionDefinition" ? way.root.body : [];
  if (first === undefined) return way;
  const before = wayTo(context, first);
  return { root: before.root, through: [...before.through, ...way.through] };
}

/** The way to the loop of an update, that loop included. */
export function pathTo({ loop, backwards }: TrainingLoop): readonly Place[] {
  const places = backwards[0]?.places ?? [];
  return places.slice(0, places.findIndex((place) => place.kind === "loop" && place.node === loop) + 1);
}

type CallPlace = Place & { readonly kind: "call" };

export function callsOn(path: readonly Place[]): { call: Call; target: FunctionDefinition | Lambda }[] {
  return path
    .filter((place): place is CallPlace => place.kind === "call")
    .map(({ call, target }) => ({ call, target }));
}
