/** Operations, comparisons, conditions and `await`. */
import type {
  BinaryOperation,
  BinaryOperator,
  BooleanOperation,
  Comparison,
  ComparisonOperator,
  Expression,
  UnaryOperation,
} from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";
import {
  adopt,
  adoptAll,
  binaryOperation,
  lowerOnlyExpression,
  unaryOperation,
  withStar,
  withoutStar,
} from "./lower-shared";

/** Operator tokens as the tree names them; `<>` of Python 2 is left out on purpose. */
export const OPERATORS: readonly string[] = [
  ...["+", "-", "*", "/", "//", "%", "**", "@", "|", "&", "^", "<<", ">>", "~"],
  ...["+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "|=", "&=", "^=", "<<=", ">>="],
  ...["==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in", "and", "or", "not"],
];

export function lowerBinaryOperation(lowering: Lowering): Expression {
  const { start, end, types } = lowering;
  let left: Expression | undefined;
  let right: Expression | undefined;
  let operator: string | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (left === undefined) left = lowering.expression(type);
    else if (operator === undefined) operator = types.operators[type] ?? "";
    else right = lowering.expression(type);
  }
  if (left === undefined || right === undefined || operator === undefined || operator === "") {
    return lowering.invalid(start, end, [left, right]);
  }
  const { inner, star } = withoutStar(left, start);
  const innerStart = star === undefined ? start : inner.start;
  const node = binaryOperation(innerStart, end, operator as BinaryOperator, inner, right);
  return withStar(star, reassociated(node));
}

/** Binary operators that the grammar ranks or groups in another way than Python, by how tight Python binds them. */
const BITWISE_RANKS: ReadonlyMap<BinaryOperator, number> = new Map([
  ["|", 1],
  ["^", 2],
  ["&", 3],
]);

/**
 * To the grammar `^` binds tighter than `&`, and `|` in annotations groups to the right. Only operations without
 * brackets are regrouped: those reach as far as the operation that holds them.
 */
function reassociated(node: BinaryOperation): BinaryOperation {
  const rank = BITWISE_RANKS.get(node.operator);
  if (rank === undefined) return node;
  const left = bareRank(node.left, node.left.start === node.start);
  const right = bareRank(node.right, node.right.end === node.end);
  const isRight = (left ?? rank) >= rank && (right ?? rank + 1) > rank;
  return isRight ? node : regrouped(bareOperands(node));
}

function bareRank(operand: Expression, isBare: boolean): number | undefined {
  return operand.kind === "BinaryOperation" && isBare ? BITWISE_RANKS.get(operand.operator) : undefined;
}

interface OperandChain {
  readonly operands: { readonly node: Expression; readonly start: number; readonly end: number }[];
  readonly operators: BinaryOperator[];
}

/** The operands of bitwise operations without brackets, in source order; with the brackets around them, if any. */
function bareOperands(node: BinaryOperation): OperandChain {
  const chain: OperandChain = { operands: [], operators: [] };
  const add = (operand: Expression, start: number, end: number): void => {
    const isBare = operand.start === start && operand.end === end;
    if (operand.kind !== "BinaryOperation" || !isBare || !BITWISE_RANKS.has(operand.operator)) {
      chain.operands.push({ node: operand, start, end });
      return;
    }
    // Brackets show only at the outer ends; between operands the operand's own span has to do.
    add(operand.left, start, operand.left.end);
    chain.operators.push(operand.operator);
    add(operand.right, operand.right.start, end);
  };
  add(node, node.start, node.end);
  return chain;
}

/** Groups a chain of operands as Python does: by rank, and to the left among equals. */
function regrouped(chain: OperandChain): BinaryOperation {
  const operands = [...chain.operands];
  const operators = [...chain.operators];
  for (let rank = 3; rank >= 1; rank--) {
    for (let index = 0; index < operators.length;) {
      const operator = operators[index];
      const left = operands[index];
      const right = operands[index + 1];
      if (operator === undefined || left === undefined || right === undefined) break;
      if (BITWISE_RANKS.get(operator) !== rank) {
        index++;
        continue;
      }
      const { start } = left;
      const { end } = right;
      const node = binaryOperation(start, end, operator, left.node, right.node);
      operands.splice(index, 2, { node, start, end });
      operators.splice(index, 1);
    }
  }
  return operands[0]?.node as BinaryOperation;
}

export function lowerUnaryOperation(lowering: Lowering): Expression {
  const { start, end, types } = lowering;
  let operator: string | undefined;
  let operand: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (operator === undefined) operator = types.operators[type] ?? "";
    else operand = lowering.expression(type);
  }
  if (operand === undefined || operator === undefined || operator === "") {
    return lowering.invalid(start, end, [operand]);
  }
  return unaryOperation(start, end, operator as UnaryOperation["operator"], operand);
}

