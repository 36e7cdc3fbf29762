/** What the handlers of several files share: parents, spans, and nodes that more than one of them makes. */
import type {
  BinaryOperation,
  BinaryOperator,
  Expression,
  Node,
  Statement,
  Tuple,
  UnaryOperation,
} from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";

/** Sets the parent of the given children. */
export function adopt(parent: Node, ...children: (Node | undefined)[]): void {
  for (const child of children) if (child !== undefined) child.parent = parent;
}

/** Sets the parent of all nodes of a list. */
export function adoptAll(parent: Node, children: readonly Node[]): void {
  for (const child of children) child.parent = parent;
}

/**
 * Where a compound statement ends: with its last statement, as in Python's own tree. The grammar has it end with the
 * comments after that. Give its statement lists in source order.
 */
export function endOfBody(fallback: number, ...lists: readonly (readonly Statement[])[]): number {
  return lists.findLast((list) => list.length > 0)?.at(-1)?.end ?? fallback;
}

/** The one expression below the node that the cursor stands on, past its tokens. */
export function lowerOnlyExpression(lowering: Lowering): Expression | undefined {
  let found: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (lowering.types.expressions[type] !== undefined) found = lowering.expression(type);
  }
  return found;
}

export function lowerElements(lowering: Lowering): Expression[] {
  const elements: Expression[] = [];
  const { expressions } = lowering.types;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (expressions[type] !== undefined) elements.push(lowering.expression(type));
  }
  return elements;
}

export function tuple(start: number, end: number, elements: Expression[]): Tuple {
  const node: Tuple = { kind: "Tuple", start, end, order: unordered, parent: undefined, elements };
  adoptAll(node, elements);
  return node;
}

export function unaryOperation(
  start: number,
  end: number,
  operator: UnaryOperation["operator"],
  operand: Expression,
): UnaryOperation {
  const node: UnaryOperation = {
    kind: "UnaryOperation",
    start,
    end,
    order: unordered,
    parent: undefined,
    operator,
    operand,
  };
  operand.parent = node;
  return node;
}

export function binaryOperation(
  start: number,
  end: number,
  operator: BinaryOperator,
  left: Expression,
  right: Expression,
): BinaryOperation {
  const node: BinaryOperation = {
    kind: "BinaryOperation",
    start,
    end,
    order: unordered,
    parent: undefined,
    operator,
    left,
    right,
  };
  left.parent = node;
  right.parent = node;
  return node;
}

/**
 * In some places the grammar binds `*` tighter than everything: `*a.b` is `(*a).b` to it. Takes such a star off the
 * first operand of a node that starts at `start`; one in brackets of its own stays.
 */
export function withoutStar(
  first: Expression,
  start: number,
): { inner: Expression; star: number | undefined } {
  const isMisplaced = first.kind === "Starred" && first.start === start;
  return isMisplaced ? { inner: first.value, star: start } : { inner: first, star: undefined };
}

/** Puts a star that was taken off an operand around the whole. */
export function withStar(star: number | undefined, value: Expression): Expression {
  if (star === undefined) return value;
  const node: Expression = {
    kind: "Starred",
    start: star,
    end: value.end,
    order: unordered,
    parent: undefined,
    value,
  };
  value.parent = node;
  return node;
}

export interface Bracketed {
  readonly elements: Expression[];
  readonly hasComma: boolean;
  /** End of the last element or comma. */
  readonly end: number;
}

export const NOTHING_BRACKETED: Bracketed = { elements: [], hasComma: false, end: 0 };

/** The elements from the given sibling on; the cursor is back at the parent after it. */
export function lowerBracketed(lowering: Lowering, first: number): Bracketed {
  const elements: Expression[] = [];
  let hasComma = false;
  let end = 0;
  for (let type = first; type !== 0; type = lowering.next()) {
    if (type === lowering.types.comma) {
      hasComma = true;
      end = lowering.end;
    } else if (lowering.types.expressions[type] !== undefined) {
      elements.push(lowering.expression(type));
      end = lowering.end;
    }
  }
  return { elements, hasComma, end };
}
