/** One walk over a file that collects what the resolver and the provenance look up again and again. */
import { FileMemo } from "../python/file-memo";
import { lastName } from "../python/last-name";
import type {
  Assign,
  Attribute,
  AugmentedAssign,
  Call,
  ClassDefinition,
  Expression,
  For,
  FunctionDefinition,
  Import,
  ImportFrom,
  Module,
  Name,
  Node,
  Return,
  Span,
  Statement,
  While,
  Yield,
} from "../python/tree";
import { enclosingFunction, namesById, nodesOf } from "../python/walk";

/** A place that binds an attribute: `self.x = value`, `self.x, y = value`, `for self.x in value`. */
export interface AttributeStore {
  /** A `Name` where the class body itself binds it. */
  readonly target: Attribute | Name;
  readonly value: Expression | undefined;
  /** Position inside `value` when it is unpacked, outermost first. */
  readonly path: readonly number[];
  readonly statement: Statement;
  readonly augmented: boolean;
  /** The value is what is iterated over, or the context of a `with`, rather than the value itself. */
  readonly through: "value" | "for" | "with";
}

export interface FileIndex {
  /** In source order, a call before those inside it. */
  readonly calls: readonly Call[];
  /** Calls by the last name of their callee: `f(x)` and `a.f(x)` under `f`. */
  readonly callsByName: ReadonlyMap<string, readonly Call[]>;
  readonly functions: readonly FunctionDefinition[];
  /** What they are called, methods included. */
  readonly functionNames: ReadonlySet<string>;
  readonly classes: readonly ClassDefinition[];
  readonly attributesByName: ReadonlyMap<string, readonly Attribute[]>;
  readonly attributeStores: readonly AttributeStore[];
  /** Assignments without an annotation, in source order. */
  readonly assignments: readonly (Assign | AugmentedAssign)[];
  /** In source order, a loop before those inside it. */
  readonly loops: readonly (For | While)[];
  readonly namesById: ReadonlyMap<string, readonly Name[]>;
  /** `return` statements and `yield` expressions by the function they belong to. */
  readonly returns: ReadonlyMap<FunctionDefinition, readonly (Return | Yield)[]>;
  /** All import statements, in source order. */
  readonly imports: readonly (Import | ImportFrom)[];
  /** Names that an import gives to what is called otherwise, with the last part of that: `cp` with `checkpoint`. */
  readonly renamed: ReadonlyMap<string, readonly string[]>;
}

/** Collects the index in one walk. */
export function indexFile(module: Module): FileIndex {
  const calls: Call[] = [];
  const callsByName = new Map<string, Call[]>();
  const functions: FunctionDefinition[] = [];
  const functionNames = new Set<string>();
  const classes: ClassDefinition[] = [];
  const attributesByName = new Map<string, Attribute[]>();
  const attributeStores: AttributeStore[] = [];
  const assignments: (Assign | AugmentedAssign)[] = [];
  const loops: (For | While)[] = [];
  const returns = new Map<FunctionDefinition, (Return | Yield)[]>();
  const imports: (Import | ImportFrom)[] = [];
  const renamed = new Map<string, string[]>();

  for (const node of nodesOf(module)) {
    switch (node.kind) {
      case "Call": {
        calls.push(node);
        const name = lastName(node.callee);
        if (name !== undefined) push(callsByName, name, node);
        break;
      }
      case "FunctionDefinition":
        functions.push(node);
        functionNames.add(node.name.id);
        break;
      case "ClassDefinition":
        classes.push(node);
        break;
      case "Attribute":
        push(attributesByName, node.attribute.id, node);
        break;
      case "Return":
      case "Yield": {
        const owner = enclosingFunction(node);
        if (owner?.kind === "FunctionDefinition") push(returns, owner, node);
        break;
      }
      case "Import":
      case "ImportFrom":
        imports.push(node);
        for (const { name, alias } of node.names) noteRenamed(renamed, name, alias);
        break;
      case "Assign":
        assignments.push(node);
        for (const target of node.targets) collect(attributeStores, target, node.value, node, "value");
        break;
      case "AnnotatedAssign":
        collect(attributeStores, node.target, node.value, node, "value");
        break;
      case "AugmentedAssign":
        assignments.push(node);
        if (node.target.kind === "Attribute") {
          attributeStores.push({
            target: node.target,
            value: node.value,
            path: [],
            statement: node,
            augmented: true,
            through: "value",
          });
        }
        break;
      case "While":
        loops.push(node);
        break;
      case "For":
        loops.push(node);
        collect(attributeStores, node.target, node.iterable, node, "for");
        break;
      case "With":
        for (const item of node.items) {
          if (item.target) collect(attributeStores, item.target, item.context, node, "with");
        }
        break;
      default:
    }
  }
  return {
    calls,
    callsByName,
    functions,
    functionNames,
    classes,
    attributesByName,
    attributeStores,
    assignments,
    loops,
    namesById: namesById(module),
    returns,
    imports,
    renamed,
  };
}

