/**
 * What an expression is bound to, seen over the whole file: canonical API names, the PyTorch object a name holds, the
 * local function a call runs. Flow-insensitive; what a value is at a point of the run is `provenance.ts`'s question.
 */
import type { Binding, ScopeOwner, Scopes } from "../python/scope";
import type {
  Attribute,
  Call,
  ClassDefinition,
  Expression,
  FunctionDefinition,
  Lambda,
  Module,
  Name,
  Node,
} from "../python/tree";
import { NodeTable } from "../python/node-table";
import { enclosingFunction } from "../python/walk";
import { canonicalName } from "./api";
import { ApiCalls } from "./api-calls";
import { isModuleBase } from "./api-kinds";
import { noImports, type ImportedClass, type ImportedNames } from "./imported";
import {
  enclosingClass,
  indexFile,
  isSuper,
  push,
  type AttributeStore,
  type FileIndex,
} from "./resolve-index";
import { objectQuestions, type Answers } from "./open-questions";
import { FrozenModels } from "./resolve-frozen";
import { InstanceCalls, type OpenCall } from "./instance-calls";
import { ImportedDefinitions } from "./resolve-imported";
import { createObjects, type Objects } from "./resolve-objects";
import { isLongChain, VariableKeys } from "./variable-keys";

/** What an object is for, in a training script. */
export type Role =
  | "model"
  | "loss-module"
  | "optimizer"
  | "scheduler"
  | "loader"
  | "scaler"
  /** Accelerator, Fabric, a DeepSpeed engine's maker, a Trainer: `className` says which. */
  | "framework"
  /** What `deepspeed.initialize` returns first: a model that also steps. */
  | "engine"
  | "tensor"
  | "dataset"
  | "tokenizer"
  /** Runs models under `no_grad` itself: those of Diffusers and Transformers. */
  | "pipeline"
  | "logger"
  | "meter";

/**
 * How we know: `resolved` from a construction or a use that leaves no doubt (`Adam(model.parameters())`),
 * `annotation` from a type annotation, `name` from nothing but what the variable or attribute is called.
 */
export type Certainty = "resolved" | "annotation" | "name";

export interface ResolvedObject {
  readonly role: Role;
  /** Canonical (`torch.optim.Adam`) or a class of this file by its name; `undefined` when only the role is known. */
  readonly className: string | undefined;
  /** The class when this file defines it. */
  readonly classDefinition: ClassDefinition | undefined;
  /** The class when another file of the workspace defines it. */
  readonly importedClass?: ImportedClass | undefined;
  /** The construction, annotation, parameter or name that told us. */
  readonly origin: Node;
  /** The constructing call (`Adam(model.parameters(), lr=…)`), inside all wrappers that keep the role. */
  readonly construction: Call | undefined;
  readonly certainty: Certainty;
}

