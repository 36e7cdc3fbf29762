/** How to cut the graph off a kept value: which parts carry it, and what may safely be written there. */
import type { Expression } from "../../python/tree";
import { graphFreePackages, onlyReads, readingMethods } from "../../torch/api-graph";
import type { TorchFacts } from "../../torch/facts";
import type { KeptValue } from "../../torch/provenance";
import { insertAt } from "../fix";
import type { TextEdit } from "../rule";

export interface Severing {
  /** `.item()` cannot change what is computed: one element, and the holder is read as a number everywhere. */
  readonly item: readonly TextEdit[] | undefined;
  /** `.detach()` on every part that carries a graph; `undefined` where the value is no plain expression. */
  readonly detach: readonly TextEdit[] | undefined;
  readonly detachToCpu: readonly TextEdit[] | undefined;
  /** True when every part is surely a tensor, so that it has `.detach()`. */
  readonly tensors: boolean;
  /** True when every part surely has one element. */
  readonly scalars: boolean;
}

/** The edits that sever a kept value. */
export function severingOf(kept: KeptValue, torch: TorchFacts): Severing {
  const leaves = carryingLeaves(kept, torch);
  const appended = (text: string): TextEdit[] | undefined =>
    leaves.length === 0 ? undefined : leaves.flatMap((leaf) => append(leaf, text));
  const carried = leaves.map((leaf) => torch.provenance.carried(leaf));
  const scalars = leaves.length > 0 && carried.every(({ scalar }) => scalar);
  const number = scalars && kept.through === undefined && isReadAsNumber(kept.store.holderKey, torch);
  return {
    item: number ? appended(".item()") : undefined,
    detach: appended(".detach()"),
    detachToCpu: appended(".detach().cpu()"),
    tensors: carried.every(({ tensor }) => tensor),
    scalars,
  };
}

/** The operands that bring the graph in: `loss` of `loss * n`, both of `(a, b)`. */
function carryingLeaves(kept: KeptValue, torch: TorchFacts): Expression[] {
  const leaves: Expression[] = [];
  const { holder, holderKey, path } = kept.store;
  const pending: Expression[] = [kept.value];
  let spread = kept.through === undefined && path.length > 0;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (at !== holder && torch.resolve.keyOf(at) === holderKey) continue;
    const parts = partsOf(at);
    if (parts !== undefined) {
      pending.push(...[...parts].reverse());
      spread = false;
    } else if (torch.provenance.carried(at).graph === "yes") {
      if (spread) return []; // `xs.extend(ys)`: what carries the graph was put into `ys` elsewhere
      leaves.push(at);
    }
  }
  return leaves;
}

function partsOf(expression: Expression): readonly Expression[] | undefined {
  switch (expression.kind) {
    case "BinaryOperation":
      return [expression.left, expression.right];
    case "UnaryOperation":
      return [expression.operand];
    case "Tuple":
    case "List":
      return expression.elements;
    case "Dict":
      return expression.entries.map(({ value }) => value);
    case "Conditional":
      return [expression.body, expression.orelse];
    case "Comprehension":
      return [expression.element];
    default:
      return undefined;
  }
}

function append(leaf: Expression, text: string): TextEdit[] {
  if (
    leaf.kind === "Name" ||
    leaf.kind === "Attribute" ||
    leaf.kind === "Call" ||
    leaf.kind === "Subscript"
  ) {
    return [insertAt(leaf.end, text)];
  }
  return [insertAt(leaf.start, "("), insertAt(leaf.end, `)${text}`)];
}

/** True when nothing that reads the variable needs a tensor: arithmetic, printing, logging, NumPy. */
function isReadAsNumber(key: string, torch: TorchFacts): boolean {
  const seen = new Set<string>();
  const pending: string[] = [key];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    if (seen.size > 20) return false;
    for (const read of torch.provenance.flow.readsOf(at)) {
      if (!readsAsNumber(read, torch, pending)) return false;
    }
  }
  return true;
}

/** Follows one read outwards; variables that take the number on are added to `pending`. */
function readsAsNumber(read: Expression, torch: TorchFacts, pending: string[]): boolean {
  let below: Expression = read;
  for (let steps = 0; steps < 60; steps++) {
    const at = below.parent;
    switch (at?.kind) {
      case "BinaryOperation":
      case "UnaryOperation":
      case "Subscript":
      case "List":
      case "Tuple":
      case "Dict":
      case "NamedExpression":
        if (at.kind === "Subscript" && at.index === below) return true;
        below = at;
        break;
      case "Comparison":
      case "String":
      case "ExpressionStatement":
      case "Delete":
        return true;
      case "Attribute": {
        const call = at.parent;
        const called = call?.kind === "Call" && call.callee === at;
        return called && /^(append|appendleft|clear|extend|insert|add|pop|copy|sort)$/.test(at.attribute.id);
      }
      case "Call": {
        if (at.callee === below) return false;
        const name = torch.resolve.qualifiedName(at.callee);
        if (name !== undefined) {
          if (/^builtins\.(sum|max|min|abs|list|sorted|tuple)$/.test(name)) {
            below = at;
            break;
          }
          return (
            onlyReads(name) || graphFreePackages.has(name.split(".")[0] ?? "") || name === "torch.tensor"
          );
        }
        const method = at.callee.kind === "Attribute" ? at.callee.attribute.id : "";
        if (/^(append|add|insert)$/.test(method) && at.callee.kind === "Attribute") {
          const holder = torch.resolve.keyOf(at.callee.object);
          if (holder === undefined) return false;
          pending.push(holder);
          return true;
        }
        return readingMethods.has(method);
      }
      case "Assign": {
        if (at.targets.includes(below)) return true;
        for (const target of at.targets) {
          const key = torch.resolve.keyOf(target);
          if (key === undefined) return false;
          pending.push(key);
        }
        return true;
      }
      case "AugmentedAssign": {
        if (at.target === below) return true;
        const key = torch.resolve.keyOf(at.target);
        if (key === undefined) return false;
        pending.push(key);
        return true;
      }
      case "Return": {
        const owner = torch.resolve.enclosingFunction(at);
        if (owner?.kind !== "FunctionDefinition" || torch.resolve.isUsedAsValue(owner)) return false;
        const calls = torch.resolve.callsTo(owner);
        return (
          calls.length > 0 && at.value === below && calls.every((call) => readsAsNumber(call, torch, pending))
        );
      }
      default:
        return false;
    }
  }
  return false;
}
