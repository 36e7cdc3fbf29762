/**
 * `torch.einsum` (aten/src/ATen/native/Linear.cpp): every operand gets the dimensions of the result and those that are
 * summed, in one order; then pairs are contracted from the left, each by one batched product.
 */
import type { Tensor } from "../tensor";
import { isSequence, isTensor } from "./argument";
import { lowPrecisionList } from "./autograd";
import type { Frame } from "./frame";
import { at, bmm, misfit } from "./matrix";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { permute, reshape, unsqueeze, view } from "./views";

function einsum(call: OperatorCall): Tensor {
  const equation = call.text("equation").replaceAll(" ", "");
  const only = call.rest.length === 1 ? call.rest[0] : undefined;
  const given = only !== undefined && isSequence(only) ? only : call.rest;
  const operands = given.map((each) => (isTensor(each) ? each : call.notUnderstood("operands")));
  const [inputs = "", output] = equation.split("->");
  const labels = inputs.split(",");
  if (labels.length !== operands.length || operands.length === 0) return call.notUnderstood("equation");
  const named = labels.map((each, i) => withoutEllipsis(each, operands[i]?.shape.length ?? 0));
  if (named.some((each, i) => each.length !== operands[i]?.shape.length)) call.notUnderstood("equation");
  const result = (output ?? implicitOutput(labels)).replace("...", longest(named));
  const summed = summedLabels(named, result);
  if (!isConsistent(operands, named)) misfit("einsum", ...operands);
  const cast = lowPrecisionList(call.frame, operands);
  return call.withoutAutocast(() => {
    const aligned = cast.map((tensor, i) => align(call, tensor, named[i] ?? "", result + summed));
    return contractAll(call, aligned, result.length, summed.length);
  });
}

/** Whether a label has one size wherever it stands; 1 fits all. */
function isConsistent(operands: readonly Tensor[], named: readonly string[]): boolean {
  const sizes = new Map<string, number>();
  return operands.every((tensor, i) =>
    Array.from(named[i] ?? "").every((label, place) => {
      const size = at(tensor, place);
      const old = sizes.get(label) ?? 1;
      if (old === 1) sizes.set(label, size);
      return old === 1 || size === 1 || size === old;
    }),
  );
}

/** What the result has not: an ellipsis' dimensions first, then letters as PyTorch numbers them, capitals first. */
function summedLabels(named: readonly string[], result: string): string {
  const all = Array.from(new Set(named.join(""))).filter((label) => !result.includes(label));
  return all.sort((a, b) => (a < b ? -1 : 1)).join("");
}

function implicitOutput(labels: readonly string[]): string {
  const all = labels.join("").replaceAll("...", "");
  const once = Array.from(new Set(all)).filter((label) => all.split(label).length === 2);
  return (labels.some((each) => each.includes("...")) ? "..." : "") + once.sort().join("");
}

/** An operand with all dimensions of the equation in their order, of size 1 where it has none. */
function align(call: OperatorCall, given: Tensor, labels: string, order: string): Tensor {
  let { tensor, labels: own } = withoutRepeats(call, { tensor: given, labels });
  for (const label of order) {
    if (own.includes(label)) continue;
    tensor = unsqueeze(call.frame, tensor, tensor.shape.length);
    own += label;
  }
  return permute(
    call.frame,
    tensor,
    Array.from(order).map((label) => own.indexOf(label)),
  );
}

/** Contracts from the left; `kept` dimensions stay, the `summed` ones behind them go. */
function contractAll(call: OperatorCall, aligned: readonly Tensor[], kept: number, summed: number): Tensor {
  const dimensions = Array.from({ length: summed }, (_, i) => kept + i);
  let [current = call.notUnderstood("operands")] = aligned;
  if (aligned.length === 1) return summed === 0 ? current : call.op("torch.sum", [current, dimensions]);
  // how many operands still have the dimension
  const counts = dimensions.map(
    (dimension) => aligned.filter((tensor) => at(tensor, dimension) !== 1).length,
  );
  for (const next of aligned.slice(1)) {
    const now: number[] = [];
    const only: [number[], number[]] = [[], []];
    dimensions.forEach((dimension, i) => {
      const [inFirst, inSecond] = [at(current, dimension) !== 1, at(next, dimension) !== 1];
      if (inFirst && inSecond) counts[i] = (counts[i] ?? 0) - 1;
      if (counts[i] !== 1) return;
      if (inFirst && inSecond) now.push(dimension);
      else if (inFirst || inSecond) only[inFirst ? 0 : 1].push(dimension);
      if (inFirst || inSecond) counts[i] = 0;
    });
    const [a, b] = [current, next].map((tensor, i) => {
      const dims = only[i] ?? [];
      return dims.length === 0 ? tensor : call.op("torch.sum", [tensor, dims], { keepdim: true });
    });
    current = contract(call.frame, a ?? current, b ?? next, now);
  }
  if (summed === 0) return current;
  return view(call.frame, current, current.shape.slice(0, kept)) ?? current;
}

