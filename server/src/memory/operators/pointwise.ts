/** Running a row of the table of element-wise operators: result, what is saved, and backward by formulas. */
import type { BackwardFunction } from "../graph";
import { isComplex, Tensor, type Dtype } from "../tensor";
import { isTensor, numberOf, type Argument } from "./argument";
import { fullPrecision, needs, widest } from "./autograd";
import { formula, type Formula } from "./formula";
import type { Frame } from "./frame";
import { attachInPlace, needsGraphInPlace } from "./inplace";
import { broadcastShapes, elementwise, elementwiseStrides } from "./kernels";
import { elementwiseRows, type PointwiseRow } from "./pointwise-rows";
import { resultType, toFloating } from "./promotion";

export type { PointwiseRow };

/** A row made ready: its formulas compiled, in the order of its inputs. */
interface ReadyRow {
  readonly inputs: readonly string[];
  readonly node: string;
  /** In which order the gradients are computed: by the inputs' names (tools/autograd/load_derivatives.py sorts them). */
  readonly order: readonly number[];
  readonly formulas: readonly (Formula | undefined)[];
  /** The same for a call that writes into the first operand. */
  readonly inPlaceFormulas: readonly (Formula | undefined)[];
}

const readyRows = new WeakMap<PointwiseRow, ReadyRow>();

function readied(row: PointwiseRow): ReadyRow {
  let ready = readyRows.get(row);
  if (ready === undefined) {
    const inputs = row.inputs ?? ["self"];
    ready = {
      inputs,
      node: row.node ?? `${camel(row.op)}Backward0`,
      order: [...inputs.keys()].sort((a, b) => ((inputs[a] ?? "") < (inputs[b] ?? "") ? -1 : 1)),
      formulas: inputs.map((name) => gradientOf(row, name, false)),
      inPlaceFormulas: inputs.map((name) => gradientOf(row, name, true)),
    };
    readyRows.set(row, ready);
  }
  return ready;
}

/** The formula of one input; in an in-place call of `self` there may be another. */
function gradientOf(row: PointwiseRow, input: string, inPlace: boolean): Formula | undefined {
  if (inPlace && input === "self" && row.inPlaceGradient !== undefined) return formula(row.inPlaceGradient);
  const text =
    typeof row.gradient === "string" ? (input === "self" ? row.gradient : undefined) : row.gradient?.[input];
  return text === undefined ? undefined : formula(text);
}

function camel(name: string): string {
  return name
    .split("_")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
}

/** What a row computes: the dtype of the result for operands of `dtype`. */
function resultDtype(row: PointwiseRow, dtype: Dtype): Dtype {
  if (row.result === "bool") return "bool";
  if (row.result === "magnitude" && isComplex(dtype)) return dtype === "complex128" ? "float64" : "float32";
  return row.result === "float" ? toFloating(dtype) : dtype;
}

export interface PointwiseOptions {
  /** Writes into the first operand. */
  readonly inPlace?: boolean;
  /** Numbers of the formulas, e.g. `value`. */
  readonly numbers?: Readonly<Record<string, number>>;
  readonly dtype?: Dtype;
  /** The result lies row by row, however the operands lie. */
  readonly rowMajor?: boolean;
}

type Named = Record<string, Tensor | number | undefined>;

/** Runs a row on its operands (tensors or numbers, in the order of `inputs`). */
export function pointwise(
  frame: Frame,
  row: PointwiseRow,
  given: readonly Argument[],
  options: PointwiseOptions = {},
): Tensor | undefined {
  const ready = readied(row);
  const operands = given.map((value) => (isTensor(value) ? value : undefined));
  const cast = options.inPlace === true ? operands : castOperands(frame, row, operands);
  const tensors = cast.filter((tensor): tensor is Tensor => tensor !== undefined);
  const shape = broadcastShapes(...tensors.map((tensor) => tensor.shape));
  if (shape === undefined) return undefined;
  const target = cast[0];
  if (options.inPlace === true && target !== undefined) {
    return runInPlace(frame, ready, target, cast, namedOperands(ready, cast, given, options.numbers));
  }
  const numbers = tensors.length === given.length ? undefined : given.filter((value) => !isTensor(value));
  const dtype = options.dtype ?? resultDtype(row, resultType(tensors, numbers));
  const strides = options.rowMajor === true ? undefined : elementwiseStrides(shape, tensors);
  const result = frame.empty(shape, dtype, strides);
  const formulas = wantedFormulas(frame, ready.formulas, cast);
  if (formulas === undefined) return result;
  const named = namedOperands(ready, cast, given, options.numbers);
  named.result = result;
  const keys = savedNames(formulas, ready.formulas, named);
  frame.execution.attach({
    name: ready.node,
    inputs: cast.map((tensor, i) => (formulas[i] === undefined ? undefined : tensor)),
    outputs: [result],
    saved: keys.map((key) => asTensor(named[key])),
    backward: formulaBackward(formulas, ready.order, keys, numbersIn(named)),
  });
  return result;
}

/** Operands and numbers by the names that formulas use. */
function namedOperands(
  { inputs }: ReadyRow,
  operands: readonly (Tensor | undefined)[],
  given: readonly Argument[],
  numbers: PointwiseOptions["numbers"],
): Named {
  const named: Named = { ...numbers };
  inputs.forEach((name, i) => (named[name] = operands[i] ?? numberOf(given[i])));
  return named;
}

