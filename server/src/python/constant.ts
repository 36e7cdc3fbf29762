/** Constant folding: what an expression's value is when the source alone says so. */
import type {
  Attribute,
  Call,
  Comparison,
  Dict,
  Expression,
  Module,
  Name,
  StringLiteral,
  Subscript,
} from "./tree";
import type { Binding, Scopes } from "./scope";
import { FileMemo } from "./file-memo";
import { BUILTIN_FOLDERS } from "./constant-builtins";
import { compare, foldBinary, foldUnary, isTruthy } from "./constant-operators";
import { isOnlyRead, lastStarImport, storedAttributes } from "./constant-uses";

/** Python keeps `2` and `2.0` apart, and so does this. */
export type ConstantValue =
  | { readonly kind: "integer"; readonly value: number }
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "none" }
  | { readonly kind: "tuple"; readonly elements: readonly ConstantValue[] }
  | { readonly kind: "list"; readonly elements: readonly ConstantValue[] }
  | { readonly kind: "dict"; readonly entries: readonly ConstantEntry[] };

export interface ConstantEntry {
  readonly key: ConstantValue;
  readonly value: ConstantValue;
}

/**
 * The value of literals, displays of them, arithmetic, comparisons, a few builtins, and of names that are assigned
 * exactly once. A name of a list or dict counts only when nothing in the module can change it. `undefined` for
 * everything else, for what would raise, and for integers beyond 2^53.
 */
export function foldConstant(expression: Expression, scopes: Scopes): ConstantValue | undefined {
  return folderFor(scopes).fold(expression, 0);
}

/** The value as an integer; booleans are none here. */
export function foldInteger(expression: Expression, scopes: Scopes): number | undefined {
  const value = foldConstant(expression, scopes);
  return value?.kind === "integer" ? value.value : undefined;
}

/** The value as a number, integer or float; booleans are none here. */
export function foldNumber(expression: Expression, scopes: Scopes): number | undefined {
  const value = foldConstant(expression, scopes);
  return value?.kind === "integer" || value?.kind === "float" ? value.value : undefined;
}

const folders = new FileMemo<Map<Scopes, Folder>>();

function folderFor(scopes: Scopes): Folder {
  const known = folders.of(scopes.module.owner as Module, () => new Map());
  let folder = known.get(scopes);
  if (folder === undefined) {
    folder = new Folder(scopes);
    known.set(scopes, folder);
  }
  return folder;
}

/** Names that lead to names that lead to names: nobody writes more. */
const DEPTH_LIMIT = 500;

class Folder {
  /** Values of single bindings; `undefined` while one is being found, so that `x = x + 1` ends. */
  private readonly values = new Map<Binding, ConstantValue | undefined>();

  constructor(private readonly scopes: Scopes) {}

  fold(expression: Expression, depth: number): ConstantValue | undefined {
    if (depth > DEPTH_LIMIT) return undefined;
    const next = depth + 1;
    switch (expression.kind) {
      case "Integer":
        return Number.isSafeInteger(expression.value)
          ? { kind: "integer", value: expression.value }
          : undefined;
      case "Float":
        return { kind: "float", value: expression.value };
      case "Boolean":
        return { kind: "boolean", value: expression.value };
      case "None":
        return { kind: "none" };
      case "String":
        return this.foldString(expression, next);
      case "Tuple":
        return this.foldElements("tuple", expression.elements, next);
      case "List":
        return this.foldElements("list", expression.elements, next);
      case "Dict":
        return this.foldDict(expression, next);
      case "Name":
        return this.foldName(expression, next);
      case "Attribute":
        return this.foldAttribute(expression, next);
      case "Subscript":
        return this.foldSubscript(expression, next);
      case "NamedExpression":
        return this.fold(expression.value, next);
      case "Call":
        return this.foldCall(expression, next);
      case "Comparison":
        return this.foldComparison(expression, next);
      case "UnaryOperation": {
        const operand = this.fold(expression.operand, next);
        return operand === undefined ? undefined : foldUnary(expression.operator, operand);
      }
      case "BinaryOperation": {
        const left = this.fold(expression.left, next);
        const right = left === undefined ? undefined : this.fold(expression.right, next);
        if (left === undefined || right === undefined) return undefined;
        return foldBinary(expression.operator, left, right);
      }
      case "BooleanOperation":
        return this.foldBoolean(expression.operator === "and", expression.operands, next);
      case "Conditional": {
        const test = this.fold(expression.test, next);
        if (test === undefined) return undefined;
        return this.fold(isTruthy(test) ? expression.body : expression.orelse, next);
      }
      default:
        return undefined;
    }
  }

  /** f-strings count when all they hold are strings and integers, printed as they are. */
  private foldString(node: StringLiteral, depth: number): ConstantValue | undefined {
    if (node.isBytes) return undefined;
    if (node.value !== undefined) return { kind: "string", value: node.value };
    let text = "";
    for (const part of node.parts) {
      if (typeof part === "string") {
        text += part;
        continue;
      }
      const value = this.fold(part.expression, depth);
      const isPlain = part.format === "" && part.conversion === "";
      if (!isPlain || (value?.kind !== "string" && value?.kind !== "integer")) return undefined;
      text += String(value.value);
    }
    return { kind: "string", value: text };
  }

  private foldElements(
    kind: "tuple" | "list",
    elements: readonly Expression[],
    depth: number,
  ): ConstantValue | undefined {
    const values: ConstantValue[] = [];
    for (const element of elements) {
      if (element.kind === "Starred") {
        const spread = this.fold(element.value, depth);
        if (spread?.kind !== "tuple" && spread?.kind !== "list") return undefined;
        values.push(...spread.elements);
        continue;
      }
      const value = this.fold(element, depth);
      if (value === undefined) return undefined;
      values.push(value);
    }
    return { kind, elements: values };
  }

