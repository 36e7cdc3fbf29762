/**
 * Names: which scope a node lives in, what a name is bound to, where imports come from. Flow-insensitive; what a
 * value is at a given point is `torch/provenance.ts`'s question.
 */
import type {
  ClassDefinition,
  Comprehension,
  Expression,
  FunctionDefinition,
  Lambda,
  Module,
  Name,
  Node,
  Parameter,
} from "./tree";
import { BUILTIN_NAMES } from "./builtins";
import { NodeTable } from "./node-table";
import { ScopeBuilder, type MutableScope } from "./scope-builder";
import { ancestors, namesById } from "./walk";

export type ScopeOwner = Module | FunctionDefinition | ClassDefinition | Lambda | Comprehension;

export type BindingKind =
  | "import"
  | "parameter"
  | "assignment"
  | "augmented"
  | "for"
  | "with"
  | "except"
  | "capture"
  | "comprehension"
  | "walrus"
  | "function"
  | "class"
  | "delete"
  | "type-alias"
  | "type-parameter";

/** One place that binds a name. */
export interface Binding {
  readonly name: string;
  readonly kind: BindingKind;
  readonly scope: Scope;
  /** The statement, parameter's function, clause or expression that binds. */
  readonly node: Node;
  /** The `Name` node in the source; `undefined` for imports. */
  readonly target: Name | undefined;
  /**
   * The value when the whole of one expression is bound to the name (`x = value`, `x: T = value`, `x := value`,
   * `with value as x` gives the context expression, `for x in value` the iterable). For `a, b = value` it is
   * `value` with `path` `[0]`/`[1]`; when the value is a display of the same length its element is taken instead.
   */
  readonly value: Expression | undefined;
  /**
   * Position inside `value` for unpacked targets, outermost first; `[]` when all of it is bound. For `for` and
   * comprehensions the position inside each item. After a starred target positions count from the end: -1 is the last.
   * The starred target itself has no `value`.
   */
  readonly path: readonly number[];
  /** For imports: the dotted path of what is bound, e.g. `torch.nn.functional`; relative ones start with dots. */
  readonly importPath: string | undefined;
  readonly parameter: Parameter | undefined;
}

/** The name is bound, and by such places only: what a star import brings is bound nowhere that is seen. */
export function isOnlyBoundBy(bindings: readonly Binding[], isSuch: (binding: Binding) => boolean): boolean {
  return bindings.length > 0 && bindings.every(isSuch);
}

export interface Scope {
  readonly owner: ScopeOwner;
  readonly parent: Scope | undefined;
  readonly bindings: ReadonlyMap<string, readonly Binding[]>;
  /** Dotted paths of the modules star-imported here, in order. */
  readonly starImports: readonly string[];
}

export interface Scopes {
  readonly module: Scope;
  /** The scope a node's names are looked up in. A function's own name, decorators, defaults belong to the outer one. */
  scopeOf(node: Node): Scope;
  /** The scope that `owner` opens. */
  scopeFor(owner: ScopeOwner): Scope;
  /**
   * All bindings that the name may refer to, by Python's rules: the nearest scope that binds it, class scopes skipped
   * from inside functions, `global`/`nonlocal` honoured. Empty when unbound (builtin, star import or unknown).
   */
  lookup(name: Name): readonly Binding[];
  lookupIn(scope: Scope, id: string): readonly Binding[];
  /** Every read of a binding's name that may see it, in source order. */
  referencesTo(scope: Scope, id: string): readonly Name[];
  /**
   * The dotted path an expression refers to through imports: `th.nn.functional.relu` after `import torch as th` gives
   * `torch.nn.functional.relu`; `relu` after `from torch.nn.functional import relu` the same; a builtin that nobody
   * rebinds gives `builtins.float`. `undefined` when the root name is anything else. A name with several import
   * bindings (try/except, if/else) gives the first. With a star import of a module for which `isKnownExport(module,
   * name)` says yes, the name resolves through it.
   */
  qualifiedName(expression: Expression): string | undefined;
}

export interface ScopeOptions {
  /** Whether a star import of `module` provides `name`. */
  isKnownExport?(module: string, name: string): boolean;
}

/** Goes over the module once; references are indexed when first asked for. */
export function buildScopes(module: Module, options: ScopeOptions = {}): Scopes {
  return new ModuleScopes(module, new ScopeBuilder(module), options);
}

const NO_BINDINGS: readonly Binding[] = [];

class ModuleScopes implements Scopes {
  readonly module: MutableScope;
  private readonly readsById = new Map<string, ReadonlyMap<Scope | undefined, readonly Name[]>>();
  /** Names are asked about again and again, by every rule. */
  private readonly lookedUp: NodeTable<Name, readonly Binding[]>;

  constructor(
    private readonly root: Module,
    private readonly built: ScopeBuilder,
    private readonly options: ScopeOptions,
  ) {
    this.module = built.moduleScope;
    this.lookedUp = new NodeTable(root);
  }

  scopeOf(node: Node): MutableScope {
    let below = node;
    for (let at = node.parent; at !== undefined; at = at.parent) {
      if (opensScope(at) && isInside(at, below)) {
        const scope = this.built.scopes.get(at);
        if (scope !== undefined) return scope;
      }
      below = at;
    }
    return this.module;
  }

  scopeFor(owner: ScopeOwner): MutableScope {
    return this.built.scopes.get(owner) ?? this.module;
  }

  lookup(name: Name): readonly Binding[] {
    let found = this.lookedUp.get(name);
    if (found === undefined) {
      found = this.typeParametersFor(name) ?? this.lookupIn(this.scopeOf(name), name.id);
      this.lookedUp.set(name, found);
    }
    return found;
  }

