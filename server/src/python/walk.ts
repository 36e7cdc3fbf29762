/** Moving about in our tree: downwards, upwards and from an offset. */
import type {
  Expression,
  For,
  FunctionDefinition,
  Interpolation,
  Lambda,
  Module,
  Name,
  Node,
  Parameter,
  Pattern,
  Span,
  Statement,
  While,
} from "./tree";

import { FileMemo } from "./file-memo";

export type ChildCallback = (child: Node) => void;

/**
 * Calls back for every node directly below `node`, in the order of the fields (source order but for a `Call` whose
 * `*args` follow keywords and a comprehension's element, which stands before its clauses). Not called for
 * `Attribute.attribute` and the names of keyword arguments: they read and bind nothing.
 */
export function forEachChild(node: Node, callback: ChildCallback): void {
  // The kinds that files are full of come first: the cases are compared one after the other.
  switch (node.kind) {
    case "Name":
    case "Integer":
      return;
    case "Attribute":
      callback(node.object);
      return;
    case "Call":
      callback(node.callee);
      each(node.positional, callback);
      for (const keyword of node.keywords) callback(keyword.value);
      each(node.keywordSpreads, callback);
      return;
    case "String":
      for (const part of node.parts) {
        if (typeof part !== "string") forEachInterpolationChild(part, callback);
      }
      return;
    case "Module":
      each(node.body, callback);
      return;
    case "ExpressionStatement":
      callback(node.expression);
      return;
    case "Assign":
      each(node.targets, callback);
      callback(node.value);
      return;
    case "AnnotatedAssign":
      callback(node.target);
      callback(node.annotation);
      maybe(node.value, callback);
      return;
    case "AugmentedAssign":
      callback(node.target);
      callback(node.value);
      return;
    case "Return":
    case "Yield":
      maybe(node.value, callback);
      return;
    case "Delete":
      each(node.targets, callback);
      return;
    case "Raise":
      maybe(node.exception, callback);
      maybe(node.cause, callback);
      return;
    case "Assert":
      callback(node.test);
      maybe(node.message, callback);
      return;
    case "Global":
    case "Nonlocal":
      each(node.names, callback);
      return;
    case "Pass":
    case "Break":
    case "Continue":
    case "Import":
    case "ImportFrom":
      return;
    case "If":
    case "While":
      callback(node.test);
      each(node.body, callback);
      each(node.orelse, callback);
      return;
    case "For":
      callback(node.target);
      callback(node.iterable);
      each(node.body, callback);
      each(node.orelse, callback);
      return;
    case "With":
      for (const item of node.items) {
        callback(item.context);
        maybe(item.target, callback);
      }
      each(node.body, callback);
      return;
    case "Try":
      each(node.body, callback);
      for (const handler of node.handlers) {
        maybe(handler.type, callback);
        maybe(handler.name, callback);
        each(handler.body, callback);
      }
      each(node.orelse, callback);
      each(node.finally, callback);
      return;
    case "Match":
      callback(node.subject);
      for (const matchCase of node.cases) {
        forEachPatternChild(matchCase.pattern, callback);
        maybe(matchCase.guard, callback);
        each(matchCase.body, callback);
      }
      return;
    case "FunctionDefinition":
      for (const decorator of node.decorators) callback(decorator.expression);
      callback(node.name);
      each(node.typeParameters, callback);
      forEachParameterChild(node.parameters, callback);
      maybe(node.returns, callback);
      each(node.body, callback);
      return;
    case "ClassDefinition":
      for (const decorator of node.decorators) callback(decorator.expression);
      callback(node.name);
      each(node.typeParameters, callback);
      each(node.bases, callback);
      for (const keyword of node.keywords) callback(keyword.value);
      each(node.body, callback);
      return;
    case "TypeAlias":
      callback(node.name);
      each(node.typeParameters, callback);
      callback(node.value);
      return;
    case "Float":
    case "Complex":
    case "Boolean":
    case "None":
    case "Ellipsis":
      return;
    case "Subscript":
      callback(node.object);
      callback(node.index);
      return;
    case "Slice":
      maybe(node.lower, callback);
      maybe(node.upper, callback);
      maybe(node.step, callback);
      return;
    case "BinaryOperation":
      callback(node.left);
      callback(node.right);
      return;
    case "UnaryOperation":
      callback(node.operand);
      return;
    case "BooleanOperation":
    case "Comparison":
      each(node.operands, callback);
      return;
    case "Lambda":
      forEachParameterChild(node.parameters, callback);
      callback(node.body);
      return;
    case "Conditional":
      callback(node.body);
      callback(node.test);
      callback(node.orelse);
      return;
    case "Tuple":
    case "List":
    case "Set":
      each(node.elements, callback);
      return;
    case "Dict":
      for (const entry of node.entries) {
        maybe(entry.key, callback);
        callback(entry.value);
      }
      return;
    case "Comprehension":
      maybe(node.key, callback);
      callback(node.element);
      for (const clause of node.clauses) {
        callback(clause.target);
        callback(clause.iterable);
        each(clause.conditions, callback);
      }
      return;
    case "Await":
    case "Starred":
      callback(node.value);
      return;
    case "NamedExpression":
      callback(node.target);
      callback(node.value);
      return;
    case "Invalid":
      each(node.children, callback);
      return;
  }
}

