/** Statements: one handler per node type. Each starts with the cursor on its node and leaves it there. */
import type {
  BinaryOperator,
  Call,
  ClassDefinition,
  Decorator,
  ExceptHandler,
  Expression,
  FunctionDefinition,
  If,
  ImportedName,
  KeywordArgument,
  Name,
  Node,
  Parameter,
  Span,
  Statement,
  Try,
  TypeAlias,
  With,
  WithItem,
} from "./tree";
import type { Lowering } from "./lower";
import type { StatementHandler } from "./syntax";
import { adopt, adoptAll, endOfBody, lowerArguments, lowerOnlyExpression, tuple } from "./lower-expressions";
import { adoptParameters, lowerParameters, lowerTypeParameters } from "./lower-parameters";
import { lowerMatch } from "./lower-patterns";

export const STATEMENT_HANDLERS: Readonly<Record<string, StatementHandler>> = {
  assert_statement: lowerAssert,
  break_statement: (lowering) => lowerWord(lowering, "Break"),
  class_definition: (lowering) => lowerClass(lowering, lowering.start, []),
  continue_statement: (lowering) => lowerWord(lowering, "Continue"),
  decorated_definition: lowerDecorated,
  delete_statement: lowerDelete,
  exec_statement: (lowering) => lowering.unknown(),
  expression_statement: lowerExpressionStatement,
  for_statement: lowerFor,
  function_definition: (lowering) => lowerFunction(lowering, lowering.start, []),
  future_import_statement: lowerFutureImport,
  global_statement: (lowering) => lowerScopeStatement(lowering, "Global"),
  if_statement: lowerIf,
  import_from_statement: lowerImportFrom,
  import_statement: lowerImport,
  match_statement: lowerMatch,
  nonlocal_statement: (lowering) => lowerScopeStatement(lowering, "Nonlocal"),
  pass_statement: (lowering) => lowerWord(lowering, "Pass"),
  print_statement: (lowering) => lowering.unknown(),
  raise_statement: lowerRaise,
  return_statement: lowerReturn,
  try_statement: lowerTry,
  type_alias_statement: lowerTypeAlias,
  while_statement: lowerWhile,
  with_statement: lowerWith,
};

// --- Simple statements --------------------------------------------------------------------------------------------

function lowerWord(lowering: Lowering, kind: "Pass" | "Break" | "Continue"): Statement {
  return { kind, start: lowering.start, end: lowering.end, parent: undefined };
}

/** Expressions, tuples without brackets and all assignments. */
function lowerExpressionStatement(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  const elements: Expression[] = [];
  let hasComma = false;
  let assignment: Statement | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.assignment) assignment = lowerAssignment(lowering);
    else if (type === types.augmented_assignment) assignment = lowerAugmentedAssignment(lowering);
    else if (type === types.comma) hasComma = true;
    else if (types.expressions[type] !== undefined) elements.push(lowering.expression(type));
  }
  if (assignment !== undefined) return assignment;
  const only = elements[0];
  if (only === undefined) return lowering.unknown();
  const expression = hasComma ? tuple(start, end, elements) : only;
  const node: Statement = { kind: "ExpressionStatement", start, end, parent: undefined, expression };
  expression.parent = node;
  return node;
}

/** What one `left = right`, `left: annotation` or `left: annotation = right` holds. */
interface AssignmentParts {
  left: Expression | undefined;
  annotation: Expression | undefined;
  right: Expression | undefined;
  /** True when the right side is an assignment itself; the cursor stands on it. */
  isChained: boolean;
}