export interface Resolver {
  readonly module: Module;
  readonly scopes: Scopes;
  /**
   * The canonical API name an expression refers to, re-exports folded: `torch.nn.functional.cross_entropy`,
   * `torch.optim.Adam`, `torch.no_grad`, `builtins.float`. `undefined` when the root is no import or builtin.
   */
  qualifiedName(expression: Expression): string | undefined;
  /** The PyTorch object an expression evaluates to, through assignments, `self.x`, parameters, wrappers, unpacking. */
  objectOf(expression: Expression): ResolvedObject | undefined;
  /** Short for `objectOf(expression)?.role`. */
  roleOf(expression: Expression): Role | undefined;
  /**
   * All values the whole file binds to a name or attribute (`x`, `self.x`, `trainer.x` of a local class), path of
   * unpacking applied where it can be; empty when unknown.
   */
  valuesOf(expression: Expression): readonly Expression[];
  /** The same without `None`; for a parameter what the callers in this file give it, when each of them gives something. */
  valuesGiven(expression: Expression): readonly Expression[];
  /** The function or method of this file that a call runs, when exactly one can be meant. */
  functionOf(call: Call): FunctionDefinition | undefined;
  /** What other files of the workspace define of what this one uses. */
  readonly imported: ImportedDefinitions;
  /** What lies at a position inside a value: an element of what a function returns. */
  objectAt(value: Expression, path: readonly number[]): ResolvedObject | undefined;
  /** What instances of a class of this file are. */
  roleOfClass(owner: ClassDefinition): Role | undefined;
  /** What an attribute of the instances of a class of this file holds. */
  attributeOf(owner: ClassDefinition, name: string): ResolvedObject | undefined;
  /** The class of this file that a call constructs an instance of. */
  constructedClass(call: Call): ClassDefinition | undefined;
  /** The class of this file an expression is an instance of (`self` included). */
  classOf(expression: Expression): ClassDefinition | undefined;
  /** The class whose method's first parameter the name is: known without following anything. */
  classOfSelf(name: Name): ClassDefinition | undefined;
  /** A method by name, looked for in the class and its bases of this file. */
  methodOf(owner: ClassDefinition, name: string): FunctionDefinition | undefined;
  /** Calls in this file that may run the function; methods match by name when the receiver is unknown. */
  callsTo(target: FunctionDefinition): readonly Call[];
  /** Those of them that surely run it: calls that merely share a method's name do not count. */
  sureCallsTo(target: FunctionDefinition): readonly Call[];
  /** True when the function is also used as a value (passed on, stored): others may call it. */
  isUsedAsValue(target: FunctionDefinition): boolean;
  /** Calls of what has a canonical name that is meant, in source order. */
  callsOf(isMeant: (name: string) => boolean): readonly Call[];
  /** The argument of a call that ends up in a parameter; `undefined` when absent or spread. */
  argumentFor(call: Call, target: FunctionDefinition, parameter: string): Expression | undefined;
  /** The same, or the parameter's default where the call leaves it out. */
  argumentOrDefault(call: Call, target: FunctionDefinition, parameter: string): Expression | undefined;
  /** The class and its bases in this file, nearest first. */
  withBases(owner: ClassDefinition): readonly ClassDefinition[];
  /** Canonical names of all bases, those of bases in this and other files included: `["torch.nn.Module"]`. */
  basesOf(owner: ClassDefinition): readonly string[];
  /** True for subclasses of `torch.nn.Module`, `LightningModule`, `PreTrainedModel` and the like. */
  isModuleClass(owner: ClassDefinition): boolean;
  /** The nearest function or lambda around a node (a node that is a function: the one around it). */
  enclosingFunction(node: Node): FunctionDefinition | Lambda | undefined;
  /** The class whose body directly holds the function. */
  enclosingClass(target: FunctionDefinition): ClassDefinition | undefined;
  /** What one walk over the file collected. */
  readonly index: FileIndex;
  /** All places that bind an attribute of a class of this file, in source order. */
  attributeStoresOf(owner: ClassDefinition, name: string): readonly AttributeStore[];
  /** False where no class of this file binds an attribute of the name. */
  storesAttribute(name: string): boolean;
  /** True when every parameter of the model was told not to require gradients (`requires_grad_(False)`, a loop). */
  isFrozen(expression: Expression): boolean;
  /** The values a `return` of the function may give; empty for generators and functions without one. */
  returnedValues(target: FunctionDefinition): readonly Expression[];
  /** A text that is equal for expressions naming the same variable or attribute (`optimizer`, `self.optimizer`). */
  keyOf(expression: Expression): string | undefined;
  /** Where the variable of such a text lives: all that binds or reads it lies in there. `undefined`: anywhere. */
  scopeOfKey(key: string): ScopeOwner | undefined;
}

/** Makes the resolver of a file; everything inside is computed on first use. */
export function createResolver(module: Module, scopes: Scopes, imports = noImports): Resolver {
  return new FileResolver(module, scopes, imports);
}

class FileResolver implements Resolver {
  readonly imported: ImportedDefinitions;
  private indexed: FileIndex | undefined;
  private instanceCalls: InstanceCalls | undefined;
  private readonly openCalls: Answers<Module, readonly OpenCall[]> = new Map();
  private objects: Objects | undefined;
  private apiCalls: ApiCalls | undefined;
  /** `null`: no canonical name. */
  private readonly names: NodeTable<Expression, string | null>;
  private frozen: FrozenModels | undefined;
  private readonly keys: VariableKeys;
  private readonly callers: Answers<FunctionDefinition, readonly Call[]> = new Map();
  private readonly classes: Answers<Expression, ClassDefinition | undefined>;
  private readonly findClass = (expression: Expression): ClassDefinition | undefined =>
    this.computeClassOf(expression);
  private readonly findCalls = (target: FunctionDefinition): readonly Call[] => this.findCallers(target);
  private readonly bases = new Map<ClassDefinition, readonly string[]>();
  private readonly methods = new Map<ClassDefinition, ReadonlyMap<string, FunctionDefinition>>();
  private storedNames: ReadonlySet<string> | undefined;
  private stores: Map<ClassDefinition, Map<string, AttributeStore[]>> | undefined;

