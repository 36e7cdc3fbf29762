/**
 * The table of element-wise operators. A row says the gradient formula of each input, from which follows what is saved;
 * which list of autocast it is on; and what it makes of integers. Formulas: tools/autograd/derivatives.yaml and
 * FunctionsManual.cpp.
 */

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
  /** `float`: integers become float32; `bool`: the result is bool; `magnitude`: complex become real; `same` otherwise. */
  readonly result?: "same" | "float" | "bool" | "magnitude";
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
    gradient: "sgn(self) * grad",
    result: "magnitude",
  },
  { op: "neg", places: "torch Tensor", aliases: ["torch.negative", "Tensor.__neg__"], gradient: "-grad" },
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
    gradient: "1 * exp(pow(erfinv(self), 2)) * grad",
    result: "float",
    autocast: "fp32",
  },
  { op: "i0", places: "torch Tensor special", gradient: "grad * i1(self)", result: "float" },
  ...["isposinf", "isneginf", "signbit"].map((op): PointwiseRow => ({
    op,
    places: "torch Tensor",
    result: "bool",
    inPlace: false,
  })),
  { op: "lgamma", places: "torch Tensor", gradient: "grad * digamma(self)", result: "float" },
  { op: "digamma", places: "torch Tensor special", gradient: "grad * polygamma(self)", result: "float" },
  { op: "asinh", places: "torch Tensor", gradient: "grad * rsqrt(pow(self, 2) + 1)", result: "float" },
  { op: "acosh", places: "torch Tensor", gradient: "grad * rsqrt(pow(self, 2) - 1)", result: "float" },
  { op: "atanh", places: "torch Tensor", gradient: "grad * 1 / (1 - pow(self, 2))", result: "float" },
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
  { op: "sgn", places: "torch Tensor", gradient: "sgn_backward(grad, self, result)" },
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
  ...["isnan", "isinf", "logical_not"].map((op): PointwiseRow => ({
    op,
    places: "torch Tensor",
    result: "bool",
    inPlace: op === "logical_not",
  })),
  { op: "bitwise_not", places: "torch Tensor", aliases: ["Tensor.__invert__"] },
];

const two = ["self", "other"] as const;

/** Functions of mathematics that few models use; `special` has them too where it says so. */
const seldom: readonly PointwiseRow[] = [
  { op: "gcd", places: "torch Tensor", inputs: two },
  { op: "lcm", places: "torch Tensor", inputs: two },
  {
    op: "ldexp",
    places: "torch Tensor",
    inputs: two,
    gradient: { self: "grad * pow(other, 1)", other: "grad * result * 1" },
    result: "float",
    inPlace: false,
  },
  { op: "i0e", places: "special", gradient: "grad * (i1e(self) - sgn(self) * result)", result: "float" },
  {
    op: "entr",
    places: "special",
    gradient: "grad * -(log(self) + 1)",
    result: "float",
  },
  {
    op: "xlog1py",
    places: "special",
    inputs: two,
    gradient: {
      self: "masked_fill(xlog1py(grad, other), and(self == 0, other <= 1))",
      other: "grad * self / (other + 1)",
    },
    result: "float",
  },
];

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
    op: "fmax",
    places: "torch Tensor",
    inputs: two,
    gradient: {
      self: "masked_fill(where(self == other, grad / 2, grad), self < other)",
      other: "masked_fill(where(self == other, grad / 2, grad), self > other)",
    },
    inPlace: false,
  },
  {
    op: "fmin",
    places: "torch Tensor",
    inputs: two,
    gradient: {
      self: "masked_fill(where(self == other, grad / 2, grad), self > other)",
      other: "masked_fill(where(self == other, grad / 2, grad), self < other)",
    },
    inPlace: false,
  },
  {
    op: "copysign",
    places: "torch Tensor",
    inputs: two,
    gradient: { self: "grad * apart(masked_fill_(result / self, self == 0))", other: "zeros_like(grad)" },
    result: "float",
  },
  { op: "heaviside", places: "torch Tensor", inputs: two },
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
    op: "hypot",
    places: "torch Tensor",
    inputs: two,
    gradient: { self: "grad * (self / result)", other: "grad * (other / result)" },
  },
  ...["logaddexp", "logaddexp2"].map((op): PointwiseRow => ({
    op,
    places: "torch Tensor",
    inputs: two,
    gradient: { self: "grad / (exp(other - self) + 1)", other: "grad / (exp(self - other) + 1)" },
    inPlace: false,
  })),
  {
    op: "fmod",
    places: "torch Tensor",
    inputs: two,
    gradient: { self: "grad", other: "-grad * quotient(self, other)" },
  },
  {
    op: "remainder",
    places: "torch Tensor",
    aliases: ["Tensor.__mod__"],
    inputs: two,
    gradient: { self: "grad", other: "-grad * quotient(self, other)" },
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
    ] as const
  ).map(([op, aliases]): PointwiseRow => ({
    op,
    places: "torch Tensor",
    aliases,
    inputs: two,
    result: "bool",
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
    gradient: {
      self: "masked_fill(xlogy(grad, other), and(other <= 0, self == 0))",
      other: "grad * self / other",
    },
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
      tensor1: "grad * divided(value, tensor2)",
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

export const elementwiseRows: readonly PointwiseRow[] = [...unary, ...binary, ...three, ...seldom];
