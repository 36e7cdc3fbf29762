/** The places where a value is put somewhere that may outlive it: containers, running sums, subscripts. */
import type { AugmentedAssign, Assign, Call, Expression, Statement, Subscript } from "../../python/tree";
import { enclosingStatement } from "../../python/walk";
import { graphFreePackages, storingMethods } from "../api-graph";
import type { Resolver } from "../resolve";
import { flattenTarget } from "../resolve-index";
import type { StoredValue } from "./carried";
import type { Flow } from "./flow";
import { holdsObjects } from "./held-objects";
import type { Path } from "./value";

export type StoreKind =
  /** `xs.append(v)`, `q.put(v)`. */
  | "append"
  /** `d[k] = v`. */
  | "subscript"
  /** `x += v`. */
  | "sum"
  /** `x = x + v`, `x = 0.9 * x + 0.1 * v`. */
  | "rebind"
  /** `meter.update(v)` of a class that another file defines. */
  | "handed";

export interface Store extends StoredValue {
  readonly kind: StoreKind;
  readonly statement: Statement;
  /** The variable that keeps the value: `xs`, `self.losses`, `d` of `d[k]`. */
  readonly holder: Expression;
  readonly holderKey: string;
  /** The method (`append`) or operator. */
  readonly how: string;
  /** The subscripts between the holder and the value: `k` of `d[k].append(v)`, `d[k] = v`. */
  readonly keys: readonly Expression[];
}

/** All stores of a file in source order. */
export function collectStores(resolver: Resolver): Store[] {
  const stores: Store[] = [];
  for (const [method, position] of storingMethods) {
    for (const call of resolver.index.callsByName.get(method) ?? []) {
      const store = storeByMethod(call, method, position, resolver);
      if (store) stores.push(store);
    }
  }
  for (const statement of resolver.index.assignments) {
    if (statement.kind === "AugmentedAssign") stores.push(...storeByAugmented(statement, resolver));
    else
      for (const target of statement.targets)
        for (const flat of flattenTarget(target, statement.value))
          stores.push(...storeByAssign(statement, flat, resolver));
  }
  return stores.sort((a, b) => a.statement.start - b.statement.start);
}

function storeByMethod(call: Call, method: string, position: number, resolver: Resolver): Store | undefined {
  const value = call.positional[position];
  if (value === undefined || call.callee.kind !== "Attribute") return undefined;
  if (call.parent?.kind !== "ExpressionStatement") return undefined;
  const base = holderOf(call.callee.object);
  const statement = enclosingStatement(call);
  const holderKey = base && resolver.keyOf(base.holder);
  if (base === undefined || statement === undefined || holderKey === undefined) return undefined;
  if (resolver.qualifiedName(call.callee) !== undefined) return undefined;
  // `meter.add(loss)` of a class of this workspace: what it keeps, its own text says.
  if (resolver.functionOf(call) || resolver.imported.functionOf(call)) return undefined;
  if (base.keys.length > 0 && holdsObjects(holderKey, resolver)) return undefined;
  const path: Path = method.startsWith("extend") ? ["*"] : [];
  return { kind: "append", statement, ...base, holderKey, value, path, key: undefined, how: method };
}

function storeByAugmented(statement: AugmentedAssign, resolver: Resolver): Store[] {
  if (!/^[-+*/|]$/.test(statement.operator)) return [];
  const base = holderOf(statement.target);
  const holderKey = base && resolver.keyOf(base.holder);
  if (base === undefined || holderKey === undefined) return [];
  const { value, operator } = statement;
  return [
    {
      kind: "sum",
      statement,
      ...base,
      holderKey,
      value,
      path: [],
      key: literalKey(statement.target),
      how: operator,
    },
  ];
}

