/** One function a kind of expression. Operands stay alive as temporaries until the expression is done. */
import type * as tree from "../../python/tree";
import { Tensor } from "../tensor";
import { isUnknown, type Unknown } from "../unknown";
import { getAttribute } from "./attributes";
import { chargeElements, evaluateCall } from "./calls";
import { evaluateComprehension } from "./comprehensions";
import { formatPercent, interpolate } from "./format";
import { dictSet, iterate } from "./iteration";
import { binary, comparison, isFault, keyOf, truth } from "./operations";
import { callMethod, overloadedBinary, overloadedUnary, valueComparison } from "./overloads";
import { getItem } from "./subscripts";
import type { Interpreter } from "./interpreter";
import { makeFunction } from "./functions";
import { withUnknownFloat } from "./unknown-floats";
import {
  DictValue,
  ellipsis,
  Float,
  ListValue,
  ObjectValue,
  SetValue,
  SliceValue,
  TupleValue,
  type Value,
} from "./values";

export function evaluateExpression(interpreter: Interpreter, node: tree.Expression): Value {
  switch (node.kind) {
    case "Name":
      return evaluateName(interpreter, node);
    case "Integer":
      return node.value;
    case "Float":
      return new Float(node.value);
    case "String":
      return evaluateString(interpreter, node);
    case "Boolean":
      return node.value;
    case "None":
      return null;
    case "Ellipsis":
      return ellipsis;
    case "Attribute":
      return getAttribute(interpreter, interpreter.evaluate(node.object), node.attribute.id, node);
    case "Call":
      return evaluateCall(interpreter, node);
    case "Subscript":
      return getItem(interpreter, interpreter.evaluate(node.object), interpreter.evaluate(node.index), node);
    case "Slice":
      return new SliceValue(
        evaluateOptional(interpreter, node.lower),
        evaluateOptional(interpreter, node.upper),
        evaluateOptional(interpreter, node.step),
      );
    case "BinaryOperation":
      return evaluateBinaryChain(interpreter, node);
    case "UnaryOperation":
      return evaluateUnary(interpreter, node);
    case "BooleanOperation":
      return evaluateBoolean(interpreter, node);
    case "Comparison":
      return evaluateComparison(interpreter, node);
    case "Lambda":
      return makeFunction(interpreter, node);
    case "Conditional":
      return evaluateConditional(interpreter, node);
    case "Tuple": {
      const items = evaluateElements(interpreter, node.elements);
      return isUnknown(items) ? items : new TupleValue(items);
    }
    case "List": {
      const items = evaluateElements(interpreter, node.elements);
      return isUnknown(items) ? items : new ListValue(items);
    }
    case "Set":
      return evaluateSet(interpreter, node);
    case "Dict":
      return evaluateDict(interpreter, node);
    case "Comprehension":
      return evaluateComprehension(interpreter, node);
    case "Await":
      return interpreter.evaluate(node.value);
    case "Yield":
      return evaluateYield(interpreter, node);
    case "NamedExpression": {
      const value = interpreter.evaluate(node.value);
      interpreter.frame.function.assign(interpreter.references, node.target.id, value);
      return value;
    }
    case "Starred":
      return interpreter.unknown("unsupported", node, { what: "*" });
    case "Complex":
      return interpreter.unknown("unsupported", node, { what: "complex" });
    case "Invalid":
      return interpreter.note(interpreter.unknown("syntax", node));
  }
}

function evaluateOptional(interpreter: Interpreter, node: tree.Expression | undefined): Value {
  return node === undefined ? null : interpreter.evaluate(node);
}

function evaluateName(interpreter: Interpreter, node: tree.Name): Value {
  const bound = interpreter.frame.lookup(node.id);
  if (bound !== undefined) return bound;
  return interpreter.library.builtin(node.id) ?? interpreter.unknown("name", node, { name: node.id });
}

function evaluateString(interpreter: Interpreter, node: tree.StringLiteral): Value {
  if (node.parts.length === 0) return node.value ?? "";
  let text = "";
  for (const part of node.parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const piece = interpolate(
      interpreter,
      interpreter.evaluate(part.expression),
      part.format,
      part.conversion,
    );
    if (typeof piece !== "string") return piece;
    text += piece;
  }
  return text;
}

