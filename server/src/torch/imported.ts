/**
 * Names that imports bind, followed to the definition in another file of the workspace: aliases, packages that pass
 * names on, star imports, files that import each other. Installed libraries are not followed; what is known of them
 * stands in the tables of this room.
 */
import { BUILTIN_NAMES } from "../python/builtins";
import type { Binding, Scope, Scopes } from "../python/scope";
import type { ClassDefinition, Expression, FunctionDefinition, ImportFrom, Name } from "../python/tree";
import { enclosingFunction } from "../python/walk";
import type { OtherFile } from "./other-files";

/** A definition and the file it stands in. Its nodes belong to that file: no place of the file at hand. */
export interface Imported<Definition extends FunctionDefinition | ClassDefinition> {
  readonly definition: Definition;
  readonly file: OtherFile;
}

export type ImportedFunction = Imported<FunctionDefinition>;
export type ImportedClass = Imported<ClassDefinition>;

/** A variable that another file binds at its top level: one of the places there that bind it. */
export interface ImportedVariable {
  readonly target: Name;
  readonly file: OtherFile;
}

/** The file behind a dotted name with `level` leading dots, as one file writes it. */
export type FindFile = (dotted: string, level: number) => OtherFile | undefined;

export interface ImportedNames {
  /** The function of another file that a name or dotted name refers to, when exactly one can be meant. */
  functionNamed(expression: Expression): ImportedFunction | undefined;
  /** The same for a class. */
  classNamed(expression: Expression): ImportedClass | undefined;
  /** The same for a variable that another file binds when it is imported: `model = Net()`. */
  variableNamed(expression: Expression): ImportedVariable | undefined;
  /** The variable that one import brings, whatever else binds the name in this file. */
  variableOf(binding: Binding): ImportedVariable | undefined;
  /**
   * The dotted path of an installed library that a name or dotted name refers to because a star import of another file
   * brings its root: `F.relu` behind `from .common import *`, where `common.py` imports `torch.nn.functional as F`.
   */
  libraryPath(expression: Expression): string | undefined;
  /** What a name at the top level of this file means, for files that import it from here. */
  member(name: string, depth: number): Meaning | undefined;
}

/** What a name turns out to be: a file (`import utils`), what one defines or binds, or what a file imports of a library. */
export type Meaning =
  | { readonly kind: "file"; readonly file: OtherFile }
  | { readonly kind: "library"; readonly path: string }
  | {
      readonly kind: "definition";
      readonly definition: FunctionDefinition | ClassDefinition;
      /** Undefined: the file that was asked itself. */
      readonly file: OtherFile | undefined;
    }
  | { readonly kind: "variable"; readonly target: Name; readonly file: OtherFile | undefined };

/** For files whose imports nobody can follow. */
export const noImports: ImportedNames = {
  functionNamed: () => undefined,
  classNamed: () => undefined,
  variableNamed: () => undefined,
  variableOf: () => undefined,
  libraryPath: () => undefined,
  member: () => undefined,
};

export function createImportedNames(scopes: Scopes, find: FindFile): ImportedNames {
  return new FileImports(scopes, find);
}

/** Names passed on from file to file are followed so far. */
const longestChain = 10;

/** A module that passes on more than this is the index of a library: a name would be looked for in all of its files. */
const mostStarImports = 32;

/** Packages that are what their name says whatever lies in the workspace. */
export const installed =
  /^(torch|torchvision|torchaudio|numpy|scipy|math|time|os|sys|io|re|json|random|typing|types|collections|functools|itertools|contextlib|dataclasses|abc|copy|logging|argparse|datetime|pathlib|subprocess|shutil|glob|warnings|inspect|enum|string|pickle|tempfile|threading|multiprocessing|concurrent|queue|signal|traceback|importlib|unittest|pytest|sklearn|pandas|matplotlib|PIL|cv2|tqdm|yaml|wandb|tensorboard|tensorboardX|tensorflow|jax|flax|einops|__future__)(\.|$)/;

class FileImports implements ImportedNames {
  private readonly known = new Map<Binding, Meaning | undefined>();
  private readonly open = new Set<string>();
  /** By names that nothing in this file binds. */
  private readonly libraries = new Map<string, string | undefined>();

