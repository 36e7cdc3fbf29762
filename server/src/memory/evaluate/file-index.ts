/** What the top level of a file binds, imports and registers, statement by statement; nothing is run for it. */
import type { Expression, Node, Statement } from "../../python/tree";
import { childrenOf } from "../../python/walk";
import { effectsOf } from "./effects";

export interface FileIndex {
  /** The statements that bind a name or may change what it means. */
  readonly binding: ReadonlyMap<string, readonly Statement[]>;
  /** Those with `from … import *`. */
  readonly stars: readonly Statement[];
  /** All imports. */
  readonly imports: readonly Statement[];
  /** Names whose items are assigned inside functions: registries. */
  readonly stored: ReadonlySet<string>;
  /** Statements that may file something under a key: decorated definitions, calls and assignments with the key in them. */
  readonly registrations: ReadonlyMap<string, readonly Statement[]>;
}

const cache = new WeakMap<readonly Statement[], FileIndex>();

export function indexOf(body: readonly Statement[]): FileIndex {
  const known = cache.get(body);
  if (known !== undefined) return known;
  const statements = body.flatMap(importedLate);
  const index = {
    binding: grouped(statements, (statement) => namesOf(statement)),
    stars: statements.filter(
      (one) => one.kind === "ImportFrom" && one.names.some(({ name }) => name === "*"),
    ),
    imports: statements.filter(({ kind }) => kind === "Import" || kind === "ImportFrom"),
    stored: storedIn(body),
    registrations: grouped(body, keysOf),
  };
  cache.set(body, index);
  return index;
}

/**
 * A package that puts another module in its place, which imports names when they are asked for, lists them under
 * `if TYPE_CHECKING`: transformers and diffusers do so.
 */
function importedLate(statement: Statement): readonly Statement[] {
  if (statement.kind !== "If") return [statement];
  const { test, body, orelse } = statement;
  const name = test.kind === "Name" ? test.id : test.kind === "Attribute" ? test.attribute.id : "";
  const replaces = orelse.some(
    (one) => one.kind === "Assign" && one.targets.some((target) => isModuleTable(target)),
  );
  return name === "TYPE_CHECKING" && replaces ? body : [statement];
}

/** `sys.modules[…]`. */
function isModuleTable(target: Expression): boolean {
  return (
    target.kind === "Subscript" &&
    target.object.kind === "Attribute" &&
    target.object.attribute.id === "modules"
  );
}

function grouped(
  body: readonly Statement[],
  keys: (statement: Statement) => Iterable<string>,
): ReadonlyMap<string, readonly Statement[]> {
  const groups = new Map<string, Statement[]>();
  for (const statement of body) {
    for (const key of keys(statement)) {
      const before = groups.get(key);
      if (before === undefined) groups.set(key, [statement]);
      else before.push(statement);
    }
  }
  return groups;
}

/** `registry[key] = …`, `registry.setdefault(…)`, `registry.update(…)` inside functions and classes. */
function storedIn(body: readonly Statement[]): ReadonlySet<string> {
  const names = new Set<string>();
  const pending: Node[] = body.filter(
    ({ kind }) => kind === "FunctionDefinition" || kind === "ClassDefinition",
  );
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const stores = node.kind === "Assign" ? node.targets.map((target) => itemOwner(target)) : [updated(node)];
    for (const name of stores) if (name !== undefined) names.add(name);
    pending.push(...childrenOf(node));
  }
  return names;
}

function itemOwner(target: Expression): string | undefined {
  return target.kind === "Subscript" && target.object.kind === "Name" ? target.object.id : undefined;
}

function updated(node: Node): string | undefined {
  if (node.kind !== "Call" || node.callee.kind !== "Attribute") return undefined;
  const { object, attribute } = node.callee;
  return object.kind === "Name" && /^(setdefault|update)$/.test(attribute.id) ? object.id : undefined;
}

/** The keys under which a statement may file something. */
export function keysOf(statement: Statement): Set<string> {
  const keys = new Set<string>();
  const add = (expressions: readonly Expression[]): void => {
    for (const one of expressions) if (one.kind === "String" && one.value !== undefined) keys.add(one.value);
  };
  if (statement.kind === "FunctionDefinition" || statement.kind === "ClassDefinition") {
    if (statement.decorators.length > 0) keys.add(statement.name.id);
    for (const { expression } of statement.decorators)
      if (expression.kind === "Call") add(givenTo(expression));
  } else if (statement.kind === "ExpressionStatement" && statement.expression.kind === "Call") {
    add(givenTo(statement.expression));
  } else if (statement.kind === "Assign") {
    for (const target of statement.targets) if (target.kind === "Subscript") add([target.index]);
  }
  return keys;
}

function givenTo(call: Expression & { kind: "Call" }): Expression[] {
  return [...call.positional, ...call.keywords.map(({ value }) => value)];
}

/** The names that a statement of the top level binds or may change what they mean. */
function namesOf(statement: Statement): Set<string> {
  const names = new Set<string>();
  for (const target of effectsOf([statement]).targets) for (const name of rootsOf(target)) names.add(name);
  const pending: Node[] = [statement];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.kind === "FunctionDefinition" || node.kind === "ClassDefinition") continue;
    if (node.kind === "Import" || node.kind === "ImportFrom") {
      for (const { name, alias } of node.names) {
        const bound = alias ?? (node.kind === "Import" ? (name.split(".")[0] ?? name) : name);
        if (bound !== "*") names.add(bound);
      }
      continue;
    }
    pending.push(...childrenOf(node));
  }
  return names;
}

function rootsOf(target: Expression): string[] {
  const names: string[] = [];
  const pending: Expression[] = [target];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.kind === "Name") names.push(node.id);
    else if (node.kind === "Attribute" || node.kind === "Subscript") pending.push(node.object);
    else if (node.kind === "Call") pending.push(node.callee);
    else if (node.kind === "Starred") pending.push(node.value);
    else if (node.kind === "Tuple" || node.kind === "List") pending.push(...node.elements);
  }
  return names;
}
