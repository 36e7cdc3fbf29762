/** Expressions: one handler per node type. Each starts with the cursor on its node and leaves it there. */
import type { Call, Expression, KeywordArgument, Lambda, Name, Parameter, Slice, Span } from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";
import type { ExpressionHandler } from "./syntax";
import { lowerComprehension, lowerDict, lowerDisplay, lowerTuple, lowerTuplePattern } from "./lower-displays";
import { lowerConcatenatedString, lowerNumber, lowerString } from "./lower-literals";
import {
  lowerAwait,
  lowerBinaryOperation,
  lowerBooleanOperation,
  lowerComparison,
  lowerConditional,
  lowerNot,
  lowerUnaryOperation,
} from "./lower-operators";
import { adoptParameters, lowerLambdaParameters } from "./lower-parameters";
import {
  type Bracketed,
  NOTHING_BRACKETED,
  adopt,
  adoptAll,
  lowerBracketed,
  lowerOnlyExpression,
  tuple,
  withStar,
  withoutStar,
} from "./lower-shared";

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
  ellipsis: (lowering) => ({
    kind: "Ellipsis",
    start: lowering.start,
    end: lowering.end,
    order: unordered,
    parent: undefined,
  }),
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
  none: (lowering) => ({
    kind: "None",
    start: lowering.start,
    end: lowering.end,
    order: unordered,
    parent: undefined,
  }),
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

function lowerBoolean(lowering: Lowering, value: boolean): Expression {
  return {
    kind: "Boolean",
    start: lowering.start,
    end: lowering.end,
    order: unordered,
    parent: undefined,
    value,
  };
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
    order: unordered,
    parent: undefined,
    object: inner,
    attribute,
  };
  inner.parent = node;
  attribute.parent = node;
  return withStar(star, node);
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
    order: unordered,
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
    order: unordered,
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
  const node: Slice = { kind: "Slice", start, end, order: unordered, parent: undefined, lower, upper, step };
  adopt(node, lower, upper, step);
  return node;
}

/** `int | None` where the grammar reads a type rather than an expression. */
function lowerUnionType(lowering: Lowering): Expression {
  return lowerBinaryOperation(lowering);
}

function lowerStarred(lowering: Lowering): Expression {
  const { start, end } = lowering;
  const value = lowerOnlyExpression(lowering);
  if (value === undefined) return lowering.unknown();
  const node: Expression = { kind: "Starred", start, end, order: unordered, parent: undefined, value };
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
  const node: Expression = {
    kind: "NamedExpression",
    start,
    end,
    order: unordered,
    parent: undefined,
    target,
    value,
  };
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
  const node: Expression = { kind: "Yield", start, end, order: unordered, parent: undefined, isFrom, value };
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
  const node: Lambda = { kind: "Lambda", start, end, order: unordered, parent: undefined, parameters, body };
  adoptParameters(node, parameters);
  body.parent = node;
  return node;
}
