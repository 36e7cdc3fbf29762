/**
 * Which PyTorch object an expression evaluates to. Bindings first, uses that leave no doubt next
 * (`Adam(model.parameters())`), names last and marked so.
 */
import { NodeTable } from "../python/node-table";
import type { Binding, Scopes } from "../python/scope";
import type {
  Attribute,
  Call,
  ClassDefinition,
  Expression,
  FunctionDefinition,
  Name,
  Node,
  Parameter,
  Subscript,
} from "../python/tree";
import { lossModules, modelWrappers, roleKeepingMethods } from "./api";
import { frameworkObjects, isLoader, isModuleBase, isOptimizer, isScheduler } from "./api-kinds";
import type { ImportedClass } from "./imported";
import { ModelUses } from "./model-uses";
import { objectQuestions, type Answers } from "./open-questions";
import type { OtherFile } from "./other-files";
import { enclosingClass, type AttributeStore } from "./resolve-index";
import type { Certainty, ResolvedObject, Resolver, Role } from "./resolve";
import { isDetectorOfHub, roleByName, roleOfAnnotation, roleOfConstructor } from "./resolve-roles";

export interface Objects {
  objectOf(expression: Expression): ResolvedObject | undefined;
  objectAt(value: Expression, path: readonly number[]): ResolvedObject | undefined;
  roleOfClass(owner: ClassDefinition): Role | undefined;
  attributeOf(owner: ClassDefinition, name: string): ResolvedObject | undefined;
  /** False where nothing binds an attribute of its name or says by its name what it holds: most methods of tensors. */
  mayBeObject(attribute: Attribute): boolean;
}

/** How deep bindings are followed before we say that we do not know. */
const depthLimit = 24;

export function createObjects(resolver: Resolver): Objects {
  return new FileObjects(resolver);
}

/** What several bindings of one name may hold: the best known of them. */
type Candidate = ResolvedObject | undefined;

/** A value that rules out every role: `model = "resnet18"`. */
const notAnObject = Symbol("not an object");
type Found = Candidate | typeof notAnObject;

class FileObjects implements Objects {
  private readonly known: Answers<Expression, Found>;
  private readonly findAnew = (expression: Expression): Found => this.computeWithin(expression);
  /** Calls whose parts are being looked for. */
  private readonly openParts = new Set<Expression>();
  private depth = 0;
  private readonly uses: ModelUses;
  private readonly objectNames = new Map<string, boolean>();

  constructor(private readonly resolver: Resolver) {
    this.known = new NodeTable(resolver.module);
    this.uses = new ModelUses(resolver);
  }

  objectOf(expression: Expression): Candidate {
    return candidate(this.find(expression));
  }

  objectAt(value: Expression, path: readonly number[]): Candidate {
    return candidate(this.at(value, path));
  }

  attributeOf(owner: ClassDefinition, name: string): Candidate {
    return candidate(this.inClass(owner, name));
  }

  mayBeObject({ attribute: { id } }: Attribute): boolean {
    let may = this.objectNames.get(id);
    if (may === undefined) this.objectNames.set(id, (may = this.mayNameObject(id)));
    return may;
  }

  private mayNameObject(name: string): boolean {
    if (wrappedModel.has(name) || torchvisionParts.has(name) || roleByName(name) !== undefined) return true;
    if (this.resolver.storesAttribute(name) || this.resolver.imported.mayInheritAttributes) return true;
    if (lossName.test(name) && this.resolver.imported.leadElsewhere) return true;
    return this.uses.hasAttribute(name);
  }

  private find(expression: Expression): Found {
    if (expression.kind === "Attribute" && !this.mayBeObject(expression)) return undefined;
    // A cycle adds nothing.
    return objectQuestions.answer(this.known, expression, undefined, this.findAnew);
  }

  private computeWithin(expression: Expression): Found {
    if (this.depth >= depthLimit) {
      objectQuestions.cutOff();
      return undefined;
    }
    this.depth++;
    try {
      return this.compute(expression);
    } finally {
      this.depth--;
    }
  }

