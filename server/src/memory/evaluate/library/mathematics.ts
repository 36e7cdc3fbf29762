/** `math`, and the same functions of `numpy` on plain numbers. */
import { Tensor } from "../../tensor";
import { isUnknown } from "../../unknown";
import { runOperator } from "../bridge";
import { itemsOf } from "../iteration";
import { integer, numeric } from "../numbers";
import { Float, type Native, type Value } from "../values";

/** A function of floats that gives a float. */
function float(name: string, compute: (...values: number[]) => number): Native {
  return (interpreter, args, span) => {
    const numbers: number[] = [];
    for (const value of args.positional) {
      const number = numeric(value);
      if (number === undefined) return isUnknown(value) ? value : interpreter.unknown("call", span, { name });
      numbers.push(number);
    }
    const result = compute(...numbers);
    if (Number.isNaN(result) && !numbers.some(Number.isNaN))
      return interpreter.raise("ValueError", "math domain error", span);
    return new Float(result);
  };
}

/** A function of floats that gives an int. */
function whole(name: string, compute: (value: number) => number): Native {
  return (interpreter, args, span) => {
    const value = args.at(0) ?? null;
    const number = numeric(value);
    if (number === undefined) return isUnknown(value) ? value : interpreter.unknown("call", span, { name });
    const result = compute(number);
    return Number.isSafeInteger(result) ? result + 0 : interpreter.unknown("number", span);
  };
}

function integers(name: string, compute: (a: number, b: number) => number): Native {
  return (interpreter, args, span) => {
    let result: number | undefined;
    for (const value of args.positional) {
      const number = integer(value);
      if (number === undefined) return isUnknown(value) ? value : interpreter.unknown("call", span, { name });
      result = result === undefined ? Math.abs(number) : compute(result, Math.abs(number));
    }
    return result ?? 0;
  };
}

function gcd(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

const product: Native = (interpreter, args, span) => {
  const items = itemsOf(interpreter, args.at(0) ?? null, span);
  if (isUnknown(items)) return items;
  let [total, isFloat] = [numeric(args.or(1, "start", 1)) ?? 1, false];
  for (const item of items) {
    const number = numeric(item);
    if (number === undefined)
      return isUnknown(item) ? item : interpreter.unknown("call", span, { name: "prod" });
    isFloat ||= item instanceof Float;
    total *= number;
  }
  return isFloat ? new Float(total) : total;
};

function factorial(value: number): number {
  let result = 1;
  for (let i = 2; i <= Math.min(value, 200); i++) result *= i;
  return result;
}

function combinations(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= Math.min(k, 1000); i++) result = (result * (n - k + i)) / i;
  return Math.round(result);
}

const isclose: Native = (_, args) => {
  const [a, b] = [numeric(args.at(0) ?? null), numeric(args.at(1) ?? null)];
  if (a === undefined || b === undefined) return args.unknown() ?? false;
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
};

const shared: Readonly<Record<string, Native>> = {
  sqrt: float("sqrt", Math.sqrt),
  exp: float("exp", Math.exp),
  log: float("log", (value, ...bases) => bases.reduce((log, base) => log / Math.log(base), Math.log(value))),
  log2: float("log2", Math.log2),
  log10: float("log10", Math.log10),
  log1p: float("log1p", Math.log1p),
  sin: float("sin", Math.sin),
  cos: float("cos", Math.cos),
  tan: float("tan", Math.tan),
  tanh: float("tanh", Math.tanh),
  prod: product,
  gcd: integers("gcd", gcd),
  lcm: integers("lcm", (a, b) => (a === 0 ? 0 : (a / gcd(a, b)) * b)),
};

const mathOnly: Readonly<Record<string, Native>> = {
  ceil: whole("ceil", Math.ceil),
  floor: whole("floor", Math.floor),
  trunc: whole("trunc", Math.trunc),
  isqrt: whole("isqrt", (value) => Math.floor(Math.sqrt(value))),
  factorial: whole("factorial", factorial),
  comb: integers("comb", combinations),
  pow: float("pow", Math.pow),
  fabs: float("fabs", Math.abs),
  atan: float("atan", Math.atan),
  atan2: float("atan2", Math.atan2),
  radians: float("radians", (value) => (value * Math.PI) / 180),
  degrees: float("degrees", (value) => (value * 180) / Math.PI),
  hypot: float("hypot", Math.hypot),
  isclose,
  isnan: (_, args) => Number.isNaN(numeric(args.at(0) ?? null) ?? 0),
  isinf: (_, args) => Math.abs(numeric(args.at(0) ?? null) ?? 0) === Infinity,
  isfinite: (_, args) => Number.isFinite(numeric(args.at(0) ?? null) ?? 0),
};

function under(room: string, rows: Readonly<Record<string, Native>>): [string, Native][] {
  return Object.entries(rows).map(([name, native]) => [`${room}.${name}`, native]);
}

const numpyOnly: Readonly<Record<string, Native>> = {
  ceil: float("ceil", Math.ceil),
  floor: float("floor", Math.floor),
};

/** The same on arrays, element by element. */
function forArrays(rows: Readonly<Record<string, Native>>): Readonly<Record<string, Native>> {
  return Object.fromEntries(
    Object.entries(rows).map(([name, native]): [string, Native] => [
      name,
      (interpreter, args, span) =>
        args.at(0) instanceof Tensor && interpreter.execution.supports(`torch.${name}`)
          ? runOperator(interpreter, `torch.${name}`, args, span)
          : native(interpreter, args, span),
    ]),
  );
}

export const mathFunctions: Readonly<Record<string, Native>> = Object.fromEntries([
  ...under("math", shared),
  ...under("math", mathOnly),
  ...under("numpy", forArrays(shared)),
  ...under("numpy", forArrays(numpyOnly)),
]);

const numbers = { pi: Math.PI, e: Math.E, inf: Infinity, nan: NaN, tau: 2 * Math.PI };

export const mathConstants: Readonly<Record<string, () => Value>> = Object.fromEntries(
  ["math", "numpy", "torch"].flatMap((room) =>
    Object.entries(numbers).map(([name, value]) => [`${room}.${name}`, (): Value => new Float(value)]),
  ),
);