  lookupIn(scope: Scope, id: string): readonly Binding[] {
    return this.bindingScope(scope, id)?.bindings.get(id) ?? NO_BINDINGS;
  }

  referencesTo(scope: Scope, id: string): readonly Name[] {
    let reads = this.readsById.get(id);
    if (reads === undefined) this.readsById.set(id, (reads = this.readsOf(id)));
    return reads.get(scope) ?? [];
  }

  qualifiedName(expression: Expression): string | undefined {
    let root = expression;
    while (root.kind === "Attribute") root = root.object;
    const path = root.kind === "Name" ? this.importedPath(root) : undefined;
    return path === undefined ? undefined : path + attributesOf(expression);
  }

  /** The dotted path of a name that an import binds, or that is a builtin. */
  private importedPath(name: Name): string | undefined {
    const bindings = this.lookup(name);
    if (bindings.length === 0) return this.starImported(this.scopeOf(name), name.id) ?? builtinPath(name.id);
    const imported = bindings.find((binding) => binding.importPath !== undefined);
    return imported !== undefined && bindings.every(leavesImportAlone) ? imported.importPath : undefined;
  }

  /** The last star import that is known to provide the name wins, as in Python. */
  private starImported(from: MutableScope, id: string): string | undefined {
    const { options } = this;
    for (let scope: MutableScope | undefined = from; scope !== undefined; scope = scope.parent) {
      const module = scope.starImports.findLast(
        (candidate) => options.isKnownExport?.(candidate, id) ?? false,
      );
      if (module !== undefined) return `${module}.${id}`;
    }
    return undefined;
  }

  /** The scope whose binding of `id` code in `from` sees. */
  private bindingScope(from: Scope, id: string): MutableScope | undefined {
    let scope: MutableScope | undefined = this.scopeFor(from.owner);
    for (let isOwn = true; scope !== undefined; scope = scope.parent, isOwn = false) {
      if (scope.globals?.has(id) === true) return this.module.bindings.has(id) ? this.module : undefined;
      if (scope.nonlocals?.has(id) === true) continue;
      const bindings = scope.bindings.get(id);
      if (bindings === undefined) continue;
      if (isOwn || scope.owner.kind !== "ClassDefinition" || bindings.some(isTypeParameter)) return scope;
    }
    return undefined;
  }

  /** Type parameters are seen in the header of what has them too, which is otherwise the outer scope's. */
  private typeParametersFor(name: Name): readonly Binding[] | undefined {
    if (this.built.typeParameters.size === 0) return undefined;
    for (const ancestor of ancestors(name)) {
      const bindings = this.built.typeParameters.get(ancestor);
      const found = bindings?.filter((binding) => binding.name === name.id) ?? [];
      if (found.length > 0) return found;
    }
    return undefined;
  }

  /** In source order, by the scope that binds what they read. */
  private readsOf(id: string): ReadonlyMap<Scope | undefined, readonly Name[]> {
    const { targets } = this.built;
    const reads = (namesById(this.root).get(id) ?? []).filter(
      (name) => !targets.has(name) && !isDeclared(name),
    );
    const byScope = new Map<Scope | undefined, Name[]>();
    for (const name of reads.sort((one, other) => one.start - other.start)) {
      const scope = this.bindingScope(this.scopeOf(name), id);
      const known = byScope.get(scope);
      if (known === undefined) byScope.set(scope, [name]);
      else known.push(name);
    }
    return byScope;
  }
}

/** `.b.c` of `a.b.c`. */
function attributesOf(expression: Expression): string {
  let attributes = "";
  for (let at = expression; at.kind === "Attribute"; at = at.object)
    attributes = `.${at.attribute.id}${attributes}`;
  return attributes;
}

/** `global x`, `nonlocal x`: no read. */
function isDeclared({ parent }: Name): boolean {
  return parent?.kind === "Global" || parent?.kind === "Nonlocal";
}

function opensScope(node: Node): node is ScopeOwner {
  switch (node.kind) {
    case "FunctionDefinition":
    case "ClassDefinition":
    case "Comprehension":
    case "Lambda":
    case "Module":
      return true;
    default:
      return false;
  }
}

/** Whether the child of an owner is looked up in the scope that the owner opens, or in the one around it. */
function isInside(owner: ScopeOwner, child: Node): boolean {
  switch (owner.kind) {
    case "Module":
      return true;
    case "FunctionDefinition":
      return isInBody(owner, child) || isParameterOf(owner, child);
    case "ClassDefinition":
      return isInBody(owner, child);
    case "Lambda":
      return child === owner.body || isParameterOf(owner, child);
    case "Comprehension":
      return child !== owner.clauses[0]?.iterable;
  }
}

function isParameterOf({ parameters }: FunctionDefinition | Lambda, child: Node): boolean {
  return child.kind === "Name" && parameters.some((parameter) => parameter.name === child);
}

function isInBody(owner: FunctionDefinition | ClassDefinition, child: Node): boolean {
  const first = owner.body[0];
  if (first !== undefined && child.start >= first.start) return true;
  return owner.typeParameters.some((name) => name === child);
}

function isTypeParameter(binding: Binding): boolean {
  return binding.kind === "type-parameter";
}

/** `try: import x` / `except ImportError: x = None` still means the import wherever `x` is used as a module. */
function leavesImportAlone(binding: Binding): boolean {
  if (binding.importPath !== undefined || binding.kind === "delete") return true;
  return binding.path.length === 0 && binding.value !== undefined && isPlaceholder(binding.value);
}

function isPlaceholder(value: Expression): boolean {
  return value.kind === "None" || (value.kind === "Boolean" && !value.value);
}

function builtinPath(id: string): string | undefined {
  return BUILTIN_NAMES.has(id) ? `builtins.${id}` : undefined;
}
