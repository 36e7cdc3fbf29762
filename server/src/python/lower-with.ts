/** `with` in all the ways to write it. */
import type { Expression, Statement, With, WithItem } from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";
import { adopt, adoptAll, endOfBody, lowerOnlyExpression } from "./lower-shared";

export function lowerWith(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  let isAsync = false;
  let items: WithItem[] = [];
  let body: Statement[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.async) isAsync = true;
    else if (type === types.with_clause) items = lowerWithItems(lowering);
    else if (type === types.block) body = lowering.body();
  }
  const node: With = {
    kind: "With",
    start,
    end: endOfBody(end, body),
    order: unordered,
    parent: undefined,
    isAsync,
    items,
    body,
  };
  for (const item of items) adopt(node, item.context, item.target);
  adoptAll(node, body);
  return node;
}

function lowerWithItems(lowering: Lowering): WithItem[] {
  const { types } = lowering;
  const items: WithItem[] = [];
  let isBracketed: boolean | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    isBracketed ??= type !== types.with_item;
    if (type !== types.with_item) continue;
    const { start, end } = lowering;
    for (let inner = lowering.enter(); inner !== 0; inner = lowering.next()) {
      items.push(...lowerWithItem(lowering, inner, start, end));
    }
  }
  const only = items[0];
  // `with (a, b):` holds two items since Python 3.9; the grammar reads one that is a tuple.
  const isTuple = items.length === 1 && isBracketed === false && only !== undefined;
  return isTuple ? itemsOfTuple(lowering, only) : items;
}

function itemsOfTuple(lowering: Lowering, item: WithItem): WithItem[] {
  const { context, target } = item;
  const isBracketed = lowering.text.charAt(item.start) === "(";
  if (target !== undefined || context.kind !== "Tuple" || !isBracketed) return [item];
  const { elements } = context;
  if (elements.length === 0 || elements.some((element) => element.kind === "Starred")) return [item];
  return elements.map(({ start, end }, index) => ({
    start,
    end,
    context: elements[index] as Expression,
    target: undefined,
  }));
}

/** One `context as target`; in brackets of its own it reads as an expression that holds both. */
function lowerWithItem(lowering: Lowering, type: number, start: number, end: number): WithItem[] {
  const { types } = lowering;
  if (type === types.as_pattern) {
    const { value, target } = lowerAsPattern(lowering);
    return value === undefined ? [] : [{ start, end, context: value, target }];
  }
  if (types.expressions[type] === undefined) return [];
  if (type !== types.parenthesized_expression && type !== types.tuple) {
    return [{ start, end, context: lowering.expression(type), target: undefined }];
  }
  return lowerBracketedItem(lowering, type, start, end);
}

/** `(context as target)` and `(a as b, c)`, which the grammar takes for an expression in brackets. */
function lowerBracketedItem(lowering: Lowering, type: number, start: number, end: number): WithItem[] {
  if (!holdsAsPattern(lowering)) {
    return [{ start, end, context: lowering.expression(type), target: undefined }];
  }
  const items: WithItem[] = [];
  for (let inner = lowering.enter(); inner !== 0; inner = lowering.next()) {
    if (lowering.types.expressions[inner] === undefined) continue;
    items.push(...lowerWithItem(lowering, inner, lowering.start, lowering.end));
  }
  return items;
}

function holdsAsPattern(lowering: Lowering): boolean {
  const { cursor, types } = lowering;
  if (!cursor.gotoFirstChild()) return false;
  let found = false;
  do found = cursor.nodeTypeId === types.as_pattern;
  while (!found && cursor.gotoNextSibling());
  cursor.gotoParent();
  return found;
}

/** `value as target`, of `with` and `except`. */
export function lowerAsPattern(lowering: Lowering): {
  value: Expression | undefined;
  target: Expression | undefined;
} {
  const { types } = lowering;
  let value: Expression | undefined;
  let target: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.as_pattern_target) target = lowerOnlyExpression(lowering);
    else if (types.expressions[type] !== undefined) value = lowering.expression(type);
  }
  return { value, target };
}
