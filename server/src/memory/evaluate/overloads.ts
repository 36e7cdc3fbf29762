/** Operators and methods that user classes and tensors define for themselves. */
import type { BinaryOperator, ComparisonOperator, Span } from "../../python/tree";
import { Tensor } from "../tensor";
import { isUnknown } from "../unknown";
import { CallArguments } from "./arguments";
import { runOperator } from "./bridge";
import type { Interpreter } from "./interpreter";
import { itemsOf } from "./iteration";
import { noteChanged, noteOffset } from "./offsets";
import { contains, keyOf } from "./operations";
import { DictValue, LibraryName, ListValue, ObjectValue, SetValue, TupleValue, type Value } from "./values";

/** What an operator's methods are called, in classes and as operators of the table. */
interface MethodNames {
  readonly direct: string;
  readonly reflected: string;
  readonly inPlace: string;
  readonly ofTensor: string;
  readonly reflectedOfTensor: string;
  readonly inPlaceOfTensor: string;
}

function methodNames(name: string): MethodNames {
  const [direct, reflected, inPlace] = [`__${name}__`, `__r${name}__`, `__i${name}__`];
  return {
    direct,
    reflected,
    inPlace,
    ofTensor: `Tensor.${direct}`,
    reflectedOfTensor: `Tensor.${reflected}`,
    inPlaceOfTensor: `Tensor.${inPlace}`,
  };
}

const binaryMethods: Readonly<Record<BinaryOperator, MethodNames>> = {
  "+": methodNames("add"),
  "-": methodNames("sub"),
  "*": methodNames("mul"),
  "/": methodNames("truediv"),
  "//": methodNames("floordiv"),
  "%": methodNames("mod"),
  "**": methodNames("pow"),
  "@": methodNames("matmul"),
  "|": methodNames("or"),
  "&": methodNames("and"),
  "^": methodNames("xor"),
  "<<": methodNames("lshift"),
  ">>": methodNames("rshift"),
};

const unaryMethods = { "-": "__neg__", "+": "__pos__", "~": "__invert__" } as const;

const comparisonMethods: Readonly<Partial<Record<ComparisonOperator, readonly [string, string]>>> = {
  "==": ["__eq__", "__eq__"],
  "!=": ["__ne__", "__ne__"],
  "<": ["__lt__", "__gt__"],
  "<=": ["__le__", "__ge__"],
  ">": ["__gt__", "__lt__"],
  ">=": ["__ge__", "__le__"],
};

/** Calls a method that the object's class defines; undefined when it has none. */
export function callMethod(
  interpreter: Interpreter,
  object: ObjectValue,
  name: string,
  args: CallArguments | readonly Value[],
  span: Span | undefined,
): Value | undefined {
  const method = object.type.attribute(name);
  if (method === undefined || method === null) return undefined;
  const given = args instanceof CallArguments ? args : new CallArguments(args);
  return interpreter.call(method, given.withReceiver(object), span);
}

/** The result when a user class or a tensor is involved; undefined when Python's own types are. */
export function overloadedBinary(
  interpreter: Interpreter,
  operator: BinaryOperator,
  left: Value,
  right: Value,
  span: Span,
): Value | undefined {
  const names = binaryMethods[operator];
  if (left instanceof ObjectValue) {
    const own = callMethod(interpreter, left, names.direct, [right], span);
    if (own !== undefined) return own;
  }
  if (right instanceof ObjectValue) {
    const own = callMethod(interpreter, right, names.reflected, [left], span);
    if (own !== undefined) return own;
  }
  if (left instanceof Tensor || right instanceof Tensor) {
    const [name, operands] =
      left instanceof Tensor ? [names.ofTensor, [left, right]] : [names.reflectedOfTensor, [right, left]];
    const result = runOperator(interpreter, name, new CallArguments(operands), span);
    noteOffset(operator, left, right, result);
    return result;
  }
  const [a, b] = [payloadOf(left), payloadOf(right)];
  if (a === left && b === right) return undefined;
  return overloadedBinary(interpreter, operator, a, b, span);
}

/** The list, dict, string or number inside an instance of a class derived from one. */
export function payloadOf(value: Value): Value {
  return value instanceof ObjectValue && value.payload !== undefined ? value.payload : value;
}

