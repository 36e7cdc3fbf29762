/**
 * Which models the optimizers of a file train. For rules that say "no optimizer owns this model" or "this step is the
 * discriminator's": whatever is not understood may be owned, and one optimizer of unknown parameters makes everything
 * unknown.
 */
import { lastName } from "../python/last-name";
import { FileMemo } from "../python/file-memo";
import { isOnlyBoundBy } from "../python/scope";
import type { Attribute, Call, Expression, Node } from "../python/tree";
import { forEachChild } from "../python/walk";
import { isOptimizer } from "./api-kinds";
import type { TorchFacts } from "./facts";
import { ownOptimizerOf } from "./own-optimizers";
import type { Resolver } from "./resolve";

export type Owner = "owned" | "not-owned" | "unknown";

/** What one optimizer is given; `undefined` where that cannot be read. */
type Parameters = ReadonlySet<string> | undefined;

export interface Ownership {
  /** Whether any optimizer of the file trains the model, or a part of it, or something that holds it. */
  ownerOf(model: Expression): Owner;
  /** Whether the optimizer (`optimizer_d`, `self.optimizers["d"]` is not understood) trains the model. */
  owns(optimizer: Expression, model: Expression): Owner;
}

/** Made once a file. */
export function modelOwnership(torch: TorchFacts): Ownership {
  return known.of(torch.module, () => new FileOwnership(torch));
}

const known = new FileMemo<Ownership>();

/** Nobody chains more aliases than this. */
const maximalSteps = 200;

class FileOwnership implements Ownership {
  private all: Parameters | "not read" = "not read";
  private readonly byConstruction = new Map<Call, Parameters>();

  constructor(private readonly torch: TorchFacts) {}

  ownerOf(model: Expression): Owner {
    if (ownOptimizerOf(this.torch, model) === "may step") return "owned";
    if (this.all === "not read") this.all = this.ofAllOptimizers();
    return this.ownerAmong(this.all, model);
  }

  owns(optimizer: Expression, model: Expression): Owner {
    const { resolve } = this.torch;
    const makers = new Set<Call>();
    for (const value of this.upstream(optimizer)) {
      if (value.kind === "Call" && this.makesOptimizer(value)) makers.add(value);
    }
    const construction = resolve.objectOf(optimizer)?.construction;
    if (construction && this.makesOptimizer(construction)) makers.add(construction);
    if (makers.size === 0) return "unknown";
    const sets = [...makers, ...this.additions()].map((maker) => this.parametersOf(maker));
    return this.ownerAmong(united(sets), model);
  }

  private ownerAmong(owned: Parameters, model: Expression): Owner {
    if (owned === undefined) return "unknown";
    const keys = this.keysOf(model);
    if (keys.size === 0) return "unknown";
    for (const key of keys) {
      for (const one of owned) {
        if (key === one || key.startsWith(`${one}.`) || one.startsWith(`${key}.`)) return "owned";
      }
    }
    return this.mayBeTrainedElsewhere(model) ? "unknown" : "not-owned";
  }

  /** Made by another file that makes optimizers too. */
  private mayBeTrainedElsewhere(model: Expression): boolean {
    const { imported } = this.torch.resolve;
    return [...this.upstream(model)].some((one) =>
      imported
        .variablesNamed(one)
        .some(({ file: { torch } }) =>
          torch.resolve.index.calls.some((call) => makesOptimizer(torch.resolve, call)),
        ),
    );
  }

