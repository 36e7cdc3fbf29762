/** Operators over constants, as Python computes them. `undefined` where Python would raise or we do not know. */
import type { BinaryOperator, ComparisonOperator, UnaryOperation } from "./tree";
import type { ConstantValue } from "./constant";

/** Strings and sequences that repetition may give, in elements. */
const LENGTH_LIMIT = 10_000;

export function isTruthy(value: ConstantValue): boolean {
  switch (value.kind) {
    case "none":
      return false;
    case "integer":
    case "float":
      return value.value !== 0;
    case "boolean":
      return value.value;
    case "string":
      return value.value.length > 0;
    case "tuple":
    case "list":
      return value.elements.length > 0;
    case "dict":
      return value.entries.length > 0;
  }
}

export function integer(value: number): ConstantValue | undefined {
  // No negative zero among the integers.
  return Number.isSafeInteger(value) ? { kind: "integer", value: value + 0 } : undefined;
}

export function float(value: number): ConstantValue {
  return { kind: "float", value };
}

export function foldUnary(
  operator: UnaryOperation["operator"],
  operand: ConstantValue,
): ConstantValue | undefined {
  if (operator === "not") return { kind: "boolean", value: !isTruthy(operand) };
  const number = numeric(operand);
  if (number === undefined) return undefined;
  switch (operator) {
    case "-":
      return number.isFloat ? float(-number.value) : integer(-number.value);
    case "+":
      return number.isFloat ? float(number.value) : integer(number.value);
    case "~":
      return number.isFloat ? undefined : integer(-number.value - 1);
  }
}

interface Numeric {
  readonly value: number;
  readonly isFloat: boolean;
}

/** Booleans are integers to Python's arithmetic. */
function numeric(value: ConstantValue): Numeric | undefined {
  if (value.kind === "integer") return { value: value.value, isFloat: false };
  if (value.kind === "float") return { value: value.value, isFloat: true };
  if (value.kind === "boolean") return { value: Number(value.value), isFloat: false };
  return undefined;
}

export function foldBinary(
  operator: BinaryOperator,
  left: ConstantValue,
  right: ConstantValue,
): ConstantValue | undefined {
  const first = numeric(left);
  const second = numeric(right);
  if (first !== undefined && second !== undefined) {
    const isFloat = first.isFloat || second.isFloat;
    return isFloat
      ? floatArithmetic(operator, first.value, second.value)
      : integerArithmetic(operator, first.value, second.value);
  }
  if (operator === "+") return concatenate(left, right);
  if (operator !== "*") return undefined;
  if (right.kind === "integer") return repeat(left, right.value);
  return left.kind === "integer" ? repeat(right, left.value) : undefined;
}

function floatArithmetic(operator: BinaryOperator, left: number, right: number): ConstantValue | undefined {
  switch (operator) {
    case "+":
      return float(left + right);
    case "-":
      return float(left - right);
    case "*":
      return float(left * right);
    case "/":
      return right === 0 ? undefined : float(left / right);
    case "//":
      return right === 0 ? undefined : float(floorDivision(left, right));
    case "%":
      return right === 0 ? undefined : float(floorModulo(left, right));
    case "**":
      return floatPower(left, right);
    default:
      return undefined;
  }
}

