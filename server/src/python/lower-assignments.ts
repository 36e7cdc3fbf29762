/** Assignments of all kinds, and type aliases, which the grammar mixes up with some of them. */
import type { BinaryOperator, Call, Expression, Name, Statement, TypeAlias } from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";
import { lowerTypeParameters } from "./lower-parameters";
import { adopt, adoptAll } from "./lower-shared";

/** What one `left = right`, `left: annotation` or `left: annotation = right` holds. */
interface AssignmentParts {
  left: Expression | undefined;
  annotation: Expression | undefined;
  right: Expression | undefined;
  /** True when the right side is an assignment itself; the cursor stands on it. */
  isChained: boolean;
}

/** `a = b = value` nests to the right; it is gone down and up in loops, so that any number of targets is flat. */
export function lowerAssignment(lowering: Lowering): Statement {
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
      order: unordered,
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
  const node: Statement = {
    kind: "Assign",
    start,
    end,
    order: unordered,
    parent: undefined,
    targets,
    value: right,
  };
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

export function lowerAugmentedAssignment(lowering: Lowering): Statement {
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
    order: unordered,
    parent: undefined,
    target,
    operator: operator.slice(0, -1) as BinaryOperator,
    value,
  };
  adopt(node, target, value);
  return node;
}

/**
 * `type Name[T] = value`. The grammar also takes `type(x).name = value` for one, with all after `type` as its name.
 */
export function lowerTypeAlias(lowering: Lowering): Statement {
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
    order: unordered,
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
  const node: Statement = {
    kind: "Assign",
    start,
    end,
    order: unordered,
    parent: undefined,
    targets: [target],
    value,
  };
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
  const callee: Name = {
    kind: "Name",
    start,
    end: start + 4,
    order: unordered,
    parent: undefined,
    id: "type",
  };
  const positional =
    expression.kind === "Tuple" && expression.start === open ? expression.elements : [expression];
  const node: Call = {
    kind: "Call",
    start,
    end: close + 1,
    order: unordered,
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
