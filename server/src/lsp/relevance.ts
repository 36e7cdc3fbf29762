/** Whether a file has anything to do with training: shown in the status item, never used to leave findings out. */
import { eachStatement } from "../directives/statements";
import type { Module } from "../python/tree";

/** First parts of the modules that training scripts import. */
const libraries = new Set([
  "torch",
  "lightning",
  "pytorch_lightning",
  "lightning_fabric",
  "accelerate",
  "transformers",
  "deepspeed",
  "ignite",
  "fastai",
  "composer",
  "mmengine",
  "torchtune",
  "timm",
]);

export function mayTrain(module: Module): boolean {
  let found = false;
  eachStatement(
    module.body,
    (statement) => {
      if (statement.kind === "Import") found ||= statement.names.some(({ name }) => isLibrary(name));
      if (statement.kind === "ImportFrom") found ||= statement.level === 0 && isLibrary(statement.module);
    },
    () => !found,
  );
  return found;
}

function isLibrary(dotted: string): boolean {
  return libraries.has(dotted.split(".")[0] ?? "");
}
