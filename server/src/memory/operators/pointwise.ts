/** Running a row of the table of element-wise operators: result, what is saved, and backward by formulas. */
import type { BackwardFunction } from "../graph";
import { isComplex, Tensor, type Dtype } from "../tensor";
import { isTensor, numberOf, type Argument } from "./argument";
import { fullPrecision, needs, widest } from "./autograd";
import { formula, type Formula, type FormulaNames } from "./formula";
import type { Frame } from "./frame";
import { attachInPlace, needsGraphInPlace } from "./inplace";
import { broadcastShapes, elementwise, elementwiseStrides } from "./kernels";
import { elementwiseRows, type PointwiseRow } from "./pointwise-rows";
import { resultType, toFloating } from "./promotion";

export type { PointwiseRow };

/** The formula of one input; in an in-place call of `self` there may be another. */
function gradientOf(row: PointwiseRow, input: string, inPlace: boolean): Formula | undefined {
  if (inPlace && input === "self" && row.inPlaceGradient !== undefined) return formula(row.inPlaceGradient);
  const text =
    typeof row.gradient === "string" ? (input === "self" ? row.gradient : undefined) : row.gradient?.[input];
  return text === undefined ? undefined : formula(text);
}

const nodeNames = new Map<string, string>();

function nodeName(row: PointwiseRow): string {
  if (row.node !== undefined) return row.node;
  let name = nodeNames.get(row.op);
  if (name === undefined) {
    name = `${camel(row.op)}Backward0`;
    nodeNames.set(row.op, name);
  }
  return name;
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
}

/** Runs a row on its operands (tensors or numbers, in the order of `inputs`). */
export function pointwise(
  frame: Frame,
  row: PointwiseRow,
  given: readonly Argument[],
  options: PointwiseOptions = {},
): Tensor | undefined {
  const inputs = row.inputs ?? ["self"];
  const operands = given.map((value) => (isTensor(value) ? value : undefined));
  const cast = options.inPlace === true ? operands : castOperands(frame, row, operands);
  const tensors = cast.filter((tensor): tensor is Tensor => tensor !== undefined);
  const shape = broadcastShapes(...tensors.map((tensor) => tensor.shape));
  if (shape === undefined) return undefined;
  const numbers = given.filter((value) => !isTensor(value));
  const dtype = options.dtype ?? resultDtype(row, resultType(tensors, numbers));
  const named: Record<string, Tensor | number | undefined> = { ...options.numbers };
  inputs.forEach((name, i) => (named[name] = cast[i] ?? numberOf(given[i])));
  const node = nodeName(row);
  const target = cast[0];
  if (options.inPlace === true && target !== undefined) {
    return runInPlace(frame, row, target, inputs, cast, named, node);
  }
  const result = frame.empty(shape, dtype, elementwiseStrides(shape, tensors));
  const formulas = inputs.map((name, i) =>
    needs(frame.execution, cast[i]) ? gradientOf(row, name, false) : undefined,
  );
  if (formulas.some((each) => each !== undefined)) {
    const keys = savedNames(formulas, { ...named, result });
    frame.execution.attach({
      name: node,
      inputs: cast.map((tensor, i) => (formulas[i] === undefined ? undefined : tensor)),
      outputs: [result],
      saved: keys.map((key) => (key === "result" ? result : asTensor(named[key]))),
      backward: formulaBackward(formulas, inputs, keys, named),
    });
  }
  return result;
}

function runInPlace(
  frame: Frame,
  row: PointwiseRow,
  target: Tensor,
  inputs: readonly string[],
  operands: readonly (Tensor | undefined)[],
  named: Record<string, Tensor | number | undefined>,
  node: string,
): Tensor {
  target.values = undefined;
  if (!needsGraphInPlace(frame, target, operands.slice(1))) return target;
  const formulas = inputs.map((name, i) =>
    needs(frame.execution, operands[i]) ? gradientOf(row, name, true) : undefined,
  );
  // The target needs a place among the edges even when only another operand requires a gradient.
  const keys = savedNames(formulas, { ...named, result: target });
  const original = keys.includes("self") ? elementwise(frame, [target], target.dtype) : undefined;
  attachInPlace(frame, {
    name: node,
    target,
    others: operands.slice(1).map((tensor, i) => (formulas[i + 1] === undefined ? undefined : tensor)),
    saved: keys.map((key) => {
      if (key === "result") return target;
      return key === "self" ? original : asTensor(named[key]);
    }),
    backward: formulaBackward(formulas, inputs, keys, named),
  });
  return target;
}

function asTensor(value: Tensor | number | undefined): Tensor | undefined {
  return value instanceof Tensor ? value : undefined;
}

/** Tensors that the wanted formulas name. */
function savedNames(
  formulas: readonly (Formula | undefined)[],
  named: Readonly<Record<string, Tensor | number | undefined>>,
): string[] {
  const keys = new Set<string>();
  for (const each of formulas) {
    for (const name of each?.names ?? []) if (named[name] instanceof Tensor) keys.add(name);
  }
  // PyTorch packs inputs by name, then the result.
  const inputs = [...keys].filter((key) => key !== "result").sort();
  return keys.has("result") ? [...inputs, "result"] : inputs;
}

/**
 * Backward by formulas: temporaries of one formula go before the next one is computed. They are computed in the order of
 * the inputs' names (tools/autograd/load_derivatives.py sorts them).
 */
function formulaBackward(
  formulas: readonly (Formula | undefined)[],
  inputs: readonly string[],
  keys: readonly string[],
  named: FormulaNames,
): BackwardFunction {
  const order = inputs.map((name, i) => ({ name, i })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const numbers: Record<string, number> = {};
  for (const [name, value] of Object.entries(named)) if (typeof value === "number") numbers[name] = value;
  return (frame, [gradient], saved, wanted) => {
    const scope: Record<string, Tensor | number | undefined> = { ...numbers, grad: gradient };
    keys.forEach((key, i) => (scope[key] = saved[i]));
    const results: (Tensor | undefined)[] = formulas.map(() => undefined);
    for (const { i } of order) {
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
): (Tensor | undefined)[] {
  if (row.autocast === "fp32") return fullPrecision(frame, operands);
  if (row.autocast === "promote") return widest(frame, operands);
  return [...operands];
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
