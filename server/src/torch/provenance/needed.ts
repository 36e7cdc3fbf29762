/**
 * Which assignments and stores a backward needs later: everything that may flow into the value of a backward call. What
 * is needed must keep its graph. `possibly` adds what leaves the file's sight: values given to unknown functions or
 * returned to unknown callers, who may call backward too.
 */
import type { Attribute, Call, Expression, FunctionDefinition, Node } from "../../python/tree";
import { walk } from "../../python/walk";
import {
  backwardMethods,
  clearingMethods,
  graphKeepingMethods,
  keepsGraph,
  onlyReads,
  readingMethods,
  severingFunctions,
  severingMethods,
  storingMethods,
  tensorConstructors,
} from "../api-graph";
import type { Resolver, Role } from "../resolve";
import { enclosingClass, push } from "../resolve-index";
import { atEntry, type Definition, type Flow } from "./flow";
import type { BackwardCall } from "./sinks";
import type { Store } from "./stores";

export interface Needed {
  /** Definitions, statements of stores and functions by their result that flow into a backward of this file. */
  readonly surely: ReadonlySet<Definition | Node>;
  /** The same, with code we cannot see counted as if it called backward. */
  readonly possibly: ReadonlySet<Definition | Node>;
  /** What may flow into this value alone, through calls that are not known too. */
  flowingInto(value: Expression): ReadonlySet<Definition | Node>;
}

export interface NeededOptions {
  readonly resolver: Resolver;
  readonly flow: Flow;
  readonly backwards: readonly BackwardCall[];
  readonly stores: ReadonlyMap<string, readonly Store[]>;
}

export function createNeeded(options: NeededOptions): Needed {
  return new FileNeeded(options);
}

class FileNeeded implements Needed {
  private knownSurely: Needed["surely"] | undefined;
  private knownPossibly: Needed["possibly"] | undefined;
  private attributes: AttributeValues | undefined;

  constructor(private readonly options: NeededOptions) {}

  get surely(): Needed["surely"] {
    return (this.knownSurely ??= this.newSlice().from(this.sinks()));
  }

  get possibly(): Needed["possibly"] {
    return (this.knownPossibly ??= this.newSlice().from([
      ...this.sinks(),
      ...outOfSight(this.options.resolver),
    ]));
  }

  flowingInto(value: Expression): ReadonlySet<Definition | Node> {
    return this.newSlice().from([value]);
  }

  private newSlice(): Slice {
    this.attributes ??= new AttributeValues(this.options);
    return new Slice(this.options, this.attributes);
  }

  private sinks(): Expression[] {
    return this.options.backwards.flatMap(({ values }) => values);
  }
}

/** What reading an attribute of a name may give, whatever it is read of. */
class AttributeValues {
  readonly stores = new Map<string, { readonly statement: Node; readonly value: Expression | undefined }[]>();
  readonly properties = new Map<string, FunctionDefinition[]>();

  constructor({ stores, resolver }: NeededOptions) {
    for (const [key, kept] of stores) {
      const dot = key.lastIndexOf(".");
      if (dot >= 0) for (const store of kept) push(this.stores, key.slice(dot + 1), store);
    }
    for (const store of resolver.index.attributeStores) {
      if (store.target.kind === "Attribute") push(this.stores, store.target.attribute.id, store);
    }
    for (const target of resolver.index.functions) {
      if (isProperty(target)) push(this.properties, target.name.id, target);
    }
  }
}

class Slice {
  private readonly marked = new Set<Definition | Node>();
  private readonly pending: Expression[] = [];
  private readonly queued = new Set<Expression>();
  private readonly entered = new Set<Node>();
  private readonly functions = new Set<FunctionDefinition>();
  private readonly keys = new Set<string>();
  private readonly entries = new Set<string>();
  private readonly attributes = new Set<string>();

  constructor(
    private readonly options: NeededOptions,
    private readonly attributeValues: AttributeValues,
  ) {}

  from(roots: readonly Expression[]): ReadonlySet<Definition | Node> {
    for (const root of roots) this.queue(root);
    for (let at = this.pending.pop(); at !== undefined; at = this.pending.pop()) this.visit(at);
    return this.marked;
  }

  private queue(expression: Expression | undefined): void {
    if (expression === undefined || this.queued.has(expression)) return;
    this.queued.add(expression);
    this.pending.push(expression);
  }

  private visit(expression: Expression): void {
    walk(expression, {
      enter: (node) => {
        if (this.entered.has(node)) return false;
        this.entered.add(node);
        switch (node.kind) {
          case "Name":
            this.variable(node);
            return undefined;
          case "Attribute":
            if (isTensorMethod(node)) return undefined;
            this.variable(node);
            this.attribute(node.attribute.id);
            return undefined;
          case "Call":
            return this.call(node) ? undefined : false;
          case "Comparison":
          case "Lambda":
          case "String":
            return false;
          default:
            return undefined;
        }
      },
    });
  }

  /** False when nothing of a graph comes out of the call. */
  private call(call: Call): boolean {
    const { resolver } = this.options;
    const name = resolver.qualifiedName(call.callee);
    if (name !== undefined) return !severingFunctions.has(name) && !tensorConstructors.has(name);
    const target = resolver.functionOf(call);
    if (target) this.function(target);
    else if (call.callee.kind === "Attribute" && severingMethods.has(call.callee.attribute.id)) return false;
    const owner = target ? undefined : resolver.classOf(call.callee);
    const forward = owner && resolver.methodOf(owner, "forward");
    if (forward) this.function(forward);
    return true;
  }