  private compute(expression: Expression): Found {
    switch (expression.kind) {
      case "Name":
        return this.ofName(expression);
      case "Attribute":
        return this.ofAttribute(expression);
      case "Call":
        return this.ofCall(expression);
      case "Subscript":
        return (
          this.sliceOfModel(expression) ??
          this.elementOf(expression.object) ??
          this.byName(expression, containerName(expression))
        );
      case "Await":
      case "NamedExpression":
        return this.find(expression.value);
      case "Conditional":
        return best([this.find(expression.body), this.find(expression.orelse)]);
      case "BooleanOperation":
        return best(expression.operands.map((operand) => this.find(operand)));
      case "String":
      case "Integer":
      case "Float":
      case "Boolean":
      case "None":
      case "Dict":
      case "List":
      case "Tuple":
      case "Set":
        return notAnObject;
      default:
        return undefined;
    }
  }

  // --- Names and attributes -------------------------------------------------------------------------------------

  private ofName(name: Name): Found {
    const bindings = this.resolver.scopes
      .lookup(name)
      .filter(({ kind }) => kind !== "delete" && kind !== "augmented");
    const found = best([
      ...bindings.map((binding) => this.ofBinding(binding)),
      ...this.importedModels(name, bindings),
    ]);
    if (isSure(found)) return found;
    const used = this.byUse(name);
    if (used) return used;
    if (found !== undefined) return found;
    if (
      bindings.length === 0 ||
      bindings.some(({ kind }) => kind === "import" || kind === "function" || kind === "class")
    ) {
      return undefined;
    }
    const named = this.byName(name, name.id);
    return named && bindings.some(({ value }) => this.isResult(value)) ? notAnObject : named;
  }

  /**
   * The model that another file makes at its top level: `from architecture import net`. What is a model there by no more
   * than its name is none here.
   */
  private importedModels(expression: Name | Attribute, bindings: readonly Binding[] = []): Candidate[] {
    if (bindings.length > 0 && bindings.every(({ kind }) => kind !== "import")) return [];
    return this.resolver.imported.variablesNamed(expression).map(({ target, file }) => {
      const found = file.torch.resolve.objectOf(target);
      if (found?.role !== "model" || found.certainty === "name") return undefined;
      return fromElsewhere(found, file, expression);
    });
  }

  /** `out_net = model(x)`, `train_criterion = criterion(out, y)`: tensors, whatever they are called. */
  private isResult(value: Expression | undefined): boolean {
    if (value?.kind !== "Call") return false;
    const called = this.find(value.callee);
    return isSure(called) && called !== notAnObject && /^(model|loss-module)$/.test(called?.role ?? "");
  }

  private ofBinding(binding: Binding): Found {
    switch (binding.kind) {
      case "parameter":
        return this.ofParameter(binding);
      case "for":
      case "comprehension":
        return binding.value && this.elementAt(binding.value, binding.path);
      case "with":
        return binding.value && this.at(binding.value, binding.path);
      case "assignment":
      case "walrus": {
        const annotated =
          binding.node.kind === "AnnotatedAssign" ? this.ofAnnotation(binding.node.annotation) : undefined;
        const value = binding.value && this.at(binding.value, binding.path);
        return isSure(value) ? value : (annotated ?? value);
      }
      default:
        return undefined;
    }
  }