/** The product of two summed over some dimensions: one bmm (sumproduct_pair). */
function contract(outer: Frame, left: Tensor, right: Tensor, summed: readonly number[]): Tensor {
  return outer.scoped((frame) => {
    if (summed.length === 0) return elementwiseOp(frame, "mul", [left, right]);
    const places = left.shape.map((_, i) => i).filter((i) => !summed.includes(i));
    const both = places.filter((i) => at(left, i) !== 1 && at(right, i) !== 1);
    const onlyLeft = places.filter((i) => at(left, i) !== 1 && at(right, i) === 1);
    const rest = places.filter((i) => at(left, i) === 1);
    const last = rest.at(-1);
    const first = onlyLeft[0];
    // what stands first in the result comes out of the product first
    const swaps = last !== undefined && first !== undefined && last < first;
    return swaps
      ? product(frame, [right, left], [both, rest, onlyLeft], summed)
      : product(frame, [left, right], [both, onlyLeft, rest], summed);
  });
}

function product(
  frame: Frame,
  [left, right]: readonly [Tensor, Tensor],
  [both, ofLeft, ofRight]: readonly [readonly number[], readonly number[], readonly number[]],
  summed: readonly number[],
): Tensor {
  const sizes = left.shape.map((size, i) => (size === 1 ? at(right, i) : size));
  const count = (dims: readonly number[]): number => dims.reduce((n, i) => n * (sizes[i] ?? 1), 1);
  const flat = (tensor: Tensor, order: readonly number[], shape: readonly number[]): Tensor =>
    reshape(frame, permute(frame, tensor, order), shape);
  const a = flat(
    left,
    [...both, ...ofLeft, ...summed, ...ofRight],
    [count(both), count(ofLeft), count(summed)],
  );
  const b = flat(
    right,
    [...both, ...summed, ...ofRight, ...ofLeft],
    [count(both), count(summed), count(ofRight)],
  );
  const result = bmm(frame, a, b);
  const order = [...both, ...ofLeft, ...summed, ...ofRight];
  const shape = order.map((i) => (summed.includes(i) ? 1 : (sizes[i] ?? 1)));
  const back = sizes.map((_, i) => order.indexOf(i));
  return permute(frame, view(frame, result, shape) ?? result, back);
}

interface Term {
  readonly tensor: Tensor;
  readonly labels: string;
}

/** Stand for the dimensions of an ellipsis, the last one last; no equation uses digits. */
const ellipsisLabels = "0123456789";

/** Labels with one for each dimension that the ellipsis stands for. */
function withoutEllipsis(labels: string, rank: number): string {
  if (!labels.includes("...")) return labels;
  const count = rank - (labels.length - 3);
  return labels.replace("...", count > 0 ? ellipsisLabels.slice(-count) : "");
}

/** The ellipsis of the result: that of the operand with most dimensions in it. */
function longest(named: readonly string[]): string {
  const parts = named.map((labels) => labels.replaceAll(/\D/g, ""));
  return parts.reduce((long, part) => (part.length > long.length ? part : long), "");
}

/** `ii`: the diagonal, as a view. */
function withoutRepeats(call: OperatorCall, term: Term): Term {
  const again = Array.from(term.labels).findIndex((label, i) => term.labels.indexOf(label) !== i);
  if (again < 0) return term;
  const first = term.labels.indexOf(term.labels[again] ?? "");
  const diagonal = call.op("torch.diagonal", [term.tensor, 0, first, again]);
  const rest = Array.from(term.labels).filter((_, i) => i !== first && i !== again);
  return withoutRepeats(call, { tensor: diagonal, labels: [...rest, term.labels[again]].join("") });
}

export const einsumRows: readonly OperatorRow[] = [
  { names: ["torch.einsum"], signature: "equation, *operands", run: einsum },
];
