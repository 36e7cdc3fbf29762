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
import { createScriptSetup, type ScriptSetup } from "./script-setup";
import type { ReadBeside } from "./script-setup/deepspeed";
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

/**
 * `resolveImport` finds the files behind imports; without it what they define is not known. `readBeside` reads the
 * configuration files that the script names.
 */
export function torchFacts(
  module: Module,
  scopes: Scopes,
  resolveImport?: ResolveImport,
  readBeside?: ReadBeside,
): TorchFacts {
  if (resolveImport === undefined) return factsOf(module, scopes, undefined, readBeside);
  return factsOf(module, scopes, new OtherFiles(resolveImport, factsOfOther).find, readBeside);
}

function factsOfOther(module: Module, find: FindFile): TorchFacts {
  return factsOf(module, buildScopes(module, { isKnownExport }), find);
}

function factsOf(
  module: Module,
  scopes: Scopes,
  find: FindFile | undefined,
  readBeside?: ReadBeside,
): TorchFacts {
  let resolve: Resolver | undefined;
  let provenance: Provenance | undefined;
  let frameworks: FrameworkFacts | undefined;
  let trainingLoops: TrainingLoops | undefined;
  let scriptSetup: ScriptSetup | undefined;
  const facts: TorchFacts = {
    module,
    scopes,
    imports: find === undefined ? noImports : createImportedNames(scopes, find),
    findFile: find ?? (() => undefined),
    get resolve() {
      return (resolve ??= createResolver(module, scopes, facts.imports));
    },
    get provenance() {
      return (provenance ??= createProvenance(facts.resolve));
    },
    get frameworks() {
      return (frameworks ??= createFrameworkFacts(facts.resolve));
    },
    get trainingLoops() {
      return (trainingLoops ??= createTrainingLoops(facts.resolve, facts.frameworks));
    },
    get scriptSetup() {
      return (scriptSetup ??= createScriptSetup(
        facts.resolve,
        facts.frameworks,
        facts.trainingLoops,
        readBeside,
      ));
    },
  };
  return facts;
}