  private ofParameter(binding: Binding): Found {
    const { parameter, scope } = binding;
    if (parameter === undefined || scope.owner.kind !== "FunctionDefinition") return undefined;
    const owner = scope.owner;
    const self = owner.parameters[0] === parameter ? enclosingClass(owner) : undefined;
    if (self && this.resolver.isModuleClass(self) && parameter.name.id === "self") {
      return this.instanceOf(self, parameter.name, undefined);
    }
    const passed = this.fromCallers(owner, parameter);
    if (isSure(passed)) return passed;
    // `Model` is a class that is passed on, whatever its annotation says.
    if (/^[A-Z][a-z]/.test(parameter.name.id)) return undefined;
    const annotated = parameter.annotation && this.ofAnnotation(parameter.annotation);
    if (annotated) return annotated;
    const fallback = parameter.default && this.find(parameter.default);
    if (fallback === notAnObject && parameter.default?.kind !== "None") return passed ?? notAnObject;
    return passed === notAnObject
      ? notAnObject
      : (passed ?? (fallback === notAnObject ? undefined : fallback));
  }

  private fromCallers(owner: FunctionDefinition, parameter: Parameter): Found {
    if (parameter.parameterKind === "args" || parameter.parameterKind === "kwargs") return undefined;
    const given: Found[] = [];
    for (const call of this.resolver.callsTo(owner)) {
      const argument = this.resolver.argumentFor(call, owner, parameter.name.id);
      if (argument) given.push(this.find(argument));
    }
    return best(given);
  }

  private ofAttribute(attribute: Attribute): Found {
    const name = attribute.attribute.id;
    if (wrappedModel.has(name)) {
      const wrapped = this.find(attribute.object);
      if (isModel(wrapped)) return wrapped;
    }
    const owner = this.resolver.classOf(attribute.object);
    if (owner) {
      const found = this.inClass(owner, name);
      if (found !== undefined && found !== notAnObject && found.certainty !== "name") return found;
      return this.byUse(attribute) ?? found ?? this.byName(attribute, name);
    }
    if (this.resolver.qualifiedName(attribute) !== undefined) return best(this.importedModels(attribute));
    const elsewhere = this.ofImportedInstance(attribute);
    if (elsewhere !== undefined) return elsewhere;
    const used = this.byUse(attribute) ?? this.partOfZooModel(attribute);
    if (used !== undefined) return used;
    const named = this.byName(attribute, name);
    if (!isSettings(attribute.object)) return named;
    // `args.model` is a name, `model.encoder` a part of a model.
    return isModel(named) && isModel(this.find(attribute.object)) ? named : undefined;
  }

  /** `agent.criterion`, where the class of `agent` is another file's. */
  private ofImportedInstance({ object, attribute: { id } }: Attribute): Candidate {
    const owner = this.resolver.imported.classOf(object);
    const held = owner?.file.torch.resolve.attributeOf(owner.definition, id);
    return owner && held && held.certainty !== "name" ? fromElsewhere(held, owner.file, object) : undefined;
  }

  /** `vgg19().features`: a part of a model of torchvision, whose size is not that of the whole. */
  private partOfZooModel(attribute: Attribute): Candidate {
    if (!torchvisionParts.has(attribute.attribute.id)) return undefined;
    const whole = this.find(attribute.object);
    if (!isModel(whole) || whole.certainty !== "resolved") return undefined;
    if (!/^torchvision\.models\./.test(whole.className ?? "")) return undefined;
    return { ...resolved("model", whole.className, attribute), construction: undefined };
  }

  /** `vgg16().features[:16]`, `net[:-1]` of a `Sequential`: its first layers, with the same parameters. */
  private sliceOfModel(slice: Subscript): Candidate {
    if (slice.index.kind !== "Slice") return undefined;
    const whole = this.find(slice.object);
    if (!isModel(whole) || whole.certainty !== "resolved") return undefined;
    if (!/^torchvision\.models\.|^torch\.nn\.(\w+\.)*Sequential$/.test(whole.className ?? ""))
      return undefined;
    return { ...resolved("model", whole.className, slice), construction: undefined };
  }

  private inClass(owner: ClassDefinition, name: string): Found {
    const stores = this.resolver.attributeStoresOf(owner, name);
    if (stores.length > 0) return best(stores.map((store) => this.ofStore(store)));
    for (const { definition, file } of this.resolver.imported.basesOf(owner)) {
      const inherited = file.torch.resolve.attributeOf(definition, name);
      if (inherited !== undefined) return fromElsewhere(inherited, file, owner);
    }
    return undefined;
  }

