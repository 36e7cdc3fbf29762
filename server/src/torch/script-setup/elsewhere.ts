/**
 * The training loop of a script that another file of the workspace holds: `engine.train_one_epoch(model, …)`,
 * `Trainer(model, …).train()`. What the loop says is read in that file, with the arguments of the calls that lead there.
 */
import type { Call, FunctionDefinition, Lambda } from "../../python/tree";
import type { ImportedFunction } from "../imported";
import { callsWithin } from "../resolve-index";
import type { SetupContext } from "../script-setup";
import { enclosingFunction } from "../../python/walk";
import type { LoopNode, Place, TrainingLoop } from "../training-loop";
import { Constants } from "./constants";
import { loopOfHandedLoss } from "./handed";
import { pathTo } from "./way";

/** A call and the function that it runs. */
interface Step {
  readonly call: Call;
  readonly target: FunctionDefinition | Lambda;
}

export interface LoopElsewhere {
  /** The call in this file that leads there: the place to speak of it. */
  readonly call: Call;
  /** The steps into other files, the one out of this file first; those of the last file up to its loop are not among them. */
  readonly through: readonly Step[];
  /** What the file with the loop says; its loops are those that the steps lead to, with places from the last step on. */
  readonly context: SetupContext;
  readonly paths: readonly (readonly Place[])[];
}

/** Files that are gone through from one to the next on the way to the loop. */
const mostFiles = 3;

/** Undefined where this file has a loop of its own, and where calls lead to several different ones. */
export function loopElsewhere(context: SetupContext): LoopElsewhere | undefined {
  if (context.trainingLoops.loops.length > 0) return undefined;
  return onlyLoop(context, context.resolver.index.calls, mostFiles);
}

function onlyLoop(context: SetupContext, calls: Iterable<Call>, files: number): LoopElsewhere | undefined {
  let only: LoopElsewhere | undefined;
  for (const call of calls) {
    const imported = context.resolver.imported.functionOf(call);
    const found = imported && behind(context, call, imported, files);
    if (found === undefined) continue;
    if (only !== undefined && loopOf(only) !== loopOf(found)) return undefined;
    only ??= found;
  }
  return only;
}

function loopOf({ paths: [path = []] }: LoopElsewhere): LoopNode | undefined {
  const last = path.findLast((place) => place.kind === "loop");
  return last?.kind === "loop" ? last.node : undefined;
}

/** The loop in the function that a call runs, or in those of further files that it calls. */
function behind(
  context: SetupContext,
  call: Call,
  { definition, file }: ImportedFunction,
  files: number,
): LoopElsewhere | undefined {
  const { resolve: resolver, frameworks, trainingLoops } = file.torch;
  const step = { call, target: definition };
  const found = trainingLoops.loops.flatMap((loop) => {
    const path = pathFrom(definition, loop);
    return path === undefined ? [] : [{ loop, path }];
  });
  const there: SetupContext = {
    resolver,
    frameworks,
    trainingLoops: { ...trainingLoops, loops: found.map(({ loop }) => loop) },
    constants: new Constants(resolver, { call, target: definition, constants: context.constants }),
    trainers: context.trainers,
    deepspeed: undefined,
    elsewhere: undefined,
  };
  if (found.length > 0)
    return { call, through: [step], context: there, paths: found.map(({ path }) => path) };
  const handed = loopOfHandedLoss(resolver, definition);
  if (handed !== undefined && enclosingFunction(handed) === definition)
    return { call, through: [step], context: there, paths: [[{ kind: "loop", node: handed }]] };
  if (files <= 1) return undefined;
  const further = onlyLoop(there, callsWithin(resolver.index, definition), files - 1);
  return further && { ...further, call, through: [step, ...further.through] };
}

/** The way to a loop from the beginning of a function; undefined where it does not lead through that function. */
function pathFrom(definition: FunctionDefinition, loop: TrainingLoop): readonly Place[] | undefined {
  const path = pathTo(loop);
  if (loop.root === definition) return path;
  const entry = path.findIndex((place) => place.kind === "call" && place.target === definition);
  return entry < 0 ? undefined : path.slice(entry + 1);
}
