/**
 * Arithmetic on small tensors whose values are known, because models compute widths, depths and rates with them, e.g.
 * `torch.round(torch.arange(depth) * slope / 8).int().tolist()`. In single precision, as PyTorch does it.
 */
import type { Argument } from "../operators/argument";
import { elementCount, isFloating, Tensor, type Dtype } from "../tensor";
import { isUnknown } from "../unknown";
import { roundHalfEven } from "./numbers";

/** Tensors of more elements than this are not followed. */
const mostElements = 4096;

type Unary = (value: number) => number | undefined;
type Binary = (left: number, right: number) => number;

/** Rounding errors of logarithms and powers must not decide to which side a half goes. */
const nearHalf = 1e-4;

const round: Unary = (value) => {
  const distance = Math.abs(value - Math.floor(value) - 0.5);
  return distance !== 0 && distance < nearHalf ? undefined : roundHalfEven(value);
};

const unary: Readonly<Record<string, Unary>> = {
  neg: (value) => -value,
  abs: Math.abs,
  log: Math.log,
  log2: Math.log2,
  exp: Math.exp,
  sqrt: Math.sqrt,
  floor: Math.floor,
  ceil: Math.ceil,
  round,
  int: Math.trunc,
  long: Math.trunc,
  float: (value) => value,
  double: (value) => value,
  to: (value) => value,
};

const binary: Readonly<Record<string, Binary>> = {
  add: (left, right) => left + right,
  sub: (left, right) => left - right,
  mul: (left, right) => left * right,
  truediv: (left, right) => left / right,
  div: (left, right) => left / right,
  divide: (left, right) => left / right,
  floordiv: (left, right) => Math.floor(left / right),
  floor_divide: (left, right) => Math.floor(left / right),
  pow: (left, right) => left ** right,
};

const reduction: Readonly<Record<string, (values: readonly number[]) => number>> = {
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  sum: (values) => values.reduce((total, value) => Math.fround(total + value), 0),
};

interface Name {
  readonly base: string;
  /** `__radd__`: the receiver is the right operand. */
  readonly isReflected: boolean;
}

/** By the operator's name; only those of the table get here. */
const names = new Map<string, Name>();

function nameOf(operator: string): Name {
  let name = names.get(operator);
  if (name === undefined) names.set(operator, (name = split(operator)));
  return name;
}

function split(operator: string): Name {
  const last = operator.split(".").at(-1) ?? operator;
  const special = /^__(r?)(\w+)__$/.exec(last);
  const base = special?.[2] ?? last;
  if (special?.[1] === "r" && base in binary) return { base, isReflected: true };
  // `__round__` begins with an r of its own
  return { base: special === null ? last : `${special[1] ?? ""}${base}`, isReflected: false };
}

/** Gives the result of an operator its values where those of the operands are known. */
export function carryValues(operator: string, operands: readonly Argument[], result: Argument): void {
  if (!(result instanceof Tensor)) {
    if (nameOf(operator).base === "split") carryParts(operands[0] ?? null, result);
    return;
  }
  if (result.values !== undefined || elementCount(result.shape) > mostElements) return;
  const { base, isReflected } = nameOf(operator);
  const [first = null, second] = operands;
  if (operator === "torch.rand" && result.shape.length === 0) drawn.add(result);
  if (base === "lt" && !isReflected && isNeverBelow(first, second ?? null)) {
    result.values = [0];
    return;
  }
  const values = Object.hasOwn(binary, base)
    ? combined(
        base,
        isReflected ? [second ?? null, first] : [first, second ?? null],
        elementCount(result.shape),
      )
    : mapped(base, first, operands.length);
  if (values === undefined) return;
  const stored = values.map((value) => storedAs(value, result.dtype));
  if (stored.every((value) => Number.isFinite(value))) result.values = stored;
}

/** Single numbers drawn from [0, 1): layers are dropped where one lies below a rate, which is none at a rate of 0. */
const drawn = new WeakSet<Tensor>();

function isNeverBelow(left: Argument, right: Argument): boolean {
  const rate = valuesOf(right)?.[0];
  return left instanceof Tensor && drawn.has(left) && rate !== undefined && rate <= 0;
}

/** Parts of a vector, one after the other. */
function carryParts(source: Argument, result: Argument): void {
  if (!(source instanceof Tensor) || source.values === undefined || source.shape.length !== 1) return;
  if (!Array.isArray(result)) return;
  let at = 0;
  for (const part of result as readonly Argument[]) {
    if (!(part instanceof Tensor)) return;
    const size = part.shape[0] ?? 0;
    part.values = source.values.slice(at, at + size);
    at += size;
  }
}

function summedUp(values: readonly number[]): number[] {
  let total = 0;
  return values.map((value) => (total += value));
}

function mapped(base: string, source: Argument, operands: number): number[] | undefined {
  if (!(source instanceof Tensor) || source.values === undefined) return undefined;
  if (base === "cumsum" && source.shape.length === 1) return summedUp(source.values);
  if (base === "flip" && source.shape.length === 1) return [...source.values].reverse();
  if (base === "cumsum" && source.shape.length === 1) return runningSums(source.values);
  if (operands === 1 && Object.hasOwn(reduction, base)) {
    const reduce = reduction[base];
    return reduce === undefined || source.values.length === 0 ? undefined : [reduce(source.values)];
  }
  const apply = Object.hasOwn(unary, base) ? unary[base] : undefined;
  // `round(decimals)` and the like are left alone; `to` names a dtype or a device
  if (apply === undefined || (operands > 1 && base !== "to")) return undefined;
  const values = source.values.map(apply);
  return values.every((value) => value !== undefined) ? values : undefined;
}

function runningSums(values: readonly number[]): number[] {
  let sum = 0;
  const add = values.every(Number.isInteger)
    ? (value: number) => sum + value
    : (value: number) => Math.fround(sum + value);
  return values.map((value) => (sum = add(value)));
}

function combined(
  base: string,
  [left, right]: readonly [Argument, Argument],
  count: number,
): number[] | undefined {
  const apply = binary[base];
  const [a, b] = [valuesOf(left), valuesOf(right)];
  if (apply === undefined || a === undefined || b === undefined) return undefined;
  const fits = (values: readonly number[]): boolean => values.length === 1 || values.length === count;
  if (!fits(a) || !fits(b)) return undefined;
  return Array.from({ length: count }, (_, i) =>
    apply(a[a.length === 1 ? 0 : i] ?? NaN, b[b.length === 1 ? 0 : i] ?? NaN),
  );
}

/** Broadcasting other than of one number over a vector is left alone. */
function valuesOf(operand: Argument): readonly number[] | undefined {
  if (typeof operand === "number" || typeof operand === "boolean") return [Number(operand)];
  if (operand === null || typeof operand !== "object" || isUnknown(operand)) return undefined;
  if (operand instanceof Tensor) return operand.shape.length <= 1 ? operand.values : undefined;
  return "kind" in operand && operand.kind === "float" ? [operand.value] : undefined;
}

function storedAs(value: number, dtype: Dtype): number {
  if (dtype === "bool") return value === 0 ? 0 : 1;
  if (dtype === "float64") return value;
  if (dtype === "float32") return Math.fround(value);
  return isFloating(dtype) ? NaN : Math.trunc(value);
}
