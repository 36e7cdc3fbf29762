/** Expressions: one handler per node type. Each starts with the cursor on its node and leaves it there. */
import type {
  BinaryOperation,
  BinaryOperator,
  BooleanOperation,
  Call,
  Comparison,
  ComparisonOperator,
  Comprehension,
  ComprehensionClause,
  Dict,
  DictEntry,
  Expression,
  KeywordArgument,
  Lambda,
  List,
  Name,
  Node,
  Parameter,
  SetDisplay,
  Slice,
  Span,
  Statement,
  Tuple,
  UnaryOperation,
} from "./tree";
import type { Lowering } from "./lower";
import type { ExpressionHandler } from "./syntax";
import { lowerLambdaParameters, adoptParameters } from "./lower-parameters";
import { lowerConcatenatedString, lowerNumber, lowerString } from "./lower-literals";

export const EXPRESSION_HANDLERS: Readonly<Record<string, ExpressionHandler>> = {
  as_pattern: (lowering) => lowering.unknown(),
  attribute: lowerAttribute,
  await: lowerAwait,
  binary_operator: lowerBinaryOperation,
  boolean_operator: lowerBooleanOperation,
  call: lowerCall,
  comparison_operator: lowerComparison,
  concatenated_string: lowerConcatenatedString,
  conditional_expression: lowerConditional,
  dictionary: lowerDict,
  dictionary_comprehension: (lowering) => lowerComprehension(lowering, "dict"),
  ellipsis: (lowering) => ({ kind: "Ellipsis", start: lowering.start, end: lowering.end, parent: undefined }),
  expression_list: lowerTuple,
  false: (lowering) => lowerBoolean(lowering, false),
  float: lowerNumber,
  generator_expression: (lowering) => lowerComprehension(lowering, "generator"),
  generic_type: lowerGenericType,
  identifier: (lowering) => lowering.name(),
  integer: lowerNumber,
  lambda: lowerLambda,
  list: (lowering) => lowerDisplay(lowering, "List"),
  list_comprehension: (lowering) => lowerComprehension(lowering, "list"),
  list_pattern: (lowering) => lowerDisplay(lowering, "List"),
  list_splat: lowerStarred,
  list_splat_pattern: lowerStarred,
  member_type: lowerAttribute,
  named_expression: lowerNamedExpression,
  none: (lowering) => ({ kind: "None", start: lowering.start, end: lowering.end, parent: undefined }),
  not_operator: lowerNot,
  parenthesized_expression: lowerParenthesized,
  pattern_list: lowerTuple,
  set: (lowering) => lowerDisplay(lowering, "Set"),
  set_comprehension: (lowering) => lowerComprehension(lowering, "set"),
  slice: lowerSlice,
  splat_type: lowerStarred,
  string: lowerString,
  subscript: lowerSubscript,
  true: (lowering) => lowerBoolean(lowering, true),
  tuple: lowerTuple,
  tuple_pattern: lowerTuplePattern,
  type: lowerParenthesized,
  unary_operator: lowerUnaryOperation,
  union_type: lowerUnionType,
  yield: lowerYield,
};

/** Operator tokens as the tree names them; `<>` of Python 2 is left out on purpose. */
export const OPERATORS: readonly string[] = [
  ...["+", "-", "*", "/", "//", "%", "**", "@", "|", "&", "^", "<<", ">>", "~"],
  ...["+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "|=", "&=", "^=", "<<=", ">>="],
  ...["==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in", "and", "or", "not"],
];

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

function lowerBoolean(lowering: Lowering, value: boolean): Expression {
  return { kind: "Boolean", start: lowering.start, end: lowering.end, parent: undefined, value };
}

/** Brackets, and the wrapper around an annotation: the only expression inside. */
function lowerParenthesized(lowering: Lowering): Expression {
  let inner: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (lowering.types.expressions[type] !== undefined) inner = lowering.expression(type);
  }
  return inner ?? lowering.unknown();
}

