/**
 * Element-wise operators. A row says the gradient formula of each input, from which follows what is saved; which list of
 * autocast it is on; and what it makes of integers. Formulas: tools/autograd/derivatives.yaml and FunctionsManual.cpp.
 */
import type { BackwardFunction } from "../graph";
import { Tensor, type Dtype } from "../tensor";
import { isTensor, numberOf, type Argument } from "./argument";
import { differentiable, fullPrecision, needs, widest } from "./autograd";
import { formula, type Formula, type FormulaNames } from "./formula";
import type { Frame } from "./frame";
import { attachInPlace, needsGraphInPlace } from "./inplace";
import { broadcastShapes, elementwise, elementwiseStrides } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { resultType, toFloating } from "./promotion";
import { argumentNotUnderstood, shapesDoNotFit } from "./reasons";

export interface PointwiseRow {
  /** PyTorch's name without `_`. */
  readonly op: string;
  /** Where it lives: `torch`, `Tensor`, `F` (torch.nn.functional), `special` (torch.special). */
  readonly places: string;
  /** Further full names. */
  readonly aliases?: readonly string[];
  /** Node name; by default the operator's name in CamelCase + `Backward0`. */
  readonly node?: string;
  /** Names of the tensor inputs; `self` alone by default. Others than the first may be numbers. */
  readonly inputs?: readonly string[];
  /** Python signature behind the inputs, e.g. `negative_slope=0.01`. */
  readonly parameters?: string;
  /** Gradient formula by input; an input without one gets no gradient. A plain string is that of `self`. */
  readonly gradient?: string | Readonly<Record<string, string>>;
  /** Gradient of the in-place variant where it has one of its own. */
  readonly inPlaceGradient?: string;
  /** `float`: integers become float32; `bool`: the result is bool; `same` otherwise. */
  readonly result?: "same" | "float" | "bool";
  readonly autocast?: "fp32" | "promote";
  /** Whether there is an in-place method `op_`; the default. */
  readonly inPlace?: boolean;
}

