/** Further names of operators, as PyTorch itself has them (native_functions.yaml, torch/special/__init__.py). */

/** Names that functions, methods and in-place methods have alike. */
const spellings: readonly (readonly [other: string, name: string])[] = [
  ["absolute", "abs"],
  ["arccos", "acos"],
  ["arccosh", "acosh"],
  ["arcsin", "asin"],
  ["arcsinh", "asinh"],
  ["arctan", "atan"],
  ["arctan2", "atan2"],
  ["arctanh", "atanh"],
  ["divide", "div"],
  ["fix", "trunc"],
  ["greater", "gt"],
  ["greater_equal", "ge"],
  ["less", "lt"],
  ["less_equal", "le"],
  ["multiply", "mul"],
  ["negative", "neg"],
  ["not_equal", "ne"],
  ["subtract", "sub"],
  ["true_divide", "div"],
  ["ger", "outer"],
];

/** Functions of torch.special that are functions of torch. */
const special: readonly (readonly [other: string, name: string])[] = [
  ["exp2", "exp2"],
  ["expm1", "expm1"],
  ["gammaln", "lgamma"],
  ["log1p", "log1p"],
  ["psi", "digamma"],
  ["round", "round"],
];

/** Functions of torch.nn.functional that torch has too. */
const functional = [
  "adaptive_avg_pool1d",
  "adaptive_max_pool1d",
  "alpha_dropout",
  "avg_pool1d",
  "bilinear",
  "feature_alpha_dropout",
  "max_pool1d",
] as const;

/** The other name, and the one that the table of operators has. */
export const aliases: readonly (readonly [other: string, name: string])[] = [
  ...spellings.flatMap(([other, name]) =>
    ["torch.", "Tensor."].flatMap((place) => [
      [`${place}${other}`, `${place}${name}`] as const,
      [`${place}${other}_`, `${place}${name}_`] as const,
    ]),
  ),
  ...special.map(([other, name]) => [`torch.special.${other}`, `torch.${name}`] as const),
  ...functional.map((name) => [`torch.${name}`, `torch.nn.functional.${name}`] as const),
  ["Tensor.prelu", "torch.nn.functional.prelu"],
  ["Tensor.adjoint", "Tensor.mH"],
];
