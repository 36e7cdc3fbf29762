/** The types of numpy's numbers, by what scripts write for them (https://numpy.org/doc/stable/reference/arrays.dtypes.html). */
import type { Dtype } from "../../tensor";
import { ClassValue, DtypeValue, Float, type Value } from "../values";

export const arrayTypes: readonly Dtype[] = [
  "uint8",
  "int8",
  "int16",
  "int32",
  "int64",
  "float16",
  "float32",
  "float64",
  "bool",
];

/** Of Python's own types of numbers. */
const typesOfNumbers: Readonly<Record<string, Dtype>> = {
  bool: "bool",
  int: "int64",
  float: "float64",
};

/** The type that an array of this number gets; undefined for what is none. */
export function dtypeOfNumber(value: Value): Dtype | undefined {
  if (typeof value === "number") return "int64";
  if (typeof value === "boolean") return "bool";
  return value instanceof Float ? "float64" : undefined;
}

/** What `np.float32`, `"float32"` and `float` mean as a `dtype`; undefined where none is given, or it is not known. */
export function dtypeIn(value: Value | undefined): Dtype | undefined {
  if (value instanceof DtypeValue) return value.dtype;
  if (value instanceof ClassValue) return typesOfNumbers[value.name];
  return arrayTypes.find((one) => one === value);
}