function each(nodes: readonly Node[], callback: ChildCallback): void {
  for (const node of nodes) callback(node);
}

function maybe(node: Node | undefined, callback: ChildCallback): void {
  if (node !== undefined) callback(node);
}

function forEachParameterChild(parameters: readonly Parameter[], callback: ChildCallback): void {
  for (const parameter of parameters) {
    callback(parameter.name);
    maybe(parameter.annotation, callback);
    maybe(parameter.default, callback);
  }
}

function forEachPatternChild(pattern: Pattern, callback: ChildCallback): void {
  each(pattern.captures, callback);
  each(pattern.reads, callback);
}

function forEachInterpolationChild(interpolation: Interpolation, callback: ChildCallback): void {
  callback(interpolation.expression);
  for (const field of interpolation.formatFields) forEachInterpolationChild(field, callback);
}

/** The nodes directly below `node`, as `forEachChild` gives them. */
export function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  forEachChild(node, (child) => children.push(child));
  return children;
}

export interface Visitor {
  /** Called before the node's children; `false` leaves them out (and `leave` is still called). */
  enter?(node: Node): unknown;
  /** Called after the node's children. */
  leave?(node: Node): void;
}

/** Visits `node` and everything below it, depth first. How deep a tree is, the lowering limits. */
export function walk(node: Node, visitor: Visitor): void {
  const visit = (at: Node): void => {
    if (visitor.enter?.(at) !== false) forEachChild(at, visit);
    visitor.leave?.(at);
  };
  visit(node);
}

const knownNodes = new FileMemo<readonly Node[]>();

/**
 * All nodes of a file in the order in which `walk` enters them; found once, since several go over all of them. Each is told
 * its place.
 */
export function nodesOf(module: Module): readonly Node[] {
  return knownNodes.of(module, () => {
    const { nodesBefore = [] } = module;
    module.nodesBefore = undefined;
    const found: Node[] = [module];
    module.order = 0;
    const add = (node: Node): void => {
      node.order = found.length;
      found.push(node);
      forEachChild(node, add);
    };
    for (const statement of module.body) {
      const { order } = statement;
      if (order < nodesBefore.length && nodesBefore[order] === statement)
        addAgain(statement, nodesBefore, found);
      else add(statement);
    }
    return found;
  });
}

/** The same nodes as before the edit: those up to the next statement of a module. */
function addAgain(statement: Statement, before: readonly Node[], found: Node[]): void {
  let place = statement.order;
  for (let node: Node | undefined = statement; node !== undefined; node = before[++place]) {
    if (node !== statement && node.parent?.kind === "Module") return;
    node.order = found.length;
    found.push(node);
  }
}

/** All nodes of a file where somebody has asked for them, or could have: an edit lists them anew from these. */
export function nodesIfListed(module: Module): readonly Node[] | undefined {
  return knownNodes.known(module) ?? module.nodesBefore;
}

const knownNames = new FileMemo<ReadonlyMap<string, readonly Name[]>>();

/** The names of a file by what they say, as `walk` comes to them. */
export function namesById(module: Module): ReadonlyMap<string, readonly Name[]> {
  return knownNames.of(module, () => {
    const byId = new Map<string, Name[]>();
    for (const node of nodesOf(module)) {
      if (node.kind !== "Name") continue;
      const names = byId.get(node.id);
      if (names === undefined) byId.set(node.id, [node]);
      else names.push(node);
    }
    return byId;
  });
}

/** True when a node, or one below it, is accepted; looks no further than the first. */
export function someNode(root: Node, accept: (node: Node) => boolean): boolean {
  let found = false;
  const visit = (node: Node): void => {
    if (found) return;
    if (accept(node)) found = true;
    else forEachChild(node, visit);
  };
  visit(root);
  return found;
}

/** True when `inner` is `outer` or stands somewhere in it. Both are of one file. */
export function isWithin(inner: Span, outer: Span): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** The nodes that hold `node`, innermost first, `node` itself left out. */
export function* ancestors(node: Node): Generator<Node, void, undefined> {
  for (let current = node.parent; current !== undefined; current = current.parent) yield current;
}

