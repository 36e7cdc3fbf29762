/** Attributes that a write under an unknown name may have replaced. */
import type { Unknown } from "../unknown";
import { DictValue, Float, ListValue, TupleValue, type ObjectValue, type Value } from "./values";

/**
 * A write whose name is not known, as from a file of settings, may have replaced any attribute, and the values that the class
 * has for those that nobody sets.
 */
export function doubtAttributes(object: ObjectValue, reason: Unknown): void {
  const { attributes, type } = object;
  for (const name of attributes.keys()) attributes.set(name, reason);
  for (const { attributes: shared } of type.mro) {
    for (const [name, value] of shared) {
      if (isSetting(value) && !name.startsWith("__") && !attributes.has(name)) attributes.set(name, reason);
    }
  }
}

/** A plain value, as against methods, properties, classes and layers. */
function isSetting(value: Value): boolean {
  if (value === null || typeof value !== "object") return true;
  return [Float, TupleValue, ListValue, DictValue].some((type) => value instanceof type);
}
