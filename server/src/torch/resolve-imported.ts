/** What a file uses of other files: functions it calls, classes it makes instances of or inherits from. */
import { lastName } from "../python/last-name";
import type { Binding } from "../python/scope";
import type { Call, ClassDefinition, Expression, Import, ImportFrom } from "../python/tree";
import { enclosingFunction } from "../python/walk";
import { isModuleBase } from "./api-kinds";
import {
  installed,
  noImports,
  type ImportedClass,
  type ImportedFunction,
  type ImportedNames,
  type ImportedVariable,
} from "./imported";
import { objectQuestions, type Answers } from "./open-questions";
import type { Resolver } from "./resolve";
import { enclosingClass, isSuper } from "./resolve-index";

/** Classes called like this hold settings or results: looking into their files would tell nothing about training. */
const plainData =
  /(Config|Configuration|Args|Arguments|Options|Params|Kwargs|Tokenizer\w*|Processor|Output\w*|Cache|Enum|Type|Dict|Mask|Error|Exception)$/;

/** Variables are not called like this but classes are, and most names that are imported are theirs. */
const className = /^[A-Z]\w*[a-z]/;

/** Nodes in the answers are places of another file: never report there. */
export class ImportedDefinitions {
  private readonly bases = new Map<ClassDefinition, readonly ImportedClass[]>();
  private known: ImportedNames | undefined;
  private inherits: boolean | undefined;
  private readonly functions: Answers<Call, ImportedFunction | undefined> = new Map();
  private readonly instances: Answers<Expression, ImportedClass | undefined> = new Map();
  private readonly findInstance = (expression: Expression): ImportedClass | undefined =>
    this.plainInstance(expression);

  constructor(
    private readonly resolver: Resolver,
    private readonly given: ImportedNames,
  ) {}

  /** False where no call can lead to another file. */
  get leadElsewhere(): boolean {
    return this.names !== noImports;
  }

  /** A script that imports nothing but installed packages uses nothing of other files, and asks for none of them. */
  private get names(): ImportedNames {
    if (this.given === noImports) return noImports;
    return (this.known ??= this.resolver.index.imports.some(leadsElsewhere) ? this.given : noImports);
  }

  /** The function or method that a call runs: imported, of an imported class, inherited, reached through `super()`. */
  functionOf(call: Call): ImportedFunction | undefined {
    if (this.names === noImports) return undefined;
    return objectQuestions.answer(this.functions, call, undefined, () => this.findFunction(call.callee));
  }

  functionNamed(expression: Expression): ImportedFunction | undefined {
    return this.names.functionNamed(expression);
  }

  /** The path of a library's name that star imports of other files bring. */
  libraryPath(expression: Expression): string | undefined {
    const { starImports } = this.resolver.scopes.module;
    return starImports.length === 0 ? undefined : this.names.libraryPath(expression);
  }

  /** The class that an expression names. */
  classNamed(expression: Expression): ImportedClass | undefined {
    return this.names.classNamed(expression);
  }

  /** The variables of other files that a name or dotted name may be. */
  variablesNamed(expression: Expression): readonly ImportedVariable[] {
    if (this.names === noImports || className.test(lastName(expression) ?? "")) return [];
    const bindings = expression.kind === "Name" ? this.resolver.scopes.lookup(expression) : [];
    if (bindings.length > 0) return bindings.flatMap((binding) => this.variableOf(binding) ?? []);
    const named = this.names.variableNamed(expression);
    return named ? [named] : [];
  }

  private variableOf(binding: Binding): ImportedVariable | undefined {
    return binding.kind === "import" ? this.names.variableOf(binding) : undefined;
  }

  /** The class that an expression is an instance of. */
  classOf(expression: Expression): ImportedClass | undefined {
    if (this.names === noImports) return undefined;
    const found = this.resolver.objectOf(expression)?.importedClass;
    if (found !== undefined) return found;
    if (expression.kind === "Call") return this.names.classNamed(expression.callee);
    return this.plainInstance(expression);
  }

  /** Instances of classes that have no role of their own. */
  private plainInstance(expression: Expression): ImportedClass | undefined {
    let found: ImportedClass | undefined;
    for (const value of this.resolver.valuesGiven(expression)) {
      const made = this.constructedOrHeld(value);
      if (made === undefined || (found !== undefined && found.definition !== made.definition))
        return undefined;
      found = made;
    }
    return found;
  }

