/** Statements: one handler per node type. Each starts with the cursor on its node and leaves it there. */
import type { Expression, Name, Statement } from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";
import type { StatementHandler } from "./syntax";
import { lowerAssignment, lowerAugmentedAssignment, lowerTypeAlias } from "./lower-assignments";
import { lowerFor, lowerIf, lowerTry, lowerWhile } from "./lower-compound";
import { lowerClass, lowerDecorated, lowerFunction } from "./lower-definitions";
import { lowerFutureImport, lowerImport, lowerImportFrom } from "./lower-imports";
import { lowerMatch } from "./lower-patterns";
import { adopt, adoptAll, lowerOnlyExpression, tuple } from "./lower-shared";
import { lowerWith } from "./lower-with";

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

function lowerWord(lowering: Lowering, kind: "Pass" | "Break" | "Continue"): Statement {
  return { kind, start: lowering.start, end: lowering.end, order: unordered, parent: undefined };
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
  const node: Statement = {
    kind: "ExpressionStatement",
    start,
    end,
    order: unordered,
    parent: undefined,
    expression,
  };
  expression.parent = node;
  return node;
}

function lowerReturn(lowering: Lowering): Statement {
  const { start, end } = lowering;
  const value = lowerOnlyExpression(lowering);
  const node: Statement = { kind: "Return", start, end, order: unordered, parent: undefined, value };
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
  const node: Statement = { kind: "Delete", start, end, order: unordered, parent: undefined, targets };
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
  const node: Statement = {
    kind: "Raise",
    start,
    end,
    order: unordered,
    parent: undefined,
    exception,
    cause,
  };
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
  const node: Statement = { kind: "Assert", start, end, order: unordered, parent: undefined, test, message };
  adopt(node, test, message);
  return node;
}

function lowerScopeStatement(lowering: Lowering, kind: "Global" | "Nonlocal"): Statement {
  const { start, end, types } = lowering;
  const names: Name[] = [];
  for (let type = lowering.enter(); type !== 0; type = lowering.next()) {
    if (type === types.identifier) names.push(lowering.name());
  }
  const node: Statement = { kind, start, end, order: unordered, parent: undefined, names };
  adoptAll(node, names);
  return node;
}