  private ofStore(store: AttributeStore): Found {
    if (store.augmented) return undefined;
    const { statement } = store;
    const annotated =
      statement.kind === "AnnotatedAssign" ? this.ofAnnotation(statement.annotation) : undefined;
    if (store.value === undefined) return annotated;
    const value =
      store.through === "for" ? this.elementAt(store.value, store.path) : this.at(store.value, store.path);
    return isSure(value) ? value : (annotated ?? value);
  }

  // --- Calls ------------------------------------------------------------------------------------------------------

  private ofCall(call: Call): Found {
    const name = this.resolver.qualifiedName(call.callee);
    if (name !== undefined)
      return this.ofApiCall(call, name) ?? this.ofImported(call, []) ?? this.movedImport(call.callee);
    const owner = this.resolver.constructedClass(call);
    if (owner) return this.ofConstruction(call, owner);
    if (this.makesZooModel(call)) return resolved("model", undefined, call);
    if (call.callee.kind === "Attribute") {
      const through = this.throughMethod(call, call.callee);
      if (through !== undefined) return through;
    }
    const target = this.resolver.functionOf(call);
    if (target) return best(this.resolver.returnedValues(target).map((value) => this.find(value)));
    return this.ofImported(call, []);
  }

  /** `net.to(device)` of a model that another file makes. */
  private movedImport(callee: Expression): Found {
    if (callee.kind !== "Attribute" || !roleKeepingMethods.has(callee.attribute.id)) return undefined;
    return this.find(callee.object);
  }

  /** What a class or function of another file makes; `path` leads into what the function returns. */
  private ofImported(call: Call, path: readonly number[]): Found {
    const made = path.length === 0 ? this.resolver.imported.classNamed(call.callee) : undefined;
    if (made) return this.instanceOfImported(made, call, call);
    const called = this.resolver.imported.functionOf(call);
    if (called === undefined) return undefined;
    const { definition, file } = called;
    const { resolve } = file.torch;
    return best(
      resolve.returnedValues(definition).map((value) => {
        const given = path.length === 0 ? parameterNamed(definition, value, resolve.scopes) : undefined;
        if (given !== undefined) {
          const argument = this.resolver.argumentFor(call, definition, given);
          return argument && this.find(argument);
        }
        const found = resolve.objectAt(value, path);
        return found && fromElsewhere(found, file, call);
      }),
    );
  }

  private instanceOfImported(
    { definition, file }: ImportedClass,
    origin: Node,
    construction: Call | undefined,
  ): Found {
    const role = file.torch.resolve.roleOfClass(definition);
    if (role === undefined) return undefined;
    return {
      role,
      className: definition.name.id,
      classDefinition: undefined,
      importedClass: { definition, file },
      origin,
      construction,
      certainty: "resolved",
    };
  }

  private ofApiCall(call: Call, name: string): Found {
    if (modelWrappers.has(name)) return this.ofWrapper(call, name);
    const role = isDetectorOfHub(call, name) ? "pipeline" : roleOfConstructor(name);
    return role && resolved(role, name, call);
  }

  private ofWrapper(call: Call, name: string): Found {
    const inner = call.positional[0] ?? call.keywords.find((keyword) => keyword.name.id === "module")?.value;
    const found = inner && this.find(inner);
    if (found !== undefined && found !== notAnObject) {
      const sure = found.role === "model" && !name.startsWith("copy.") && found.certainty !== "resolved";
      return sure ? { ...found, certainty: "resolved", origin: call } : found;
    }
    return name.startsWith("copy.") || /compile|script/.test(name)
      ? undefined
      : resolved("model", name, call);
  }

  private ofConstruction(call: Call, owner: ClassDefinition): Found {
    return this.instanceOf(owner, call, call);
  }