  private constructedOrHeld(value: Expression): ImportedClass | undefined {
    if (value.kind === "Call") return this.names.classNamed(value.callee);
    if (value.kind !== "Name") return undefined;
    return objectQuestions.answer(this.instances, value, undefined, this.findInstance);
  }

  /** The bases of a class of this file, and of its bases here, that other files define; nearest first. */
  basesOf(owner: ClassDefinition): readonly ImportedClass[] {
    if (this.names === noImports) return [];
    let found = this.bases.get(owner);
    if (found === undefined) {
      found = this.resolver
        .withBases(owner)
        .flatMap((one) => one.bases.flatMap((base) => this.baseNamed(base) ?? []));
      this.bases.set(owner, found);
    }
    return found;
  }

  /** Whether a class of this file may have attributes that a base elsewhere binds; no other file is read for it. */
  get mayInheritAttributes(): boolean {
    if (this.names === noImports) return false;
    return (this.inherits ??= this.resolver.index.classes.some(({ bases }) =>
      bases.some((base) => this.mayBeElsewhere(base)),
    ));
  }

  private mayBeElsewhere(base: Expression): boolean {
    if (base.kind !== "Name" && base.kind !== "Attribute") return false;
    const name = this.resolver.qualifiedName(base);
    if (name !== undefined) return !installed.test(name) && !name.startsWith("builtins.");
    return (
      base.kind === "Attribute" || this.resolver.scopes.lookup(base).every(({ kind }) => kind !== "class")
    );
  }

  /** Bases that the tables know say enough by their name. */
  private baseNamed(base: Expression): ImportedClass | undefined {
    const name = this.resolver.qualifiedName(base);
    if (name !== undefined && (isModuleBase(name) || plainData.test(name))) return undefined;
    return this.names.classNamed(base);
  }

  /** The class that an annotation names, unless it is called like one of plain data. */
  classAnnotated(annotation: Expression): ImportedClass | undefined {
    const name = this.resolver.qualifiedName(annotation);
    return name !== undefined && plainData.test(name) ? undefined : this.names.classNamed(annotation);
  }

  /** A method that a class of this file inherits from one elsewhere; `undefined` where a class of this file has it. */
  methodOf(owner: ClassDefinition, name: string): ImportedFunction | undefined {
    if (this.names === noImports || this.resolver.methodOf(owner, name) !== undefined) return undefined;
    return this.methodOfBases(owner, name);
  }

  private findFunction(callee: Expression): ImportedFunction | undefined {
    if (callee.kind === "Name") return this.names.functionNamed(callee);
    if (callee.kind !== "Attribute") return undefined;
    const named = this.names.functionNamed(callee);
    if (named !== undefined) return named;
    const method = callee.attribute.id;
    const { object } = callee;
    if (isSuper(object)) {
      const around = enclosingFunction(object);
      const owner = around?.kind === "FunctionDefinition" ? enclosingClass(around) : undefined;
      return owner && this.methodOfBases(owner, method);
    }
    if (this.resolver.qualifiedName(object) !== undefined) return undefined;
    const owner = this.resolver.classOf(object);
    return owner ? this.methodOf(owner, method) : methodOfImported(this.classOf(object), method);
  }

  private methodOfBases(owner: ClassDefinition, name: string): ImportedFunction | undefined {
    for (const base of this.basesOf(owner)) {
      const found = methodOfImported(base, name);
      if (found) return found;
    }
    return undefined;
  }
}

/** Whether an import may find a file of the workspace. */
function leadsElsewhere(statement: Import | ImportFrom): boolean {
  if (statement.kind === "Import") return statement.names.some(({ name }) => !installed.test(name));
  return statement.level > 0 || !installed.test(statement.module);
}

/** A method of an imported class, or of its bases in whatever file. */
export function methodOfImported(
  imported: ImportedClass | undefined,
  name: string,
): ImportedFunction | undefined {
  if (imported === undefined) return undefined;
  const { definition, file } = imported;
  const { resolve } = file.torch;
  const own = resolve.methodOf(definition, name);
  return own ? { definition: own, file } : resolve.imported.methodOf(definition, name);
}