/** `object.name`, and what an annotation calls a member type. */
function lowerAttribute(lowering: Lowering): Expression {
  const { start, end } = lowering;
  let object: Expression | undefined;
  let attribute: Name | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (lowering.types.expressions[type] === undefined) continue;
    if (object === undefined) object = lowering.expression(type);
    else attribute = lowering.name();
  }
  if (object === undefined || attribute === undefined) return lowering.invalid(start, end, [object]);
  const { inner, star } = withoutStar(object, start);
  const node: Expression = {
    kind: "Attribute",
    start: star === undefined ? start : inner.start,
    end,
    parent: undefined,
    object: inner,
    attribute,
  };
  inner.parent = node;
  attribute.parent = node;
  return withStar(star, node);
}

/**
 * In some places the grammar binds `*` tighter than everything: `*a.b` is `(*a).b` to it. Takes such a star off the
 * first operand of a node that starts at `start`; one in brackets of its own stays.
 */
function withoutStar(first: Expression, start: number): { inner: Expression; star: number | undefined } {
  const isMisplaced = first.kind === "Starred" && first.start === start;
  return isMisplaced ? { inner: first.value, star: start } : { inner: first, star: undefined };
}

/** Puts a star that was taken off an operand around the whole. */
function withStar(star: number | undefined, value: Expression): Expression {
  if (star === undefined) return value;
  const node: Expression = { kind: "Starred", start: star, end: value.end, parent: undefined, value };
  value.parent = node;
  return node;
}

function lowerCall(lowering: Lowering): Expression {
  const { start, end } = lowering;
  const { argument_list, generator_expression } = lowering.types;
  let callee: Expression | undefined;
  let span: Span | undefined;
  let list: ArgumentList = { positional: [], keywords: [], keywordSpreads: [] };
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (callee === undefined) {
      callee = lowering.expression(type);
    } else if (type === argument_list) {
      span = { start: lowering.start, end };
      list = lowerArguments(lowering);
    } else if (type === generator_expression) {
      span = { start: lowering.start, end };
      list.positional.push(lowering.expression(type));
    }
  }
  if (callee === undefined || span === undefined) return lowering.invalid(start, end, [callee]);
  const { inner, star } = withoutStar(callee, start);
  const node: Call = {
    kind: "Call",
    start: star === undefined ? start : inner.start,
    end,
    parent: undefined,
    callee: inner,
    positional: list.positional,
    keywords: list.keywords,
    keywordSpreads: list.keywordSpreads,
    argumentList: span,
  };
  inner.parent = node;
  adoptAll(node, list.positional);
  adoptAll(node, list.keywordSpreads);
  for (const keyword of list.keywords) adopt(node, keyword.name, keyword.value);
  return withStar(star, node);
}

export interface ArgumentList {
  readonly positional: Expression[];
  readonly keywords: KeywordArgument[];
  readonly keywordSpreads: Expression[];
}

/** The arguments of a call or the bases of a class; the cursor stands on the bracketed list. */
export function lowerArguments(lowering: Lowering): ArgumentList {
  const list: ArgumentList = { positional: [], keywords: [], keywordSpreads: [] };
  const { keyword_argument, dictionary_splat, expressions } = lowering.types;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === keyword_argument) {
      const keyword = lowerKeywordArgument(lowering);
      if (keyword !== undefined) list.keywords.push(keyword);
    } else if (type === dictionary_splat) {
      const spread = lowerOnlyExpression(lowering);
      if (spread !== undefined) list.keywordSpreads.push(spread);
    } else if (expressions[type] !== undefined) {
      list.positional.push(lowering.expression(type));
    }
  }
  return list;
}

function lowerKeywordArgument(lowering: Lowering): KeywordArgument | undefined {
  const { start, end } = lowering;
  let name: Name | undefined;
  let value: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (lowering.types.expressions[type] === undefined) continue;
    if (name === undefined) name = lowering.name();
    else value = lowering.expression(type);
  }
  if (name !== undefined && value !== undefined) return { start, end, name, value };
  lowering.salvage(value);
  return undefined;
}

