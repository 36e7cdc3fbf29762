/** How element-wise operators are called: the table's rows under all their names, and those with a body of their own. */
import { isComplex, isFloating, type Tensor } from "../tensor";
import { float, isTensor, numberOf, type Argument } from "./argument";
import { cast, differentiable, fullPrecision, needs } from "./autograd";
import { formula } from "./formula";
import type { Frame } from "./frame";
import { broadcastShapes, elementwise, elementwiseStrides } from "./kernels";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { elementwiseOp, pointwise } from "./pointwise";
import { elementwiseRows, type PointwiseRow } from "./pointwise-rows";
import { resultType, toFloating } from "./promotion";
import { argumentNotUnderstood, shapesDoNotFit } from "./reasons";

const two = ["self", "other"] as const;

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
  for (const name in call.values) {
    const number = numberOf(call.values[name]);
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

/** Rows that arguments change: a rounded quotient has a gradient of zeros, a factor of 1 costs nothing. */
const changes: Readonly<
  Record<
    string,
    { readonly applies: (values: OperatorCall["values"]) => boolean; readonly to: Partial<PointwiseRow> }
  >
> = {
  div: {
    applies: ({ rounding_mode }) => typeof rounding_mode === "string",
    to: {
      gradient: { self: "zeros_like(grad, other)", other: "zeros_like(grad, self, other)" },
      result: "same",
    },
  },
  add: {
    applies: ({ alpha }) => (numberOf(alpha) ?? 1) === 1,
    to: { gradient: { self: "grad", other: "grad" } },
  },
  sub: {
    applies: ({ alpha }) => (numberOf(alpha) ?? 1) !== 1,
    to: { gradient: { self: "grad", other: "-grad * 1" } },
  },
};

const changedRows = new Map<PointwiseRow, PointwiseRow>();

function effectiveRow(row: PointwiseRow, { values }: OperatorCall): PointwiseRow {
  const change = changes[row.op];
  if (change?.applies(values) !== true) return row;
  let changed = changedRows.get(row);
  if (changed === undefined) changedRows.set(row, (changed = { ...row, ...change.to }));
  return changed;
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
          other: "where(apart(and(self == 0, other >= 0)), scalar(grad), grad * (result * log(self)))",
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
  if (!isTensor(base) && isTensor(exponent)) return powerOfNumber(call.frame, exponent);
  const result = pointwise(call.frame, row, [base, exponent], { inPlace });
  if (result === undefined) return call.fail(shapesDoNotFit(call.name, []));
  return result;
}

/** `float_power` computes in double precision, complex numbers in their double precision. */
function doubled(call: OperatorCall, value: Argument): Argument {
  if (!isTensor(value)) return value;
  return cast(call.frame, value, isComplex(value.dtype) ? "complex128" : "float64");
}

/** `2 ** x` keeps the exponent too, which its gradient only asks about for a base of 0. */
function powerOfNumber(frame: Frame, given: Tensor): Tensor {
  const [exponent = given] = fullPrecision(frame, [given]);
  const result = elementwise(frame, [exponent], toFloating(exponent.dtype));
  differentiable(frame, {
    name: "PowBackward2",
    inputs: [exponent],
    outputs: [result],
    saved: [exponent, result],
    backward: (inner, [grad], saved) => [
      formula("grad * (result * 2)").evaluate(inner, { grad, result: saved[1] }),
    ],
  });
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
  const byTensors = isTensor(low) || isTensor(high);
  const and = byTensors ? "and" : "and_";
  const mask =
    has.min && has.max ? `${and}(self >= min, self <= max)` : has.min ? "self >= min" : "self <= max";
  const below = has.max ? "and(min < max, self < min)" : "self < min";
  const above = has.min ? "or(self > max, max < min)" : "self > max";
  const row: PointwiseRow = {
    op: "clamp",
    places: "",
    node,
    inputs: ["self", ...(has.min ? ["min"] : []), ...(has.max ? ["max"] : [])],
    gradient: {
      self: `where(${mask}, grad, scalar(grad))`,
      ...(byTensors
        ? { min: `where(${below}, grad, scalar(grad))`, max: `where(${above}, grad, scalar(grad))` }
        : {}),
    },
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
  return call.frame.temporarily((inner) => {
    // a number becomes a tensor first
    for (const value of [a, b]) if (!isTensor(value)) inner.empty([], dtype);
    return pointwise(inner, row, [condition, a, b], { dtype });
  }) as Tensor;
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
  const trained: PointwiseRow = {
    ...row,
    node: "MaskedFillBackward1",
    inputs: ["self", "mask", "value"],
    gradient: { self: "masked_fill(grad, mask)", value: "where(mask, grad, scalar(grad))" },
  };
  // out of place it fills a row-major copy
  const options = { inPlace, dtype: self.dtype, rowMajor: true };
  const result =
    isTensor(value) && needs(call.execution, value)
      ? pointwise(call.frame, trained, [self, mask, value], options)
      : pointwise(call.frame, row, [self, mask], options);
  return result ?? call.fail(shapesDoNotFit(call.name, [self.shape, mask.shape]));
}

/** `isfinite`: the magnitudes, masks of what is a number and what is no infinity, and both together. */
function isFinite(frame: Frame, self: Tensor): Tensor {
  return frame.scoped((inner) => {
    const size = elementwiseOp(inner, "abs", [self]);
    const mask = elementwiseOp(inner, "ne", [size, float(Infinity)]);
    return elementwiseOp(inner, "logical_and", [elementwiseOp(inner, "eq", [self, self]), mask]);
  });
}

/** `isclose`: what is equal, then what differs by less than is allowed (TensorCompare.cpp). */
function isClose(call: OperatorCall): Tensor {
  const { frame } = call;
  const [self, other] = [call.tensor("self"), call.tensor("other")];
  if (broadcastShapes(self.shape, other.shape) === undefined)
    call.fail(shapesDoNotFit(call.name, [self.shape, other.shape]));
  const close = elementwiseOp(frame, "eq", [self, other]);
  if (call.boolean("equal_nan") && (isFloating(self.dtype) || isComplex(self.dtype)))
    frame.temporarily((inner) => {
      elementwiseOp(inner, "ne", [self, self]);
      return void elementwiseOp(inner, "ne", [other, other]);
    });
  if (call.number("rtol") === 0 && call.number("atol") === 0) return close;
  const compared = isFloating(self.dtype) || isComplex(self.dtype) ? other : cast(frame, other, "float32");
  const allowed = frame.scoped((inner) => {
    const size = elementwiseOp(inner, "abs", [
      elementwiseOp(inner, "mul", [compared, float(call.number("rtol"))]),
    ]);
    return elementwiseOp(inner, "add", [size, float(call.number("atol"))]);
  });
  const actual = frame.scoped((inner) =>
    elementwiseOp(inner, "abs", [elementwiseOp(inner, "sub", [self, compared])]),
  );
  isFinite(frame, actual);
  elementwiseOp(frame, "le", [actual, allowed]);
  return close;
}

const special: readonly OperatorRow[] = [
  {
    names: both("isclose"),
    signature: "self, other, rtol=1e-5, atol=1e-8, equal_nan=False",
    run: isClose,
  },
  {
    names: ["torch.isfinite", "Tensor.isfinite"],
    signature: "self",
    run: (call) => isFinite(call.frame, call.tensor("self")),
  },
  {
    names: ["torch.positive", "Tensor.positive", "Tensor.__pos__"],
    signature: "self",
    run: (call) => call.tensor("self"),
  },
  {
    names: ["torch.pow", "Tensor.pow", "Tensor.__pow__"],
    signature: "self, exponent, *, out=None",
    run: (call) => power(call, call.value("self"), call.value("exponent"), false),
  },
  {
    names: ["torch.float_power", "Tensor.float_power"],
    signature: "self, exponent, *, out=None",
    run: (call) => {
      const [base, exponent] = ["self", "exponent"].map((name) => doubled(call, call.value(name)));
      return power(call, base ?? null, exponent ?? null, false);
    },
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
      const noise = elementwise(call.frame, [self], self.dtype);
      const row: PointwiseRow = {
        op: "rrelu_with_noise",
        places: "",
        inputs: ["self", "noise"],
        gradient: "rrelu_with_noise_backward(grad, self, noise)",
        inPlaceGradient: "rrelu_with_noise_backward(grad, result, noise)",
      };
      const inPlace = call.boolean("inplace");
      return pointwise(call.frame, row, [self, noise], { inPlace }) ?? self;
    },
  },
];

/** `F.glu`: half the channels gate the other half. */
function glu(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const dimension = call.dimension(call.number("dim"), self.shape);
  const size = self.shape[dimension] ?? 1;
  if (size % 2 !== 0) call.fail(shapesDoNotFit(call.name, [self.shape]));
  const shape = self.shape.map((old, i) => (i === dimension ? size / 2 : old));
  const half = { shape, strides: self.strides };
  const result = call.frame.empty(shape, self.dtype, elementwiseStrides(shape, [half, half]));
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

export const pointwiseRows: readonly OperatorRow[] = [...elementwiseRows.flatMap(rowsOf), ...special];