/** The elements of a display or the positional arguments of a call, `*spreads` unfolded. */
export function evaluateElements(
  interpreter: Interpreter,
  nodes: readonly tree.Expression[],
): Value[] | Unknown {
  const items: Value[] = [];
  for (const node of nodes) {
    if (node.kind !== "Starred") {
      items.push(interpreter.evaluate(node));
      continue;
    }
    const spread = iterate(interpreter, interpreter.evaluate(node.value), node);
    if (isUnknown(spread)) return spread;
    for (const item of spread) {
      interpreter.tick();
      items.push(item);
    }
  }
  return items;
}

function evaluateSet(interpreter: Interpreter, node: tree.SetDisplay): Value {
  const items = evaluateElements(interpreter, node.elements);
  if (isUnknown(items)) return items;
  const set = new SetValue();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined)
      return isUnknown(item) ? item : interpreter.unknown("unsupported", node, { what: "set" });
    set.entries.set(key, item);
  }
  return set;
}

function evaluateDict(interpreter: Interpreter, node: tree.Dict): Value {
  const dict = new DictValue();
  for (const entry of node.entries) {
    if (entry.key !== undefined) {
      const key = interpreter.evaluate(entry.key);
      dictSet(interpreter, dict, key, interpreter.evaluate(entry.value));
      continue;
    }
    const spread = interpreter.evaluate(entry.value);
    const source = spread instanceof ObjectValue ? spread.payload : spread;
    if (source instanceof DictValue) {
      chargeElements(interpreter, source);
      for (const [key, one] of source.entries) dict.entries.set(key, { ...one });
      dict.tainted ??= source.uncertain;
    } else {
      dict.tainted ??= isUnknown(spread) ? spread : interpreter.unknown("unsupported", node, { what: "**" });
    }
  }
  return dict;
}

/** `a + b + c + …` is a chain down the left side: walked, so that a long one does not nest. */
function evaluateBinaryChain(interpreter: Interpreter, node: tree.BinaryOperation): Value {
  const chain: tree.BinaryOperation[] = [node];
  let first: tree.Expression = node.left;
  while (first.kind === "BinaryOperation") {
    chain.push(first);
    first = first.left;
  }
  const { references } = interpreter;
  const mark = references.mark();
  let left = interpreter.evaluate(first);
  for (let link = chain.pop(); link !== undefined; link = chain.pop()) {
    interpreter.tick();
    const right = interpreter.evaluate(link.right);
    left = binaryOperation(interpreter, link.operator, left, right, link);
    references.settle(mark, left);
  }
  return left;
}

/** `left operator right`, whatever the operands are. */
export function binaryOperation(
  interpreter: Interpreter,
  operator: tree.BinaryOperator,
  left: Value,
  right: Value,
  span: tree.Span,
): Value {
  const overloaded = overloadedBinary(interpreter, operator, left, right, span);
  if (overloaded !== undefined) return overloaded;
  const float = withUnknownFloat(operator, left, right);
  if (float !== undefined) return float;
  if (isUnknown(left)) return left;
  if (operator === "%" && typeof left === "string") return formatPercent(interpreter, left, right);
  if (isUnknown(right)) return right;
  if (operator === "%" && typeof right === "number") interpreter.training?.divisors.add(right);
  const result = binary(operator, left, right);
  if (!isFault(result)) {
    chargeElements(interpreter, result.value);
    return result.value;
  }
  if (result === "zero-division") return interpreter.raise("ZeroDivisionError", "division by zero", span);
  if (result === "too-large") return interpreter.unknown("number", span);
  if (result === "too-long") return interpreter.unknown("size", span);
  return interpreter.unknown("operator", span, {
    operator,
    left: interpreter.typeName(left),
    right: interpreter.typeName(right),
  });
}

function evaluateUnary(interpreter: Interpreter, node: tree.UnaryOperation): Value {
  const operand = interpreter.evaluate(node.operand);
  if (node.operator === "not") {
    const answer = truthOf(interpreter, operand, node);
    return typeof answer === "boolean" ? !answer : answer;
  }
  if (isUnknown(operand)) return operand;
  const overloaded = overloadedUnary(interpreter, node.operator, operand, node);
  if (overloaded !== undefined) return overloaded;
  if (operand instanceof Float) return node.operator === "-" ? new Float(-operand.value) : operand;
  if (typeof operand === "number" || typeof operand === "boolean") {
    const number = Number(operand);
    if (node.operator === "~") return -number - 1;
    return node.operator === "-" ? 0 - number : number;
  }
  return interpreter.unknown("operator", node, {
    operator: node.operator,
    left: interpreter.typeName(operand),
    right: "",
  });
}