  private instanceOf(owner: ClassDefinition, origin: Node, construction: Call | undefined): Found {
    const role = this.roleOfClass(owner);
    if (role === undefined) return undefined;
    return {
      role,
      className: owner.name.id,
      classDefinition: owner,
      origin,
      construction,
      certainty: "resolved",
    };
  }

  roleOfClass(owner: ClassDefinition): Role | undefined {
    const bases = this.resolver.basesOf(owner);
    if (bases.some((base) => lossModules.has(base))) return "loss-module";
    if (bases.some(isModuleBase)) return /(Loss|Criterion)$/.test(owner.name.id) ? "loss-module" : "model";
    if (bases.some((base) => isOptimizer(base) || base === "torch.optim.Optimizer")) return "optimizer";
    if (bases.some((base) => isScheduler(base))) return "scheduler";
    if (bases.some((base) => /^torch\.utils\.data\.\w*Dataset$/.test(base))) return "dataset";
    if (bases.some(isLoader)) return "loader";
    if (bases.some((base) => frameworkObjects.has(base))) return "framework";
    return /Meter$/.test(owner.name.id) ? "meter" : undefined;
  }

  /** `models.__dict__[name](…)`, `getattr(models, name)(…)` for `torchvision.models`. */
  private makesZooModel(call: Call): boolean {
    const { callee } = call;
    let source: Expression | undefined;
    if (callee.kind === "Subscript" && callee.object.kind === "Attribute") source = callee.object.object;
    if (callee.kind === "Call" && callee.callee.kind === "Name" && callee.callee.id === "getattr") {
      source = callee.positional[0];
    }
    const name = source && this.resolver.qualifiedName(source);
    return name !== undefined && /^torchvision\.models(\.\w+)*$/.test(name);
  }

  private throughMethod(call: Call, callee: Attribute): Found {
    const method = callee.attribute.id;
    if (roleKeepingMethods.has(method)) return this.find(callee.object);
    if (
      method === "prepare" ||
      method === "setup" ||
      method === "setup_module" ||
      method === "prepare_model"
    ) {
      const [first] = call.positional;
      return first && call.positional.length === 1 ? this.find(first) : undefined;
    }
    if (method === "prepare_data_loader" || method === "setup_dataloaders" || method === "setup_optimizers") {
      return call.positional[0] && this.find(call.positional[0]);
    }
    return undefined;
  }

  // --- Parts of values --------------------------------------------------------------------------------------------

  /** What lies at `path` inside a value: `model, optimizer = accelerator.prepare(model, optimizer)`. */
  private at(value: Expression, path: readonly number[]): Found {
    const [first, ...rest] = path;
    if (first === undefined) return this.find(value);
    if (this.openParts.has(value)) return undefined; // a function that returns what it returns adds nothing
    this.openParts.add(value);
    const found = this.partAt(value, first, rest);
    this.openParts.delete(value);
    return found;
  }

  private partAt(value: Expression, first: number, rest: readonly number[]): Found {
    const path = [first, ...rest];
    if (value.kind === "Tuple" || value.kind === "List") {
      const element = value.elements[first];
      return element && this.at(element, rest);
    }
    if (value.kind === "Conditional") return best([this.at(value.body, path), this.at(value.orelse, path)]);
    if (value.kind !== "Call") return undefined;
    const target = this.resolver.functionOf(value);
    if (target) return best(this.resolver.returnedValues(target).map((one) => this.at(one, path)));
    return this.partOfCall(value, first, rest) ?? this.ofImported(value, path);
  }