  constructor(
    private readonly scopes: Scopes,
    private readonly find: FindFile,
  ) {}

  functionNamed(expression: Expression): ImportedFunction | undefined {
    const found = this.named(expression);
    if (found?.kind !== "definition" || found.file === undefined) return undefined;
    const { definition, file } = found;
    return definition.kind === "FunctionDefinition" ? { definition, file } : undefined;
  }

  classNamed(expression: Expression): ImportedClass | undefined {
    const found = this.named(expression);
    if (found?.kind !== "definition" || found.file === undefined) return undefined;
    const { definition, file } = found;
    return definition.kind === "ClassDefinition" ? { definition, file } : undefined;
  }

  variableNamed(expression: Expression): ImportedVariable | undefined {
    return asVariable(this.named(expression));
  }

  variableOf(binding: Binding): ImportedVariable | undefined {
    return asVariable(this.ofBindings([binding], 0));
  }

  libraryPath(expression: Expression): string | undefined {
    let attributes = "";
    let root = expression;
    for (; root.kind === "Attribute"; root = root.object) attributes = `.${root.attribute.id}${attributes}`;
    if (root.kind !== "Name" || this.scopes.lookup(root).length > 0) return undefined;
    const path = this.libraryNamed(root.id);
    return path === undefined ? undefined : path + attributes;
  }

  private libraryNamed(name: string): string | undefined {
    if (this.libraries.has(name)) return this.libraries.get(name);
    const found = BUILTIN_NAMES.has(name) ? undefined : this.starImported(this.scopes.module, name, 0);
    const path = found?.kind === "library" ? found.path : undefined;
    this.libraries.set(name, path);
    return path;
  }

  private named(expression: Expression): Meaning | undefined {
    const names: string[] = [];
    let root = expression;
    while (root.kind === "Attribute" && names.length < longestChain) {
      names.push(root.attribute.id);
      root = root.object;
    }
    if (root.kind !== "Name") return undefined;
    let meaning = this.ofName(root);
    for (const name of names.reverse()) {
      if (meaning?.kind === "file") meaning = memberOf(meaning.file, name, 0);
      else if (meaning?.kind === "definition") meaning = ofClass(meaning, name);
      else return undefined;
    }
    return meaning;
  }

  private ofName(name: Name): Meaning | undefined {
    const bindings = this.scopes.lookup(name);
    if (bindings.length > 0) return this.ofBindings(bindings, 0);
    // A star import that replaces a builtin is not looked for: hardly any does, and most such names are `print` and `len`.
    return BUILTIN_NAMES.has(name.id) ? undefined : this.starImported(this.scopes.scopeOf(name), name.id, 0);
  }

  member(name: string, depth: number): Meaning | undefined {
    // Files that import a name from each other never get anywhere.
    if (depth > longestChain || this.open.has(name)) return undefined;
    this.open.add(name);
    const bindings = this.scopes.module.bindings.get(name) ?? [];
    const found =
      bindings.length > 0
        ? this.ofMember(bindings, depth)
        : this.starImported(this.scopes.module, name, depth);
    this.open.delete(name);
    return found;
  }

  private ofMember(bindings: readonly Binding[], depth: number): Meaning | undefined {
    const [binding] = bindings;
    if (bindings.length === 1 && binding !== undefined) {
      const { node, value } = binding;
      if (binding.kind === "function" && node.kind === "FunctionDefinition")
        return { kind: "definition", definition: node, file: undefined };
      if (binding.kind === "class" && node.kind === "ClassDefinition")
        return { kind: "definition", definition: node, file: undefined };
      // `evaluate = evaluate_on_test`
      if (binding.kind === "assignment" && value?.kind === "Name" && binding.path.length === 0)
        return this.member(value.id, depth + 1) ?? variableBound(bindings);
    }
    return variableBound(bindings) ?? this.ofBindings(bindings, depth);
  }

  /** What several imports of one name (`try` … `except ImportError`) have in common. */
  private ofBindings(bindings: readonly Binding[], depth: number): Meaning | undefined {
    let found: Meaning | undefined;
    for (const binding of bindings) {
      if (binding.kind !== "import") {
        if (isNothing(binding)) continue;
        return undefined;
      }
      const one = this.ofImport(binding, depth);
      if (one === undefined) continue;
      if (found !== undefined && !isSame(found, one)) return undefined;
      found = one;
    }
    return found;
  }