  private foldDict(node: Dict, depth: number): ConstantValue | undefined {
    const entries: ConstantEntry[] = [];
    for (const entry of node.entries) {
      const value = this.fold(entry.value, depth);
      if (value === undefined) return undefined;
      if (entry.key === undefined) {
        if (value.kind !== "dict") return undefined;
        for (const spread of value.entries) setEntry(entries, spread);
        continue;
      }
      const key = this.fold(entry.key, depth);
      if (key === undefined) return undefined;
      setEntry(entries, { key, value });
    }
    return { kind: "dict", entries };
  }

  private foldName(name: Name, depth: number): ConstantValue | undefined {
    const binding = onlyBinding(this.scopes.lookup(name));
    return binding === undefined ? undefined : this.foldBinding(binding, depth);
  }

  /** The value of a binding that is the only one of its name. */
  private foldBinding(binding: Binding, depth: number): ConstantValue | undefined {
    if (this.values.has(binding)) return this.values.get(binding);
    this.values.set(binding, undefined);
    const value = this.valueOf(binding, depth);
    this.values.set(binding, value);
    return value;
  }

  private valueOf(binding: Binding, depth: number): ConstantValue | undefined {
    if (binding.kind !== "assignment" && binding.kind !== "walrus") return undefined;
    if (binding.value === undefined) return undefined;
    const value = elementAt(this.fold(binding.value, depth), binding.path);
    if (value === undefined || this.mayBeStarImported(binding)) return undefined;
    if (isMutable(value) && !isOnlyRead(binding, this.scopes)) return undefined;
    return value;
  }

  /** A later `from … import *` may bring the same name. */
  private mayBeStarImported(binding: Binding): boolean {
    if (binding.scope !== this.scopes.module || binding.scope.starImports.length === 0) return false;
    return lastStarImport(this.scopes) > binding.node.start;
  }

  /** `Config.width`, where nobody stores to an attribute of that name. */
  private foldAttribute(node: Attribute, depth: number): ConstantValue | undefined {
    if (node.object.kind !== "Name") return undefined;
    const [owner, ...others] = this.scopes.lookup(node.object);
    if (owner?.node.kind !== "ClassDefinition" || owner.kind !== "class" || others.length > 0)
      return undefined;
    if (storedAttributes(this.scopes).has(node.attribute.id)) return undefined;
    const bindings = this.scopes.scopeFor(owner.node).bindings.get(node.attribute.id) ?? [];
    const binding = onlyBinding(bindings);
    if (binding === undefined) return undefined;
    const value = this.foldBinding(binding, depth);
    return value === undefined || isMutable(value) ? undefined : value;
  }

  private foldSubscript(node: Subscript, depth: number): ConstantValue | undefined {
    const object = this.fold(node.object, depth);
    const index = object === undefined ? undefined : this.fold(node.index, depth);
    if (object === undefined || index === undefined) return undefined;
    if (object.kind === "dict") {
      return object.entries.find((entry) => compare("==", entry.key, index) === true)?.value;
    }
    if (index.kind !== "integer") return undefined;
    if (object.kind === "string") {
      const characters = Array.from(object.value);
      const character = characters.at(index.value);
      return character === undefined ? undefined : { kind: "string", value: character };
    }
    return object.kind === "tuple" || object.kind === "list" ? object.elements.at(index.value) : undefined;
  }

  private foldCall(node: Call, depth: number): ConstantValue | undefined {
    if (node.keywords.length > 0 || node.keywordSpreads.length > 0) return undefined;
    const path = this.scopes.qualifiedName(node.callee);
    const folder = path === undefined ? undefined : BUILTIN_FOLDERS.get(path);
    if (folder === undefined) return undefined;
    const values = this.foldElements("tuple", node.positional, depth);
    return values?.kind === "tuple" ? folder(values.elements) : undefined;
  }

  private foldComparison(node: Comparison, depth: number): ConstantValue | undefined {
    const values = this.foldElements("tuple", node.operands, depth);
    if (values?.kind !== "tuple") return undefined;
    for (const [index, operator] of node.operators.entries()) {
      const left = values.elements[index];
      const right = values.elements[index + 1];
      const holds = left && right && compare(operator, left, right);
      if (holds === undefined) return undefined;
      if (!holds) return { kind: "boolean", value: false };
    }
    return { kind: "boolean", value: true };
  }

  private foldBoolean(
    isAnd: boolean,
    operands: readonly Expression[],
    depth: number,
  ): ConstantValue | undefined {
    let value: ConstantValue | undefined;
    for (const operand of operands) {
      value = this.fold(operand, depth);
      if (value === undefined || isTruthy(value) !== isAnd) return value;
    }
    return value;
  }
}

/** `x: int` alone binds nothing. */
function onlyBinding(bindings: readonly Binding[]): Binding | undefined {
  const [only, ...others] = bindings.filter(
    (binding) => binding.node.kind !== "AnnotatedAssign" || binding.value !== undefined,
  );
  return others.length === 0 ? only : undefined;
}

function isMutable(value: ConstantValue): boolean {
  if (value.kind === "tuple") return value.elements.some(isMutable);
  return value.kind === "list" || value.kind === "dict";
}

function elementAt(value: ConstantValue | undefined, path: readonly number[]): ConstantValue | undefined {
  let current = value;
  for (const index of path) {
    if (current?.kind !== "tuple" && current?.kind !== "list") return undefined;
    current = current.elements.at(index);
  }
  return current;
}

function setEntry(entries: ConstantEntry[], entry: ConstantEntry): void {
  const index = entries.findIndex((known) => compare("==", known.key, entry.key) === true);
  if (index >= 0) entries[index] = entry;
  else entries.push(entry);
}