  private partOfCall(call: Call, first: number, rest: readonly number[]): Found {
    const name = this.resolver.qualifiedName(call.callee);
    if (name === "deepspeed.initialize") return deepspeedPart(call, first);
    if (name === "apex.amp.initialize" || name === "intel_extension_for_pytorch.optimize") {
      const argument = call.positional[first] ?? call.keywords[first]?.value;
      return argument && this.at(argument, rest);
    }
    const method = call.callee.kind === "Attribute" ? call.callee.attribute.id : undefined;
    if (method === "prepare" || method === "setup" || method === "setup_dataloaders") {
      if (call.positional.some(({ kind }) => kind === "Starred")) return undefined;
      const argument = call.positional[first];
      return argument && this.at(argument, rest);
    }
    return undefined;
  }

  /** What a loop over `iterable` gives at `path`. */
  private elementAt(iterable: Expression, path: readonly number[]): Found {
    if (iterable.kind === "Call") {
      const [first, ...rest] = path;
      const callee = this.resolver.qualifiedName(iterable.callee);
      if (callee === "builtins.enumerate" && first === 1) {
        return iterable.positional[0] && this.elementAt(iterable.positional[0], rest);
      }
      if (callee === "builtins.zip" && first !== undefined) {
        const argument = iterable.positional[first];
        return argument && this.elementAt(argument, rest);
      }
      const method = iterable.callee.kind === "Attribute" ? iterable.callee : undefined;
      if (method?.attribute.id === "values" && path.length === 0) return this.elementOf(method.object);
      if (method?.attribute.id === "items" && first === 1 && rest.length === 0)
        return this.elementOf(method.object);
      return undefined;
    }
    return path.length === 0 ? this.elementOf(iterable) : undefined;
  }

  /** The objects a container holds, when all of one role. */
  private elementOf(container: Expression): Found {
    const sources =
      container.kind === "Name" || container.kind === "Attribute"
        ? this.resolver.valuesOf(container)
        : [container];
    return best(sources.flatMap((source) => elementsOf(source)).map((element) => this.find(element)));
  }

  // --- Annotations, uses, names -----------------------------------------------------------------------------------

  private ofAnnotation(annotation: Expression): Candidate {
    const plain = withoutOptional(annotation, (expression) => this.resolver.qualifiedName(expression));
    const name = this.resolver.qualifiedName(plain);
    if (name !== undefined) {
      const role = roleOfAnnotation(name);
      if (role !== undefined)
        return { ...resolved(role, name, annotation), construction: undefined, certainty: "annotation" };
      const imported = this.resolver.imported.classAnnotated(plain);
      const found = imported && this.instanceOfImported(imported, annotation, undefined);
      return found === undefined || found === notAnObject ? undefined : { ...found, certainty: "annotation" };
    }
    if (plain.kind !== "Name") return undefined;
    const bindings = this.resolver.scopes.lookup(plain);
    const definition = bindings.length === 1 ? bindings[0]?.node : undefined;
    if (definition?.kind !== "ClassDefinition") return undefined;
    const found = this.instanceOf(definition, annotation, undefined);
    return found === undefined || found === notAnObject ? undefined : { ...found, certainty: "annotation" };
  }

  /** A model by what is done with it. */
  private byUse(expression: Name | Attribute): Candidate {
    const use = this.uses.of(expression);
    return use && { ...resolved("model", undefined, use), construction: undefined };
  }

  private byName(origin: Expression, name: string | undefined): Candidate {
    const role = name === undefined ? undefined : roleByName(name);
    if (role === undefined) return undefined;
    return {
      role,
      className: undefined,
      classDefinition: undefined,
      origin,
      construction: undefined,
      certainty: "name",
    };
  }
}

// --- Tables and small helpers ---------------------------------------------------------------------------------------

function resolved(role: Role, className: string | undefined, origin: Expression | Node): ResolvedObject {
  return {
    role,
    className,
    classDefinition: undefined,
    origin,
    construction: origin.kind === "Call" ? origin : undefined,
    certainty: "resolved",
  };
}

const rank: Readonly<Record<Certainty, number>> = { resolved: 3, annotation: 2, name: 1 };

function candidate(found: Found): Candidate {
  return found === notAnObject ? undefined : found;
}

