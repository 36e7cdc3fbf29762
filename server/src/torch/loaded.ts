/**
 * What becomes of a checkpoint that `torch.load` gives: which `load_state_dict` it reaches, and whether anything else is
 * done with its tensors. Followed through variables, attributes, keys, renamed copies and functions of this file.
 */
import type { Call, Expression, FunctionDefinition, Name, Node } from "../python/tree";
import { enclosingFunction } from "../python/walk";
import type { Resolver } from "./resolve";

export interface LoadedCheckpoint {
  /** Calls of `load_state_dict` that copy the loaded tensors into a model, in source order. */
  readonly copies: readonly Call[];
  /**
   * Calls of `load_state_dict` of optimizers. Those take over what lies on the device of their parameters already, without
   * a copy (torch/optim/optimizer.py, `_process_value_according_to_param_policy`).
   */
  readonly takenOver: readonly Call[];
  /** True when the rest of the loaded value is read for plain values only (`epoch`, `args`): no tensor of it is used. */
  readonly onlyCopied: boolean;
  /** The variables that hold all of it, as their first binding writes them. */
  readonly holders: readonly Expression[];
}

/** Keys under which training scripts keep what is no tensor. */
const plainKey =
  /^(\w*(epoch|step|iter(ation)?s?|args|config|cfg|opts?|options|hparams|hyper_?parameters|hyper_params|params|kwargs|settings|version|vocab\w*|classes|names?|seed|date|time|fitness|arch|best\w*|loss\w*|acc\w*|lr|ckpt_path|score|metrics?|history|global_step|word_map|tokenizer)\d*)$/i;
/** Objects whose state is made of numbers. */
const plainStateOwner =
  /sched|scaler|sampler|loader|early|stopper|tracker|logger|meter|history|timer|loop$|progress|callback|trainer/i;
/** Functions that hand a state dict on with other keys. */
const renaming = /strip|convert|remove|clean|rename|fix|unwrap|remap|filter|match|intersect/i;
const maximalSteps = 200;

/** Follows the value of a `torch.load` call. */
export function followLoaded(resolver: Resolver, load: Call): LoadedCheckpoint {
  const copies = new Set<Call>();
  const holders: Expression[] = [];
  let onlyCopied = true;
  const seen = new Set<Node>();
  const pending: { readonly value: Expression; readonly whole: boolean }[] = [{ value: load, whole: true }];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (seen.has(at.value)) continue;
    seen.add(at.value);
    if (seen.size > maximalSteps) return { copies: [], takenOver: [], onlyCopied: false, holders };
    const use = useOf(resolver, at.value);
    if (use.copy) copies.add(use.copy);
    if (use.holder && at.whole) holders.push(use.holder);
    if (!use.understood) onlyCopied = false;
    for (const value of use.next) pending.push({ value, whole: at.whole && use.keepsWhole });
  }
  const sinks = [...copies].sort((a, b) => a.start - b.start);
  return {
    copies: sinks.filter((sink) => !isOfOptimizer(resolver, sink)),
    takenOver: sinks.filter((sink) => isOfOptimizer(resolver, sink)),
    onlyCopied,
    holders,
  };
}

function isOfOptimizer(resolver: Resolver, { callee }: Call): boolean {
  if (callee.kind !== "Attribute") return false;
  const role = resolver.roleOf(callee.object);
  if (role !== undefined) return role === "optimizer";
  const name = callee.object.kind === "Attribute" ? callee.object.attribute.id : calleeName(callee.object);
  return /optim|(^|_)opt(_|$)/i.test(name);
}

interface Use {
  readonly next: readonly Expression[];
  readonly understood: boolean;
  readonly keepsWhole: boolean;
  readonly copy?: Call;
  readonly holder?: Expression;
}

const harmless: Use = { next: [], understood: true, keepsWhole: false };
const unknown: Use = { next: [], understood: false, keepsWhole: false };

function passedOn(next: readonly Expression[], more: Partial<Use> = {}): Use {
  return { next, understood: true, keepsWhole: true, ...more };
}

function useOf(resolver: Resolver, value: Expression): Use {
  const { parent } = value;
  switch (parent?.kind) {
    case "Assign":
      return parent.value === value ? boundTo(resolver, parent.targets) : unknown;
    case "AnnotatedAssign":
      return parent.value === value ? boundTo(resolver, [parent.target]) : unknown;
    case "NamedExpression":
      return passedOn([parent, ...readsOf(resolver, parent.target)], { holder: parent.target });
    case "Conditional":
      return parent.test === value ? harmless : passedOn([parent]);
    case "BooleanOperation":
      return passedOn([parent]);
    case "Comparison":
    case "Delete":
    case "ExpressionStatement":
    case "Assert":
    case "If":
      return harmless;
    case "For":
      return harmless; // over the keys; what is done with them shows by itself
    case "Comprehension":
      return ofClause(parent, value);
    case "Subscript":
      return ofSubscript(parent, value);
    case "Attribute":
      return ofMethod(parent, value);
    case "Call":
      return ofArgument(resolver, parent, value);
    case "Return": {
      const owner = enclosingFunction(parent);
      return owner?.kind === "FunctionDefinition" ? passedOn(resolver.callsTo(owner)) : unknown;
    }
    case "Dict":
      return isSpread(parent.entries, value) ? passedOn([parent]) : unknown;
    default:
      return unknown;
  }
}

