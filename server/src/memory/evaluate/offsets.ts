/**
 * How far one unknown position is from another: `data[i : i + block]` has `block` elements whatever `i` is. Kept for scalar
 * tensors, since two tensors are one value only when they are one object.
 */
import type { BinaryOperator } from "../../python/tree";
import { isFloating, Tensor } from "../tensor";
import { integer } from "./numbers";
import { SliceValue, type Value } from "./values";

interface Offset {
  readonly from: Tensor;
  readonly by: number;
}

const offsets = new WeakMap<Tensor, Offset>();
/** Scalars that were changed in place: nothing is known of their distance any more. */
const changed = new WeakSet<Tensor>();

function isPosition(value: Value): value is Tensor {
  return value instanceof Tensor && value.shape.length === 0 && !isFloating(value.dtype);
}

function offsetOf(position: Tensor): Offset {
  return offsets.get(position) ?? { from: position, by: 0 };
}

/** Remembers that `result` is `left + right` or `left - right`. */
export function noteOffset(operator: BinaryOperator, left: Value, right: Value, result: Value): void {
  if (!isPosition(result)) return;
  if (operator !== "+" && operator !== "-") return;
  const [position, distance] = operator === "+" && isPosition(right) ? [right, left] : [left, right];
  const by = integer(distance);
  if (!isPosition(position) || by === undefined) return;
  const before = offsetOf(position);
  offsets.set(result, { from: before.from, by: before.by + (operator === "+" ? by : -by) });
}

export function noteChanged(value: Value): void {
  if (isPosition(value)) changed.add(value);
}

/** A slice between two positions of known distance, as the first so many elements; any other index as it is. */
export function withKnownLength(index: Value): Value {
  if (!(index instanceof SliceValue) || index.step !== null) return index;
  if (!isPosition(index.lower) || !isPosition(index.upper)) return index;
  const [lower, upper] = [offsetOf(index.lower), offsetOf(index.upper)];
  if (lower.from !== upper.from || changed.has(lower.from)) return index;
  const length = upper.by - lower.by;
  return length > 0 ? new SliceValue(null, length, null) : index;
}