/** The innermost function or lambda whose own code `node` belongs to; decorators and defaults count as inside too. */
export function enclosingFunction(node: Node): FunctionDefinition | Lambda | undefined {
  let at = node.parent;
  while (at !== undefined && at.kind !== "FunctionDefinition" && at.kind !== "Lambda") at = at.parent;
  return at;
}

/**
 * The innermost loop of the same function that repeats `node`: its body, or a `while`'s test. A loop's `else` branch
 * and the iterable of a `for` run once, so they belong to the loop around it.
 */
export function enclosingLoop(node: Node): For | While | undefined {
  let below = node;
  for (let at = node.parent; at !== undefined; at = at.parent) {
    if (at.kind === "FunctionDefinition" || at.kind === "Lambda" || at.kind === "ClassDefinition")
      return undefined;
    if ((at.kind === "For" || at.kind === "While") && repeats(at, below)) return at;
    below = at;
  }
  return undefined;
}

/** That loop and those around it, innermost first. */
export function* enclosingLoops(node: Node): Generator<For | While, void, undefined> {
  for (let loop = enclosingLoop(node); loop !== undefined; loop = enclosingLoop(loop)) yield loop;
}

function repeats(loop: For | While, child: Node): boolean {
  if (loop.kind === "For") {
    return child === loop.target || loop.body.includes(child as Statement);
  }
  return child === loop.test || loop.body.includes(child as Statement);
}

const EXPRESSION_KINDS: ReadonlySet<string> = new Set<Expression["kind"]>([
  "Name",
  "Integer",
  "Float",
  "Complex",
  "String",
  "Boolean",
  "None",
  "Ellipsis",
  "Attribute",
  "Call",
  "Subscript",
  "Slice",
  "BinaryOperation",
  "UnaryOperation",
  "BooleanOperation",
  "Comparison",
  "Lambda",
  "Conditional",
  "Tuple",
  "List",
  "Set",
  "Dict",
  "Comprehension",
  "Await",
  "Yield",
  "Starred",
  "NamedExpression",
]);

/** True for statements; an `Invalid` counts as one when it stands in a statement list. */
export function isStatement(node: Node): node is Statement {
  if (node.kind === "Module" || EXPRESSION_KINDS.has(node.kind)) return false;
  return node.kind !== "Invalid" || statementListIn(node) !== undefined;
}

/** The innermost statement that `node` is or belongs to; `undefined` for the module. */
export function enclosingStatement(node: Node): Statement | undefined {
  for (let current: Node | undefined = node; current !== undefined; current = current.parent) {
    if (isStatement(current)) return current;
  }
  return undefined;
}

export interface StatementPlace {
  /** The body that holds the statement, e.g. a function's `body` or an `if`'s `orelse`. */
  readonly list: readonly Statement[];
  readonly index: number;
}

/** The statement list that holds a statement, and where; `undefined` below an `Invalid`, where there is none. */
export function statementList(statement: Statement): StatementPlace | undefined {
  return statementListIn(statement);
}

function statementListIn(statement: Statement): StatementPlace | undefined {
  if (statement.parent === undefined) return undefined;
  for (const list of statementListsOf(statement.parent)) {
    const index = list.indexOf(statement);
    if (index >= 0) return { list, index };
  }
  return undefined;
}

/** All statement lists directly below a node, in source order. */
export function statementListsOf(node: Node): (readonly Statement[])[] {
  switch (node.kind) {
    case "Module":
    case "With":
    case "FunctionDefinition":
    case "ClassDefinition":
      return [node.body];
    case "If":
    case "For":
    case "While":
      return [node.body, node.orelse];
    case "Try":
      return [node.body, ...node.handlers.map((handler) => handler.body), node.orelse, node.finally];
    case "Match":
      return node.cases.map((matchCase) => matchCase.body);
    default:
      return [];
  }
}

/** The innermost node that an offset lies in or touches the end of; the module when there is none below it. */
export function nodeAtOffset(module: Module, offset: number): Node {
  let current: Node = module;
  for (;;) {
    let inside: Node | undefined;
    let touching: Node | undefined;
    forEachChild(current, (child) => {
      if (child.start <= offset && offset < child.end) inside = child;
      else if (child.end === offset) touching = child;
    });
    const next: Node | undefined = inside ?? touching;
    if (next === undefined) return current;
    current = next;
  }
}

/** `self.model.encoder` for names and attributes of them; `undefined` for anything else. */
export function dottedPath(expression: Expression): string | undefined {
  if (expression.kind === "Name") return expression.id;
  const names: string[] = [];
  let current: Expression = expression;
  while (current.kind === "Attribute") {
    names.push(current.attribute.id);
    current = current.object;
  }
  if (current.kind !== "Name") return undefined;
  names.push(current.id);
  return names.reverse().join(".");
}