  constructor(
    readonly module: Module,
    readonly scopes: Scopes,
    imports: ImportedNames,
  ) {
    this.names = new NodeTable(module);
    this.classes = new NodeTable(module);
    this.imported = new ImportedDefinitions(this, imports);
    this.keys = new VariableKeys(module, scopes, (name) => this.classOfSelf(name));
  }

  get index(): FileIndex {
    return (this.indexed ??= indexFile(this.module));
  }

  qualifiedName(expression: Expression): string | undefined {
    if (expression.kind !== "Name" && expression.kind !== "Attribute") return undefined;
    const known = this.names.get(expression);
    if (known !== undefined) return known ?? undefined;
    if (isLongChain(expression)) return undefined;
    const raw = this.scopes.qualifiedName(expression) ?? this.imported.libraryPath(expression);
    const name = raw === undefined ? undefined : canonicalName(raw);
    this.names.set(expression, name ?? null);
    return name;
  }

  callsOf(isMeant: (name: string) => boolean): readonly Call[] {
    this.apiCalls ??= new ApiCalls(this.index.calls, (callee) => this.qualifiedName(callee));
    return this.apiCalls.of(isMeant);
  }

  objectOf(expression: Expression): ResolvedObject | undefined {
    return this.allObjects.objectOf(expression);
  }

  objectAt(value: Expression, path: readonly number[]): ResolvedObject | undefined {
    return this.allObjects.objectAt(value, path);
  }

  roleOfClass(owner: ClassDefinition): Role | undefined {
    return this.allObjects.roleOfClass(owner);
  }

  attributeOf(owner: ClassDefinition, name: string): ResolvedObject | undefined {
    return this.allObjects.attributeOf(owner, name);
  }

  private get allObjects(): Objects {
    return (this.objects ??= createObjects(this));
  }

  roleOf(expression: Expression): Role | undefined {
    return this.objectOf(expression)?.role;
  }

  isFrozen(expression: Expression): boolean {
    return (this.frozen ??= new FrozenModels(this)).isFrozen(expression);
  }

  valuesOf(expression: Expression): readonly Expression[] {
    if (expression.kind === "Name") return this.valuesOfName(expression);
    if (expression.kind !== "Attribute") return [];
    const owner = this.classOf(expression.object);
    if (owner === undefined) return [];
    const values: Expression[] = [];
    for (const store of this.attributeStoresOf(owner, expression.attribute.id)) {
      if (store.value !== undefined && store.path.length === 0 && store.through === "value")
        values.push(store.value);
    }
    return values;
  }

  private valuesOfName(name: Name): readonly Expression[] {
    const values: Expression[] = [];
    for (const binding of this.scopes.lookup(name)) {
      if (binding.value === undefined || binding.path.length > 0) continue;
      if (binding.kind === "assignment" || binding.kind === "walrus") values.push(binding.value);
    }
    return values;
  }

  returnedValues(target: FunctionDefinition): readonly Expression[] {
    const values: Expression[] = [];
    for (const node of this.index.returns.get(target) ?? []) {
      if (node.kind === "Yield") return [];
      if (node.value) values.push(node.value);
    }
    return values;
  }

  functionOf(call: Call): FunctionDefinition | undefined {
    const { callee } = call;
    if (callee.kind === "Name") return onlyFunction(this.scopes.lookup(callee));
    if (callee.kind !== "Attribute" || !this.index.functionNames.has(callee.attribute.id)) return undefined;
    const owner =
      this.superClassOf(callee.object) ?? this.classOf(callee.object) ?? this.classNamed(callee.object);
    return owner && this.methodOf(owner, callee.attribute.id);
  }

  /** The base that `super()` reaches, when this file defines it. */
  private superClassOf(expression: Expression): ClassDefinition | undefined {
    if (!isSuper(expression)) return undefined;
    const method = enclosingFunction(expression);
    const owner = method?.kind === "FunctionDefinition" ? enclosingClass(method) : undefined;
    for (const base of owner?.bases ?? []) {
      const found = this.classNamed(base);
      if (found) return found;
    }
    return undefined;
  }

  constructedClass(call: Call): ClassDefinition | undefined {
    return this.classNamed(call.callee);
  }

