/**
 * numpy as far as training scripts make their data with it: an array is a tensor on the host, a file of tokens is a sequence
 * of unknown length. Source: https://numpy.org/doc/stable/reference/ (dtype of random numbers and of `zeros` is float64).
 */
import type { Span } from "../../../python/tree";
import { isFloating, Tensor, type Dtype } from "../../tensor";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { runOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import { itemsOf } from "../iteration";
import { dataTensor, tensorTypes } from "../nn/tensors";
import { integer } from "../numbers";
import { withKnownLength } from "../offsets";
import { unknownFloat } from "../unknown-floats";
import {
  DtypeValue,
  ListValue,
  ObjectValue,
  SliceValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { arrayTypes, dtypeIn, dtypeOfNumber } from "./array-types";
import { libraryClass, libraryObject } from "./library-class";
import { converted, formOfArray, openArrayFunctions } from "./open-arrays";
import { asArray } from "./pictures";

/** A size may be one element of an array. */
function sizeFrom(value: Value): number | undefined {
  return value instanceof Tensor && value.shape.length === 0 && !isFloating(value.dtype)
    ? value.values?.[0]
    : integer(value);
}

/** The sizes that a shape argument names. */
function shapeFrom(interpreter: Interpreter, value: Value, span: Span | undefined): number[] | undefined {
  if (!(value instanceof ListValue || value instanceof TupleValue)) {
    const size = sizeFrom(value);
    return size === undefined ? undefined : [size];
  }
  const items = itemsOf(interpreter, value, span);
  if (isUnknown(items)) return undefined;
  const sizes = items.map(sizeFrom);
  return sizes.every((size) => size !== undefined) ? sizes : undefined;
}

function arrayFilled(interpreter: Interpreter, shape: readonly number[], dtype: Dtype): Tensor {
  const made = dataTensor(interpreter, shape, dtype);
  made.isArray = true;
  return made;
}

/** `maker(shape, dtype)`. */
function filled(name: string, sizeAt: number, sizeName: string, otherwise: Dtype): Native {
  return (interpreter, args, span) => {
    const shape = shapeFrom(interpreter, args.or(sizeAt, sizeName, new TupleValue([])), span);
    const dtype = args.keywords.get("dtype") ?? (sizeAt === 0 ? args.at(1) : undefined);
    // One number, which a run draws.
    if (shape?.length === 0) {
      const drawn = interpreter.unknown("chance", span, { name });
      return otherwise === "float64" ? unknownFloat(drawn) : drawn;
    }
    const asked = dtype === undefined || dtype === null ? otherwise : dtypeIn(dtype);
    if (shape === undefined || asked === undefined)
      return args.unknown() ?? interpreter.unknown("call", span, { name });
    return arrayFilled(interpreter, shape, asked);
  };
}

/** `rand(2, 3)`: the sizes themselves are the arguments. */
const randomOf: Native = (interpreter, args, span) => {
  const shape = shapeFrom(interpreter, new TupleValue([...args.positional]), span);
  if (shape?.length === 0)
    return unknownFloat(interpreter.unknown("chance", span, { name: "numpy.random.rand" }));
  return shape === undefined
    ? (args.unknown() ?? interpreter.unknown("call", span, { name: "numpy.random.rand" }))
    : arrayFilled(interpreter, shape, "float64");
};

/** A one-dimensional array in a file: how long it is, only a run can know. */
const fileArray = libraryClass("memmap", {
  __getitem__: (interpreter, args, span) => {
    const self = args.at(0);
    const kind = self instanceof ObjectValue ? self.attributes.get("dtype") : undefined;
    const index = withKnownLength(args.at(1) ?? null);
    const length = index instanceof SliceValue && index.step === null ? lengthOf(index) : undefined;
    if (!(kind instanceof DtypeValue) || length === undefined)
      return interpreter.unknown("call", span, { name: "numpy.memmap" });
    return dataTensor(interpreter, [length], kind.dtype);
  },
  __len__: (interpreter, _, span) => interpreter.unknown("call", span, { name: "len" }),
});

function lengthOf({ lower, upper }: SliceValue): number | undefined {
  const from = lower === null ? 0 : integer(lower);
  const to = integer(upper);
  return from === undefined || to === undefined || from < 0 || to <= from ? undefined : to - from;
}

const memmap: Native = (interpreter, args, span) => {
  const dtype = args.or(1, "dtype", new DtypeValue("uint8"));
  if (!(dtype instanceof DtypeValue) || args.get(4, "shape") !== undefined)
    return args.unknown() ?? interpreter.unknown("call", span, { name: "numpy.memmap" });
  return libraryObject(interpreter, fileArray, { dtype });
};

/** `torch.from_numpy(array)` shares the array's memory. */
const fromArray: Native = (interpreter, args, span) => {
  const array = args.at(0);
  if (!(array instanceof Tensor))
    return args.unknown() ?? interpreter.unknown("call", span, { name: "torch.from_numpy" });
  const tensor = interpreter.execution.alias(array, array.shape, array.strides);
  tensor.values = array.values;
  tensor.bound = array.bound;
  return interpreter.references.own(tensor);
};

/** An array out of what PyTorch's operator of the same kind makes; numbers with a point are doubles. */
function arrayOf(operator: string): Native {
  return (interpreter, args, span) => {
    const picture = asArray(interpreter, args.at(0) ?? null);
    if (formOfArray(picture) !== undefined && !(args.at(0) instanceof Tensor))
      return converted(undefined, nothingElse)(
        interpreter,
        new CallArguments([picture], args.keywords),
        span,
      );
    const made = runOperator(interpreter, operator, args, span);
    if (!(made instanceof Tensor)) return made;
    const isGiven = args.keywords.has("dtype") || [...args.values()].some(holdsSingle);
    const keywords = new Map([...args.keywords, ["dtype", new DtypeValue("float64")] as const]);
    const array =
      made.dtype === "float32" && !isGiven
        ? runOperator(interpreter, operator, new CallArguments(args.positional, keywords), span)
        : made;
    if (array instanceof Tensor) array.isArray = true;
    return array;
  };
}

/** `torch.tensor` and the like of an array whose sizes are not all known; of anything else the operator. */
function tensorOf(operator: string): Native {
  return converted(undefined, (interpreter, args, span) => runOperator(interpreter, operator, args, span));
}

/**
 * `torch.FloatTensor(…)` and its kin: sizes make an empty tensor, `torch.Size` names such sizes, any other sequence is data.
 * Source: https://docs.pytorch.org/docs/stable/tensors.html (a tensor can be constructed from a Python list or sequence).
 */
function legacyTensor(dtype: Dtype): Native {
  return (interpreter, args, span) => {
    const [source = null] = args.positional;
    if (args.count !== 1) return emptyOf(interpreter, dtype, args.positional, args, span);
    if (source instanceof Tensor)
      return interpreter.references.own(interpreter.execution.allocate(source.shape, dtype));
    if (source instanceof TupleValue && source.isSize)
      return emptyOf(interpreter, dtype, source.items, args, span);
    if (!(source instanceof ListValue || source instanceof TupleValue))
      return emptyOf(interpreter, dtype, args.positional, args, span);
    const keywords = new Map([["dtype", new DtypeValue(dtype)] as const]);
    return runOperator(interpreter, "torch.tensor", new CallArguments([source], keywords), span);
  };
}

/** Without sizes an empty tensor of one dimension. */
function emptyOf(
  interpreter: Interpreter,
  dtype: Dtype,
  sizes: readonly Value[],
  args: CallArguments,
  span: Span | undefined,
): Value {
  const keywords = new Map([...args.keywords, ["dtype", new DtypeValue(dtype)] as const]);
  const shape = sizes.length === 0 ? [0] : sizes;
  return runOperator(interpreter, "torch.empty", new CallArguments(shape, keywords), span);
}

const legacyTensors: Readonly<Record<string, Native>> = Object.fromEntries(
  Object.entries({ ...tensorTypes, "": "float32" as const }).map(([name, dtype]) => [
    `torch.${name}Tensor`,
    converted(dtype, legacyTensor(dtype)),
  ]),
);

/** `cumsum(array, axis)`: without an axis over all elements. */
const summedUp: Native = (interpreter, args, span) => {
  const array = arrayOf("torch.tensor")(interpreter, new CallArguments([args.at(0) ?? null]), span);
  if (!(array instanceof Tensor)) return array;
  const axis = args.get(1, "axis") ?? null;
  const source =
    axis === null ? runOperator(interpreter, "torch.flatten", new CallArguments([array]), span) : array;
  if (source instanceof Tensor) source.values = array.values;
  const summed = runOperator(interpreter, "torch.cumsum", new CallArguments([source, axis ?? 0]), span);
  if (summed instanceof Tensor) summed.isArray = true;
  return summed;
};

const nothingElse: Native = (_, args) => args.at(0) ?? null;

/** `load(path)`: an array of which nothing is known. */
const load: Native = (interpreter, _, span) => interpreter.unknown("dataFile", span, { name: "numpy.load" });

function holdsSingle(value: Value): boolean {
  if (value instanceof Tensor) return value.dtype === "float32";
  return (value instanceof ListValue || value instanceof TupleValue) && value.items.some(holdsSingle);
}

/** `meshgrid(x, y)`: by default the first vector runs along the second dimension. */
const meshgrid: Native = (interpreter, args, span) => {
  const indexing = args.keywords.get("indexing") ?? "xy";
  const keywords = new Map([["indexing", indexing] as const]);
  const made = runOperator(interpreter, "torch.meshgrid", new CallArguments(args.positional, keywords), span);
  if (made instanceof TupleValue || made instanceof ListValue)
    for (const grid of made.items) if (grid instanceof Tensor) grid.isArray = true;
  return made;
};

/** `stack`, `concatenate`: of arrays as of tensors. */
function joined(operator: string): Native {
  return (interpreter, args, span) => {
    const made = runOperator(interpreter, operator, args, span);
    if (made instanceof Tensor) made.isArray = true;
    return made;
  };
}

/** `zeros_like(array)`: of its shape and, unless another is asked for, its type. */
function filledLike(name: string): Native {
  return (interpreter, args, span) => {
    const like = args.at(0) ?? null;
    const dtype = args.get(1, "dtype") ?? null;
    const asked = dtype === null && like instanceof Tensor ? like.dtype : dtypeIn(dtype);
    if (like instanceof Tensor && asked !== undefined) return arrayFilled(interpreter, like.shape, asked);
    // of an array whose sizes are open in part
    if (dtype === null && formOfArray(like) !== undefined) return like;
    return args.unknown() ?? interpreter.unknown("call", span, { name });
  };
}

/** `full(shape, value)`: of the value's type unless another is asked for. */
const full: Native = (interpreter, args, span) => {
  const shape = shapeFrom(interpreter, args.or(0, "shape", null), span);
  const [value, dtype] = [args.or(1, "fill_value", null), args.get(2, "dtype") ?? null];
  const asked = dtype === null ? dtypeOfNumber(value) : dtypeIn(dtype);
  if (shape === undefined || asked === undefined || shape.length === 0)
    return args.unknown() ?? interpreter.unknown("call", span, { name: "numpy.full" });
  return arrayFilled(interpreter, shape, asked);
};

/** `random.permutation(n)` of whole numbers, or of an array along its first dimension. */
const permutation: Native = (interpreter, args, span) => {
  const given = args.at(0) ?? null;
  if (given instanceof Tensor) return arrayFilled(interpreter, given.shape, given.dtype);
  const count = integer(given);
  return count === undefined
    ? (args.unknown() ?? interpreter.unknown("call", span, { name: "numpy.random.permutation" }))
    : arrayFilled(interpreter, [count], "int64");
};

const otherNames: Readonly<Record<string, Dtype>> = {
  float_: "float64",
  double: "float64",
  single: "float32",
  int_: "int64",
  uint16: "int16",
};

export const arrayConstants: Readonly<Record<string, () => Value>> = Object.fromEntries(
  [...arrayTypes.map((dtype) => [dtype, dtype] as const), ...Object.entries(otherNames)].map(
    ([name, dtype]) => [`numpy.${name}`, () => new DtypeValue(dtype)],
  ),
);

/** `choice(items, size)`: one of them where no size is given, which a run draws. */
const choice: Native = (interpreter, args, span) => {
  const size = args.get(1, "size") ?? null;
  const items = args.at(0) ?? null;
  const shape = size === null ? [] : shapeFrom(interpreter, size, span);
  if (shape === undefined || shape.length === 0)
    return args.unknown() ?? interpreter.unknown("chance", span, { name: "numpy.random.choice" });
  if (items instanceof Tensor)
    return arrayFilled(interpreter, [...shape, ...items.shape.slice(1)], items.dtype);
  return typeof items === "number"
    ? arrayFilled(interpreter, shape, "int64")
    : interpreter.unknown("call", span, { name: "numpy.random.choice" });
};

const random: Readonly<Record<string, Native>> = {
  rand: randomOf,
  randn: randomOf,
  random: filled("numpy.random.random", 0, "size", "float64"),
  random_sample: filled("numpy.random.random_sample", 0, "size", "float64"),
  standard_normal: filled("numpy.random.standard_normal", 0, "size", "float64"),
  normal: filled("numpy.random.normal", 2, "size", "float64"),
  uniform: filled("numpy.random.uniform", 2, "size", "float64"),
  beta: filled("numpy.random.beta", 2, "size", "float64"),
  exponential: filled("numpy.random.exponential", 1, "size", "float64"),
  randint: filled("numpy.random.randint", 2, "size", "int64"),
  choice,
  permutation,
};

export const arrayFunctions: Readonly<Record<string, Native>> = {
  ...Object.fromEntries(Object.entries(random).map(([name, native]) => [`numpy.random.${name}`, native])),
  "numpy.zeros": filled("numpy.zeros", 0, "shape", "float64"),
  "numpy.ones": filled("numpy.ones", 0, "shape", "float64"),
  "numpy.empty": filled("numpy.empty", 0, "shape", "float64"),
  "numpy.full": full,
  "numpy.zeros_like": filledLike("numpy.zeros_like"),
  "numpy.ones_like": filledLike("numpy.ones_like"),
  "numpy.empty_like": filledLike("numpy.empty_like"),
  "numpy.memmap": memmap,
  "numpy.array": arrayOf("torch.tensor"),
  "numpy.asarray": arrayOf("torch.tensor"),
  "numpy.arange": arrayOf("torch.arange"),
  "numpy.eye": arrayOf("torch.eye"),
  "numpy.cumsum": summedUp,
  "numpy.meshgrid": meshgrid,
  "numpy.einsum": joined("torch.einsum"),
  "numpy.outer": joined("torch.outer"),
  "numpy.tile": joined("torch.tile"),
  "numpy.stack": joined("torch.stack"),
  "numpy.concatenate": joined("torch.cat"),
  "numpy.vstack": joined("torch.vstack"),
  "numpy.hstack": joined("torch.hstack"),
  "numpy.load": load,
  "numpy.expand_dims": openArrayFunctions.unsqueeze,
  "numpy.transpose": openArrayFunctions.permute,
  "torch.from_numpy": converted(undefined, fromArray),
  "torch.tensor": tensorOf("torch.tensor"),
  "torch.as_tensor": tensorOf("torch.as_tensor"),
  ...legacyTensors,
};