/** A file with its index, as a resolver has them. */
interface IndexedFile {
  readonly module: Module;
  readonly index: FileIndex;
}

const knownKeywords = new FileMemo<ReadonlyMap<string, readonly Call[]>>();

/** The calls of a file that give a keyword argument of this name, in source order. */
export function callsWithKeyword({ module, index }: IndexedFile, name: string): readonly Call[] {
  const byKeyword = knownKeywords.of(module, () => {
    const found = new Map<string, Call[]>();
    for (const call of index.calls) for (const keyword of call.keywords) push(found, keyword.name.id, call);
    return found;
  });
  return byKeyword.get(name) ?? [];
}

function noteRenamed(renamed: Map<string, string[]>, name: string, alias: string | undefined): void {
  const last = name.slice(name.lastIndexOf(".") + 1);
  if (alias !== undefined && alias !== last) push(renamed, alias, last);
}

/** The calls that lie within a node or another part of the text, itself included, in source order. */
export function* callsWithin({ calls }: FileIndex, node: Span): Generator<Call> {
  for (let place = firstFrom(calls, node.start); place < calls.length; place++) {
    const call = calls[place];
    if (call === undefined || call.start >= node.end) return;
    if (call.end <= node.end) yield call;
  }
}

/** The calls in the part of a loop that is repeated, or in a function's body. */
export function callsInBody(index: FileIndex, { body }: For | While | FunctionDefinition): Call[] {
  const [first, last] = [body[0], body.at(-1)];
  return first === undefined || last === undefined
    ? []
    : [...callsWithin(index, { start: first.start, end: last.end })];
}

/** The place of the first of these nodes, which are in source order, that does not start before `offset`. */
export function firstFrom(nodes: readonly Node[], offset: number): number {
  let low = 0;
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((nodes[middle]?.start ?? offset) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Sorts what is called as the source has it, a call before those inside it. */
export function bySource(one: Span, other: Span): number {
  return one.start - other.start || other.end - one.end;
}

/** Adds a value to the list a map holds under a key. */
export function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}

/** A target with what ends up in it; displays are unpacked. */
export interface FlatTarget {
  readonly target: Expression;
  readonly value: Expression | undefined;
  readonly path: readonly number[];
}

/** The single targets of `a, (b, c.d) = value`, with the element each gets where `value` is a display. */
export function flattenTarget(target: Expression, value: Expression | undefined): FlatTarget[] {
  const result: FlatTarget[] = [];
  const pending: FlatTarget[] = [{ target, value, path: [] }];
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    const { target: one, value: from, path } = item;
    if (one.kind !== "Tuple" && one.kind !== "List") {
      result.push(one.kind === "Starred" ? { target: one.value, value: undefined, path: [] } : item);
      continue;
    }
    const starred = one.elements.findIndex((element) => element.kind === "Starred");
    one.elements.forEach((element, index) => {
      if (starred >= 0 && index >= starred) {
        pending.push({ target: element, value: undefined, path: [] });
        return;
      }
      const display =
        path.length === 0 && from !== undefined && (from.kind === "Tuple" || from.kind === "List")
          ? from
          : undefined;
      const direct =
        display && display.elements.length === one.elements.length ? display.elements[index] : undefined;
      if (direct) pending.push({ target: element, value: direct, path: [] });
      else pending.push({ target: element, value: from, path: [...path, index] });
    });
  }
  return result.reverse();
}

function collect(
  stores: AttributeStore[],
  target: Expression,
  value: Expression | undefined,
  statement: Statement,
  through: AttributeStore["through"],
): void {
  if (target.kind !== "Attribute" && target.kind !== "Tuple" && target.kind !== "List") return;
  for (const flat of flattenTarget(target, value)) {
    if (flat.target.kind !== "Attribute") continue;
    stores.push({
      target: flat.target,
      value: flat.value,
      path: flat.path,
      statement,
      augmented: false,
      through,
    });
  }
}

/** The class whose body directly holds a function. */
export function enclosingClass(target: FunctionDefinition): ClassDefinition | undefined {
  for (let at = target.parent; at !== undefined; at = at.parent) {
    if (at.kind === "ClassDefinition") return at;
    if (at.kind === "FunctionDefinition" || at.kind === "Lambda" || at.kind === "Module") return undefined;
  }
  return undefined;
}

/** In the `forward` of a class: what its loops gather belongs to one forward, and a backward that comes later needs it. */
export function isInForward(node: Node): boolean {
  const around = enclosingFunction(node);
  return (
    around?.kind === "FunctionDefinition" &&
    around.name.id === "forward" &&
    enclosingClass(around) !== undefined
  );
}

/** `super()` */
export function isSuper(expression: Expression): boolean {
  return expression.kind === "Call" && expression.callee.kind === "Name" && expression.callee.id === "super";
}

/** `c` of `a.b.c`, of `a.b.c(…)` and of `a.b.c(…)(…)`. */
export function lastPart(expression: Expression): string | undefined {
  let at = expression;
  while (at.kind === "Call") at = at.callee;
  return lastName(at);
}