/** One target of an assignment; `out, states[i] = rnn(x, states[i])` has two. */
function storeByAssign(
  statement: Assign,
  { target, value, path }: ReturnType<typeof flattenTarget>[number],
  resolver: Resolver,
): Store[] {
  if (value === undefined) return [];
  if (target.kind === "Subscript") {
    const base = holderOf(target);
    const holderKey = base && resolver.keyOf(base.holder);
    if (base === undefined || holderKey === undefined) return [];
    // `xs[i], xs[j] = xs[j], xs[i]`
    if (value.kind === "Subscript" && resolver.keyOf(holderOf(value)?.holder ?? value) === holderKey)
      return [];
    const kind: StoreKind = readsItself(value, target, resolver) ? "rebind" : "subscript";
    return [{ kind, statement, ...base, holderKey, value, path, key: literalKey(target), how: "[]" }];
  }
  if ((target.kind !== "Name" && target.kind !== "Attribute") || path.length > 0) return [];
  if (value.kind !== "BinaryOperation" && value.kind !== "Conditional") return [];
  const holderKey = resolver.keyOf(target);
  if (holderKey === undefined || !readsItself(value, target, resolver)) return [];
  return [
    {
      kind: "rebind",
      statement,
      holder: target,
      holderKey,
      keys: [],
      value,
      path: [],
      key: undefined,
      how: "=",
    },
  ];
}

/** True when arithmetic takes in what the target held: `x + v`, `0.9 * x + 0.1 * v`, `v if x is None else x + v`. */
export function readsItself(value: Expression, target: Expression, resolver: Resolver): boolean {
  const pending: Expression[] = [value];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (at.kind === "Conditional") pending.push(at.body, at.orelse);
    if (at.kind !== "BinaryOperation") continue;
    if (arithmeticLeaves(at).some((leaf) => sameVariable(leaf, target, resolver))) return true;
  }
  return false;
}

/** The operands of nested arithmetic, left to right. */
function arithmeticLeaves(expression: Expression): Expression[] {
  const leaves: Expression[] = [];
  const pending: Expression[] = [expression];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (at.kind === "BinaryOperation") pending.push(at.right, at.left);
    else if (at.kind === "UnaryOperation" && at.operator !== "not") pending.push(at.operand);
    else leaves.push(at);
  }
  return leaves;
}

/** True when both name the same variable, attribute or element: `x`, `self.x`, `d["a"]`, `d[i]`. */
export function sameVariable(left: Expression, right: Expression, resolver: Resolver): boolean {
  let one = left;
  let other = right;
  while (one.kind === "Subscript" && other.kind === "Subscript") {
    const key = literalKey(one);
    if (key === undefined ? !sameName(one, other) : key !== literalKey(other)) return false;
    one = one.object;
    other = other.object;
  }
  const key = resolver.keyOf(one);
  return key !== undefined && key === resolver.keyOf(other);
}

function sameName(left: Subscript, right: Subscript): boolean {
  return left.index.kind === "Name" && right.index.kind === "Name" && left.index.id === right.index.id;
}

function literalKey(target: Expression): number | string | undefined {
  if (target.kind !== "Subscript") return undefined;
  return target.index.kind === "String" || target.index.kind === "Integer" ? target.index.value : undefined;
}

/** `d` of `d[a][b]`, of `d.setdefault(k, [])` and of `d` itself. */
function holderOf(expression: Expression): { holder: Expression; keys: readonly Expression[] } | undefined {
  const keys: Expression[] = [];
  let at = expression;
  for (;;) {
    if (at.kind === "Subscript") {
      keys.unshift(at.index);
      at = at.object;
    } else if (
      at.kind === "Call" &&
      at.callee.kind === "Attribute" &&
      at.callee.attribute.id === "setdefault"
    ) {
      const [key] = at.positional;
      if (key) keys.unshift(key);
      at = at.callee.object;
    } else break;
  }
  return at.kind === "Name" || at.kind === "Attribute" ? { holder: at, keys } : undefined;
}

/** A `deque` of limited length, an array of numbers, an object of which only its own file knows what it keeps. */
export function isBounded(store: Store, resolver: Resolver, flow: Flow): boolean {
  return flow.definitionsOf(store.holderKey).some(({ value }) => {
    if (value?.kind !== "Call") return false;
    const name = resolver.qualifiedName(value.callee);
    if (name === undefined) return false;
    if (name === "collections.deque")
      return value.positional.length > 1 || value.keywords.some((one) => one.name.id === "maxlen");
    if (graphFreePackages.has(name.split(".")[0] ?? "")) return true;
    return store.kind === "append" && /^[A-Z]/.test(name.split(".").at(-1) ?? "") && !isQueue(name);
  });
}

/** `queue.Queue()`, `multiprocessing.SimpleQueue()`: they hold what is put in as it is. */
function isQueue(name: string): boolean {
  return /^(queue|multiprocessing|torch\.multiprocessing|asyncio|typing)\./.test(name);
}