/** The one expression below the node that the cursor stands on, past its tokens. */
export function lowerOnlyExpression(lowering: Lowering): Expression | undefined {
  let found: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (lowering.types.expressions[type] !== undefined) found = lowering.expression(type);
  }
  return found;
}

/** `object[index]`. */
function lowerSubscript(lowering: Lowering): Expression {
  const { start, end } = lowering;
  let object: Expression | undefined;
  let bracketed: Bracketed = NOTHING_BRACKETED;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (object === undefined) {
      object = lowering.expression(type);
    } else {
      bracketed = lowerBracketed(lowering, type);
      break;
    }
  }
  return subscript(lowering, start, end, object, bracketed);
}

/** `list[int]` in an annotation. */
function lowerGenericType(lowering: Lowering): Expression {
  const { start, end } = lowering;
  let object: Expression | undefined;
  let bracketed: Bracketed = NOTHING_BRACKETED;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === lowering.types.type_parameter) {
      const first = lowering.enter();
      if (first !== 0) bracketed = lowerBracketed(lowering, first);
    } else {
      object ??= lowering.types.expressions[type] === undefined ? lowering.name() : lowering.expression(type);
    }
  }
  return subscript(lowering, start, end, object, bracketed);
}

interface Bracketed {
  readonly elements: Expression[];
  readonly hasComma: boolean;
  /** End of the last element or comma. */
  readonly end: number;
}

const NOTHING_BRACKETED: Bracketed = { elements: [], hasComma: false, end: 0 };

/** The elements from the given sibling on; the cursor is back at the parent after it. */
function lowerBracketed(lowering: Lowering, first: number): Bracketed {
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

function subscript(
  lowering: Lowering,
  start: number,
  end: number,
  object: Expression | undefined,
  bracketed: Bracketed,
): Expression {
  const { elements } = bracketed;
  const first = elements[0];
  if (object === undefined || first === undefined) return lowering.invalid(start, end, [object, ...elements]);
  const isTuple = bracketed.hasComma || first.kind === "Starred";
  const index = isTuple ? tuple(first.start, bracketed.end, elements) : first;
  const { inner, star } = withoutStar(object, start);
  const node: Expression = {
    kind: "Subscript",
    start: star === undefined ? start : inner.start,
    end,
    parent: undefined,
    object: inner,
    index,
  };
  inner.parent = node;
  index.parent = node;
  return withStar(star, node);
}

function lowerSlice(lowering: Lowering): Expression {
  const { start, end, types } = lowering;
  const bounds: [Expression?, Expression?, Expression?] = [];
  let position = 0;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.colon) position++;
    else if (types.expressions[type] !== undefined) bounds[position] = lowering.expression(type);
  }
  const [lower, upper, step] = bounds;
  const node: Slice = { kind: "Slice", start, end, parent: undefined, lower, upper, step };
  adopt(node, lower, upper, step);
  return node;
}

// --- Operators ----------------------------------------------------------------------------------------------------

function lowerBinaryOperation(lowering: Lowering): Expression {
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

function binaryOperation(
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
    parent: undefined,
    operator,
    left,
    right,
  };
  left.parent = node;
  right.parent = node;
  return node;
}

/** `int | None` where the grammar reads a type rather than an expression. */
function lowerUnionType(lowering: Lowering): Expression {
  return lowerBinaryOperation(lowering);
}

function lowerUnaryOperation(lowering: Lowering): Expression {
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

function lowerNot(lowering: Lowering): Expression {
  const { start, end } = lowering;
  const operand = lowerOnlyExpression(lowering);
  return operand === undefined ? lowering.unknown() : unaryOperation(start, end, "not", operand);
}

export function unaryOperation(
  start: number,
  end: number,
  operator: UnaryOperation["operator"],
  operand: Expression,
): UnaryOperation {
  const node: UnaryOperation = { kind: "UnaryOperation", start, end, parent: undefined, operator, operand };
  operand.parent = node;
  return node;
}

/**
 * `a and b and c` nests to the left in the syntax tree and is one node in ours, so the left spine is gone down and up
 * in loops: a chain of any length stays flat.
 */
function lowerBooleanOperation(lowering: Lowering): Expression {
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
    parent: undefined,
    operator,
    operands,
  };
  adoptAll(node, operands);
  return node;
}

