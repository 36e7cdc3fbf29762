/** Lists on the GPU to which every batch adds what a model gives, until they are joined behind the loop. */
import { lastName } from "../../python/last-name";
import type { Call, Expression, Return } from "../../python/tree";
import { ancestors, enclosingFunction, enclosingLoop } from "../../python/walk";
import type { TorchFacts } from "../../torch/facts";
import { gpuEvidence } from "../../torch/gpu";
import type { Store } from "../../torch/provenance";
import { forwardReceiver } from "../../torch/provenance/shapes";
import { staysOnCpu } from "../../torch/stays-on-cpu";
import type { Join } from "../joined";
import type { RuleContext } from "../rule";
import { featureNames, outputOf } from "./outputs";
import { outputSize } from "./size";

type Loop = NonNullable<ReturnType<typeof enclosingLoop>>;

export interface Pile {
  readonly store: Store;
  /** The call of the model. */
  readonly output: Call;
  readonly size: "large" | "unknown";
  readonly loop: Loop;
  /** What makes one tensor of all, or hands them out as they are. */
  readonly end: Call | Return;
}

/** The pile that a store adds to, whether with a graph or without; `undefined` for what is small, moved or bounded. */
export function pileOf(context: RuleContext, store: Store, joins: readonly Join[]): Pile | undefined {
  if (store.kind !== "append" || store.how !== "append" || store.keys.length > 1) return undefined;
  const { torch } = context;
  if (!mayEnd(context, store, joins)) return undefined;
  const loop = batchLoopAround(context, store);
  if (loop === undefined || !runsEachTime(store, loop)) return undefined;
  const end = joinBehind(store, loop, joins) ?? returnBehind(context, store, loop);
  if (end === undefined || enclosingFunction(end) !== enclosingFunction(store.statement)) return undefined;
  if (gpuEvidence(torch) === undefined) return undefined;
  const output = outputOf(torch, store.value);
  if (output === undefined || !isMadeBefore(context, store, loop)) return undefined;
  const size = output.sizedBy === undefined ? "unknown" : outputSize(context, output.sizedBy);
  if (staysOnCpu(torch, forwardReceiver(output.call))) return undefined;
  // What nobody joins is known to be tensors by what it is called, or by the model.
  if (end.kind === "Return" && size === "unknown" && !featureNames.test(lastName(store.holder) ?? ""))
    return undefined;
  return size === "small" ? undefined : { store, output: output.call, size, loop, end };
}

/** Whether anything joins or returns what is stored: told before anybody asks what the loop runs over. */
function mayEnd({ torch }: RuleContext, store: Store, joins: readonly Join[]): boolean {
  const innermost = enclosingLoop(store.statement);
  if (innermost === undefined) return false;
  return joinBehind(store, innermost, joins) !== undefined || returnsOf(torch, store, innermost).length > 0;
}

function joinBehind(store: Store, loop: Loop, joins: readonly Join[]): Call | undefined {
  const inPart = store.keys.length > 0;
  return joins.find(
    ({ key, call, ofPart }) => key === store.holderKey && ofPart === inPart && call.start > loop.end,
  )?.call;
}

/** The first of those, where nothing binds the list anew on the way. */
function returnBehind({ torch }: RuleContext, store: Store, loop: Loop): Return | undefined {
  const [first] = returnsOf(torch, store, loop);
  if (first === undefined) return undefined;
  const definitions = torch.provenance.flow.definitionsOf(store.holderKey);
  return definitions.some(({ target }) => target.start > loop.end) ? undefined : first;
}

/** `return features`, `return features, labels` of the list that the loop filled. */
function returnsOf(torch: TorchFacts, store: Store, loop: Loop): Return[] {
  const owner = enclosingFunction(store.statement);
  if (owner?.kind !== "FunctionDefinition" || store.holder.kind !== "Name" || store.keys.length > 0)
    return [];
  const { resolve } = torch;
  const returns = resolve.index.returns.get(owner) ?? [];
  if (returns.some(({ kind }) => kind === "Yield")) return [];
  return returns.filter((one): one is Return => {
    if (one.kind !== "Return" || one.start < loop.end || one.value === undefined) return false;
    const given = one.value.kind === "Tuple" ? one.value.elements : [one.value];
    return given.some((value) => resolve.keyOf(value) === store.holderKey);
  });
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
function isMadeBefore(context: RuleContext, store: Store, loop: Loop): boolean {
  const { flow } = context.torch.provenance;
  const inLoop = ({ start, end }: Expression): boolean => start >= loop.start && end <= loop.end;
  const definitions = flow.definitionsOf(store.holderKey);
  if (
    definitions.some(
      ({ target, value }) =>
        inLoop(target) || (target.start < loop.start && !isEmptyStart(context, store, value)),
    )
  )
    return false;
  // Any other use in the loop may take things out again.
  const uses = flow.readsOf(store.holderKey).filter((read) => inLoop(read));
  return uses.every((use) => use === store.holder || isAppend(use));
}

/** Nothing that has a bound: a list, or lists by name or number where the store goes into one of those. */
function isEmptyStart({ torch }: RuleContext, { keys }: Store, value: Expression | undefined): boolean {
  if (keys.length === 0) return isList(value);
  switch (value?.kind) {
    case "Dict":
      return value.entries.every((entry) => isList(entry.value));
    case "List":
      return value.elements.every((element) => isList(element));
    case "Comprehension":
      return isList(value.element);
    case "Call": {
      const made = torch.resolve.qualifiedName(value.callee) === "collections.defaultdict";
      const [factory] = value.positional;
      return made && factory?.kind === "Name" && factory.id === "list";
    }
    default:
      return false;
  }
}

/** `[]` or `list()`. */
function isList(value: Expression | undefined): boolean {
  if (value?.kind === "List") return true;
  return value?.kind === "Call" && value.callee.kind === "Name" && value.callee.id === "list";
}

/** `outputs.append(…)`, `outputs["x"].append(…)`. */
function isAppend(use: Expression): boolean {
  let at = use;
  while (at.parent?.kind === "Subscript" && at.parent.object === at) at = at.parent;
  return at.parent?.kind === "Attribute" && at.parent.attribute.id === "append";
}
