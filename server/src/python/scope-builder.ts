/** The pass that finds every scope of a module and every place that binds a name. */
import type {
  Comprehension,
  Expression,
  FunctionDefinition,
  Import,
  ImportFrom,
  ImportedName,
  Lambda,
  Module,
  Name,
  NamedExpression,
  Node,
  Parameter,
} from "./tree";
import type { Binding, BindingKind, Scope, ScopeOwner } from "./scope";
import { forEachChild } from "./walk";

export interface MutableScope extends Scope {
  readonly parent: MutableScope | undefined;
  readonly bindings: Map<string, Binding[]>;
  readonly starImports: string[];
  /** Names that `global` declares here. */
  globals: Set<string> | undefined;
  /** Names that `nonlocal` declares here. */
  nonlocals: Set<string> | undefined;
}

/** The path of what is bound as a whole. */
const WHOLE: readonly number[] = [];

/** What a target is bound to. */
interface Bound {
  readonly kind: BindingKind;
  readonly node: Node;
  readonly value: Expression | undefined;
  readonly path: readonly number[];
  /** True when a display on the right may be taken apart: not for what iterates. */
  readonly takesApart: boolean;
}

/**
 * Function bodies are gone through after the code around them, outer ones first, so that `nonlocal` meets all bindings
 * of the scopes outside.
 */
export class ScopeBuilder {
  readonly moduleScope: MutableScope;
  readonly scopes = new Map<ScopeOwner, MutableScope>();
  /** Names that are bound rather than read where they stand. */
  readonly targets = new Set<Name>();
  /** Bindings of the type parameters of a function, class or alias. */
  readonly typeParameters = new Map<Node, Binding[]>();
  private scope: MutableScope;
  private readonly pending: FunctionDefinition[] = [];
  /** Scopes that got bindings out of source order. */
  private readonly disordered = new Set<MutableScope>();
  private readonly visit = (node: Node): void => this.visitNode(node);

  constructor(module: Module) {
    this.moduleScope = this.open(module, undefined);
    this.scope = this.moduleScope;
    for (const statement of module.body) this.visitNode(statement);
    // The list grows while it is gone through.
    for (const definition of this.pending) this.visitFunctionBody(definition);
    for (const scope of this.disordered) sortBindings(scope);
  }

  private open(owner: ScopeOwner, parent: MutableScope | undefined): MutableScope {
    const scope: MutableScope = {
      owner,
      parent,
      bindings: new Map(),
      starImports: [],
      globals: undefined,
      nonlocals: undefined,
    };
    this.scopes.set(owner, scope);
    return scope;
  }

  private visitNode(node: Node): void {
    switch (node.kind) {
      case "Name":
        return;
      case "Assign":
        for (const target of node.targets) {
          this.bindTarget(target, {
            kind: "assignment",
            node,
            value: node.value,
            path: WHOLE,
            takesApart: true,
          });
        }
        break;
      case "AnnotatedAssign":
        this.bindTarget(node.target, {
          kind: "assignment",
          node,
          value: node.value,
          path: WHOLE,
          takesApart: true,
        });
        break;
      case "AugmentedAssign":
        if (node.target.kind === "Name") this.bind("augmented", node, node.target, node.target.id);
        break;
      case "For":
        this.bindTarget(node.target, {
          kind: "for",
          node,
          value: node.iterable,
          path: WHOLE,
          takesApart: false,
        });
        break;
      case "With":
        for (const item of node.items) {
          if (item.target === undefined) continue;
          this.bindTarget(item.target, {
            kind: "with",
            node,
            value: item.context,
            path: WHOLE,
            takesApart: false,
          });
        }
        break;
      case "Try":
        for (const { name } of node.handlers) if (name !== undefined) this.bindName("except", node, name);
        break;
      case "Match":
        for (const { pattern } of node.cases) {
          for (const name of pattern.captures) this.bindName("capture", node, name);
        }
        break;
      case "Delete":
        for (const target of node.targets) {
          this.bindTarget(target, { kind: "delete", node, value: undefined, path: WHOLE, takesApart: false });
        }
        break;
      case "Global":
        this.scope.globals = declared(this.scope.globals, node.names);
        return;
      case "Nonlocal":
        this.scope.nonlocals = declared(this.scope.nonlocals, node.names);
        return;
      case "Import": {
        this.bindImport(node);
        return;
      }
      case "ImportFrom": {
        this.bindImportFrom(node);
        return;
      }
      case "TypeAlias":
        this.bindName("type-alias", node, node.name);
        this.bindTypeParameters(node, node.typeParameters, undefined);
        break;
      case "FunctionDefinition": {
        this.visitFunction(node);
        return;
      }
      case "ClassDefinition": {
        this.visitClass(node);
        return;
      }
      case "Lambda": {
        this.visitLambda(node);
        return;
      }
      case "Comprehension": {
        this.visitComprehension(node);
        return;
      }
      case "NamedExpression":
        this.bindWalrus(node);
        break;
      default:
        break;
    }
    forEachChild(node, this.visit);
  }