  /** The class of this file a name refers to. */
  private classNamed(expression: Expression): ClassDefinition | undefined {
    if (expression.kind !== "Name") return undefined;
    const bindings = this.scopes.lookup(expression);
    const [binding] = bindings;
    if (bindings.length !== 1 || binding?.kind !== "class") return undefined;
    return binding.node.kind === "ClassDefinition" ? binding.node : undefined;
  }

  classOf(expression: Expression): ClassDefinition | undefined {
    if (expression.kind === "Attribute" && !this.allObjects.mayBeObject(expression)) return undefined;
    return objectQuestions.answer(this.classes, expression, undefined, this.findClass);
  }

  private computeClassOf(expression: Expression): ClassDefinition | undefined {
    if (expression.kind === "Name") {
      const own = this.classOfSelf(expression);
      if (own) return own;
    }
    if (expression.kind === "Call" && expression.callee.kind === "Name") {
      const constructed = this.constructedClass(expression);
      if (constructed) return constructed;
    }
    return this.objectOf(expression)?.classDefinition ?? this.plainInstance(expression);
  }

  /** Instances of classes that have no role of their own, such as a trainer written by hand. */
  private plainInstance(expression: Expression): ClassDefinition | undefined {
    let found: ClassDefinition | undefined;
    for (const value of this.valuesGiven(expression)) {
      const made = this.constructedOrHeld(value);
      if (made === undefined || (found !== undefined && found !== made))
        return this.annotatedClass(expression);
      found = made;
    }
    return found ?? this.annotatedClass(expression);
  }

  private constructedOrHeld(value: Expression): ClassDefinition | undefined {
    if (value.kind === "Call") return this.constructedClass(value);
    return value.kind === "Name" ? this.classOf(value) : undefined;
  }

  valuesGiven(expression: Expression): readonly Expression[] {
    const values = this.valuesOf(expression).filter(({ kind }) => kind !== "None");
    const bindings = values.length === 0 && expression.kind === "Name" ? this.scopes.lookup(expression) : [];
    const [binding] = bindings;
    const owner = binding?.scope.owner;
    if (bindings.length !== 1 || binding?.parameter === undefined || owner?.kind !== "FunctionDefinition")
      return values;
    const given: Expression[] = [];
    for (const call of this.callsTo(owner)) {
      const argument = this.argumentFor(call, owner, binding.parameter.name.id);
      if (argument === undefined) return [];
      given.push(argument);
    }
    return given;
  }

  private annotatedClass(expression: Expression): ClassDefinition | undefined {
    if (expression.kind !== "Name") return undefined;
    const bindings = this.scopes.lookup(expression);
    const annotation = bindings.length === 1 ? bindings[0]?.parameter?.annotation : undefined;
    return annotation && this.classNamed(annotation);
  }

  classOfSelf(name: Name): ClassDefinition | undefined {
    const bindings = this.scopes.lookup(name);
    const binding = bindings.length === 1 ? bindings[0] : undefined;
    if (binding?.kind !== "parameter") return undefined;
    const owner = binding.scope.owner;
    if (owner.kind !== "FunctionDefinition" || owner.parameters[0] !== binding.parameter) return undefined;
    if (isStatic(owner)) return undefined;
    return enclosingClass(owner);
  }

  methodOf(owner: ClassDefinition, name: string): FunctionDefinition | undefined {
    for (const one of this.withBases(owner)) {
      const found = this.methodsOf(one).get(name);
      if (found) return found;
    }
    return undefined;
  }

  private methodsOf(owner: ClassDefinition): ReadonlyMap<string, FunctionDefinition> {
    let methods = this.methods.get(owner);
    if (methods === undefined) {
      const found = new Map<string, FunctionDefinition>();
      for (const statement of owner.body) {
        if (statement.kind === "FunctionDefinition") found.set(statement.name.id, statement);
      }
      methods = found;
      this.methods.set(owner, methods);
    }
    return methods;
  }

  withBases(owner: ClassDefinition): ClassDefinition[] {
    const found = [owner];
    for (let index = 0; index < found.length; index++) {
      for (const base of found[index]?.bases ?? []) {
        const definition = this.classNamed(base);
        if (definition && !found.includes(definition)) found.push(definition);
      }
    }
    return found;
  }

