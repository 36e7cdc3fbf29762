/**
 * What a LightningModule keeps of its training steps in attributes of its own: the framework's loop, which no file shows,
 * calls the hook for each batch. Quiet where anything in the file empties the attribute, whoever owns it there.
 */
import type { ClassDefinition, Expression, FunctionDefinition, Node } from "../../python/tree";
import { ancestors, enclosingStatement, someNode } from "../../python/walk";
import { clearingMethods } from "../api-graph";
import type { FrameworkFacts } from "../frameworks";
import { frameworkHookAround } from "../frameworks/batch-hooks";
import type { Resolver } from "../resolve";
import { enclosingClass } from "../resolve-index";
import type { CarriedValues } from "./carried";
import type { Flow } from "./flow";
import type { Freed, KeptValue } from "./kept";
import { isPlain } from "./plain-values";
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
  if (!growsInSelf(store, options) || isConditional(store, hook)) return undefined;
  if (hasOtherBases(owner, resolver) || isEmptied(store, resolver)) return undefined;
  const value = carried.closed(store.value, store.path);
  if (value.graph !== "yes") return undefined;
  const freedBy = freedIn(hook, value.sources, owner, options);
  return freedBy && { store, value: store.value, carried: value, loop: hook, through: undefined, freedBy };
}

/** `self.losses.append(v)`, `self.total += v`, where `__init__` makes a plain list, dictionary or number of it. */
function growsInSelf({ kind, holder, holderKey }: Store, { resolver, flow }: HookOptions): boolean {
  if (kind === "subscript" || kind === "handed" || holder.kind !== "Attribute") return false;
  if (holder.object.kind !== "Name" || holder.object.id !== "self") return false;
  const made = flow.definitionsOf(holderKey).filter(({ node }) => isIn("__init__", node));
  return made.length > 0 && made.every(({ value }) => value !== undefined && isEmptyStart(value, resolver));
}

function isEmptyStart(value: Expression, resolver: Resolver): boolean {
  if (/^(List|Dict|Integer|Float)$/.test(value.kind)) return true;
  const name = value.kind === "Call" ? resolver.qualifiedName(value.callee) : undefined;
  return name !== undefined && /^(builtins\.(list|dict)|collections\.defaultdict)$/.test(name);
}

/** `if batch_idx == 0:`, `if len(self.examples) < 8:`: not each batch. */
function isConditional({ statement }: Store, hook: FunctionDefinition): boolean {
  for (const at of ancestors(statement)) {
    if (at === hook) return false;
    if (at.kind === "If" || at.kind === "Try" || at.kind === "While") return true;
  }
  return true;
}

/** A base class of the user's own, here or in another file, may empty what it does not show. */
function hasOtherBases(owner: ClassDefinition, resolver: Resolver): boolean {
  return owner.bases.some((base) => {
    const name = resolver.qualifiedName(base);
    return name === undefined || !/^(lightning|pytorch_lightning)\./.test(name);
  });
}

function isEmptied(store: Store, resolver: Resolver): boolean {
  if (store.holder.kind !== "Attribute") return true;
  const attribute = store.holder.attribute.id;
  return (resolver.index.attributesByName.get(attribute) ?? []).some((node) => {
    if (node.end <= store.statement.end && node.start >= store.statement.start) return false;
    return empties(node);
  });
}

/** `self.losses.clear()`, `del self.losses[:]`, `self.losses = []` and `module.losses["a"] = []`. */
function empties(attribute: Node): boolean {
  let at: Node = attribute;
  while (at.parent?.kind === "Subscript" && at.parent.object === at) at = at.parent;
  const { parent } = at;
  const statement = enclosingStatement(at);
  if (statement?.kind === "Delete") return true;
  if (parent?.kind === "Attribute" && clearingMethods.has(parent.attribute.id)) return true;
  if (parent?.kind === "Call" && parent.callee !== at) return false;
  if (statement?.kind !== "Assign" || isIn("__init__", at)) return false;
  return statement.targets.some((target) => someNode(target, (node) => node === attribute));
}

function isIn(method: string, node: Node): boolean {
  for (const at of ancestors(node)) if (at.kind === "FunctionDefinition") return at.name.id === method;
  return false;
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