function lowerComparison(lowering: Lowering): Expression {
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
    parent: undefined,
    operands,
    operators,
  };
  adoptAll(node, operands);
  return withStar(star, node);
}

function lowerConditional(lowering: Lowering): Expression {
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
function lowerAwait(lowering: Lowering): Expression {
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
  const node: Expression = { kind: "Await", start, end, parent: undefined, value };
  value.parent = node;
  return node;
}

function lowerStarred(lowering: Lowering): Expression {
  const { start, end } = lowering;
  const value = lowerOnlyExpression(lowering);
  if (value === undefined) return lowering.unknown();
  const node: Expression = { kind: "Starred", start, end, parent: undefined, value };
  value.parent = node;
  return node;
}

function lowerNamedExpression(lowering: Lowering): Expression {
  const { start, end } = lowering;
  let target: Expression | undefined;
  let value: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (lowering.types.expressions[type] === undefined) continue;
    if (target === undefined) target = lowering.expression(type);
    else value = lowering.expression(type);
  }
  if (target?.kind !== "Name" || value === undefined) return lowering.invalid(start, end, [target, value]);
  const node: Expression = { kind: "NamedExpression", start, end, parent: undefined, target, value };
  adopt(node, target, value);
  return node;
}

function lowerYield(lowering: Lowering): Expression {
  const { start, end, types } = lowering;
  let isFrom = false;
  let value: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.from) isFrom = true;
    else if (types.expressions[type] !== undefined) value = lowering.expression(type);
  }
  const node: Expression = { kind: "Yield", start, end, parent: undefined, isFrom, value };
  adopt(node, value);
  return node;
}

function lowerLambda(lowering: Lowering): Expression {
  const { start, end, types } = lowering;
  let parameters: Parameter[] = [];
  let body: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.lambda_parameters) parameters = lowerLambdaParameters(lowering);
    else if (types.expressions[type] !== undefined) body = lowering.expression(type);
  }
  if (body === undefined) return lowering.unknown();
  const node: Lambda = { kind: "Lambda", start, end, parent: undefined, parameters, body };
  adoptParameters(node, parameters);
  body.parent = node;
  return node;
}

// --- Displays and comprehensions ----------------------------------------------------------------------------------

export function tuple(start: number, end: number, elements: Expression[]): Tuple {
  const node: Tuple = { kind: "Tuple", start, end, parent: undefined, elements };
  adoptAll(node, elements);
  return node;
}

function lowerElements(lowering: Lowering): Expression[] {
  const elements: Expression[] = [];
  const { expressions } = lowering.types;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (expressions[type] !== undefined) elements.push(lowering.expression(type));
  }
  return elements;
}

function lowerTuple(lowering: Lowering): Expression {
  const { start, end } = lowering;
  return tuple(start, end, lowerElements(lowering));
}

/** `(a)` as a target is `a` in brackets; only a comma makes it a tuple. */
function lowerTuplePattern(lowering: Lowering): Expression {
  const { start, end } = lowering;
  const first = lowering.enter();
  const { elements, hasComma } = first === 0 ? NOTHING_BRACKETED : lowerBracketed(lowering, first);
  const only = elements[0];
  return only !== undefined && !hasComma ? only : tuple(start, end, elements);
}

function lowerDisplay(lowering: Lowering, kind: "List" | "Set"): Expression {
  const { start, end } = lowering;
  const elements = lowerElements(lowering);
  const node: List | SetDisplay = { kind, start, end, parent: undefined, elements };
  adoptAll(node, elements);
  return node;
}

function lowerDict(lowering: Lowering): Expression {
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
  const node: Dict = { kind: "Dict", start, end, parent: undefined, entries };
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

function lowerComprehension(lowering: Lowering, flavour: Comprehension["flavour"]): Expression {
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