/** By way of the remainder, as CPython does: `1.0 // 0.1` is 9.0. */
function floorDivision(left: number, right: number): number {
  const quotient = (left - floorModulo(left, right)) / right;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

/** `0.0 ** -1` raises, a negative base with a fraction is complex, and what overflows raises as well. */
function floatPower(left: number, right: number): ConstantValue | undefined {
  const power = left ** right;
  return Number.isFinite(power) ? float(power) : undefined;
}

function integerArithmetic(operator: BinaryOperator, left: number, right: number): ConstantValue | undefined {
  switch (operator) {
    case "+":
      return integer(left + right);
    case "-":
      return integer(left - right);
    case "*":
      return integer(left * right);
    case "/":
      return right === 0 ? undefined : float(left / right);
    case "//":
      return right === 0 ? undefined : integer((left - floorModulo(left, right)) / right);
    case "%":
      return right === 0 ? undefined : integer(floorModulo(left, right));
    case "**":
      return right < 0 ? floatPower(left, right) : integerPower(left, right);
    case "<<":
      return right < 0 || right > 53 ? undefined : integer(left * 2 ** right);
    case ">>":
      return right < 0 ? undefined : integer(Math.floor(left / 2 ** right));
    case "&":
      return integer(Number(BigInt(left) & BigInt(right)));
    case "|":
      return integer(Number(BigInt(left) | BigInt(right)));
    case "^":
      return integer(Number(BigInt(left) ^ BigInt(right)));
    case "@":
      return undefined;
  }
}

/** By multiplication, which is exact as long as the result is an integer that we keep. */
function integerPower(base: number, exponent: number): ConstantValue | undefined {
  if (base === 0 || base === 1 || base === -1) return integer(base ** exponent);
  let power = 1;
  for (let count = 0; count < exponent; count++) {
    power *= base;
    if (!Number.isSafeInteger(power)) return undefined;
  }
  return integer(power);
}

/** Python's `%` has the sign of the divisor. */
function floorModulo(left: number, right: number): number {
  const rest = left % right;
  return rest !== 0 && rest < 0 !== right < 0 ? rest + right : rest;
}

function concatenate(left: ConstantValue, right: ConstantValue): ConstantValue | undefined {
  if (left.kind === "string" && right.kind === "string") {
    return { kind: "string", value: left.value + right.value };
  }
  if (left.kind === "tuple" && right.kind === "tuple") {
    return { kind: "tuple", elements: [...left.elements, ...right.elements] };
  }
  if (left.kind === "list" && right.kind === "list") {
    return { kind: "list", elements: [...left.elements, ...right.elements] };
  }
  return undefined;
}

function repeat(value: ConstantValue, times: number): ConstantValue | undefined {
  const count = Math.max(0, times);
  if (value.kind === "string") {
    if (value.value.length * count > LENGTH_LIMIT) return undefined;
    return { kind: "string", value: value.value.repeat(count) };
  }
  if (value.kind !== "tuple" && value.kind !== "list") return undefined;
  if (value.elements.length * count > LENGTH_LIMIT) return undefined;
  return { kind: value.kind, elements: Array.from({ length: count }, () => value.elements).flat() };
}

/** Whether `left operator right` holds; `undefined` when Python would raise or identity is not ours to know. */
export function compare(
  operator: ComparisonOperator,
  left: ConstantValue,
  right: ConstantValue,
): boolean | undefined {
  switch (operator) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "<":
      return order(left, right, (sign) => sign < 0);
    case "<=":
      return order(left, right, (sign) => sign <= 0);
    case ">":
      return order(left, right, (sign) => sign > 0);
    case ">=":
      return order(left, right, (sign) => sign >= 0);
    case "is":
      return isIdentical(left, right);
    case "is not": {
      const same = isIdentical(left, right);
      return same === undefined ? undefined : !same;
    }
    case "in":
      return contains(right, left);
    case "not in": {
      const holds = contains(right, left);
      return holds === undefined ? undefined : !holds;
    }
  }
}

function isEqual(left: ConstantValue, right: ConstantValue): boolean {
  const first = numeric(left);
  const second = numeric(right);
  if (first !== undefined && second !== undefined) return first.value === second.value;
  if (left.kind === "string" && right.kind === "string") return left.value === right.value;
  if (left.kind === "none" && right.kind === "none") return true;
  if (left.kind === "tuple" && right.kind === "tuple")
    return haveEqualElements(left.elements, right.elements);
  if (left.kind === "list" && right.kind === "list") return haveEqualElements(left.elements, right.elements);
  if (left.kind !== "dict" || right.kind !== "dict") return false;
  if (left.entries.length !== right.entries.length) return false;
  return left.entries.every((entry) =>
    right.entries.some((other) => isEqual(entry.key, other.key) && isEqual(entry.value, other.value)),
  );
}

function haveEqualElements(left: readonly ConstantValue[], right: readonly ConstantValue[]): boolean {
  if (left.length !== right.length) return false;
  return left.every((value, index) => {
    const other = right[index];
    return other !== undefined && isEqual(value, other);
  });
}

function order(
  left: ConstantValue,
  right: ConstantValue,
  accepts: (sign: number) => boolean,
): boolean | undefined {
  const first = numeric(left);
  const second = numeric(right);
  if (first !== undefined && second !== undefined) return accepts(signOf(first.value, second.value));
  if (left.kind !== "string" || right.kind !== "string") return undefined;
  return accepts(signOf(left.value, right.value));
}

/** NaN is neither less, nor equal, nor more. */
function signOf<Ordered extends string | number>(left: Ordered, right: Ordered): number {
  if (left < right) return -1;
  if (left > right) return 1;
  return left === right ? 0 : NaN;
}

/** Only `None` and the booleans are one object each. */
function isIdentical(left: ConstantValue, right: ConstantValue): boolean | undefined {
  if (left.kind === "none" || right.kind === "none") return left.kind === right.kind;
  if (left.kind === "boolean" || right.kind === "boolean") {
    return left.kind === right.kind && isEqual(left, right);
  }
  return undefined;
}

function contains(container: ConstantValue, value: ConstantValue): boolean | undefined {
  switch (container.kind) {
    case "tuple":
    case "list":
      return container.elements.some((element) => isEqual(element, value));
    case "dict":
      return container.entries.some((entry) => isEqual(entry.key, value));
    case "string":
      return value.kind === "string" ? container.value.includes(value.value) : undefined;
    default:
      return undefined;
  }
}