  basesOf(owner: ClassDefinition): readonly string[] {
    let bases = this.bases.get(owner);
    if (bases === undefined) {
      bases = this.basesHere(owner);
      this.bases.set(owner, bases); // bases that lead back here add nothing
      const inherited = this.imported
        .basesOf(owner)
        .flatMap(({ definition, file }) => file.torch.resolve.basesOf(definition));
      if (inherited.length > 0) bases = [...bases, ...inherited];
      this.bases.set(owner, bases);
    }
    return bases;
  }

  /** Names of the bases that this file shows. */
  private basesHere(owner: ClassDefinition): readonly string[] {
    return this.withBases(owner).flatMap((one) =>
      one.bases.flatMap((base) => this.qualifiedName(base) ?? []),
    );
  }

  isModuleClass(owner: ClassDefinition): boolean {
    return this.basesHere(owner).some(isModuleBase) || this.basesOf(owner).some(isModuleBase);
  }

  attributeStoresOf(owner: ClassDefinition, name: string): readonly AttributeStore[] {
    this.stores ??= this.indexStores();
    const stores = this.stores;
    return this.withBases(owner).flatMap((one) => stores.get(one)?.get(name) ?? []);
  }

  storesAttribute(name: string): boolean {
    this.storedNames ??= new Set(
      [...(this.stores ??= this.indexStores()).values()].flatMap((byName) => [...byName.keys()]),
    );
    return this.storedNames.has(name);
  }

  private indexStores(): Map<ClassDefinition, Map<string, AttributeStore[]>> {
    const byClass = new Map<ClassDefinition, Map<string, AttributeStore[]>>();
    for (const store of this.index.attributeStores) {
      if (store.target.kind !== "Attribute" || store.target.object.kind !== "Name") continue;
      const owner = this.classOfSelf(store.target.object);
      if (owner) add(byClass, owner, store.target.attribute.id, store);
    }
    for (const owner of this.index.classes) {
      for (const statement of owner.body) {
        if (statement.kind !== "Assign" && statement.kind !== "AnnotatedAssign") continue;
        const target = statement.kind === "Assign" ? statement.targets[0] : statement.target;
        if (target?.kind !== "Name" || statement.value === undefined) continue;
        add(byClass, owner, target.id, {
          target,
          value: statement.value,
          path: [],
          statement,
          augmented: false,
          through: "value",
        });
      }
    }
    return byClass;
  }

  callsTo(target: FunctionDefinition): readonly Call[] {
    return objectQuestions.answer(this.callers, target, [], this.findCalls);
  }

  sureCallsTo(target: FunctionDefinition): readonly Call[] {
    return this.callsTo(target).filter((call) => this.functionOf(call) === target);
  }

  private findCallers(target: FunctionDefinition): readonly Call[] {
    const owner = enclosingClass(target);
    const name = target.name.id;
    if (owner && name === "__init__") {
      return (this.index.callsByName.get(owner.name.id) ?? []).filter(
        (call) => this.constructedClass(call) === owner,
      );
    }
    if (owner && (name === "forward" || name === "__call__")) {
      return this.callsOfInstances(owner);
    }
    return (this.index.callsByName.get(name) ?? []).filter((call) => this.mayCall(call, target, owner));
  }

  /** The calls of a class's instances: asked for all classes at once. */
  private callsOfInstances(owner: ClassDefinition): readonly Call[] {
    const calls = (this.instanceCalls ??= new InstanceCalls(this.index.calls, this));
    const ask = (): readonly OpenCall[] =>
      calls.ask((callee) => objectQuestions.isSettled(this.classes, callee));
    return calls.of(owner, objectQuestions.answer(this.openCalls, this.module, [], ask));
  }

  private mayCall(call: Call, target: FunctionDefinition, owner: ClassDefinition | undefined): boolean {
    const { callee } = call;
    if (callee.kind === "Name") {
      return (
        owner === undefined && this.scopes.lookup(callee).some((binding) => bindsFunction(binding, target))
      );
    }
    if (owner === undefined || callee.kind !== "Attribute") return false;
    if (this.qualifiedName(callee) !== undefined || leavesOpen(call, target)) return false;
    const receiver = this.classOf(callee.object) ?? this.superClassOf(callee.object);
    if (receiver === undefined) return true;
    return this.methodOf(receiver, target.name.id) === target || this.withBases(owner).includes(receiver);
  }

