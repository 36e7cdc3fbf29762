/** Tuples, lists, sets, dictionaries and comprehensions. */
import type {
  Comprehension,
  ComprehensionClause,
  Dict,
  DictEntry,
  Expression,
  List,
  SetDisplay,
} from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";
import {
  NOTHING_BRACKETED,
  adopt,
  adoptAll,
  lowerBracketed,
  lowerElements,
  lowerOnlyExpression,
  tuple,
} from "./lower-shared";

export function lowerTuple(lowering: Lowering): Expression {
  const { start, end } = lowering;
  return tuple(start, end, lowerElements(lowering));
}

/** `(a)` as a target is `a` in brackets; only a comma makes it a tuple. */
export function lowerTuplePattern(lowering: Lowering): Expression {
  const { start, end } = lowering;
  const first = lowering.enter();
  const { elements, hasComma } = first === 0 ? NOTHING_BRACKETED : lowerBracketed(lowering, first);
  const only = elements[0];
  return only !== undefined && !hasComma ? only : tuple(start, end, elements);
}

export function lowerDisplay(lowering: Lowering, kind: "List" | "Set"): Expression {
  const { start, end } = lowering;
  const elements = lowerElements(lowering);
  const node: List | SetDisplay = { kind, start, end, order: unordered, parent: undefined, elements };
  adoptAll(node, elements);
  return node;
}

export function lowerDict(lowering: Lowering): Expression {
  const { start, end, types } = lowering;
  const entries: DictEntry[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    const entry =
      type === types.pair
        ? lowerPair(lowering)
        : type === types.dictionary_splat
          ? lowerDictionarySplat(lowering)
          : undefined;
    if (entry !== undefined) entries.push(entry);
  }
  const node: Dict = { kind: "Dict", start, end, order: unordered, parent: undefined, entries };
  for (const entry of entries) adopt(node, entry.key, entry.value);
  return node;
}

function lowerPair(lowering: Lowering): DictEntry | undefined {
  const { start, end } = lowering;
  const [key, value] = lowerElements(lowering);
  if (key !== undefined && value !== undefined) return { start, end, key, value };
  lowering.salvage(key);
  return undefined;
}

function lowerDictionarySplat(lowering: Lowering): DictEntry | undefined {
  const { start, end } = lowering;
  const value = lowerOnlyExpression(lowering);
  return value === undefined ? undefined : { start, end, key: undefined, value };
}

export function lowerComprehension(lowering: Lowering, flavour: Comprehension["flavour"]): Expression {
  const { start, end, types } = lowering;
  let key: Expression | undefined;
  let element: Expression | undefined;
  const clauses: ComprehensionClause[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.pair) {
      const pair = lowerPair(lowering);
      key = pair?.key;
      element = pair?.value;
    } else if (type === types.for_in_clause) {
      const clause = lowerClause(lowering);
      if (clause !== undefined) clauses.push(clause);
    } else if (type === types.if_clause) {
      const condition = lowerOnlyExpression(lowering);
      const clause = clauses.at(-1);
      if (condition !== undefined && clause !== undefined) {
        clause.conditions.push(condition);
        clauses[clauses.length - 1] = { ...clause, end: lowering.end };
      }
    } else if (types.expressions[type] !== undefined) {
      element = lowering.expression(type);
    }
  }
  if (element === undefined || clauses.length === 0) return lowering.invalid(start, end, [key, element]);
  const node: Comprehension = {
    kind: "Comprehension",
    start,
    end,
    order: unordered,
    parent: undefined,
    flavour,
    element,
    key,
    clauses,
  };
  adopt(node, element, key);
  for (const clause of clauses) {
    adopt(node, clause.target, clause.iterable);
    adoptAll(node, clause.conditions);
  }
  return node;
}

function lowerClause(lowering: Lowering): ComprehensionClause | undefined {
  const { start, end, types } = lowering;
  let isAsync = false;
  const parts: Expression[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.async) isAsync = true;
    else if (types.expressions[type] !== undefined) parts.push(lowering.expression(type));
  }
  const [target, iterable] = parts;
  if (target !== undefined && iterable !== undefined && parts.length === 2) {
    return { start, end, isAsync, target, iterable, conditions: [] };
  }
  // `for x in 1, 2` in brackets is Python 2.
  for (const part of parts) lowering.salvage(part);
  return undefined;
}