/** The parameter that a function returns as it got it. */
function parameterNamed(
  definition: FunctionDefinition,
  value: Expression,
  scopes: Scopes,
): string | undefined {
  if (value.kind !== "Name" || scopes.lookup(value).length !== 1) return undefined;
  return definition.parameters.find(({ name }) => name.id === value.id)?.name.id;
}

/** What another file knows of an object, without places of that file: `origin` stands here. */
function fromElsewhere(found: ResolvedObject, file: OtherFile, origin: Node): ResolvedObject {
  const { classDefinition, importedClass, role, className, certainty } = found;
  return {
    role,
    className,
    classDefinition: undefined,
    importedClass: classDefinition ? { definition: classDefinition, file } : importedClass,
    origin,
    construction: undefined,
    certainty,
  };
}

function best(found: readonly Found[]): Found {
  let winner: Candidate;
  let excluded = 0;
  for (const one of found) {
    if (one === notAnObject) excluded++;
    else if (one !== undefined && (winner === undefined || rank[one.certainty] > rank[winner.certainty]))
      winner = one;
  }
  return winner ?? (excluded > 0 && excluded === found.length ? notAnObject : undefined);
}

/** Not a type guard: what is not sure may be an object all the same. */
function isSure(found: Found): boolean {
  return found !== undefined && found !== notAnObject && found.certainty === "resolved";
}

/** What wrappers of models call the model that they wrap (`DataParallel`, `torch.compile`). */
const wrappedModel: ReadonlySet<string> = new Set(["module", "_orig_mod"]);

/** What models of other files call the loss that they bring along. */
const lossName = /^(\w+_)?(loss|criterion)(_fn|_func|_function)?$/;

/** Attributes that hold modules with parameters in torchvision's models (torchvision/models/*.py). */
const torchvisionParts: ReadonlySet<string> = new Set([
  "features",
  "backbone",
  "encoder",
  "layer1",
  "layer2",
  "layer3",
  "layer4",
]);

function isModel(found: Found): found is ResolvedObject {
  return found !== undefined && found !== notAnObject && found.role === "model";
}

function deepspeedPart(call: Call, index: number): Candidate {
  const roles: readonly Role[] = ["engine", "optimizer", "loader", "scheduler"];
  const role = roles[index];
  return role && resolved(role, role === "engine" ? "deepspeed.DeepSpeedEngine" : undefined, call);
}

function elementsOf(source: Expression): Expression[] {
  switch (source.kind) {
    case "List":
    case "Tuple":
    case "Set":
      return source.elements;
    case "Dict":
      return source.entries.map(({ value }) => value);
    case "Comprehension":
      return [source.element];
    default:
      return [];
  }
}

/** `models["teacher"]` is named by its key. */
function containerName(subscript: Expression): string | undefined {
  if (subscript.kind !== "Subscript") return undefined;
  return subscript.index.kind === "String" ? subscript.index.value : undefined;
}

/** `args.model`, `cfg.optimizer`: settings, not objects. */
function isSettings(expression: Expression): boolean {
  const name =
    expression.kind === "Name"
      ? expression.id
      : expression.kind === "Attribute"
        ? expression.attribute.id
        : "";
  return !/^(self|trainer|state|cls|runner|learner|agent|experiment|engine|ctx|context|solver|task|system)$/.test(
    name,
  );
}

function withoutOptional(
  annotation: Expression,
  nameOf: (expression: Expression) => string | undefined,
): Expression {
  if (
    annotation.kind === "Subscript" &&
    /^typing\.(Optional|Annotated|Final)$/.test(nameOf(annotation.object) ?? "")
  ) {
    return annotation.index.kind === "Tuple"
      ? (annotation.index.elements[0] ?? annotation)
      : annotation.index;
  }
  if (annotation.kind === "BinaryOperation" && annotation.operator === "|") {
    return annotation.left.kind === "None" ? annotation.right : annotation.left;
  }
  return annotation;
}