  isUsedAsValue(target: FunctionDefinition): boolean {
    const name = target.name.id;
    const owner = enclosingClass(target);
    if (owner) {
      return (this.index.attributesByName.get(name) ?? []).some((attribute) => !isCallee(attribute));
    }
    return (this.index.namesById.get(name) ?? []).some(
      (one) =>
        one !== target.name &&
        !isCallee(one) &&
        this.scopes.lookup(one).some((binding) => bindsFunction(binding, target)),
    );
  }

  argumentOrDefault(call: Call, target: FunctionDefinition, parameter: string): Expression | undefined {
    const fallback = target.parameters.find(({ name }) => name.id === parameter)?.default;
    return this.argumentFor(call, target, parameter) ?? fallback;
  }

  argumentFor(call: Call, target: FunctionDefinition, parameter: string): Expression | undefined {
    const keyword = call.keywords.find(({ name }) => name.id === parameter);
    if (keyword) return keyword.value;
    const place = placeAmongPositional(target, parameter);
    if (place === undefined) return undefined;
    const index = place - (this.isBound(call, target) ? 1 : 0);
    if (index < 0) return undefined;
    for (let before = 0; before <= index; before++) {
      if (call.positional[before]?.kind === "Starred") return undefined;
    }
    return call.positional[index];
  }

  /** True when the call gives the first parameter (`self`) by itself. */
  private isBound(call: Call, target: FunctionDefinition): boolean {
    const owner = enclosingClass(target);
    if (owner === undefined || isStatic(target)) return false;
    if (call.callee.kind !== "Attribute") return true; // a constructor, or an instance that is called
    return this.classNamed(call.callee.object) === undefined || isClassMethod(target);
  }

  enclosingFunction(node: Node): FunctionDefinition | Lambda | undefined {
    return enclosingFunction(node);
  }

  enclosingClass(target: FunctionDefinition): ClassDefinition | undefined {
    return enclosingClass(target);
  }

  keyOf(expression: Expression): string | undefined {
    return this.keys.of(expression);
  }

  scopeOfKey(key: string): ScopeOwner | undefined {
    return this.keys.scopeOf(key);
  }
}

function add(
  byClass: Map<ClassDefinition, Map<string, AttributeStore[]>>,
  owner: ClassDefinition,
  name: string,
  store: AttributeStore,
): void {
  const byName = byClass.get(owner) ?? new Map<string, AttributeStore[]>();
  byClass.set(owner, byName);
  push(byName, name, store);
}

function onlyFunction(bindings: readonly Binding[]): FunctionDefinition | undefined {
  const node = bindings.length === 1 ? bindings[0]?.node : undefined;
  return node?.kind === "FunctionDefinition" && bindings[0]?.kind === "function" ? node : undefined;
}

function bindsFunction(binding: Binding, target: FunctionDefinition): boolean {
  return binding.kind === "function" && binding.node === target;
}

/** How many parameters stand before it that a position may fill; undefined where only a name fills it, and for none. */
function placeAmongPositional({ parameters }: FunctionDefinition, parameter: string): number | undefined {
  let place = 0;
  for (const { name, parameterKind } of parameters) {
    if (parameterKind !== "normal" && parameterKind !== "positional-only") continue;
    if (name.id === parameter) return place;
    place++;
  }
  return undefined;
}

/** `model.train()` is no call of `def train(self, loader, epochs)`: what it gives does not fill the parameters. */
function leavesOpen(call: Call, target: FunctionDefinition): boolean {
  if (call.keywordSpreads.length > 0 || call.positional.some(({ kind }) => kind === "Starred")) return false;
  const given = new Set(call.keywords.map(({ name }) => name.id));
  const needed = target.parameters.filter(
    ({ name, parameterKind, default: fallback }) =>
      parameterKind !== "args" && parameterKind !== "kwargs" && fallback === undefined && !given.has(name.id),
  );
  // The object itself, which the call need not write.
  const bound = isStatic(target) ? 0 : 1;
  return needed.length > call.positional.length + bound;
}

function isCallee(expression: Name | Attribute): boolean {
  return expression.parent?.kind === "Call" && expression.parent.callee === expression;
}

function isStatic(target: FunctionDefinition): boolean {
  return target.decorators.some(
    ({ expression }) => expression.kind === "Name" && expression.id === "staticmethod",
  );
}

function isClassMethod(target: FunctionDefinition): boolean {
  return target.decorators.some(
    ({ expression }) => expression.kind === "Name" && expression.id === "classmethod",
  );
}
