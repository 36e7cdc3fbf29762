/**
 * What a LightningModule keeps of its training steps in attributes of its own: the framework's loop, which no file shows,
 * calls the hook for each batch. Quiet where anything in the file empties the attribute, whoever owns it there.
 */
import type { ClassDefinition, Expression, FunctionDefinition, Node } from "../../python/tree";
import type { FrameworkFacts } from "../frameworks";
import { frameworkHookAround } from "../frameworks/batch-hooks";
import type { Resolver } from "../resolve";
import { enclosingClass } from "../resolve-index";
import type { CarriedValues } from "./carried";
import type { Flow } from "./flow";
import type { Freed, KeptValue } from "./kept";
import { isPlain } from "./plain-values";
import { growsInSelf, hasOtherBases, isConditional, isEmptied } from "./self-stores";
import type { BackwardCall } from "./sinks";
import type { Store } from "./stores";

export interface HookOptions {
  readonly resolver: Resolver;
  readonly flow: Flow;
  readonly carried: CarriedValues;
  readonly frameworks: FrameworkFacts;
  readonly backwards: readonly BackwardCall[];
  /** Every call that began a part of the graph that a backward of the value walks. */
  readonly walkedFrom: (value: Expression) => ReadonlySet<Node>;
}

/**
 * Values that `training_step` puts into `self` and whose graph the backward of the same step frees: the script's own with
 * manual optimization, else Lightning's of the returned loss (lightning/pytorch/loops/optimization/automatic.py).
 */
export function keptInHooks(stores: readonly Store[], options: HookOptions): KeptValue[] {
  return stores.flatMap((store) => keptOf(store, options) ?? []);
}

function keptOf(store: Store, options: HookOptions): KeptValue | undefined {
  const { resolver, carried, frameworks } = options;
  const hook = resolver.enclosingFunction(store.statement);
  if (hook?.kind !== "FunctionDefinition" || hook.name.id !== "training_step") return undefined;
  const owner = enclosingClass(hook);
  if (owner === undefined || isPlain(store.value, resolver)) return undefined;
  if (frameworkHookAround({ resolve: resolver, frameworks }, hook) === undefined) return undefined;
  if (!growsInSelf(store, resolver, options.flow) || isConditional(store.statement, hook)) return undefined;
  if (hasOtherBases(owner, resolver) || isEmptied(store, resolver)) return undefined;
  const value = carried.closed(store.value, store.path);
  if (value.graph !== "yes") return undefined;
  const freedBy = freedIn(hook, value.sources, owner, options);
  return freedBy && { store, value: store.value, carried: value, loop: hook, through: undefined, freedBy };
}

function freedIn(
  hook: FunctionDefinition,
  sources: ReadonlySet<Node>,
  owner: ClassDefinition,
  { resolver, walkedFrom, frameworks, backwards }: HookOptions,
): Freed | undefined {
  const walks = (value: Expression): boolean => {
    const walked = walkedFrom(value);
    return [...sources].every((source) => walked.has(source));
  };
  if (frameworks.ofClass(owner)?.name === "lightning-manual") {
    return backwards.find(
      ({ call, values, retains }) =>
        retains === "no" && resolver.enclosingFunction(call) === hook && values.some(walks),
    );
  }
  for (const { value } of resolver.index.returns.get(hook) ?? []) {
    const loss = value && lossOf(value);
    if (loss && walks(loss)) return { returned: loss };
  }
  return undefined;
}

/** `loss` of `return loss` and of `return {"loss": loss, …}`. */
function lossOf(returned: Expression): Expression | undefined {
  if (returned.kind !== "Dict") return returned;
  return returned.entries.find(({ key }) => key?.kind === "String" && key.value === "loss")?.value;
}
