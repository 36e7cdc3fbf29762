/** How a file writes `torch.no_grad()`: fixes use its own imports. */
import { someNode } from "../python/walk";
import { insertImport } from "./fix";
import type { RuleContext, TextEdit } from "./rule";

type ContextOfFile = Pick<RuleContext, "scopes" | "source" | "module">;

/** A context manager of `torch` as it is written in this file. */
export interface ContextCall {
  readonly text: string;
  /** The import it needs. */
  readonly edits: readonly TextEdit[];
}

/** `torch.no_grad()` as this file may write it: by its alias of torch, or by the name it imports. */
export function contextCall(
  name: "no_grad" | "inference_mode" | "set_grad_enabled",
  context: ContextOfFile,
  argument = "",
): ContextCall {
  let torch: string | undefined;
  for (const [local, bindings] of context.scopes.module.bindings) {
    const path =
      bindings.length > 0 && bindings.every(({ kind }) => kind === "import")
        ? bindings[0]?.importPath
        : undefined;
    if (path === `torch.${name}`) return { text: `${local}(${argument})`, edits: [] };
    if (path === "torch") torch ??= local;
  }
  if (torch !== undefined) return { text: `${torch}.${name}(${argument})`, edits: [] };
  return {
    text: `torch.${name}(${argument})`,
    edits: isStarImported(context) ? [] : [insertImport(context.source, context.module, "import torch")],
  };
}

/** The file itself writes `torch.…` without an import of its own: `from model import *` brings it along. */
function isStarImported({ scopes, module }: ContextOfFile): boolean {
  if (scopes.module.starImports.length === 0) return false;
  return someNode(
    module,
    (node) =>
      node.kind === "Attribute" &&
      node.object.kind === "Name" &&
      node.object.id === "torch" &&
      scopes.lookup(node.object).length === 0,
  );
}