/** `a = b = value` nests to the right; it is gone down and up in loops, so that any number of targets is flat. */
function lowerAssignment(lowering: Lowering): Statement {
  const { start, end } = lowering;
  const targets: Expression[] = [];
  let levels = 1;
  let parts = lowerAssignmentParts(lowering);
  while (parts.isChained) {
    if (parts.left !== undefined) targets.push(parts.left);
    if (parts.annotation !== undefined) lowering.salvage(parts.annotation);
    levels++;
    parts = lowerAssignmentParts(lowering);
  }
  for (; levels > 1; levels--) while (lowering.next() !== 0);
  const { left, annotation, right } = parts;
  if (annotation !== undefined && left !== undefined) {
    if (targets.length > 0) lowering.markInvalid();
    const node: Statement = {
      kind: "AnnotatedAssign",
      start,
      end,
      parent: undefined,
      target: left,
      annotation,
      value: right,
    };
    adopt(node, left, annotation, right);
    for (const target of targets) lowering.salvage(target);
    return node;
  }
  if (left !== undefined) targets.push(left);
  if (right === undefined) return lowering.invalid(start, end, targets);
  const node: Statement = { kind: "Assign", start, end, parent: undefined, targets, value: right };
  adoptAll(node, targets);
  right.parent = node;
  return node;
}

/** Reads the assignment that the cursor stands on, and stays on it unless its right side is an assignment. */
function lowerAssignmentParts(lowering: Lowering): AssignmentParts {
  const { types } = lowering;
  const parts: AssignmentParts = {
    left: undefined,
    annotation: undefined,
    right: undefined,
    isChained: false,
  };
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.assignment) {
      parts.isChained = true;
      return parts;
    }
    if (type === types.augmented_assignment) lowering.salvage(lowerAugmentedAssignment(lowering));
    else if (type === types.type) parts.annotation = lowering.expression(type);
    else if (types.expressions[type] === undefined) continue;
    else if (parts.left === undefined) parts.left = lowering.expression(type);
    else parts.right = lowering.expression(type);
  }
  return parts;
}

function lowerAugmentedAssignment(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  let target: Expression | undefined;
  let operator: string | undefined;
  let value: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (target === undefined) target = lowering.expression(type);
    else if (operator === undefined) operator = types.operators[type] ?? "";
    // `a += b = c` is no Python: the right side is then an assignment, which is no expression.
    else value = lowering.expression(type);
  }
  if (target === undefined || value === undefined || operator === undefined || !operator.endsWith("=")) {
    return lowering.invalid(start, end, [target, value]);
  }
  const node: Statement = {
    kind: "AugmentedAssign",
    start,
    end,
    parent: undefined,
    target,
    operator: operator.slice(0, -1) as BinaryOperator,
    value,
  };
  adopt(node, target, value);
  return node;
}

function lowerReturn(lowering: Lowering): Statement {
  const { start, end } = lowering;
  const value = lowerOnlyExpression(lowering);
  const node: Statement = { kind: "Return", start, end, parent: undefined, value };
  adopt(node, value);
  return node;
}

function lowerDelete(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  let targets: Expression[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (types.expressions[type] === undefined) continue;
    const target = lowering.expression(type);
    targets = type === types.expression_list && target.kind === "Tuple" ? target.elements : [target];
  }
  const node: Statement = { kind: "Delete", start, end, parent: undefined, targets };
  adoptAll(node, targets);
  return node;
}

function lowerRaise(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  let exception: Expression | undefined;
  let cause: Expression | undefined;
  let isCause = false;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.from) isCause = true;
    else if (types.expressions[type] === undefined) continue;
    else if (isCause) cause = lowering.expression(type);
    else exception = lowering.expression(type);
    // `raise Error, "text"` is Python 2.
    if (type === types.expression_list) lowering.markInvalid();
  }
  const node: Statement = { kind: "Raise", start, end, parent: undefined, exception, cause };
  adopt(node, exception, cause);
  return node;
}

function lowerAssert(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  const parts: Expression[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (types.expressions[type] !== undefined) parts.push(lowering.expression(type));
  }
  const [test, message] = parts;
  if (test === undefined || parts.length > 2) return lowering.invalid(start, end, parts);
  const node: Statement = { kind: "Assert", start, end, parent: undefined, test, message };
  adopt(node, test, message);
  return node;
}

function lowerScopeStatement(lowering: Lowering, kind: "Global" | "Nonlocal"): Statement {
  const { start, end, types } = lowering;
  const names: Name[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.identifier) names.push(lowering.name());
  }
  const node: Statement = { kind, start, end, parent: undefined, names };
  adoptAll(node, names);
  return node;
}

