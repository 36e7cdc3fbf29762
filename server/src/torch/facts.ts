/** All facts about what a file's Python means for PyTorch, computed lazily once a file and shared by the rules. */
import type { ResolveImport } from "../python/resolve-import";
import { buildScopes } from "../python/scope";
import type { Scopes } from "../python/scope";
import type { Module } from "../python/tree";
import { isKnownExport } from "./api-exports";
import { createFrameworkFacts, type FrameworkFacts } from "./frameworks";
import { createImportedNames, noImports, type FindFile, type ImportedNames } from "./imported";
import { OtherFiles } from "./other-files";
import { createProvenance, type Provenance } from "./provenance";
import { createResolver, type Resolver } from "./resolve";
import { createScriptSetup, type ScriptSetup, type ScriptSurroundings } from "./script-setup";
import { createTrainingLoops, type TrainingLoops } from "./training-loop";

export interface TorchFacts {
  readonly module: Module;
  readonly scopes: Scopes;
  /** Names that lead to other files. */
  readonly imports: ImportedNames;
  /** Other files, as this one would import them. */
  readonly findFile: FindFile;
  readonly resolve: Resolver;
  readonly provenance: Provenance;
  readonly frameworks: FrameworkFacts;
  readonly trainingLoops: TrainingLoops;
  readonly scriptSetup: ScriptSetup;
}

/** `resolveImport` finds the files behind imports; without it what they define is not known. */
export function torchFacts(
  module: Module,
  scopes: Scopes,
  resolveImport?: ResolveImport,
  surroundings: ScriptSurroundings = {},
): TorchFacts {
  const find = resolveImport && new OtherFiles(resolveImport, factsOfOther).find;
  return new FileTorchFacts(module, scopes, find, surroundings);
}

function factsOfOther(module: Module, find: FindFile): TorchFacts {
  return new FileTorchFacts(module, buildScopes(module, { isKnownExport }), find, {});
}

/** A class, since V8 keeps objects whose getters were made with them far longer than it has to. */
class FileTorchFacts implements TorchFacts {
  readonly imports: ImportedNames;
  readonly findFile: FindFile;
  private knownResolver: Resolver | undefined;
  private knownProvenance: Provenance | undefined;
  private knownFrameworks: FrameworkFacts | undefined;
  private knownLoops: TrainingLoops | undefined;
  private knownSetup: ScriptSetup | undefined;

  constructor(
    readonly module: Module,
    readonly scopes: Scopes,
    find: FindFile | undefined,
    private readonly surroundings: ScriptSurroundings,
  ) {
    this.imports = find === undefined ? noImports : createImportedNames(scopes, find);
    this.findFile = find ?? (() => undefined);
  }

  get resolve(): Resolver {
    return (this.knownResolver ??= createResolver(this.module, this.scopes, this.imports));
  }

  get provenance(): Provenance {
    return (this.knownProvenance ??= createProvenance(this.resolve, () => this.frameworks));
  }

  get frameworks(): FrameworkFacts {
    return (this.knownFrameworks ??= createFrameworkFacts(this.resolve));
  }

  get trainingLoops(): TrainingLoops {
    return (this.knownLoops ??= createTrainingLoops(this.resolve, this.frameworks));
  }

  get scriptSetup(): ScriptSetup {
    return (this.knownSetup ??= createScriptSetup(
      this.resolve,
      this.frameworks,
      this.trainingLoops,
      this.surroundings,
    ));
  }
}