const unary: readonly PointwiseRow[] = [
  { op: "exp", places: "torch Tensor", gradient: "grad * result", result: "float", autocast: "fp32" },
  { op: "exp2", places: "torch Tensor", gradient: "grad * result * 1", result: "float" },
  { op: "expm1", places: "torch Tensor", gradient: "grad * (result + 1)", result: "float", autocast: "fp32" },
  { op: "log", places: "torch Tensor", gradient: "grad / self", result: "float", autocast: "fp32" },
  { op: "log2", places: "torch Tensor", gradient: "grad / (self * 1)", result: "float", autocast: "fp32" },
  { op: "log10", places: "torch Tensor", gradient: "grad / (self * 1)", result: "float", autocast: "fp32" },
  {
    op: "log1p",
    places: "torch Tensor",
    node: "Log1PBackward0",
    gradient: "grad / (self + 1)",
    result: "float",
    autocast: "fp32",
  },
  { op: "sqrt", places: "torch Tensor", gradient: "grad / (2 * result)", result: "float" },
  {
    op: "rsqrt",
    places: "torch Tensor",
    gradient: "1 * grad * pow(result, 3)",
    result: "float",
    autocast: "fp32",
  },
  {
    op: "reciprocal",
    places: "torch Tensor",
    gradient: "-grad * (result * result)",
    result: "float",
    autocast: "fp32",
  },
  {
    op: "abs",
    places: "torch Tensor",
    aliases: ["torch.absolute", "Tensor.__abs__"],
    gradient: "grad * sgn(self)",
  },
  { op: "neg", places: "torch Tensor", aliases: ["torch.negative", "Tensor.__neg__"], gradient: "-grad" },
  { op: "positive", places: "torch Tensor", aliases: ["Tensor.__pos__"], gradient: "grad" },
  { op: "sin", places: "torch Tensor", gradient: "grad * cos(self)", result: "float" },
  { op: "cos", places: "torch Tensor", gradient: "grad * -sin(self)", result: "float" },
  {
    op: "tan",
    places: "torch Tensor",
    gradient: "grad * (1 + pow(result, 2))",
    result: "float",
    autocast: "fp32",
  },
  {
    op: "asin",
    places: "torch Tensor",
    gradient: "grad * rsqrt(-self * self + 1)",
    result: "float",
    autocast: "fp32",
  },
  {
    op: "acos",
    places: "torch Tensor",
    gradient: "grad * -rsqrt(-self * self + 1)",
    result: "float",
    autocast: "fp32",
  },
  { op: "atan", places: "torch Tensor", gradient: "grad / (self * self + 1)", result: "float" },
  { op: "sinh", places: "torch Tensor", gradient: "grad * cosh(self)", result: "float", autocast: "fp32" },
  { op: "cosh", places: "torch Tensor", gradient: "grad * sinh(self)", result: "float", autocast: "fp32" },
  {
    op: "erf",
    places: "torch Tensor special",
    gradient: "1 * exp(-pow(self, 2)) * grad",
    result: "float",
  },
  { op: "erfc", places: "torch Tensor special", gradient: "1 * exp(-pow(self, 2)) * grad", result: "float" },
  {
    op: "erfinv",
    places: "torch Tensor special",
    gradient: "1 * exp(pow(result, 2)) * grad",
    result: "float",
    autocast: "fp32",
  },
  {
    op: "sigmoid",
    places: "torch Tensor F",
    aliases: ["torch.special.expit"],
    gradient: "sigmoid_backward(grad, result)",
    result: "float",
  },
  { op: "tanh", places: "torch Tensor F", gradient: "tanh_backward(grad, result)", result: "float" },
  { op: "relu", places: "torch Tensor F", gradient: "threshold_backward(grad, result)" },
  { op: "sign", places: "torch Tensor", gradient: "zeros_like(grad)" },
  { op: "sgn", places: "torch Tensor", gradient: "zeros_like(grad)" },
  { op: "floor", places: "torch Tensor", gradient: "zeros_like(grad)" },
  { op: "ceil", places: "torch Tensor", gradient: "zeros_like(grad)" },
  { op: "round", places: "torch Tensor", parameters: "*, decimals=0", gradient: "zeros_like(grad)" },
  { op: "trunc", places: "torch Tensor", aliases: ["torch.fix"], gradient: "zeros_like(grad)" },
  { op: "frac", places: "torch Tensor", gradient: "grad" },
  {
    op: "logit",
    places: "torch Tensor special",
    parameters: "eps=None",
    gradient: "logit_backward(grad, self)",
    result: "float",
  },
  {
    op: "softplus",
    places: "F",
    parameters: "beta=1, threshold=20",
    gradient: "softplus_backward(grad, self)",
    autocast: "fp32",
  },
  { op: "gelu", places: "F", parameters: "approximate='none'", gradient: "gelu_backward(grad, self)" },
  { op: "silu", places: "F", gradient: "silu_backward(grad, self)" },
  { op: "mish", places: "F", gradient: "mish_backward(grad, self)" },
  { op: "hardswish", places: "F", gradient: "hardswish_backward(grad, self)" },
  { op: "hardsigmoid", places: "F", gradient: "hardsigmoid_backward(grad, self)" },
  {
    op: "hardtanh",
    places: "F",
    parameters: "min_val=-1.0, max_val=1.0",
    gradient: "hardtanh_backward(grad, self)",
  },
  { op: "relu6", places: "F", node: "HardtanhBackward0", gradient: "hardtanh_backward(grad, self)" },
  {
    op: "leaky_relu",
    places: "F",
    parameters: "negative_slope=0.01",
    gradient: "leaky_relu_backward(grad, self)",
    inPlaceGradient: "leaky_relu_backward(grad, result)",
  },
  {
    op: "elu",
    places: "F",
    parameters: "alpha=1.0",
    gradient: "elu_backward(grad, self)",
    inPlaceGradient: "elu_backward(grad, result)",
  },
  {
    op: "selu",
    places: "torch F",
    node: "EluBackward0",
    gradient: "elu_backward(grad, self)",
    inPlaceGradient: "elu_backward(grad, result)",
  },
  {
    op: "celu",
    places: "torch F",
    parameters: "alpha=1.0",
    gradient: "elu_backward(grad, self)",
    inPlaceGradient: "elu_backward(grad, result)",
  },
  {
    op: "threshold",
    places: "torch F",
    parameters: "threshold, value",
    gradient: "threshold_backward(grad, self)",
    inPlaceGradient: "threshold_backward(grad, result)",
  },
  {
    op: "hardshrink",
    places: "torch Tensor F",
    parameters: "lambd=0.5",
    gradient: "hardshrink_backward(grad, self)",
  },
  { op: "softshrink", places: "F", parameters: "lambd=0.5", gradient: "softshrink_backward(grad, self)" },
  {
    op: "nan_to_num",
    places: "torch Tensor",
    parameters: "nan=0.0, posinf=None, neginf=None",
    gradient: "grad * isfinite(self)",
  },
  ...["isnan", "isinf", "isfinite", "logical_not"].map((op): PointwiseRow => ({
    op,
    places: "torch Tensor",
    result: "bool",
    inPlace: op === "logical_not",
  })),
  { op: "bitwise_not", places: "torch Tensor", aliases: ["Tensor.__invert__"] },
];