function boundTo(resolver: Resolver, targets: readonly Expression[]): Use {
  const next: Expression[] = [];
  let understood = true;
  let holder: Expression | undefined;
  for (const target of targets) {
    if (target.kind === "Name" || target.kind === "Attribute") {
      holder ??= target;
      next.push(...readsOf(resolver, target));
    } else understood = false;
  }
  return { next, understood, keepsWhole: true, ...(holder ? { holder } : {}) };
}

function readsOf(resolver: Resolver, target: Expression): readonly Expression[] {
  if (target.kind === "Name") return readsOfName(resolver, target);
  if (target.kind !== "Attribute") return [];
  const key = resolver.keyOf(target);
  if (key === undefined) return [];
  return (resolver.index.attributesByName.get(target.attribute.id) ?? []).filter(
    (one) => one !== target && !isTarget(one) && resolver.keyOf(one) === key,
  );
}

/** Reads behind the binding: the same name before it holds something else. */
function readsOfName({ scopes }: Resolver, target: Name): readonly Expression[] {
  const scope = scopes.lookup(target)[0]?.scope;
  if (scope === undefined) return [];
  const around = enclosingFunction(target);
  return scopes
    .referencesTo(scope, target.id)
    .filter((name) => enclosingFunction(name) !== around || name.start > target.start);
}

function isTarget(expression: Expression): boolean {
  const { parent } = expression;
  return parent?.kind === "Assign" && parent.targets.includes(expression);
}

/** `{k: v for k, v in loaded.items()}`: a renamed copy that holds the same tensors. */
function ofClause(comprehension: Extract<Node, { kind: "Comprehension" }>, value: Expression): Use {
  const isSource = comprehension.clauses.some(({ iterable }) => iterable === value);
  if (!isSource)
    return comprehension.clauses.some(({ conditions }) => conditions.includes(value)) ? harmless : unknown;
  const { element } = comprehension;
  return comprehension.flavour === "dict" && element.kind === "Name"
    ? passedOn([comprehension])
    : { ...passedOn([comprehension]), understood: false };
}

function ofSubscript(subscript: Extract<Node, { kind: "Subscript" }>, value: Expression): Use {
  if (subscript.object !== value) return harmless;
  if (isTarget(subscript) || subscript.parent?.kind === "Delete") return harmless;
  const { index } = subscript;
  if (index.kind === "String" && plainKey.test(index.value ?? "")) return harmless;
  return passedOn([subscript], { keepsWhole: false });
}

/** `loaded.get("model")`, `loaded.items()`, `loaded.keys()`. */
function ofMethod(attribute: Extract<Node, { kind: "Attribute" }>, value: Expression): Use {
  const call = attribute.parent;
  if (attribute.object !== value || call?.kind !== "Call" || call.callee !== attribute) return unknown;
  switch (attribute.attribute.id) {
    case "get":
    case "pop": {
      const [key] = call.positional;
      if (key?.kind === "String" && plainKey.test(key.value ?? "")) return harmless;
      return passedOn([call], { keepsWhole: false });
    }
    case "items":
      return passedOn([call], { keepsWhole: false });
    case "copy":
      return passedOn([call]);
    case "keys":
    case "update":
      return harmless;
    default:
      return unknown;
  }
}

function ofArgument(resolver: Resolver, call: Call, value: Expression): Use {
  if (call.callee === value) return unknown;
  if (call.callee.kind === "Attribute" && call.callee.attribute.id === "load_state_dict")
    return ofLoadStateDict(resolver, call);
  const name = resolver.qualifiedName(call.callee);
  if (name !== undefined) {
    if (/^(builtins\.dict|collections\.OrderedDict|copy\.(deep)?copy)$/.test(name)) return passedOn([call]);
    return /^builtins\.(print|len|isinstance|type|list|sorted|str|id)$/.test(name) ? harmless : unknown;
  }
  const target = resolver.functionOf(call);
  if (target !== undefined) {
    const parameter = parameterFor(resolver, call, target, value);
    return parameter === undefined ? unknown : passedOn(readsOfName(resolver, parameter));
  }
  const called = call.callee.kind === "Attribute" ? call.callee.attribute.id : calleeName(call.callee);
  return renaming.test(called) ? { ...passedOn([call]), understood: false } : unknown;
}

function calleeName(callee: Expression): string {
  return callee.kind === "Name" ? callee.id : "";
}

/** With `assign=True` the loaded tensors become the model's own: nothing is there twice. */
function ofLoadStateDict(resolver: Resolver, call: Call): Use {
  if (call.callee.kind !== "Attribute") return unknown;
  const owner = call.callee.object;
  const role = resolver.roleOf(owner);
  if (role === "scheduler" || role === "scaler" || role === "loader") return harmless;
  const name = owner.kind === "Attribute" ? owner.attribute.id : calleeName(owner);
  if (role !== "model" && role !== "optimizer" && plainStateOwner.test(name)) return harmless;
  const assign = call.keywords.find((keyword) => keyword.name.id === "assign")?.value;
  if (assign !== undefined && !(assign.kind === "Boolean" && !assign.value)) return unknown;
  return { ...harmless, copy: call };
}

function parameterFor(
  resolver: Resolver,
  call: Call,
  target: FunctionDefinition,
  value: Expression,
): Name | undefined {
  return target.parameters.find(({ name }) => resolver.argumentFor(call, target, name.id) === value)?.name;
}

function isSpread(
  entries: readonly { readonly key: unknown; readonly value: Expression }[],
  value: Expression,
): boolean {
  return entries.some((entry) => entry.key === undefined && entry.value === value);
}
