/**
 * Code that never runs as the file stands: behind `if False:`, `while 0:`, or a switch that the file sets once, to false.
 * Comparisons are not folded for it: `if dataset == "mnist":` under `dataset = "cifar"` is one of several ways that are all meant.
 */
import { foldConstant } from "./constant";
import { isTruthy } from "./constant-operators";
import { FileMemo } from "./file-memo";
import type { Scopes } from "./scope";
import type { Expression, Module, Span, Statement } from "./tree";
import { isWithin, namesById, nodesOf, someNode } from "./walk";

/** Whether a place lies in code that never runs. */
export function neverRuns(place: Span, module: Module, scopes: Scopes): boolean {
  return dead.of(module, () => deadParts(module, scopes)).some((part) => isWithin(place, part));
}

const dead = new FileMemo<readonly Span[]>();

function deadParts(module: Module, scopes: Scopes): readonly Span[] {
  const parts: Span[] = [];
  const add = (block: readonly Statement[]): void => {
    const [first] = block;
    const last = block.at(-1);
    if (first !== undefined && last !== undefined) parts.push({ start: first.start, end: last.end });
  };
  for (const node of nodesOf(module)) {
    if (node.kind === "While") {
      if (truthOf(node.test, module, scopes) === false) add(node.body);
    } else if (node.kind === "If") {
      const truth = truthOf(node.test, module, scopes);
      if (truth !== undefined) add(truth ? node.orelse : node.body);
    } else if (node.kind === "Conditional") {
      const truth = truthOf(node.test, module, scopes);
      if (truth !== undefined) parts.push(truth ? node.orelse : node.body);
    }
  }
  return parts;
}

function truthOf(test: Expression, module: Module, scopes: Scopes): boolean | undefined {
  if (someNode(test, ({ kind }) => kind === "Comparison" || kind === "Call")) return undefined;
  if (setsNamesUnseen(module) && someNode(test, ({ kind }) => kind === "Name")) return undefined;
  const value = foldConstant(test, scopes);
  return value === undefined ? undefined : isTruthy(value);
}

/** `exec(open("configurator.py").read())`, `globals()[key] = value`. */
function setsNamesUnseen(module: Module): boolean {
  return ["exec", "globals"].some((name) => namesById(module).has(name));
}