const two = ["self", "other"] as const;

const binary: readonly PointwiseRow[] = [
  {
    op: "add",
    places: "torch Tensor",
    aliases: ["Tensor.__add__", "Tensor.__radd__"],
    inputs: two,
    parameters: "*, alpha=1",
    gradient: { self: "grad", other: "scaled(grad)" },
  },
  {
    op: "sub",
    places: "torch Tensor",
    aliases: ["torch.subtract", "Tensor.subtract", "Tensor.__sub__"],
    inputs: two,
    parameters: "*, alpha=1",
    gradient: { self: "grad", other: "-grad" },
  },
  {
    op: "rsub",
    places: "torch",
    aliases: ["Tensor.__rsub__"],
    node: "RsubBackward1",
    inputs: two,
    gradient: { self: "-grad", other: "grad" },
  },
  {
    op: "mul",
    places: "torch Tensor",
    aliases: ["torch.multiply", "Tensor.multiply", "Tensor.__mul__", "Tensor.__rmul__"],
    inputs: two,
    gradient: { self: "grad * other", other: "grad * self" },
  },
  {
    op: "div",
    places: "torch Tensor",
    aliases: [
      "torch.divide",
      "torch.true_divide",
      "Tensor.divide",
      "Tensor.true_divide",
      "Tensor.__truediv__",
    ],
    inputs: two,
    parameters: "*, rounding_mode=None",
    gradient: { self: "grad / other", other: "-grad * ((self / other) / other)" },
    result: "float",
  },
  {
    op: "maximum",
    places: "torch Tensor",
    inputs: two,
    gradient: {
      self: "masked_fill(where(self == other, grad / 2, grad), self < other)",
      other: "masked_fill(where(self == other, grad / 2, grad), self > other)",
    },
    inPlace: false,
  },
  {
    op: "minimum",
    places: "torch Tensor",
    inputs: two,
    gradient: {
      self: "masked_fill(where(self == other, grad / 2, grad), self > other)",
      other: "masked_fill(where(self == other, grad / 2, grad), self < other)",
    },
    inPlace: false,
  },
  {
    op: "atan2",
    places: "torch Tensor",
    inputs: two,
    gradient: {
      self: "grad * (other / (self * self + other * other))",
      other: "grad * (-self / (self * self + other * other))",
    },
    result: "float",
    autocast: "promote",
  },
  {
    op: "fmod",
    places: "torch Tensor",
    inputs: two,
    gradient: { self: "grad", other: "-grad * trunc(self / other)" },
  },
  {
    op: "remainder",
    places: "torch Tensor",
    aliases: ["Tensor.__mod__"],
    inputs: two,
    gradient: { self: "grad", other: "-grad * floor(self / other)" },
  },
  {
    op: "floor_divide",
    places: "torch Tensor",
    aliases: ["Tensor.__floordiv__"],
    inputs: two,
  },
  ...(
    [
      ["eq", ["Tensor.__eq__"]],
      ["ne", ["torch.not_equal", "Tensor.__ne__"]],
      ["lt", ["torch.less", "Tensor.less", "Tensor.__lt__"]],
      ["le", ["torch.less_equal", "Tensor.__le__"]],
      ["gt", ["torch.greater", "Tensor.greater", "Tensor.__gt__"]],
      ["ge", ["torch.greater_equal", "Tensor.__ge__"]],
      ["logical_and", []],
      ["logical_or", []],
      ["logical_xor", []],
      ["isclose", []],
    ] as const
  ).map(([op, aliases]): PointwiseRow => ({
    op,
    places: "torch Tensor",
    aliases,
    inputs: two,
    result: "bool",
    parameters: op === "isclose" ? "rtol=1e-5, atol=1e-8, equal_nan=False" : "",
  })),
  ...(
    [
      ["bitwise_and", ["Tensor.__and__", "Tensor.__rand__"]],
      ["bitwise_or", ["Tensor.__or__", "Tensor.__ror__"]],
      ["bitwise_xor", ["Tensor.__xor__", "Tensor.__rxor__"]],
      ["bitwise_left_shift", ["Tensor.__lshift__"]],
      ["bitwise_right_shift", ["Tensor.__rshift__"]],
    ] as const
  ).map(([op, aliases]): PointwiseRow => ({ op, places: "torch Tensor", aliases, inputs: two })),
  {
    op: "xlogy",
    places: "torch Tensor special",
    inputs: two,
    gradient: { self: "masked_fill(grad * log(other), self == 0)", other: "grad * self / other" },
    result: "float",
  },
];

