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
  /** Position inside `value` for unpacked targets, outermost first; `[]` when all of it is bound. */
  readonly path: readonly number[];
  /** For imports: the dotted path of what is bound, e.g. `torch.nn.functional`; relative ones start with dots. */
  readonly importPath: string | undefined;
  readonly parameter: Parameter | undefined;
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

export function buildScopes(_module: Module, _options?: ScopeOptions): Scopes {
  throw new Error("not written yet");
}