  private ofImport(binding: Binding, depth: number): Meaning | undefined {
    if (this.known.has(binding)) return this.known.get(binding);
    const { node, importPath } = binding;
    if (importPath === undefined) return undefined;
    if (installed.test(importPath)) return { kind: "library", path: importPath };
    const found =
      node.kind === "ImportFrom"
        ? this.importedFrom(node, binding, depth)
        : node.kind === "Import"
          ? this.importedWhole(importPath)
          : undefined;
    // What was cut off here may be reached on a shorter way.
    if (found !== undefined || depth === 0) this.known.set(binding, found);
    return found;
  }

  private importedFrom(node: ImportFrom, binding: Binding, depth: number): Meaning | undefined {
    const file = this.find(node.module, node.level);
    if (file === undefined) return undefined;
    const written = node.names.find(({ name, alias }) => (alias ?? name) === binding.name)?.name;
    return written === undefined ? undefined : memberOf(file, written, depth + 1);
  }

  private importedWhole(dotted: string): Meaning | undefined {
    const file = this.find(dotted, 0);
    return file && { kind: "file", file };
  }

  /** The last star import that brings the name wins, as in Python. */
  private starImported(from: Scope, name: string, depth: number): Meaning | undefined {
    for (let scope: Scope | undefined = from; scope !== undefined; scope = scope.parent) {
      if (scope.starImports.length > mostStarImports) continue;
      for (const module of scope.starImports.toReversed()) {
        if (installed.test(module)) continue;
        const dots = /^\.*/.exec(module)?.[0].length ?? 0;
        const file = this.find(module.slice(dots), dots);
        if (file?.givesToStar(name) !== true) continue;
        const found = memberOf(file, name, depth + 1);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }
}

/** `file.name`: what the file binds, else the module of that name in a package. */
function memberOf(file: OtherFile, name: string, depth: number): Meaning | undefined {
  const mayDefine = file.mayDefine(name);
  const found = mayDefine ? file.torch.imports.member(name, depth) : undefined;
  if (found !== undefined) return "file" in found && found.file === undefined ? { ...found, file } : found;
  // `from . import steps` in the package itself means the module too.
  if (!/(^|[\\/])__init__\.py$/.test(file.key)) return undefined;
  const bindings = mayDefine ? (file.torch.scopes.module.bindings.get(name) ?? []) : [];
  if (bindings.some(({ kind }) => kind !== "import")) return undefined;
  const inside = file.find(name, 1);
  return inside && { kind: "file", file: inside };
}

/** `Class.method`. */
function ofClass(meaning: Extract<Meaning, { kind: "definition" }>, name: string): Meaning | undefined {
  const { definition, file } = meaning;
  if (definition.kind !== "ClassDefinition") return undefined;
  const method = file?.torch.resolve.methodOf(definition, name);
  return method && { kind: "definition", definition: method, file };
}

function asVariable(found: Meaning | undefined): ImportedVariable | undefined {
  if (found?.kind !== "variable" || found.file === undefined) return undefined;
  return { target: found.target, file: found.file };
}

/** A variable that nothing but assignments bind, all of which run when the file is imported. */
function variableBound(bindings: readonly Binding[]): Meaning | undefined {
  const [target] = bindings.flatMap((binding) => binding.target ?? []);
  const isAssigned = bindings.every(
    ({ kind, node }) => kind === "assignment" && enclosingFunction(node) === undefined,
  );
  return target && isAssigned ? { kind: "variable", target, file: undefined } : undefined;
}

/** `x = None` where an import failed. */
function isNothing({ kind, value, path }: Binding): boolean {
  if (kind === "delete") return true;
  return kind === "assignment" && path.length === 0 && value?.kind === "None";
}

function isSame(a: Meaning, b: Meaning): boolean {
  if (a.kind === "file") return b.kind === "file" && a.file === b.file;
  if (a.kind === "library") return b.kind === "library" && a.path === b.path;
  if (a.kind === "variable") return b.kind === "variable" && a.target === b.target;
  return b.kind === "definition" && a.definition === b.definition;
}