const three: readonly PointwiseRow[] = [
  {
    op: "addcmul",
    places: "torch Tensor",
    inputs: ["self", "tensor1", "tensor2"],
    parameters: "*, value=1",
    gradient: { self: "grad", tensor1: "grad * (tensor2 * value)", tensor2: "grad * (tensor1 * value)" },
    autocast: "promote",
  },
  {
    op: "addcdiv",
    places: "torch Tensor",
    inputs: ["self", "tensor1", "tensor2"],
    parameters: "*, value=1",
    gradient: {
      self: "grad",
      tensor1: "grad * (1 * value / tensor2)",
      tensor2: "-grad * (tensor1 * value / (tensor2 * tensor2))",
    },
    result: "float",
    autocast: "promote",
  },
  {
    op: "lerp",
    places: "torch Tensor",
    inputs: ["self", "end", "weight"],
    gradient: { self: "grad * (1 - weight)", end: "grad * weight", weight: "grad * (end - self)" },
  },
];

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
  const node = row.node ?? `${camel(row.op)}Backward0`;
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
      backward: formulaBackward(formulas, keys, named),
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
    backward: formulaBackward(formulas, keys, named),
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

/** Backward by formulas: temporaries of one formula go before the next one is computed; the last input comes first. */
function formulaBackward(
  formulas: readonly (Formula | undefined)[],
  keys: readonly string[],
  named: FormulaNames,
): BackwardFunction {
  const numbers: Record<string, number> = {};
  for (const [name, value] of Object.entries(named)) if (typeof value === "number") numbers[name] = value;
  return (frame, [gradient], saved, wanted) => {
    const scope: Record<string, Tensor | number | undefined> = { ...numbers, grad: gradient };
    keys.forEach((key, i) => (scope[key] = saved[i]));
    const results: (Tensor | undefined)[] = formulas.map(() => undefined);
    for (let i = formulas.length - 1; i >= 0; i--) {
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

// --- Rows of the table ----------------------------------------------------------------------------------------------

const places: Readonly<Record<string, string>> = {
  torch: "torch.",
  Tensor: "Tensor.",
  F: "torch.nn.functional.",
  special: "torch.special.",
};

/** Runs a row as a call: finds operands by name and honours `inplace`. */
function runRow(call: OperatorCall, row: PointwiseRow, inPlace: boolean): Tensor {
  const inputs = row.inputs ?? ["self"];
  const operands = inputs.map((name) => operandOf(call, name));
  if (!operands.some(isTensor)) call.fail(argumentNotUnderstood(call.name, inputs[0] ?? "self"));
  const numbers: Record<string, number> = {};
  for (const [name, value] of Object.entries(call.values)) {
    const number = numberOf(value);
    if (number !== undefined) numbers[name] = number;
  }
  const result = pointwise(call.frame, effectiveRow(row, call), operands, { inPlace, numbers });
  if (result !== undefined) return result;
  return call.fail(
    shapesDoNotFit(
      call.name,
      operands.filter(isTensor).map((tensor) => tensor.shape),
    ),
  );
}

/** A number that is not known still is a number: it decides no shape. */
function operandOf(call: OperatorCall, name: string): Argument {
  const value = call.value(name);
  if (isTensor(value) || numberOf(value) !== undefined) return value;
  return call.notUnderstood(name);
}

const withoutRounding = { self: "zeros_like(grad)" } as const;

function effectiveRow(row: PointwiseRow, call: OperatorCall): PointwiseRow {
  if (row.op === "div" && typeof call.values.rounding_mode === "string") {
    return { ...row, gradient: withoutRounding, result: "same" };
  }
  if (row.op === "add" && (numberOf(call.values.alpha) ?? 1) === 1) {
    return { ...row, gradient: { self: "grad", other: "grad" } };
  }
  if (row.op === "sub" && (numberOf(call.values.alpha) ?? 1) !== 1) {
    return { ...row, gradient: { self: "grad", other: "-grad * 1" } };
  }
  return row;
}

function rowsOf(row: PointwiseRow): OperatorRow[] {
  const inputs = (row.inputs ?? ["self"]).join(", ");
  const parameters = row.parameters === undefined || row.parameters === "" ? "" : `, ${row.parameters}`;
  const out = row.places.includes("torch") ? (parameters.includes("*") ? ", out=None" : ", *, out=None") : "";
  const names = row.places.split(" ").map((place) => `${places[place] ?? ""}${row.op}`);
  const functional = names.filter((name) => name.startsWith("torch.nn.functional"));
  const plain = [...names.filter((name) => !functional.includes(name)), ...(row.aliases ?? [])];
  const rows: OperatorRow[] = [];
  const signature = inputs + parameters;
  if (plain.length > 0) {
    rows.push({ names: plain, signature: signature + out, run: (call) => runRow(call, row, false) });
  }
  if (functional.length > 0) {
    rows.push({
      names: functional,
      signature: `${signature}, inplace=False`,
      run: (call) => runRow(call, row, call.values.inplace === true),
    });
  }
  if (row.inPlace !== false) {
    const bases = ["torch.", "Tensor.", "torch.nn.functional."].map((place) => `${place}${row.op}_`);
    const operators = (row.aliases ?? [])
      .filter((name) =>
        /^Tensor\.__(add|sub|mul|truediv|floordiv|mod|and|or|xor|lshift|rshift)__$/.test(name),
      )
      .map((name) => name.replace("__", "__i"));
    rows.push({ names: [...bases, ...operators], signature, run: (call) => runRow(call, row, true) });
  }
  return rows;
}

const all = [...unary, ...binary, ...three];
const byOp = new Map(all.map((row) => [row.op, row] as const));

/** A row by PyTorch's name, for other topics: `run(frame, "mul", [a, 2])`. The operands must fit. */
export function elementwiseOp(
  frame: Frame,
  op: string,
  operands: readonly Argument[],
  options: PointwiseOptions = {},
): Tensor {
  const row = byOp.get(op);
  const result = row === undefined ? undefined : pointwise(frame, plainRow(row), operands, options);
  const first = operands.find(isTensor);
  if (result !== undefined) return result;
  if (first === undefined) throw new Error(`no element-wise operator ${op}`);
  return first;
}

function plainRow(row: PointwiseRow): PointwiseRow {
  return row.op === "add" ? { ...row, gradient: { self: "grad", other: "grad" } } : row;
}

// --- Rows with a body of their own ----------------------------------------------------------------------------------

/** `a ** b` by what the two are (pow_backward and its variants in FunctionsManual.cpp). */
function power(call: OperatorCall, base: Argument, exponent: Argument, inPlace: boolean): Tensor {
  const row: PointwiseRow = isTensor(exponent)
    ? {
        op: "pow",
        places: "",
        inputs: two,
        node: isTensor(base) ? "PowBackward1" : "PowBackward2",
        gradient: {
          self: "where(other == 0, scalar(grad), grad * (other * pow(self, other - 1)))",
          other: "grad * (result * log(self))",
        },
        autocast: "fp32",
      }
    : {
        op: "pow",
        places: "",
        inputs: two,
        gradient: {
          self: numberOf(exponent) === 0 ? "zeros_like(grad)" : "grad * (other * pow(self, 1))",
        },
        autocast: "fp32",
      };
  const result = pointwise(call.frame, row, [base, exponent], { inPlace });
  if (result === undefined) return call.fail(shapesDoNotFit(call.name, []));
  return result;
}

/** `1 / x` is a reciprocal and a product (Tensor.__rtruediv__). */
function reverseDivision(call: OperatorCall): Tensor {
  const inverse = elementwiseOp(call.frame, "reciprocal", [call.tensor("self")]);
  const result = elementwiseOp(call.frame, "mul", [inverse, call.value("other")]);
  return result;
}

function clamp(call: OperatorCall, low: Argument, high: Argument, node: string, inPlace: boolean): Tensor {
  const has = { min: low !== null, max: high !== null };
  const mask =
    has.min && has.max ? "and_(self >= min, self <= max)" : has.min ? "self >= min" : "self <= max";
  const row: PointwiseRow = {
    op: "clamp",
    places: "",
    node,
    inputs: ["self", ...(has.min ? ["min"] : []), ...(has.max ? ["max"] : [])],
    gradient: { self: `where(${mask}, grad, scalar(grad))` },
  };
  const operands = [call.tensor("self"), ...(has.min ? [low] : []), ...(has.max ? [high] : [])];
  const result = pointwise(call.frame, row, operands, { inPlace });
  return result ?? call.fail(shapesDoNotFit(call.name, [call.tensor("self").shape]));
}

/** `torch.where(condition, a, b)` with tensors or numbers. */
function where(call: OperatorCall): Argument {
  const condition = call.tensor("condition");
  const a = call.value("input");
  const b = call.value("other");
  if (a === null || b === null) return call.fail(argumentNotUnderstood(call.name, "condition"));
  const tensors = [condition, ...[a, b].filter(isTensor)];
  const shape = broadcastShapes(...tensors.map((tensor) => tensor.shape));
  if (shape === undefined) {
    return call.fail(
      shapesDoNotFit(
        call.name,
        tensors.map((tensor) => tensor.shape),
      ),
    );
  }
  const row: PointwiseRow = {
    op: "where",
    places: "",
    inputs: ["condition", "self", "other"],
    gradient: {
      self: "where(condition, grad, scalar(grad))",
      other: "where(condition, scalar(grad), grad)",
    },
  };
  const dtype = resultType(
    [a, b].filter(isTensor),
    [a, b].filter((value) => !isTensor(value)),
  );
  const result = pointwise(call.frame, row, [condition, a, b], { dtype });
  return result ?? null;
}

function maskedFill(call: OperatorCall, inPlace: boolean): Tensor {
  const self = call.tensor("self");
  const mask = call.tensor("mask");
  const value = call.value("value");
  const row: PointwiseRow = {
    op: "masked_fill",
    places: "",
    inputs: ["self", "mask"],
    gradient: { self: "masked_fill(grad, mask)" },
  };
  const result = pointwise(call.frame, row, [self, mask], { inPlace, dtype: self.dtype });
  if (isTensor(value) && needs(call.execution, value)) return call.notUnderstood("value");
  return result ?? call.fail(shapesDoNotFit(call.name, [self.shape, mask.shape]));
}

const special: readonly OperatorRow[] = [
  {
    names: ["torch.pow", "Tensor.pow", "Tensor.__pow__", "torch.float_power", "Tensor.float_power"],
    signature: "self, exponent, *, out=None",
    run: (call) => power(call, call.value("self"), call.value("exponent"), false),
  },
  {
    names: ["Tensor.__rpow__"],
    signature: "self, other",
    run: (call) => power(call, call.value("other"), call.value("self"), false),
  },
  {
    names: ["Tensor.pow_", "Tensor.__ipow__"],
    signature: "self, exponent",
    run: (call) => power(call, call.value("self"), call.value("exponent"), true),
  },
  {
    names: ["torch.square", "Tensor.square"],
    signature: "self, *, out=None",
    run: (call) => power(call, call.value("self"), 2, false),
  },
  {
    names: ["Tensor.__rtruediv__", "Tensor.__rdiv__"],
    signature: "self, other",
    run: reverseDivision,
  },
  ...[false, true].flatMap((inPlace): OperatorRow[] => {
    const suffix = inPlace ? "_" : "";
    return [
      {
        names: ["torch", "Tensor"].flatMap((place) => [`${place}.clamp${suffix}`, `${place}.clip${suffix}`]),
        signature: "self, min=None, max=None, *, out=None",
        run: (call) => clamp(call, call.value("min"), call.value("max"), "ClampBackward1", inPlace),
      },
      {
        names: ["torch", "Tensor"].map((place) => `${place}.clamp_min${suffix}`),
        signature: "self, min",
        run: (call) => clamp(call, call.value("min"), null, "ClampMinBackward0", inPlace),
      },
      {
        names: ["torch", "Tensor"].map((place) => `${place}.clamp_max${suffix}`),
        signature: "self, max",
        run: (call) => clamp(call, null, call.value("max"), "ClampMaxBackward0", inPlace),
      },
      {
        names: ["torch", "Tensor"].map((place) => `${place}.masked_fill${suffix}`),
        signature: "self, mask, value",
        run: (call) => maskedFill(call, inPlace),
      },
    ];
  }),
  {
    names: ["torch.where"],
    signature: "condition, input=None, other=None, *, out=None",
    run: where,
  },
  {
    names: ["Tensor.where"],
    signature: "input, condition, other",
    run: where,
  },
  {
    names: ["torch.nn.functional.softsign"],
    signature: "self",
    run: (call) => {
      const self = call.tensor("self");
      const size = elementwiseOp(call.frame, "abs", [self]);
      const denominator = elementwiseOp(call.frame, "add", [size, 1]);
      call.frame.free(size);
      return elementwiseOp(call.frame, "div", [self, denominator]);
    },
  },
  {
    names: ["torch.nn.functional.tanhshrink"],
    signature: "self",
    run: (call) => {
      const self = call.tensor("self");
      return elementwiseOp(call.frame, "sub", [self, elementwiseOp(call.frame, "tanh", [self])]);
    },
  },
  { names: ["torch.nn.functional.glu"], signature: "self, dim=-1", run: glu },
  {
    names: ["torch.nn.functional.logsigmoid"],
    signature: "self",
    run: logSigmoid,
  },
  {
    names: ["torch.nn.functional.rrelu"],
    signature: "self, lower=0.125, upper=0.3333, training=False, inplace=False",
    run: (call) => {
      const self = call.tensor("self");
      if (!call.boolean("training")) return elementwiseOp(call.frame, "leaky_relu", [self]);
      const noise = elementwise(call.frame, [self], self.dtype);
      const row: PointwiseRow = {
        op: "rrelu_with_noise",
        places: "",
        inputs: ["self", "noise"],
        gradient: "grad * noise",
      };
      return pointwise(call.frame, row, [self, noise]) ?? self;
    },
  },
];

/** `F.glu`: half the channels gate the other half. */
function glu(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const dimension = call.dimension(call.number("dim"), self.shape);
  const size = self.shape[dimension] ?? 1;
  if (size % 2 !== 0) call.fail(shapesDoNotFit(call.name, [self.shape]));
  const result = call.frame.empty(
    self.shape.map((old, i) => (i === dimension ? size / 2 : old)),
    self.dtype,
  );
  const from = self.shape;
  differentiable(call.frame, {
    name: "GluBackward0",
    inputs: [self],
    outputs: [result],
    saved: [self],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : inner.empty(from, gradient.dtype)],
  });
  return result;
}

/** On the CPU it keeps a buffer of the input's size, on CUDA an empty one. */
function logSigmoid(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const row: PointwiseRow = {
    op: "log_sigmoid",
    places: "",
    inputs: ["self", "buffer"],
    gradient: { self: "log_sigmoid_backward(grad, self)" },
  };
  if (call.execution.device === "cuda")
    return pointwise(call.frame, { ...row, inputs: ["self"] }, [self]) ?? self;
  const withBuffer = { ...row, gradient: { self: "log_sigmoid_backward(grad, self, buffer)" } };
  return pointwise(call.frame, withBuffer, [self, elementwise(call.frame, [self], self.dtype)]) ?? self;
}

export const pointwiseRows: readonly OperatorRow[] = [...all.flatMap(rowsOf), ...special];