function evaluateBoolean(interpreter: Interpreter, node: tree.BooleanOperation): Value {
  const stopsAt = node.operator === "or";
  let value: Value = null;
  for (const operand of node.operands) {
    const mark = interpreter.references.mark();
    value = interpreter.evaluate(operand);
    if (operand === node.operands.at(-1)) return value;
    const answer = truthOf(interpreter, value, operand);
    if (isUnknown(answer)) return unknownUnlessDecided(interpreter, node, answer);
    if (answer === stopsAt) return value;
    interpreter.references.releaseTo(mark);
  }
  return value;
}

/** `unknown and False` is falsy, `unknown or True` is truthy: a later operand may decide what the first did not. */
function unknownUnlessDecided(
  interpreter: Interpreter,
  node: tree.BooleanOperation,
  unknown: Unknown,
): Value {
  const decides = node.operator === "or";
  const last = node.operands.at(-1);
  if (last === undefined || last.kind !== "Boolean" || last.value !== decides) return unknown;
  return interpreter.evaluate(last);
}

function evaluateComparison(interpreter: Interpreter, node: tree.Comparison): Value {
  const first = node.operands[0];
  if (first === undefined) return interpreter.unknown("syntax", node);
  let left = interpreter.evaluate(first);
  let answer: Value = true;
  for (const [i, operator] of node.operators.entries()) {
    const operand = node.operands[i + 1];
    if (operand === undefined) return interpreter.unknown("syntax", node);
    const right = interpreter.evaluate(operand);
    answer = compareValues(interpreter, operator, left, right, node);
    if (i === node.operators.length - 1) return answer;
    const go = truthOf(interpreter, answer, node);
    if (go !== true) return typeof go === "boolean" ? answer : go;
    left = right;
  }
  return answer;
}

function compareValues(
  interpreter: Interpreter,
  operator: tree.ComparisonOperator,
  left: Value,
  right: Value,
  span: tree.Span,
): Value {
  const overloaded = valueComparison(interpreter, operator, left, right, span);
  if (overloaded !== undefined) return overloaded;
  chargeElements(interpreter, left, right);
  const answer = comparison(operator, left, right);
  if (answer !== undefined) return answer;
  if (isUnknown(left)) return left;
  if (isUnknown(right)) return right;
  if (left instanceof Tensor || right instanceof Tensor) return interpreter.unknown("tensorValue", span);
  return interpreter.unknown("operator", span, {
    operator,
    left: interpreter.typeName(left),
    right: interpreter.typeName(right),
  });
}

function evaluateConditional(interpreter: Interpreter, node: tree.Conditional): Value {
  const answer = truthOf(interpreter, interpreter.evaluate(node.test), node.test);
  if (isUnknown(answer)) return answer;
  return interpreter.evaluate(answer ? node.body : node.orelse);
}

/** Python's truth of a value, `__bool__` and `__len__` asked; Unknown when it depends on what is not known. */
export function truthOf(interpreter: Interpreter, value: Value, span: tree.Span): boolean | Unknown {
  const answer = value instanceof ObjectValue ? undefined : truth(value);
  if (answer !== undefined) return answer;
  if (isUnknown(value)) return value;
  if (value instanceof DictValue && value.uncertain !== undefined) return value.uncertain;
  if (value instanceof Tensor) return tensorTruth(interpreter, value, span);
  if (!(value instanceof ObjectValue)) return true;
  const own =
    callMethod(interpreter, value, "__bool__", [], span) ??
    callMethod(interpreter, value, "__len__", [], span);
  if (own !== undefined)
    return isUnknown(own) ? own : (truth(own) ?? interpreter.unknown("tensorValue", span));
  if (value.payload !== undefined) return truth(value.payload) ?? interpreter.unknown("tensorValue", span);
  return true;
}

function tensorTruth(interpreter: Interpreter, tensor: Tensor, span: tree.Span): boolean | Unknown {
  const value = tensor.values?.length === 1 ? tensor.values[0] : undefined;
  return value === undefined ? interpreter.unknown("tensorValue", span) : value !== 0;
}

function evaluateYield(interpreter: Interpreter, node: tree.Yield): Value {
  const value = node.value === undefined ? null : interpreter.evaluate(node.value);
  const yielded = interpreter.frame.function.yielded;
  if (yielded === undefined) return interpreter.unknown("unsupported", node, { what: "yield" });
  const items = node.isFrom ? iterate(interpreter, value, node) : [value];
  if (isUnknown(items)) yielded.push(interpreter.references, items, node);
  else {
    for (const item of items) yielded.push(interpreter.references, item, node);
  }
  return null;
}