/**
 * `type Name[T] = value`. The grammar also takes `type(x).name = value` for one, with all after `type` as its name.
 */
function lowerTypeAlias(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  if (isCallOfType(lowering)) return lowerAssignmentToType(lowering);
  let left: { name: Name | undefined; typeParameters: Name[] } | undefined;
  let value: Expression | undefined;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type !== types.type) continue;
    if (left === undefined) left = lowerAliasName(lowering);
    else value = lowering.expression(type);
  }
  if (left?.name === undefined || value === undefined) return lowering.invalid(start, end, [value]);
  const node: TypeAlias = {
    kind: "TypeAlias",
    start,
    end,
    parent: undefined,
    name: left.name,
    typeParameters: left.typeParameters,
    value,
  };
  adopt(node, node.name, value);
  adoptAll(node, node.typeParameters);
  return node;
}

function isCallOfType(lowering: Lowering): boolean {
  return /^type\s*\(/.test(lowering.text.slice(lowering.start, Math.min(lowering.end, lowering.start + 40)));
}

function lowerAssignmentToType(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  const parts: Expression[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.type) parts.push(lowering.expression(type));
  }
  const [left, value] = parts;
  const target = left === undefined ? undefined : calledOnType(lowering, left, start);
  if (target === undefined || value === undefined) return lowering.invalid(start, end, parts);
  const node: Statement = { kind: "Assign", start, end, parent: undefined, targets: [target], value };
  adopt(node, target, value);
  return node;
}

/** `(x).name` as `type(x).name`: the innermost object becomes what `type` is called with. */
function calledOnType(lowering: Lowering, expression: Expression, start: number): Expression | undefined {
  if (expression.kind === "Attribute" || expression.kind === "Subscript") {
    const object = calledOnType(lowering, expression.object, start);
    if (object === undefined) return undefined;
    const node: Expression = { ...expression, start, object };
    object.parent = node;
    if (node.kind === "Attribute") node.attribute.parent = node;
    else node.index.parent = node;
    return node;
  }
  const open = lowering.text.indexOf("(", start);
  const close = expression.start === open ? expression.end - 1 : lowering.text.indexOf(")", expression.end);
  if (open < 0 || close < 0) return undefined;
  const callee: Name = { kind: "Name", start, end: start + 4, parent: undefined, id: "type" };
  const positional =
    expression.kind === "Tuple" && expression.start === open ? expression.elements : [expression];
  const node: Call = {
    kind: "Call",
    start,
    end: close + 1,
    parent: undefined,
    callee,
    positional,
    keywords: [],
    keywordSpreads: [],
    argumentList: { start: open, end: close + 1 },
  };
  callee.parent = node;
  adoptAll(node, positional);
  return node;
}

/** `Name` or `Name[T]`; the cursor stands on the wrapper around it. */
function lowerAliasName(lowering: Lowering): { name: Name | undefined; typeParameters: Name[] } {
  const { types } = lowering;
  let name: Name | undefined;
  let typeParameters: Name[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.identifier) name = lowering.name();
    if (type !== types.generic_type) continue;
    for (let inner = lowering.enter(); inner !== 0; inner = lowering.next()) {
      if (inner === types.identifier) name = lowering.name();
      else if (inner === types.type_parameter) typeParameters = lowerTypeParameters(lowering);
    }
  }
  return { name, typeParameters };
}

// --- Imports ------------------------------------------------------------------------------------------------------

/** `a . b` names the same module as `a.b`. */
function dottedText(text: string): string {
  return text.replace(/[\s\\]+/g, "").normalize("NFKC");
}

function lowerImportedName(lowering: Lowering, type: number): ImportedName {
  const { start, end, types } = lowering;
  if (type !== types.aliased_import) {
    return { start, end, name: dottedText(lowering.nodeText), alias: undefined };
  }
  let name = "";
  let alias: string | undefined;
  for (let inner = lowering.enter(); inner !== 0; inner = lowering.next()) {
    if (inner === types.dotted_name) name = dottedText(lowering.nodeText);
    else if (inner === types.identifier) alias = lowering.name().id;
  }
  return { start, end, name, alias };
}