  private function(target: FunctionDefinition): void {
    if (this.functions.has(target)) return;
    this.functions.add(target);
    this.marked.add(target);
    for (const node of this.options.resolver.index.returns.get(target) ?? []) this.queue(node.value);
  }

  private variable(variable: Expression): void {
    const { flow, resolver } = this.options;
    const key = resolver.keyOf(variable);
    if (key === undefined) return;
    this.stored(key);
    const reaching = flow.reaching(variable);
    if (reaching === undefined) {
      for (const definition of flow.definitionsOf(key)) this.definition(definition);
      return;
    }
    for (const one of reaching) {
      if (one === atEntry) this.entry(variable, key);
      else this.definition(one);
    }
  }

  private entry(variable: Expression, key: string): void {
    const { flow, resolver } = this.options;
    if (this.entries.has(key)) return;
    this.entries.add(key);
    for (const definition of flow.definitionsOf(key)) this.definition(definition);
    if (variable.kind !== "Name") return;
    for (const binding of resolver.scopes.lookup(variable)) {
      const owner = binding.scope.owner;
      if (binding.kind !== "parameter" || owner.kind !== "FunctionDefinition") continue;
      for (const call of resolver.callsTo(owner)) this.queue(resolver.argumentFor(call, owner, binding.name));
    }
  }

  private definition(definition: Definition): void {
    if (this.marked.has(definition)) return;
    this.marked.add(definition);
    this.marked.add(definition.node);
    this.queue(definition.value);
    if (definition.kind !== "augmented") return;
    for (const one of this.options.flow.before(definition)) {
      if (one === atEntry) this.entry(definition.target, definition.key);
      else this.definition(one);
    }
  }

  private stored(key: string): void {
    if (this.keys.has(key)) return;
    this.keys.add(key);
    for (const store of this.options.stores.get(key) ?? []) {
      this.marked.add(store.statement);
      this.queue(store.value);
    }
  }

  /** `layer.aux_losses` where `layer` is anything: every attribute of that name counts. */
  private attribute(name: string): void {
    if (this.attributes.has(name)) return;
    this.attributes.add(name);
    for (const store of this.attributeValues.stores.get(name) ?? []) {
      this.marked.add(store.statement);
      this.queue(store.value);
    }
    for (const target of this.attributeValues.properties.get(name) ?? []) this.function(target);
  }
}

/** `sum` of `losses.sum()`: no attribute `sum` of some meter is read. */
function isTensorMethod(node: Attribute): boolean {
  const { attribute, parent } = node;
  return parent?.kind === "Call" && parent.callee === node && graphKeepingMethods.has(attribute.id);
}

/** Values that code outside this file gets hold of: arguments of unknown calls, results for unknown callers. */
function outOfSight(resolver: Resolver): Expression[] {
  const roots: Expression[] = [];
  for (const call of resolver.index.calls) {
    if (isUnknownConsumer(call, resolver)) {
      roots.push(...call.positional, ...call.keywords.map(({ value }) => value), ...call.keywordSpreads);
    }
  }
  for (const [target, nodes] of resolver.index.returns) {
    if (isProperty(target)) continue; // reads of the attribute are followed where they stand
    const seen =
      !isCalledFromElsewhere(target, resolver) &&
      resolver.callsTo(target).length > 0 &&
      !resolver.isUsedAsValue(target);
    for (const node of nodes) if (node.value && (!seen || node.kind === "Yield")) roots.push(node.value);
  }
  return roots;
}

function isUnknownConsumer(call: Call, resolver: Resolver): boolean {
  const name = resolver.qualifiedName(call.callee);
  if (name !== undefined) {
    return (
      !onlyReads(name) && !keepsGraph(name) && !severingFunctions.has(name) && !tensorConstructors.has(name)
    );
  }
  if (resolver.functionOf(call) || resolver.constructedClass(call)) return false;
  if (resolver.roleOf(call.callee) !== undefined) return false;
  if (call.callee.kind !== "Attribute") return true;
  const method = call.callee.attribute.id;
  if (backwardMethods.has(method) || storingMethods.has(method) || clearingMethods.has(method)) return false;
  if (readingMethods.has(method) || severingMethods.has(method) || graphKeepingMethods.has(method))
    return false;
  const role = resolver.roleOf(call.callee.object);
  return role === undefined || !handOutNoGraph.has(role);
}

const handOutNoGraph: ReadonlySet<Role> = new Set<Role>([
  "logger",
  "meter",
  "tokenizer",
  "pipeline",
  "loader",
]);

function isProperty(target: FunctionDefinition): boolean {
  return target.decorators.some(
    ({ expression }) => expression.kind === "Name" && /^(cached_)?property$/.test(expression.id),
  );
}

/** Methods of models, and methods that a base class outside this file may call (`compute_loss` of a Trainer). */
function isCalledFromElsewhere(target: FunctionDefinition, resolver: Resolver): boolean {
  const holder = enclosingClass(target);
  if (holder === undefined) return false;
  if (resolver.isModuleClass(holder)) return true;
  return holder.bases.some(
    (base) => resolver.qualifiedName(base) !== "builtins.object" && !isLocalClass(base, resolver),
  );
}

function isLocalClass(base: Expression, resolver: Resolver): boolean {
  if (base.kind !== "Name") return false;
  return resolver.scopes.lookup(base).some(({ kind }) => kind === "class");
}
