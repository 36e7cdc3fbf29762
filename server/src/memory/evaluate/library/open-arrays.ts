/**
 * Arrays of which only a run can know some sizes, such as the rows of a table or the height of a photograph; what a script
 * does to them is followed until the sizes are fixed. Once all sizes and the type are known, they are tensors.
 */
import type { Span } from "../../../python/tree";
import { isFloating, Tensor, type Dtype } from "../../tensor";
import { isUnknown } from "../../unknown";
import type { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { dataTensor } from "../nn/tensors";
import { integer } from "../numbers";
import { withKnownLength } from "../offsets";
import type { ClassValue } from "../values";
import {
  DtypeValue,
  ellipsis,
  Float,
  ListValue,
  NativeFunction,
  ObjectValue,
  PropertyValue,
  SliceValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { dtypeIn } from "./array-types";
import { libraryClass, libraryObject } from "./library-class";

export type OpenShape = readonly (number | undefined)[];

/** An array's sizes and type, as far as they are known. */
export interface OpenArray {
  readonly shape: OpenShape;
  readonly dtype: Dtype | undefined;
  /** PyTorch's, not numpy's: they differ in how types are promoted and in where channels are. */
  readonly isTensor?: boolean | undefined;
}

/** A tensor where everything is known, else an object that remembers what is. */
export function openArray(
  interpreter: Interpreter,
  shape: OpenShape,
  dtype: Dtype | undefined,
  isTensor = false,
): Value {
  const known = shape.filter((size) => size !== undefined);
  if (known.length === shape.length && dtype !== undefined) {
    const made = dataTensor(interpreter, known, dtype);
    made.isArray = !isTensor;
    return made;
  }
  const object = libraryObject(interpreter, arrayClass(), {});
  forms.set(object, { shape, dtype, isTensor });
  return object;
}

const forms = new WeakMap<ObjectValue, OpenArray>();

/** What is known of an array or tensor; undefined for anything else. */
export function formOfArray(value: Value): OpenArray | undefined {
  if (value instanceof Tensor) return { shape: value.shape, dtype: value.dtype, isTensor: !value.isArray };
  return value instanceof ObjectValue ? forms.get(value) : undefined;
}

export function isOpenArray(value: Value): value is ObjectValue {
  return value instanceof ObjectValue && forms.has(value);
}

function unknownSize(interpreter: Interpreter, axis: number, span: Span | undefined): Value {
  return interpreter.unknown("dataSize", span, { axis });
}

/** A method whose receiver is such an array. */
function method(
  run: (array: OpenArray, args: CallArguments, interpreter: Interpreter, span: Span | undefined) => Value,
): Native {
  return (interpreter, args, span) => {
    const array = formOfArray(args.at(0) ?? null);
    return array === undefined ? null : run(array, args.withoutFirst(), interpreter, span);
  };
}

const same: Native = (_, args) => args.at(0) ?? null;

const cast = (dtype: Dtype): Native =>
  method(({ shape }, _, interpreter) => openArray(interpreter, shape, dtype, true));

/** `astype(dtype)`, `to(dtype)`; a device changes nothing. */
const castTo: Native = (interpreter, args, span) => {
  const array = formOfArray(args.at(0) ?? null);
  const given = args.at(1) ?? args.keywords.get("dtype");
  if (array === undefined) return null;
  const dtype = dtypeIn(given);
  if (dtype !== undefined) return openArray(interpreter, array.shape, dtype, array.isTensor);
  return typeof given === "string" || given === undefined || isUnknown(given)
    ? interpreter.unknown("call", span, { name: "astype" })
    : (args.at(0) ?? null);
};

/** With a number or an array of the same sizes; Python's numbers with a point make whole numbers doubles. */
const arithmetic = (divides: boolean): Native =>
  method(({ shape, dtype, isTensor }, args, interpreter, span) => {
    const other = args.at(0) ?? null;
    const isNumber = typeof other === "number" || other instanceof Float;
    const array = formOfArray(other);
    const isAlike = array?.shape.join() === shape.join() || array?.shape.length === 0;
    if (!isNumber && !isAlike)
      return isUnknown(other) ? other : interpreter.unknown("call", span, { name: "numpy" });
    const isWhole = dtype !== undefined && !isFloating(dtype);
    const others = array?.dtype === undefined || array.dtype === dtype;
    if (!isNumber && !others) return openArray(interpreter, shape, undefined, isTensor);
    const real = isTensor === true ? "float32" : "float64";
    return openArray(
      interpreter,
      shape,
      isWhole && (divides || other instanceof Float) ? real : dtype,
      isTensor,
    );
  });

const comparison: Native = method(({ shape, isTensor }, _, interpreter) =>
  openArray(interpreter, shape, "bool", isTensor),
);

/** `array[index]`: positions, slices, new axes, lists of positions. */
const getItem: Native = method((array, args, interpreter, span) => {
  const given = args.at(0) ?? null;
  const indices = given instanceof TupleValue ? [...given.items] : [given];
  const axes = indices.filter((index) => index !== null && index !== ellipsis).length;
  const at = indices.indexOf(ellipsis);
  const missing = Math.max(0, array.shape.length - axes);
  const all = new SliceValue(null, null, null);
  const fill = Array.from({ length: missing }, () => all);
  const full = at < 0 ? [...indices, ...fill] : [...indices.slice(0, at), ...fill, ...indices.slice(at + 1)];
  const shape: (number | undefined)[] = [];
  let axis = 0;
  for (const index of full) {
    if (index === null) shape.push(1);
    else {
      const kept = indexed(array.shape[axis], index);
      if (kept === "unknown")
        return isUnknown(index) ? index : interpreter.unknown("call", span, { name: "__getitem__" });
      if (kept !== "dropped") shape.push(kept.size);
      axis++;
    }
  }
  return openArray(interpreter, shape, array.dtype, array.isTensor);
});

function indexed(
  size: number | undefined,
  given: Value,
): { readonly size: number | undefined } | "dropped" | "unknown" {
  const index = withKnownLength(given);
  if (integer(index) !== undefined) return "dropped";
  if (index instanceof Tensor) return index.shape.length === 0 ? "dropped" : "unknown";
  if (index instanceof ListValue) return { size: index.items.length };
  if (isOpenArray(index)) return { size: undefined };
  if (!(index instanceof SliceValue)) return "unknown";
  // `[::-1]`
  if (index.step === -1 && index.lower === null && index.upper === null) return { size };
  if (index.step !== null) return "unknown";
  const lower = index.lower === null ? 0 : integer(index.lower);
  const upper = index.upper === null ? size : integer(index.upper);
  if (index.lower === null && index.upper === null) return { size };
  if (lower === undefined || upper === undefined || (size === undefined && (lower < 0 || upper < 0)))
    return { size: undefined };
  const place = (position: number): number =>
    size === undefined ? position : Math.min(size, Math.max(0, position < 0 ? position + size : position));
  return { size: Math.max(0, place(upper) - place(lower)) };
}

/** `reshape`, `view`: where the first size is the open one and the others hold as much as before. */
const reshape: Native = method(({ shape, dtype, isTensor }, args, interpreter, span) => {
  const [first] = args.positional;
  const listed = first instanceof TupleValue || first instanceof ListValue ? first.items : args.positional;
  const sizes = listed.map((size) => integer(size));
  const product = (all: OpenShape): number | undefined =>
    all.reduce<number | undefined>((a, b) => (a === undefined || b === undefined ? undefined : a * b), 1);
  const [before, after] = [product(shape.slice(1)), product(sizes.slice(1))];
  return sizes[0] === -1 && before !== undefined && before === after
    ? openArray(interpreter, [shape[0], ...sizes.slice(1)], dtype, isTensor)
    : (args.unknown() ?? interpreter.unknown("call", span, { name: "reshape" }));
});

/** `unsqueeze(axis)`, `numpy.expand_dims(array, axis)`. */
const unsqueeze: Native = method(({ shape, dtype, isTensor }, args, interpreter, span) => {
  const axis = integer(args.or(0, args.keywords.has("axis") ? "axis" : "dim", null));
  if (axis === undefined) return interpreter.unknown("call", span, { name: "unsqueeze" });
  const at = axis < 0 ? axis + shape.length + 1 : axis;
  return openArray(interpreter, [...shape.slice(0, at), 1, ...shape.slice(at)], dtype, isTensor);
});

/** `transpose(2, 0, 1)`, `permute(2, 0, 1)`; without axes the other way round. */
const permute: Native = method(({ shape, dtype, isTensor }, args, interpreter, span) => {
  const [first] = args.positional;
  const listed = first instanceof TupleValue || first instanceof ListValue ? first.items : args.positional;
  const axes =
    listed.length === 0 ? shape.map((_, i) => shape.length - 1 - i) : listed.map((one) => integer(one));
  if (axes.length !== shape.length || axes.some((axis) => axis === undefined))
    return args.unknown() ?? interpreter.unknown("call", span, { name: "transpose" });
  return openArray(
    interpreter,
    axes.map((axis) => shape[axis ?? 0]),
    dtype,
    isTensor,
  );
});

const methods: Readonly<Record<string, Native>> = {
  __getitem__: getItem,
  __len__: method(({ shape }, _, interpreter, span) => shape[0] ?? unknownSize(interpreter, 0, span)),
  __add__: arithmetic(false),
  __radd__: arithmetic(false),
  __sub__: arithmetic(false),
  __rsub__: arithmetic(false),
  __mul__: arithmetic(false),
  __rmul__: arithmetic(false),
  __truediv__: arithmetic(true),
  __gt__: comparison,
  __ge__: comparison,
  __lt__: comparison,
  __le__: comparison,
  __eq__: comparison,
  astype: castTo,
  to: castTo,
  float: cast("float32"),
  double: cast("float64"),
  long: cast("int64"),
  int: cast("int32"),
  reshape,
  view: reshape,
  unsqueeze,
  transpose: permute,
  permute,
  copy: same,
  clone: same,
  numpy: same,
  to_numpy: same,
  cpu: same,
  cuda: same,
  detach: same,
  contiguous: same,
  fillna: same,
};

const sizes = method(
  ({ shape }, _, interpreter, span) =>
    new TupleValue(shape.map((size, axis) => size ?? unknownSize(interpreter, axis, span))),
);

let made: ClassValue | undefined;

/** Made when it is first needed: the modules of this room import each other. */
function arrayClass(): ClassValue {
  if (made !== undefined) return made;
  made = libraryClass("ndarray", methods);
  const { attributes } = made;
  const property = (name: string, read: Native): unknown =>
    attributes.set(name, new PropertyValue(new NativeFunction(name, read)));
  property("values", same);
  property("array", same);
  property("T", permute);
  property("shape", sizes);
  attributes.set(
    "size",
    new NativeFunction("size", (interpreter, args, span) => {
      const shape = sizes(interpreter, args, span);
      const axis = integer(args.at(1) ?? null);
      return shape instanceof TupleValue && axis !== undefined ? (shape.items.at(axis) ?? null) : shape;
    }),
  );
  return made;
}

/** `torch.tensor(array, dtype)` and the like: the array with the type that is asked for, else its own. */
export function converted(fixed: Dtype | undefined, otherwise: Native, isTensor = true): Native {
  return (interpreter, args, span) => {
    const array = args.at(0) ?? null;
    if (!isOpenArray(array)) return otherwise(interpreter, args, span);
    const form = formOfArray(array);
    const given = args.keywords.get("dtype") ?? null;
    const dtype =
      fixed ?? (given instanceof DtypeValue ? given.dtype : given === null ? form?.dtype : undefined);
    return openArray(interpreter, form?.shape ?? [], dtype, isTensor);
  };
}

/** `numpy.expand_dims(array, axis)`, `numpy.transpose(array, axes)`: as the array's own methods. */
export const openArrayFunctions = { unsqueeze, permute };
