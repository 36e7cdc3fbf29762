/** Functions and classes. */
import type {
  ClassDefinition,
  Decorator,
  Expression,
  FunctionDefinition,
  KeywordArgument,
  Name,
  Node,
  Parameter,
  Statement,
} from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";
import { lowerArguments } from "./lower-expressions";
import { adoptParameters, lowerParameters, lowerTypeParameters } from "./lower-parameters";
import { adopt, adoptAll, endOfBody, lowerOnlyExpression } from "./lower-shared";

export function lowerDecorated(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  const decorators: Decorator[] = [];
  let definition: Statement | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.decorator) {
      const { start: decoratorStart, end: decoratorEnd } = lowering;
      const expression = lowerOnlyExpression(lowering);
      if (expression !== undefined) decorators.push({ start: decoratorStart, end: decoratorEnd, expression });
    } else if (type === types.function_definition) {
      definition = lowerFunction(lowering, start, decorators);
    } else if (type === types.class_definition) {
      definition = lowerClass(lowering, start, decorators);
    }
  }
  if (definition !== undefined) return definition;
  return lowering.invalid(
    start,
    end,
    decorators.map((decorator) => decorator.expression),
  );
}

function adoptDecorators(node: Node, decorators: readonly Decorator[]): void {
  for (const decorator of decorators) decorator.expression.parent = node;
}

export function lowerFunction(lowering: Lowering, start: number, decorators: Decorator[]): Statement {
  const { start: definitionStart, end, types } = lowering;
  let isAsync = false;
  let name: Name | undefined;
  let typeParameters: Name[] = [];
  let parameters: Parameter[] = [];
  let returns: Expression | undefined;
  let body: Statement[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.async) isAsync = true;
    else if (type === types.identifier) name ??= lowering.name();
    else if (type === types.type_parameter) typeParameters = lowerTypeParameters(lowering);
    else if (type === types.parameters) parameters = lowerParameters(lowering);
    else if (type === types.type) returns = lowering.expression(type);
    else if (type === types.block) body = lowering.body();
  }
  if (name === undefined) return lowering.invalid(start, end, body);
  const node: FunctionDefinition = {
    kind: "FunctionDefinition",
    start,
    end: endOfBody(end, body),
    order: unordered,
    parent: undefined,
    isAsync,
    name,
    decorators,
    typeParameters,
    parameters,
    returns,
    body,
    definitionStart,
  };
  adoptDecorators(node, decorators);
  adopt(node, name, returns);
  adoptAll(node, typeParameters);
  adoptParameters(node, parameters);
  adoptAll(node, body);
  return node;
}

export function lowerClass(lowering: Lowering, start: number, decorators: Decorator[]): Statement {
  const { start: definitionStart, end, types } = lowering;
  let name: Name | undefined;
  let typeParameters: Name[] = [];
  let bases: Expression[] = [];
  let keywords: KeywordArgument[] = [];
  let body: Statement[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.identifier) name ??= lowering.name();
    else if (type === types.type_parameter) typeParameters = lowerTypeParameters(lowering);
    else if (type === types.argument_list) {
      const list = lowerArguments(lowering);
      // What `**options` passes to the metaclass has no place of its own.
      bases = [...list.positional, ...list.keywordSpreads];
      keywords = list.keywords;
    } else if (type === types.block) body = lowering.body();
  }
  if (name === undefined) return lowering.invalid(start, end, [...bases, ...body]);
  const node: ClassDefinition = {
    kind: "ClassDefinition",
    start,
    end: endOfBody(end, body),
    order: unordered,
    parent: undefined,
    name,
    decorators,
    typeParameters,
    bases,
    keywords,
    body,
    definitionStart,
  };
  adoptDecorators(node, decorators);
  node.name.parent = node;
  adoptAll(node, typeParameters);
  adoptAll(node, bases);
  for (const keyword of keywords) adopt(node, keyword.name, keyword.value);
  adoptAll(node, body);
  return node;
}