  // --- Scopes -----------------------------------------------------------------------------------------------------

  private visitFunction(node: FunctionDefinition): void {
    for (const decorator of node.decorators) this.visitNode(decorator.expression);
    this.bindName("function", node, node.name);
    this.visitDefaults(node.parameters);
    if (node.returns !== undefined) this.visitNode(node.returns);
    const scope = this.open(node, this.scope);
    this.bindTypeParameters(node, node.typeParameters, scope);
    this.bindParameters(node, scope);
    this.pending.push(node);
  }

  private visitFunctionBody(node: FunctionDefinition): void {
    this.scope = this.scopes.get(node) ?? this.moduleScope;
    for (const statement of node.body) this.visitNode(statement);
  }

  private visitDefaults(parameters: readonly Parameter[]): void {
    for (const parameter of parameters) {
      if (parameter.annotation !== undefined) this.visitNode(parameter.annotation);
      if (parameter.default !== undefined) this.visitNode(parameter.default);
    }
  }

  private bindParameters(owner: FunctionDefinition | Lambda, scope: MutableScope): void {
    for (const parameter of owner.parameters) {
      const { name } = parameter;
      this.targets.add(name);
      this.add(scope, {
        name: name.id,
        kind: "parameter",
        scope,
        node: owner,
        target: name,
        value: undefined,
        path: WHOLE,
        importPath: undefined,
        parameter,
      });
    }
  }

  private bindTypeParameters(owner: Node, names: readonly Name[], scope: MutableScope | undefined): void {
    if (names.length === 0) return;
    const bindings: Binding[] = [];
    for (const name of names) {
      this.targets.add(name);
      const binding: Binding = {
        name: name.id,
        kind: "type-parameter",
        scope: scope ?? this.scope,
        node: owner,
        target: name,
        value: undefined,
        path: WHOLE,
        importPath: undefined,
        parameter: undefined,
      };
      bindings.push(binding);
      if (scope !== undefined) this.add(scope, binding);
    }
    this.typeParameters.set(owner, bindings);
  }

  private visitClass(node: Node & { kind: "ClassDefinition" }): void {
    for (const decorator of node.decorators) this.visitNode(decorator.expression);
    this.bindName("class", node, node.name);
    for (const base of node.bases) this.visitNode(base);
    for (const keyword of node.keywords) this.visitNode(keyword.value);
    const scope = this.open(node, this.scope);
    this.bindTypeParameters(node, node.typeParameters, scope);
    this.inScope(scope, () => node.body.forEach(this.visit));
  }

  private visitLambda(node: Lambda): void {
    this.visitDefaults(node.parameters);
    const scope = this.open(node, this.scope);
    this.bindParameters(node, scope);
    this.inScope(scope, () => this.visitNode(node.body));
  }

  private visitComprehension(node: Comprehension): void {
    const outermost = node.clauses[0];
    if (outermost !== undefined) this.visitNode(outermost.iterable);
    this.inScope(this.open(node, this.scope), () => {
      for (const { target, iterable, conditions } of node.clauses) {
        this.bindTarget(target, {
          kind: "comprehension",
          node,
          value: iterable,
          path: WHOLE,
          takesApart: false,
        });
        this.visitNode(target);
        if (iterable !== outermost?.iterable) this.visitNode(iterable);
        conditions.forEach(this.visit);
      }
      if (node.key !== undefined) this.visitNode(node.key);
      this.visitNode(node.element);
    });
  }

  private inScope(scope: MutableScope, action: () => void): void {
    const outer = this.scope;
    this.scope = scope;
    action();
    this.scope = outer;
  }

  // --- Bindings ---------------------------------------------------------------------------------------------------