export function overloadedUnary(
  interpreter: Interpreter,
  operator: "-" | "+" | "~",
  operand: Value,
  span: Span,
): Value | undefined {
  const method = unaryMethods[operator];
  if (operand instanceof Tensor)
    return runOperator(interpreter, `Tensor.${method}`, new CallArguments([operand]), span);
  return operand instanceof ObjectValue ? callMethod(interpreter, operand, method, [], span) : undefined;
}

/** `x += y` where the object changes itself; undefined where Python makes a new one. */
export function augmentedInPlace(
  interpreter: Interpreter,
  operator: BinaryOperator,
  left: Value,
  right: Value,
  span: Span,
): Value | undefined {
  const { inPlace, inPlaceOfTensor } = binaryMethods[operator];
  if (left instanceof Tensor) {
    if (!interpreter.execution.supports(inPlaceOfTensor)) return undefined;
    noteChanged(left);
    return runOperator(interpreter, inPlaceOfTensor, new CallArguments([left, right]), span);
  }
  if (left instanceof ObjectValue) return callMethod(interpreter, left, inPlace, [right], span);
  if (left instanceof ListValue && operator === "+") {
    const items = itemsOf(interpreter, right, span);
    if (isUnknown(items)) return items;
    for (const item of items) {
      interpreter.references.adopt(left, item);
      left.items.push(item);
    }
    return left;
  }
  if (left instanceof DictValue && right instanceof DictValue && operator === "|") {
    for (const [key, entry] of right.entries) {
      if (!left.entries.has(key)) interpreter.references.adopt(left, entry.key);
      interpreter.references.adopt(left, entry.value);
      const before = left.entries.get(key);
      left.entries.set(key, { ...entry });
      if (before !== undefined) interpreter.references.disown(left, before.value);
    }
    return left;
  }
  return undefined;
}

/** A comparison in which a user class or a tensor has a say; undefined when Python's own types decide. */
export function valueComparison(
  interpreter: Interpreter,
  operator: ComparisonOperator,
  left: Value,
  right: Value,
  span: Span,
): Value | undefined {
  if (operator === "in" || operator === "not in")
    return containment(interpreter, operator, left, right, span);
  const methods = comparisonMethods[operator];
  if (methods === undefined) return undefined;
  const [direct, reflected] = methods;
  if (left instanceof ObjectValue) {
    const own = callMethod(interpreter, left, direct, [right], span);
    if (own !== undefined) return own;
  }
  if (left instanceof Tensor)
    return runOperator(interpreter, `Tensor.${direct}`, new CallArguments([left, right]), span);
  if (right instanceof Tensor) {
    return runOperator(interpreter, `Tensor.${reflected}`, new CallArguments([right, left]), span);
  }
  const [a, b] = [payloadOf(left), payloadOf(right)];
  return a === left && b === right ? undefined : valueComparison(interpreter, operator, a, b, span);
}

function containment(
  interpreter: Interpreter,
  operator: "in" | "not in",
  item: Value,
  container: Value,
  span: Span,
): Value | undefined {
  // the script is started by hand: no launcher has set anything
  if (container instanceof LibraryName && container.path === "os.environ") return operator === "not in";
  if (!(container instanceof ObjectValue)) return undefined;
  const own = callMethod(interpreter, container, "__contains__", [item], span);
  const found = own ?? containedIn(interpreter, item, container, span);
  if (typeof found !== "boolean") return found;
  return operator === "in" ? found : !found;
}

function containedIn(interpreter: Interpreter, item: Value, container: ObjectValue, span: Span): Value {
  if (container.payload !== undefined) {
    return contains(container.payload, item) ?? interpreter.unknown("tensorValue", span);
  }
  const items = itemsOf(interpreter, container, span);
  if (isUnknown(items)) return items;
  return contains(new TupleValue(items), item) ?? interpreter.unknown("tensorValue", span);
}

/** A set of values; undefined when one of them cannot be hashed. */
export function setOf(items: readonly Value[], frozen = false): SetValue | undefined {
  const set = new SetValue(frozen);
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) return undefined;
    set.entries.set(key, item);
  }
  return set;
}