  /** What all optimizers of the file train together; unknown without one, and as soon as one is not understood. */
  private ofAllOptimizers(): Parameters {
    const { resolve } = this.torch;
    const makers = resolve.index.calls.filter((call) => this.makesOptimizer(call));
    let isOfModels = false;
    for (const step of resolve.index.callsByName.get("step") ?? []) {
      if (step.callee.kind !== "Attribute") continue;
      const receiver = step.callee.object;
      const role = resolve.roleOf(receiver);
      if (role === "engine") return undefined;
      const name = lastName(withoutSubscripts(receiver));
      if (role !== "optimizer" && !/opt/i.test(name ?? "")) continue;
      const isOwn = receiver.kind === "Attribute" && ownOptimizerOf(this.torch, receiver.object) !== "none";
      if (!isOwn && !this.isUnderstood(receiver)) return undefined;
      isOfModels ||= isOwn;
    }
    if (makers.length === 0 && !isOfModels) return undefined;
    return united([...makers, ...this.additions()].map((maker) => this.parametersOf(maker)));
  }

  /** `optimizer.add_param_group({"params": teacher.parameters()})`. */
  private additions(): readonly Call[] {
    return this.torch.resolve.index.callsByName.get("add_param_group") ?? [];
  }

  /** An optimizer that this file makes, or an element of a container of such. */
  private isUnderstood(optimizer: Expression): boolean {
    const pending: Expression[] = [optimizer];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (at.kind === "Subscript") {
        pending.push(at.object);
        continue;
      }
      if (this.torch.resolve.objectOf(at)?.construction !== undefined) return true;
      for (const value of this.upstream(at))
        if (value.kind === "Call" && this.makesOptimizer(value)) return true;
    }
    return false;
  }

  private makesOptimizer(call: Call): boolean {
    return makesOptimizer(this.torch.resolve, call);
  }

  private parametersOf(maker: Call): Parameters {
    if (!this.byConstruction.has(maker)) this.byConstruction.set(maker, this.readParameters(maker));
    return this.byConstruction.get(maker);
  }

  /** Keys of everything that is mentioned in the parameters of an optimizer. */
  private readParameters(maker: Call): Parameters {
    const first =
      maker.positional[0] ?? maker.keywords.find(({ name }) => /^(params|param_group)$/.test(name.id))?.value;
    if (first === undefined || first.kind === "Starred") return undefined;
    const owned = new Set<string>();
    const seen = new Set<Expression>();
    const pending: Expression[] = [first];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      if (seen.size > maximalSteps) return undefined;
      if (at.kind === "Call") {
        if (!this.readCall(at, owned, pending)) return undefined;
      } else if (at.kind === "Name" || at.kind === "Attribute") {
        if (!this.readReference(at, owned, pending)) return undefined;
      } else forEachChild(at, (child) => pending.push(child as Expression));
    }
    return owned;
  }

  private readCall(call: Call, owned: Set<string>, pending: Expression[]): boolean {
    const { callee } = call;
    const given = [...call.positional, ...call.keywords.map(({ value }) => value), ...call.keywordSpreads];
    if (callee.kind === "Attribute" && this.isMethodOfObject(callee)) {
      // `model.parameters()`, `model.get_parameter_groups(args)`.
      if (!this.readOwner(callee.object, owned)) return false;
      pending.push(...given.filter(({ kind }) => kind !== "Lambda"));
      return true;
    }
    if (given.length === 0) return false;
    pending.push(...given.filter(({ kind }) => kind !== "Lambda" && kind !== "String"));
    return true;
  }

  private readOwner(model: Expression, owned: Set<string>): boolean {
    const keys = this.keysOf(model);
    for (const key of keys) owned.add(key);
    for (const value of this.upstream(model)) {
      // Attributes of its class are trained with it; another instance of the class is another model.
      const owner = this.torch.resolve.classOf(value);
      if (owner !== undefined) owned.add(`class@${owner.start}`);
      if (value.kind !== "Call") continue;
      // Parts that a model is built from are trained with it.
      if (this.isCopy(value)) continue;
      for (const argument of [...value.positional, ...value.keywords.map((keyword) => keyword.value)]) {
        if (this.isModel(argument)) for (const key of this.keysOf(argument)) owned.add(key);
      }
    }
    return keys.size > 0;
  }

  /** A model handed over as it is, or a list of parameters made elsewhere. */
  private readReference(reference: Expression, owned: Set<string>, pending: Expression[]): boolean {
    const { resolve, provenance } = this.torch;
    if (resolve.qualifiedName(reference)?.startsWith("builtins.") === true) return true;
    if (resolve.roleOf(reference) === "model") return this.readOwner(reference, owned);
    const key = resolve.keyOf(reference);
    if (key !== undefined) owned.add(key);
    const sources = this.sourcesOf(reference);
    for (const store of provenance.stores) if (store.holderKey === key) sources.push(store.value);
    pending.push(...sources);
    // A parameter tensor of its own (`[w, b]`) needs no source; a bare parameter of the function is not understood.
    return sources.length > 0 || !this.isOpenParameter(reference);
  }

  private isOpenParameter(reference: Expression): boolean {
    if (reference.kind !== "Name") return false;
    return this.torch.scopes.lookup(reference).some(({ kind }) => kind === "parameter" || kind === "import");
  }

  /** What an expression may be, aliases, callers' arguments and wrappers followed to their beginning. */
  private upstream(expression: Expression): ReadonlySet<Expression> {
    const seen = new Set<Expression>();
    const pending: Expression[] = [expression];
    for (let at = pending.pop(); at !== undefined && seen.size < maximalSteps; at = pending.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      pending.push(...this.sourcesOf(at));
    }
    return seen;
  }

  private sourcesOf(expression: Expression): Expression[] {
    const { resolve, scopes } = this.torch;
    switch (expression.kind) {
      case "Name":
      case "Attribute": {
        const values = [...resolve.valuesOf(expression)];
        if (expression.kind === "Attribute" && /^(module|_orig_mod)$/.test(expression.attribute.id))
          values.push(expression.object);
        if (expression.kind !== "Name") return values;
        for (const binding of scopes.lookup(expression)) {
          const owner = binding.scope.owner;
          if (binding.kind === "for" || binding.kind === "comprehension") {
            if (binding.value) values.push(...elementsOf(binding.value));
          } else if (binding.kind === "parameter" && owner.kind === "FunctionDefinition") {
            for (const call of resolve.callsTo(owner)) {
              const argument = resolve.argumentFor(call, owner, binding.name);
              if (argument) values.push(argument);
            }
          }
        }
        return values;
      }
      case "Call": {
        if (this.isCopy(expression)) return [];
        const target = resolve.functionOf(expression);
        if (target) return [...resolve.returnedValues(target)];
        const { callee } = expression;
        if (callee.kind === "Attribute" && this.isMethodOfObject(callee)) {
          // `net.to(device)`, `accelerator.prepare(net, optimizer)`.
          return [callee.object, ...expression.positional].filter((one) => this.isModel(one));
        }
        return resolve.constructedClass(expression)
          ? []
          : expression.positional.slice(0, 1).filter((one) => this.isModel(one));
      }
      case "Conditional":
        return [expression.body, expression.orelse];
      case "BooleanOperation":
        return [...expression.operands];
      case "Subscript":
        // `net.features[:16]`: layers of the same model.
        return expression.index.kind === "Slice" ? [expression.object] : [];
      default:
        return [];
    }
  }

  /** No function of a library, and none of another file: a model that one makes is an object. */
  private isMethodOfObject(callee: Attribute): boolean {
    return this.torch.resolve.qualifiedName(callee) === undefined || this.isModel(callee.object);
  }

  private isModel(expression: Expression): boolean {
    return this.torch.resolve.roleOf(expression) === "model";
  }

  private isCopy(call: Call): boolean {
    return this.torch.resolve.qualifiedName(call.callee)?.startsWith("copy.") === true;
  }

  /** The names under which a model is known: its variables, and its attribute in its own class. */
  private keysOf(model: Expression): ReadonlySet<string> {
    const keys = new Set<string>();
    const upstream = this.upstream(model);
    const made = this.madeByFactories(upstream);
    for (const one of upstream) {
      const { resolve } = this.torch;
      const key = resolve.keyOf(one);
      if (key !== undefined && !made.has(key) && !this.isWrittenValue(one)) keys.add(key);
      for (const { target, file } of resolve.imported.variablesNamed(one))
        keys.add(`${file.key}@${target.start}`);
      if (one.kind !== "Attribute") continue;
      const holder = resolve.classOf(one.object);
      if (holder !== undefined) keys.add(`class@${holder.start}.${one.attribute.id}`);
    }
    return keys;
  }

  /**
   * `net` of `def create(): net = Net(); return net`, called for student and teacher: one name, another model with each call.
   * Only where the function hands it to nobody, who may train it under that name.
   */
  private madeByFactories(upstream: ReadonlySet<Expression>): ReadonlySet<string> {
    const made = new Set<string>();
    const { resolve, scopes, provenance } = this.torch;
    for (const one of upstream) {
      const target = one.kind === "Call" ? resolve.functionOf(one) : undefined;
      if (target === undefined || resolve.callsTo(target).length < 2) continue;
      for (const returned of resolve.returnedValues(target)) {
        const value = receiverOf(returned);
        if (value.kind !== "Name") continue;
        const bindings = scopes.lookup(value);
        if (!isOnlyBoundBy(bindings, ({ kind, scope }) => kind === "assignment" && scope.owner === target))
          continue;
        const key = resolve.keyOf(value);
        const reads = key === undefined ? [] : provenance.flow.readsOf(key);
        if (key !== undefined && reads.every(({ parent }) => isOwnUse(parent))) made.add(key);
      }
    }
    return made;
  }

  /** Settings and data that constructors take are no models. */
  private isWrittenValue(expression: Expression): boolean {
    const role = this.torch.resolve.roleOf(expression);
    if (role !== undefined && role !== "model" && role !== "engine" && role !== "tensor") return true;
    return /^(args?|opts?|config|cfg|conf|hparams|device|params|settings|flags)$/i.test(rootName(expression));
  }
}

