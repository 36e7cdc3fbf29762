/** All facts about what a file's Python means for PyTorch, computed lazily once a file and shared by the rules. */
import type { Scopes } from "../python/scope";
import type { Module } from "../python/tree";
import { createFrameworkFacts, type FrameworkFacts } from "./frameworks";
import { createProvenance, type Provenance } from "./provenance";
import { createResolver, type Resolver } from "./resolve";
import { createScriptSetup, type ScriptSetup } from "./script-setup";
import { createTrainingLoops, type TrainingLoops } from "./training-loop";

export interface TorchFacts {
  readonly module: Module;
  readonly scopes: Scopes;
  readonly resolve: Resolver;
  readonly provenance: Provenance;
  readonly frameworks: FrameworkFacts;
  readonly trainingLoops: TrainingLoops;
  readonly scriptSetup: ScriptSetup;
}

export function torchFacts(module: Module, scopes: Scopes): TorchFacts {
  let resolve: Resolver | undefined;
  let provenance: Provenance | undefined;
  let frameworks: FrameworkFacts | undefined;
  let trainingLoops: TrainingLoops | undefined;
  let scriptSetup: ScriptSetup | undefined;
  const facts: TorchFacts = {
    module,
    scopes,
    get resolve() {
      return (resolve ??= createResolver(module, scopes));
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
      return (scriptSetup ??= createScriptSetup(facts.resolve, facts.frameworks, facts.trainingLoops));
    },
  };
  return facts;
}
