/** Python arithmetic on `int`, `float` and `bool`. */
import type { BinaryOperator } from "../../python/tree";
import { Float, type Value } from "./values";

/** The number behind an int, float or bool; undefined for all else. */
export function numeric(value: Value | undefined): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value instanceof Float) return value.value;
  return undefined;
}

/** The int behind an int or bool; undefined for all else. */
export function integer(value: Value | undefined): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  return undefined;
}

export function isFloat(value: Value): boolean {
  return value instanceof Float;
}

/** Rounds half to even, as Python's `round`. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest < 0.5) return floor;
  if (rest > 0.5) return floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Rounds to decimals by the shortest decimal form, as CPython does for the figures met in practice. */
export function roundTo(value: number, digits: number): number {
  if (digits >= 0 && digits <= 20) {
    const scaled = value * 10 ** digits;
    if (Math.abs(scaled) > 2 ** 52) return value;
    // all decimals of the binary number: only an exact half is a tie
    const isTie = /^50*$/.test(
      value
        .toFixed(digits + 60)
        .split(".")[1]
        ?.slice(digits) ?? "",
    );
    return isTie ? roundHalfEven(scaled) / 10 ** digits : Number(value.toFixed(digits));
  }
  const unit = 10 ** -digits;
  return roundHalfEven(value / unit) * unit;
}

export function floorModulo(left: number, right: number): number {
  const rest = left % right;
  return rest !== 0 && rest < 0 !== right < 0 ? rest + right : rest;
}

type ArithmeticFault = "zero-division" | "too-large" | "unsupported";

function bitwise(operator: BinaryOperator, left: number, right: number): number | ArithmeticFault {
  if (operator === "<<" && (right > 60 || right < 0)) return "too-large";
  if (operator === ">>" && right < 0) return "unsupported";
  const a = BigInt(left);
  const b = BigInt(right);
  switch (operator) {
    case "|":
      return Number(a | b);
    case "&":
      return Number(a & b);
    case "^":
      return Number(a ^ b);
    case "<<":
      return Number(a << b);
    case ">>":
      return Number(a >> b);
    default:
      return "unsupported";
  }
}

function integers(operator: BinaryOperator, left: number, right: number): number | Float | ArithmeticFault {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return right === 0 ? "zero-division" : new Float(left / right);
    case "//":
      return right === 0 ? "zero-division" : Math.floor(left / right);
    case "%":
      return right === 0 ? "zero-division" : floorModulo(left, right);
    case "**":
      if (right >= 0) return left ** right;
      return left === 0 ? "zero-division" : new Float(left ** right);
    case "@":
      return "unsupported";
    default:
      return bitwise(operator, left, right);
  }
}

function floats(operator: BinaryOperator, left: number, right: number): Float | ArithmeticFault {
  switch (operator) {
    case "+":
      return new Float(left + right);
    case "-":
      return new Float(left - right);
    case "*":
      return new Float(left * right);
    case "/":
      return right === 0 ? "zero-division" : new Float(left / right);
    case "//":
      return right === 0 ? "zero-division" : new Float(Math.floor(left / right));
    case "%":
      return right === 0 ? "zero-division" : new Float(floorModulo(left, right));
    case "**":
      return new Float(left ** right);
    default:
      return "unsupported";
  }
}

/** `left operator right`; integers beyond 2^53 are refused rather than rounded. */
export function arithmetic(
  operator: BinaryOperator,
  left: Value,
  right: Value,
): number | boolean | Float | ArithmeticFault {
  const a = numeric(left);
  const b = numeric(right);
  if (a === undefined || b === undefined) return "unsupported";
  if (left instanceof Float || right instanceof Float) return floats(operator, a, b);
  if (typeof left === "boolean" && typeof right === "boolean" && "|&^".includes(operator)) {
    return bitwise(operator, a, b) === 1;
  }
  if (!Number.isFinite(a) || !Number.isFinite(b)) return "too-large";
  if (!Number.isInteger(a) || !Number.isInteger(b)) return "too-large";
  const result = integers(operator, a, b);
  if (typeof result === "number" && !Number.isSafeInteger(result)) return "too-large";
  return result;
}

/** As `repr` prints a float. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e16)) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