function makesOptimizer(resolve: Resolver, call: Call): boolean {
  const name = resolve.qualifiedName(call.callee);
  if (name !== undefined && isOptimizer(name)) return true;
  const owner = resolve.constructedClass(call);
  return (
    owner !== undefined &&
    resolve.basesOf(owner).some((base) => base === "torch.optim.Optimizer" || isOptimizer(base))
  );
}

/** `net` of `net.cuda()` and `net.to(device).eval()`. */
function receiverOf(expression: Expression): Expression {
  let at = expression;
  while (at.kind === "Call" && at.callee.kind === "Attribute") at = at.callee.object;
  return at;
}

/** `net.to(device)`, `return net`, `net = net.cuda()`: nothing that others get hold of. */
function isOwnUse(parent: Node | undefined): boolean {
  if (parent?.kind === "Return") return true;
  return (
    parent?.kind === "Attribute" &&
    parent.parent?.kind === "Call" &&
    parent.parent.callee === parent &&
    !/parameters$/.test(parent.attribute.id)
  );
}

function united(sets: readonly Parameters[]): Parameters {
  const all = new Set<string>();
  for (const set of sets) {
    if (set === undefined) return undefined;
    for (const key of set) all.add(key);
  }
  return all;
}

/** The members of a written-out list; otherwise what is iterated over itself. */
function elementsOf(iterable: Expression): readonly Expression[] {
  if (iterable.kind === "List" || iterable.kind === "Tuple") return iterable.elements;
  return [iterable];
}

function withoutSubscripts(expression: Expression): Expression {
  let at = expression;
  while (at.kind === "Subscript") at = at.object;
  return at;
}

function rootName(expression: Expression): string {
  let at = expression;
  while (at.kind === "Attribute") at = at.object;
  return at.kind === "Name" ? at.id : "";
}
