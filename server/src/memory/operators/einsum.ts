/** `torch.einsum`: every pair of operands is one batched product (aten/src/ATen/native/Linear.cpp, sumproduct_pair). */
import type { Tensor } from "../tensor";
import { isSequence, isTensor } from "./argument";
import { lowPrecision } from "./autograd";
import type { Frame } from "./frame";
import { at, bmm, misfit } from "./matrix";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { permute, reshape, unsqueeze, view } from "./views";

/** `torch.einsum` of one or two operands: permuted, flattened to one bmm, and permuted back (Linear.cpp, sumproduct_pair). */
function einsum(call: OperatorCall): Tensor {
  const { frame } = call;
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
  const terms: Term[] = lowPrecision(frame, operands).map((tensor, i) =>
    withoutRepeats(call, { tensor, labels: named[i] ?? "" }),
  );
  const sizes = new Map<string, number>();
  for (const term of terms) {
    Array.from(term.labels).forEach((label, i) => {
      const size = at(term.tensor, i);
      const old = sizes.get(label) ?? 1;
      if (old !== 1 && size !== 1 && size !== old) misfit("einsum", ...operands);
      sizes.set(label, Math.max(old, size));
    });
  }
  let current = terms[0] ?? call.notUnderstood("operands");
  for (let i = 1; i < terms.length; i++) {
    const next = terms[i] ?? current;
    const later = terms
      .slice(i + 1)
      .map((term) => term.labels)
      .join("");
    current = contract(frame, current, next, result + later, sizes);
  }
  const summed = Array.from(current.labels)
    .map((label, i) => (result.includes(label) ? -1 : i))
    .filter((i) => i >= 0);
  if (summed.length > 0) {
    const sum = call.op("torch.sum", [current.tensor, summed]);
    current = {
      tensor: sum,
      labels: Array.from(current.labels)
        .filter((label) => result.includes(label))
        .join(""),
    };
  }
  const order = Array.from(result).map((label) => current.labels.indexOf(label));
  return order.every((from, to) => from === to) ? current.tensor : permute(frame, current.tensor, order);
}

interface Term {
  readonly tensor: Tensor;
  readonly labels: string;
}

function implicitOutput(labels: readonly string[]): string {
  const all = labels.join("").replaceAll("...", "");
  const once = Array.from(new Set(all)).filter((label) => all.split(label).length === 2);
  return (labels.some((each) => each.includes("...")) ? "..." : "") + once.sort().join("");
}

/** Contracts two terms over the labels that nothing behind them needs. */
function contract(frame: Frame, a: Term, b: Term, kept: string, sizes: ReadonlyMap<string, number>): Term {
  const sizeOf = (label: string): number => sizes.get(label) ?? 1;
  const both = Array.from(a.labels).filter((label) => b.labels.includes(label));
  const batch = both.filter((label) => kept.includes(label));
  const summed = both.filter((label) => !kept.includes(label));
  const onlyA = Array.from(a.labels).filter((label) => !b.labels.includes(label));
  const onlyB = Array.from(b.labels).filter((label) => !a.labels.includes(label));
  if (summed.length === 0) return multiply(frame, a, b, [...batch, ...onlyA, ...onlyB]);
  const count = (labels: readonly string[]): number => labels.reduce((n, label) => n * sizeOf(label), 1);
  const arrange = (term: Term, order: readonly string[], shape: readonly number[]): Tensor => {
    const positions = order.map((label) => term.labels.indexOf(label));
    const permuted = permute(frame, term.tensor, positions);
    return reshape(frame, permuted, shape);
  };
  const n = count(batch);
  const left = arrange(a, [...batch, ...onlyA, ...summed], [n, count(onlyA), count(summed)]);
  const right = arrange(b, [...batch, ...summed, ...onlyB], [n, count(summed), count(onlyB)]);
  const product = bmm(frame, left, right);
  const labels = [...batch, ...onlyA, ...onlyB];
  const result = view(frame, product, labels.map(sizeOf)) ?? product;
  return { tensor: result, labels: labels.join("") };
}

/** Without a sum the product is element-wise. */
function multiply(frame: Frame, a: Term, b: Term, labels: readonly string[]): Term {
  const spread = (term: Term): Tensor => {
    const order = labels
      .filter((label) => term.labels.includes(label))
      .map((label) => term.labels.indexOf(label));
    let tensor = permute(frame, term.tensor, order);
    labels.forEach((label, i) => {
      if (!term.labels.includes(label)) tensor = unsqueeze(frame, tensor, i);
    });
    return tensor;
  };
  return { tensor: elementwiseOp(frame, "mul", [spread(a), spread(b)]), labels: labels.join("") };
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