/** Formulas of the operands whose gradient will be asked for; undefined when there is none. */
function wantedFormulas(
  { execution }: Frame,
  formulas: readonly (Formula | undefined)[],
  operands: readonly (Tensor | undefined)[],
): (Formula | undefined)[] | undefined {
  if (!execution.needsGraph(operands)) return undefined;
  const wanted = formulas.map((each, i) => (operands[i]?.requiresGrad === true ? each : undefined));
  return wanted.some((each) => each !== undefined) ? wanted : undefined;
}

function runInPlace(
  frame: Frame,
  { node, order, inPlaceFormulas }: ReadyRow,
  target: Tensor,
  operands: readonly (Tensor | undefined)[],
  named: Named,
): Tensor {
  target.values = undefined;
  if (!needsGraphInPlace(frame, target, operands.slice(1))) return target;
  const formulas = inPlaceFormulas.map((each, i) => (needs(frame.execution, operands[i]) ? each : undefined));
  // The target needs a place among the edges even when only another operand requires a gradient.
  const keys = savedNames(formulas, inPlaceFormulas, { ...named, result: target });
  const original = keys.includes("self") ? elementwise(frame, [target], target.dtype) : undefined;
  attachInPlace(frame, {
    name: node,
    target,
    others: operands.slice(1).map((tensor, i) => (formulas[i + 1] === undefined ? undefined : tensor)),
    saved: keys.map((key) => {
      if (key === "result") return target;
      return key === "self" ? original : asTensor(named[key]);
    }),
    backward: formulaBackward(formulas, order, keys, numbersIn(named)),
  });
  return target;
}

function asTensor(value: Tensor | number | undefined): Tensor | undefined {
  return value instanceof Tensor ? value : undefined;
}

/**
 * What the node keeps: an input that one formula names only when that formula is wanted; one that several name, and the
 * result, in any case (`guard_for` in tools/autograd/gen_variable_type.py).
 */
function savedNames(
  wanted: readonly (Formula | undefined)[],
  all: readonly (Formula | undefined)[],
  named: Readonly<Named>,
): string[] {
  const keys: string[] = [];
  let hasResult = false;
  for (const [i, each] of all.entries()) {
    for (const name of each?.names ?? []) {
      if (!(named[name] instanceof Tensor)) continue;
      if (name === "result") hasResult = true;
      else if (!keys.includes(name) && (wanted[i] !== undefined || isShared(all, name))) keys.push(name);
    }
  }
  // PyTorch packs inputs by name, then the result.
  if (keys.length > 1) keys.sort();
  if (hasResult) keys.push("result");
  return keys;
}

function isShared(formulas: readonly (Formula | undefined)[], name: string): boolean {
  let count = 0;
  for (const each of formulas) if (each?.names.has(name) === true) count++;
  return count > 1;
}

/** Without the tensors, which backward must not keep alive. */
function numbersIn(named: Readonly<Named>): Record<string, number> {
  const numbers: Record<string, number> = {};
  for (const name in named) {
    const value = named[name];
    if (typeof value === "number") numbers[name] = value;
  }
  return numbers;
}

/** Backward by formulas: temporaries of one formula go before the next one is computed, in the order given. */
function formulaBackward(
  formulas: readonly (Formula | undefined)[],
  order: readonly number[],
  keys: readonly string[],
  numbers: Readonly<Record<string, number>>,
): BackwardFunction {
  return (frame, [gradient], saved, wanted) => {
    const scope: Named = { ...numbers, grad: gradient };
    for (let i = 0; i < keys.length; i++) scope[keys[i] ?? ""] = saved[i];
    const results: (Tensor | undefined)[] = formulas.map(() => undefined);
    for (const i of order) {
      if (wanted[i] !== true) continue;
      results[i] = frame.temporarily((inner) => formulas[i]?.evaluate(inner, scope));
    }
    return results;
  };
}

function castOperands(
  frame: Frame,
  row: PointwiseRow,
  operands: readonly (Tensor | undefined)[],
): readonly (Tensor | undefined)[] {
  if (row.autocast === "fp32") return fullPrecision(frame, operands);
  if (row.autocast === "promote") return widest(frame, operands);
  return operands;
}

/** Rows by PyTorch's name; sums as other topics need them, without a factor. */
const byOp = new Map(elementwiseRows.map((row) => [row.op, row.op === "add" ? plainSum(row) : row] as const));

/** A row by PyTorch's name, for other topics: `run(frame, "mul", [a, 2])`. The operands must fit. */
export function elementwiseOp(
  frame: Frame,
  op: string,
  operands: readonly Argument[],
  options: PointwiseOptions = {},
): Tensor {
  const row = byOp.get(op);
  const result = row === undefined ? undefined : pointwise(frame, row, operands, options);
  const first = operands.find(isTensor);
  if (result !== undefined) return result;
  if (first === undefined) throw new Error(`no element-wise operator ${op}`);
  return first;
}

function plainSum(row: PointwiseRow): PointwiseRow {
  return { ...row, gradient: { self: "grad", other: "grad" } };
}