export function lowerNot(lowering: Lowering): Expression {
  const { start, end } = lowering;
  const operand = lowerOnlyExpression(lowering);
  return operand === undefined ? lowering.unknown() : unaryOperation(start, end, "not", operand);
}

/**
 * `a and b and c` nests to the left in the syntax tree and is one node in ours, so the left spine is gone down and up
 * in loops: a chain of any length stays flat.
 */
export function lowerBooleanOperation(lowering: Lowering): Expression {
  const { start } = lowering;
  const spineType = lowering.cursor.nodeTypeId;
  let levels = 0;
  let type = spineType;
  while (type === spineType) {
    levels++;
    type = lowering.enter();
  }
  // A node without children: the cursor did not move off it.
  if (type === 0) return lowering.unknownAbove(levels - 1);
  const { inner, star } = withoutStar(lowering.expression(type), start);
  const innerStart = star === undefined ? start : inner.start;
  let operands = [inner];
  let operator: BooleanOperation["operator"] | undefined;
  let end = start;
  for (; levels > 0; levels--) {
    const right = lowerRightOperand(lowering);
    if (operator !== undefined && right.operator !== operator) {
      operands = [booleanOperation(innerStart, end, operator, operands)];
    }
    operator = right.operator;
    end = lowering.end;
    operands.push(...right.operands);
  }
  return withStar(star, booleanOperation(innerStart, end, operator ?? "and", operands));
}

/** Operator and right operand after the left one that the cursor stands on; goes up to their parent. */
function lowerRightOperand(lowering: Lowering): {
  operator: BooleanOperation["operator"];
  operands: Expression[];
} {
  let operator: BooleanOperation["operator"] = "and";
  const operands: Expression[] = [];
  for (let type = lowering.next(); type !== 0; type = lowering.next()) {
    if (lowering.types.operators[type] === "or") operator = "or";
    else if (lowering.types.expressions[type] !== undefined) operands.push(lowering.expression(type));
  }
  return { operator, operands };
}

function booleanOperation(
  start: number,
  end: number,
  operator: BooleanOperation["operator"],
  operands: Expression[],
): BooleanOperation {
  const node: BooleanOperation = {
    kind: "BooleanOperation",
    start,
    end,
    order: unordered,
    parent: undefined,
    operator,
    operands,
  };
  adoptAll(node, operands);
  return node;
}

export function lowerComparison(lowering: Lowering): Expression {
  const { start, end, types } = lowering;
  const operands: Expression[] = [];
  const operators: ComparisonOperator[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    const operator = types.operators[type];
    if (operator !== undefined) operators.push(operator as ComparisonOperator);
    else if (types.expressions[type] !== undefined) operands.push(lowering.expression(type));
  }
  const first = operands[0];
  if (first === undefined || operands.length !== operators.length + 1) {
    return lowering.invalid(start, end, operands);
  }
  const { inner, star } = withoutStar(first, start);
  operands[0] = inner;
  const node: Comparison = {
    kind: "Comparison",
    start: star === undefined ? start : inner.start,
    end,
    order: unordered,
    parent: undefined,
    operands,
    operators,
  };
  adoptAll(node, operands);
  return withStar(star, node);
}

export function lowerConditional(lowering: Lowering): Expression {
  const { start, end } = lowering;
  const parts: Expression[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (lowering.types.expressions[type] !== undefined) parts.push(lowering.expression(type));
  }
  const [body, test, orelse] = parts;
  if (body === undefined || test === undefined || orelse === undefined) {
    return lowering.invalid(start, end, parts);
  }
  const { inner, star } = withoutStar(body, start);
  const node: Expression = {
    kind: "Conditional",
    start: star === undefined ? start : inner.start,
    end,
    order: unordered,
    parent: undefined,
    test,
    body: inner,
    orelse,
  };
  adopt(node, test, inner, orelse);
  return withStar(star, node);
}

/**
 * The grammar lets `await` take in a power: `await x ** 2` is `await (x ** 2)` to it and `(await x) ** 2` to Python.
 */
export function lowerAwait(lowering: Lowering): Expression {
  const { start, end, types } = lowering;
  let value: Expression | undefined;
  let isBracketed = false;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (types.expressions[type] === undefined) continue;
    isBracketed = type === types.parenthesized_expression;
    value = lowering.expression(type);
  }
  if (value === undefined) return lowering.unknown();
  if (value.kind !== "BinaryOperation" || value.operator !== "**" || isBracketed) {
    return awaitOf(start, end, value);
  }
  const { left, right } = value;
  return binaryOperation(start, end, "**", awaitOf(start, left.end, left), right);
}

function awaitOf(start: number, end: number, value: Expression): Expression {
  const node: Expression = { kind: "Await", start, end, order: unordered, parent: undefined, value };
  value.parent = node;
  return node;
}
