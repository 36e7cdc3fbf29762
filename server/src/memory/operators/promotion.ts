/** Result dtypes of mixed operands (c10/core/ScalarType.cpp, aten/src/ATen/native/TypeProperties.cpp). */
import { isComplex, isFloating, type Dtype, type Tensor } from "../tensor";
import { numberOf, type Argument } from "./argument";

const order: readonly Dtype[] = [
  "bool",
  "uint8",
  "int8",
  "int16",
  "int32",
  "int64",
  "float8_e5m2",
  "float8_e4m3fn",
  "float16",
  "bfloat16",
  "float32",
  "float64",
  "complex64",
  "complex128",
];

export function promoteTypes(a: Dtype, b: Dtype): Dtype {
  if (a === b) return a;
  const pair = [a, b];
  if (pair.includes("uint8") && pair.includes("int8")) return "int16";
  if (pair.includes("float16") && pair.includes("bfloat16")) return "float32";
  if (pair.includes("complex64") && pair.includes("float64")) return "complex128";
  return order.indexOf(a) > order.indexOf(b) ? a : b;
}

/** 0 boolean, 1 integer, 2 floating, 3 complex. */
function category(dtype: Dtype): number {
  if (dtype === "bool") return 0;
  if (isComplex(dtype)) return 3;
  return isFloating(dtype) ? 2 : 1;
}

/** The dtype Python numbers count as. */
function scalarDtype(value: Argument): Dtype | undefined {
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return "int64";
  return numberOf(value) === undefined ? undefined : "float32";
}

const noScalars: readonly Argument[] = [];

/** `torch.result_type`: tensors with dimensions win over 0-dimensional ones, these over numbers, within a category. */
export function resultType(tensors: readonly Tensor[], scalars: readonly Argument[] = noScalars): Dtype {
  const [first] = tensors;
  if (first !== undefined && scalars.length === 0 && tensors.every(({ dtype }) => dtype === first.dtype))
    return first.dtype;
  const groups: Dtype[][] = [
    tensors.filter((tensor) => tensor.shape.length > 0).map((tensor) => tensor.dtype),
    tensors.filter((tensor) => tensor.shape.length === 0).map((tensor) => tensor.dtype),
    scalars.map(scalarDtype).filter((dtype): dtype is Dtype => dtype !== undefined),
  ];
  let result: Dtype | undefined;
  for (const group of groups) {
    if (group.length === 0) continue;
    const own = group.reduce(promoteTypes);
    if (result === undefined) result = own;
    else if (category(own) > category(result)) {
      // A number or a 0-dimensional tensor of a higher category brings the default dtype of that category.
      result = category(own) === 2 && group === groups[2] ? "float32" : own;
    }
  }
  return result ?? "float32";
}

/** What `exp`, `/` and the like make of integers. */
export function toFloating(dtype: Dtype): Dtype {
  return category(dtype) >= 2 ? dtype : "float32";
}