  private bindTarget(target: Expression, bound: Bound): void {
    if (target.kind === "Name") {
      const { kind, node, value, path } = bound;
      this.bind(kind, node, target, target.id, value, path);
      return;
    }
    if (target.kind === "Tuple" || target.kind === "List") {
      this.bindElements(target.elements, bound);
      return;
    }
    if (target.kind === "Starred") {
      this.bindTarget(target.value, { ...bound, value: undefined, path: WHOLE });
      return;
    }
  }

  private bindElements(targets: readonly Expression[], bound: Bound): void {
    const values = matchingElements(targets, bound);
    const starred = targets.findIndex((target) => target.kind === "Starred");
    for (const [index, target] of targets.entries()) {
      if (values !== undefined) {
        this.bindTarget(target, { ...bound, value: values[index] });
        continue;
      }
      const position = starred >= 0 && index > starred ? index - targets.length : index;
      const path = bound.value === undefined ? WHOLE : [...bound.path, position];
      this.bindTarget(target, { ...bound, path });
    }
  }

  private bindName(kind: BindingKind, node: Node, target: Name): void {
    this.bind(kind, node, target, target.id);
  }

  /** Binds in the current scope, or where `global` and `nonlocal` say. */
  private bind(
    kind: BindingKind,
    node: Node,
    target: Name | undefined,
    name: string,
    value?: Expression,
    path: readonly number[] = WHOLE,
    importPath?: string,
  ): void {
    const scope = this.destination(this.scope, name);
    // `x += 1` reads as well.
    if (target !== undefined && kind !== "augmented") this.targets.add(target);
    if (scope !== this.scope) this.disordered.add(scope);
    this.add(scope, { name, kind, scope, node, target, value, path, importPath, parameter: undefined });
  }

  private bindWalrus(node: NamedExpression): void {
    let scope = this.scope;
    while (scope.owner.kind === "Comprehension" && scope.parent !== undefined) scope = scope.parent;
    this.inScope(scope, () => this.bind("walrus", node, node.target, node.target.id, node.value));
  }

  private bindImport(node: Import): void {
    for (const { name, alias } of node.names) {
      const root = name.split(".", 1)[0] ?? name;
      if (alias === undefined) this.bind("import", node, undefined, root, undefined, WHOLE, root);
      else this.bind("import", node, undefined, alias, undefined, WHOLE, name);
    }
  }

  private bindImportFrom(node: ImportFrom): void {
    const module = ".".repeat(node.level) + node.module;
    for (const imported of node.names) {
      if (imported.name === "*") this.scope.starImports.push(module);
      else this.bindImportedName(node, module, imported);
    }
  }

  private bindImportedName(node: ImportFrom, module: string, { name, alias }: ImportedName): void {
    const separator = module.endsWith(".") || module === "" ? "" : ".";
    this.bind("import", node, undefined, alias ?? name, undefined, WHOLE, `${module}${separator}${name}`);
  }

  private add(scope: MutableScope, binding: Binding): void {
    const known = scope.bindings.get(binding.name);
    if (known === undefined) scope.bindings.set(binding.name, [binding]);
    else known.push(binding);
  }

  private destination(scope: MutableScope, name: string): MutableScope {
    if (scope.globals?.has(name) === true) return this.moduleScope;
    if (scope.nonlocals?.has(name) !== true) return scope;
    for (let outer = scope.parent; outer !== undefined; outer = outer.parent) {
      if (outer.owner.kind === "ClassDefinition" || outer.owner.kind === "Module") continue;
      if (outer.bindings.has(name) && outer.nonlocals?.has(name) !== true) return outer;
    }
    return scope;
  }
}

function declared(before: Set<string> | undefined, names: readonly Name[]): Set<string> {
  return new Set([...(before ?? []), ...names.map(({ id }) => id)]);
}

/** The elements of a display that match the targets one by one. */
function matchingElements(targets: readonly Expression[], bound: Bound): readonly Expression[] | undefined {
  const { value } = bound;
  if (!bound.takesApart || bound.path.length > 0) return undefined;
  if (value?.kind !== "Tuple" && value?.kind !== "List") return undefined;
  if (value.elements.length !== targets.length) return undefined;
  return [...targets, ...value.elements].some((node) => node.kind === "Starred") ? undefined : value.elements;
}

function sortBindings(scope: MutableScope): void {
  for (const bindings of scope.bindings.values())
    bindings.sort((one, other) => offsetOf(one) - offsetOf(other));
}

function offsetOf(binding: Binding): number {
  return binding.target?.start ?? binding.node.start;
}
