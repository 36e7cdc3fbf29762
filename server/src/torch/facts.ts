/** All facts about what a file's Python means for PyTorch, computed lazily once a file and shared by the rules. */
import type { Scopes } from "../python/scope";
import type { Module } from "../python/tree";
import { createResolver, type Resolver } from "./resolve";

export interface TorchFacts {
  readonly module: Module;
  readonly scopes: Scopes;
  readonly resolve: Resolver;
}

export function torchFacts(module: Module, scopes: Scopes): TorchFacts {
  let resolve: Resolver | undefined;
  return {
    module,
    scopes,
    get resolve() {
      return (resolve ??= createResolver(module, scopes));
    },
  };
}