function lowerImport(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  const names: ImportedName[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.dotted_name || type === types.aliased_import) {
      names.push(lowerImportedName(lowering, type));
    }
  }
  return { kind: "Import", start, end, parent: undefined, names };
}

function lowerFutureImport(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  const names: ImportedName[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.dotted_name || type === types.aliased_import) {
      names.push(lowerImportedName(lowering, type));
    }
  }
  return { kind: "ImportFrom", start, end, parent: undefined, module: "__future__", level: 0, names };
}

function lowerImportFrom(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  let module: string | undefined;
  let level = 0;
  const names: ImportedName[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.relative_import) {
      const relative = lowerRelativeImport(lowering);
      module = relative.module;
      level = relative.level;
    } else if (type === types.dotted_name && module === undefined) {
      module = dottedText(lowering.nodeText);
    } else if (type === types.dotted_name || type === types.aliased_import) {
      names.push(lowerImportedName(lowering, type));
    } else if (type === types.wildcard_import) {
      names.push({ start: lowering.start, end: lowering.end, name: "*", alias: undefined });
    }
  }
  return { kind: "ImportFrom", start, end, parent: undefined, module: module ?? "", level, names };
}

function lowerRelativeImport(lowering: Lowering): { module: string; level: number } {
  const { types } = lowering;
  let module = "";
  let level = 0;
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.import_prefix) level = dottedText(lowering.nodeText).length;
    else if (type === types.dotted_name) module = dottedText(lowering.nodeText);
  }
  return { module, level };
}

// --- Compound statements ------------------------------------------------------------------------------------------

/** One `if` or `elif` of a chain. */
interface Branch extends Span {
  readonly test: Expression | undefined;
  readonly body: Statement[];
}

function lowerIf(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  const branches: Branch[] = [];
  let test: Expression | undefined;
  let body: Statement[] = [];
  let orelse: Statement[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.block) body = lowering.body();
    else if (type === types.elif_clause) branches.push(lowerElif(lowering));
    else if (type === types.else_clause) orelse = lowerClauseBody(lowering);
    else if (types.expressions[type] !== undefined) test = lowering.expression(type);
  }
  branches.unshift({ start, end, test, body });
  const bodies = branches.map((branch) => branch.body);
  return chainBranches(lowering, branches, orelse, endOfBody(end, ...bodies, orelse));
}

/** An `elif` is an `If` alone in the branch before it: from the last one backwards, no deeper than the tree may be. */
function chainBranches(
  lowering: Lowering,
  branches: readonly Branch[],
  last: Statement[],
  end: number,
): Statement {
  let orelse = last;
  const limit = lowering.remainingDepth;
  for (let index = branches.length - 1; index > 0; index--) {
    const branch = branches[index] as Branch;
    if (index > limit) orelse = [lowering.invalid(branch.start, end, [])];
    else orelse = [ifStatement(lowering, branch, orelse, end)];
  }
  return ifStatement(lowering, branches[0] as Branch, orelse, end);
}

function ifStatement(lowering: Lowering, branch: Branch, orelse: Statement[], end: number): Statement {
  const { start, test, body } = branch;
  if (test === undefined) return lowering.invalid(start, end, [...body, ...orelse]);
  const node: If = { kind: "If", start, end, parent: undefined, test, body, orelse };
  test.parent = node;
  adoptAll(node, body);
  adoptAll(node, orelse);
  return node;
}

function lowerElif(lowering: Lowering): Branch {
  const { start, end, types } = lowering;
  let test: Expression | undefined;
  let body: Statement[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.block) body = lowering.body();
    else if (types.expressions[type] !== undefined) test = lowering.expression(type);
  }
  return { start, end, test, body };
}

/** The statements of an `else` or `finally`. */
function lowerClauseBody(lowering: Lowering): Statement[] {
  let body: Statement[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === lowering.types.block) body = lowering.body();
  }
  return body;
}

