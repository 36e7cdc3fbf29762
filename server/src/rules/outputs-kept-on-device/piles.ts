/** Lists on the GPU to which every batch adds what a model gives, until they are joined behind the loop. */
import type { Call, Expression } from "../../python/tree";
import { ancestors, enclosingFunction, enclosingLoop } from "../../python/walk";
import { gpuEvidence } from "../../torch/gpu";
import type { Store } from "../../torch/provenance";
import type { Join } from "../joined";
import type { RuleContext } from "../rule";
import { outputCall } from "./outputs";
import { outputSize } from "./size";

type Loop = NonNullable<ReturnType<typeof enclosingLoop>>;

export interface Pile {
  readonly store: Store;
  /** The call of the model. */
  readonly output: Call;
  readonly size: "large" | "unknown";
  readonly loop: Loop;
  readonly join: Call;
}

/** The pile that a store adds to, whether with a graph or without; `undefined` for what is small, moved or bounded. */
export function pileOf(context: RuleContext, store: Store, joins: readonly Join[]): Pile | undefined {
  if (store.kind !== "append" || store.how !== "append" || store.keys.length > 0) return undefined;
  const { torch } = context;
  const loop = batchLoopAround(context, store);
  if (loop === undefined || !runsEachTime(store, loop)) return undefined;
  const join = joins.find(({ key, call }) => key === store.holderKey && call.start > loop.end)?.call;
  if (join === undefined || enclosingFunction(join) !== enclosingFunction(store.statement)) return undefined;
  if (gpuEvidence(torch) === undefined) return undefined;
  const output = outputCall(torch, store.value);
  if (output === undefined || !isMadeBefore(context, store, loop)) return undefined;
  const size = outputSize(context, output);
  return size === "small" ? undefined : { store, output, size, loop, join };
}

/** The loop over a loader that the container outlives. */
function batchLoopAround({ torch }: RuleContext, store: Store): Loop | undefined {
  let loop = enclosingLoop(store.statement);
  while (loop !== undefined && !torch.trainingLoops.isBatchLoop(loop)) loop = enclosingLoop(loop);
  return loop;
}

/** Every batch adds one: what is kept under a condition, such as every 200 steps, is no pile of batches. */
function runsEachTime({ statement }: Store, loop: Loop): boolean {
  for (const at of ancestors(statement)) {
    if (at === loop) return true;
    if (at.kind === "If" || at.kind === "Match") return false;
  }
  return false;
}

/** The container begins outside the loop, and nothing in it empties or moves what it holds. */
function isMadeBefore({ torch }: RuleContext, store: Store, loop: Loop): boolean {
  const { flow } = torch.provenance;
  const inLoop = ({ start, end }: Expression): boolean => start >= loop.start && end <= loop.end;
  const definitions = flow.definitionsOf(store.holderKey);
  if (
    definitions.some(({ target, value }) => inLoop(target) || (target.start < loop.start && !isList(value)))
  )
    return false;
  // Any other use in the loop may take things out again.
  const uses = flow.readsOf(store.holderKey).filter((read) => inLoop(read));
  return uses.every((use) => use === store.holder || isAppend(use));
}

/** `[]` or `list()`: nothing that has a bound. */
function isList(value: Expression | undefined): boolean {
  if (value?.kind === "List") return true;
  return value?.kind === "Call" && value.callee.kind === "Name" && value.callee.id === "list";
}

function isAppend(use: Expression): boolean {
  const { parent } = use;
  return parent?.kind === "Attribute" && parent.attribute.id === "append";
}
