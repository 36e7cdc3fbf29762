/** `if`, the loops and `try`. */
import type { ExceptHandler, Expression, If, Span, Statement, Try } from "./tree";
import { unordered } from "./tree";
import type { Lowering } from "./lower";
import { adopt, adoptAll, endOfBody, tuple } from "./lower-shared";
import { lowerAsPattern } from "./lower-with";

/** One `if` or `elif` of a chain. */
interface Branch extends Span {
  readonly test: Expression | undefined;
  readonly body: Statement[];
}

export function lowerIf(lowering: Lowering): Statement {
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
  const node: If = { kind: "If", start, end, order: unordered, parent: undefined, test, body, orelse };
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

export function lowerFor(lowering: Lowering): Statement {
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
    order: unordered,
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

export function lowerWhile(lowering: Lowering): Statement {
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
    order: unordered,
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

export function lowerTry(lowering: Lowering): Statement {
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
    order: unordered,
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