function lowerFor(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  let isAsync = false;
  const parts: Expression[] = [];
  let body: Statement[] = [];
  let orelse: Statement[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.async) isAsync = true;
    else if (type === types.block) body = lowering.body();
    else if (type === types.else_clause) orelse = lowerClauseBody(lowering);
    else if (types.expressions[type] !== undefined) parts.push(lowering.expression(type));
  }
  const [target, iterable] = parts;
  if (target === undefined || iterable === undefined) {
    return lowering.invalid(start, end, [...parts, ...body, ...orelse]);
  }
  const node: Statement = {
    kind: "For",
    start,
    end: endOfBody(end, body, orelse),
    parent: undefined,
    isAsync,
    target,
    iterable,
    body,
    orelse,
  };
  adopt(node, target, iterable);
  adoptAll(node, body);
  adoptAll(node, orelse);
  return node;
}

function lowerWhile(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  let test: Expression | undefined;
  let body: Statement[] = [];
  let orelse: Statement[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.block) body = lowering.body();
    else if (type === types.else_clause) orelse = lowerClauseBody(lowering);
    else if (types.expressions[type] !== undefined) test = lowering.expression(type);
  }
  if (test === undefined) return lowering.invalid(start, end, [...body, ...orelse]);
  const node: Statement = {
    kind: "While",
    start,
    end: endOfBody(end, body, orelse),
    parent: undefined,
    test,
    body,
    orelse,
  };
  test.parent = node;
  adoptAll(node, body);
  adoptAll(node, orelse);
  return node;
}

function lowerWith(lowering: Lowering): Statement {
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
function lowerAsPattern(lowering: Lowering): {
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

function lowerTry(lowering: Lowering): Statement {
  const { start, end, types } = lowering;
  let body: Statement[] = [];
  const handlers: ExceptHandler[] = [];
  let orelse: Statement[] = [];
  let last: Statement[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.block) body = lowering.body();
    else if (type === types.except_clause) handlers.push(lowerExcept(lowering));
    else if (type === types.else_clause) orelse = lowerClauseBody(lowering);
    else if (type === types.finally_clause) last = lowerClauseBody(lowering);
  }
  const node: Try = {
    kind: "Try",
    start,
    end: endOfBody(end, body, ...handlers.map((handler) => handler.body), orelse, last),
    parent: undefined,
    body,
    handlers,
    orelse,
    finally: last,
  };
  adoptAll(node, body);
  for (const handler of handlers) {
    adopt(node, handler.type, handler.name);
    adoptAll(node, handler.body);
  }
  adoptAll(node, orelse);
  adoptAll(node, last);
  return node;
}

function lowerExcept(lowering: Lowering): ExceptHandler {
  const { start, end, types } = lowering;
  let isGroup = false;
  let hasAlias = false;
  let body: Statement[] = [];
  let alias: Expression | undefined;
  const caught: Expression[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.block) {
      body = lowering.body();
    } else if (type === types.as_pattern) {
      const { value, target } = lowerAsPattern(lowering);
      if (value !== undefined) caught.push(value);
      alias = target;
    } else if (type === types.as) {
      hasAlias = true;
    } else if (types.expressions[type] === undefined) {
      isGroup ||= type === types.star || lowering.nodeText === "*";
    } else if (hasAlias) {
      alias = lowering.expression(type);
    } else {
      caught.push(lowering.expression(type));
    }
  }
  const first = caught[0];
  const last = caught.at(-1);
  // `except A, B:` without brackets is Python 3.14.
  const isTuple = caught.length > 1 && first !== undefined && last !== undefined;
  if (alias !== undefined && alias.kind !== "Name") lowering.salvage(alias);
  return {
    start,
    end: endOfBody(end, body),
    type: isTuple ? tuple(first.start, last.end, caught) : first,
    name: alias?.kind === "Name" ? alias : undefined,
    isGroup,
    body,
  };
}

// --- Definitions --------------------------------------------------------------------------------------------------

function lowerDecorated(lowering: Lowering): Statement {
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

function lowerFunction(lowering: Lowering, start: number, decorators: Decorator[]): Statement {
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

function lowerClass(lowering: Lowering, start: number, decorators: Decorator[]): Statement {
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
