/** Indexing and gathering: aten/src/ATen/native/TensorAdvancedIndexing.cpp, torch/csrc/autograd/python_variable_indexing.cpp. */
import { elementCount, isFloating, type Tensor } from "../tensor";
import { isSequence, isTensor, numberOf, type Argument, type SliceArgument } from "./argument";
import { differentiable } from "./autograd";
import type { Frame } from "./frame";
import { attachInPlace, needsGraphInPlace } from "./inplace";
import { broadcastShapes, emptyLike, sameShape } from "./kernels";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { argumentNotUnderstood, dependsOnValues, shapesDoNotFit } from "./reasons";
import { expand, select, slice, unsqueeze, viewOf } from "./views";

function isKind<Kind extends string>(
  value: Argument,
  kind: Kind,
): value is Extract<Argument, { kind: Kind }> {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === kind;
}

/** `start:stop:step` of a dimension as Python reads it; the number of elements and the step. */
function sliceSize(
  call: OperatorCall,
  value: SliceArgument,
  size: number,
): { count: number; step: number; start: number } {
  const part = (each: Argument, fallback: number): number => {
    if (each === null) return fallback;
    if (isTensor(each) && each.values?.length === 1) return each.values[0] ?? 0;
    return numberOf(each) ?? call.fail(argumentNotUnderstood(call.name, "slice"));
  };
  const step = part(value.step, 1);
  const clip = (at: number): number => Math.min(Math.max(at < 0 ? at + size : at, 0), size);
  const start = clip(part(value.lower, 0));
  const stop = clip(part(value.upper, size));
  return { count: Math.max(0, Math.ceil((stop - start) / step)), step, start };
}

/** Indices of one subscript: the views they ask for, and the index tensors that are left for the advanced part. */
function applySubscript(call: OperatorCall, tensor: Tensor, index: Argument): Tensor {
  const { frame } = call;
  const entries = isSequence(index) ? index : [index];
  const consumed = entries.reduce<number>((count, entry) => count + dimensionsOf(entry), 0);
  let current = tensor;
  let dimension = 0;
  const advanced: { dimension: number; index: Tensor }[] = [];
  const move = (next: Tensor): void => {
    frame.free(current === tensor ? undefined : current);
    current = next;
  };
  for (const entry of entries) {
    if (isKind(entry, "ellipsis")) {
      dimension += Math.max(0, tensor.shape.length - consumed);
    } else if (entry === null) {
      move(unsqueeze(frame, current, dimension));
      dimension++;
    } else if (isKind(entry, "slice")) {
      const size = current.shape[dimension] ?? 0;
      if (dimension >= current.shape.length) call.fail(shapesDoNotFit(call.name, [tensor.shape]));
      const { count, step } = sliceSize(call, entry, size);
      if (count !== size || step !== 1) move(sliced(call, current, dimension, entry, count, step));
      dimension++;
    } else if (isTensor(entry) && (entry.shape.length > 0 || entry.dtype === "bool")) {
      advanced.push({ dimension, index: entry });
      dimension += entry.dtype === "bool" ? entry.shape.length : 1;
    } else if (isSequence(entry)) {
      const list = call.frame.empty([entry.length], "int64");
      advanced.push({ dimension, index: list });
      dimension++;
    } else {
      const at = isTensor(entry) ? 0 : numberOf(entry);
      if (at === undefined) return call.fail(argumentNotUnderstood(call.name, "index"));
      const size = current.shape[dimension] ?? 0;
      if (dimension >= current.shape.length || at >= size || at < -size) {
        call.fail(shapesDoNotFit(call.name, [tensor.shape]));
      }
      const values = current.values;
      const next = select(frame, current, dimension);
      if (values !== undefined && current.shape.length === 1)
        next.values = [values[at < 0 ? at + size : at] ?? 0];
      move(next);
    }
  }
  if (advanced.length > 0) return indexed(call, current, advanced);
  // `x[...]` is a view of x, never x itself.
  return current !== tensor
    ? current
    : viewOf(frame, tensor, "AliasBackward0", tensor.shape, tensor.strides, (_inner, gradient) => gradient);
}

function sliced(
  call: OperatorCall,
  tensor: Tensor,
  dimension: number,
  entry: SliceArgument,
  count: number,
  step: number,
): Tensor {
  const result = slice(call.frame, tensor, dimension, count, step);
  const { values } = tensor;
  if (values !== undefined && tensor.shape.length === 1) {
    const { start } = sliceSize(call, entry, tensor.shape[0] ?? 0);
    result.values = Array.from({ length: count }, (_, i) => values[start + i * step] ?? 0);
  }
  return result;
}

function dimensionsOf(entry: Argument): number {
  if (entry === null || isKind(entry, "ellipsis")) return 0;
  return isTensor(entry) && entry.dtype === "bool" ? entry.shape.length : 1;
}

/** `x[indices]` with tensors: a copy; backward writes into zeros. Boolean masks give a size that only values know. */
function indexed(
  call: OperatorCall,
  tensor: Tensor,
  indices: readonly { dimension: number; index: Tensor }[],
): Tensor {
  const { frame } = call;
  if (indices.some(({ index }) => index.dtype === "bool")) call.fail(dependsOnValues("x[mask]"));
  const shape = indexedShape(call, tensor, indices);
  const result = frame.empty(shape, tensor.dtype);
  const from = tensor.shape;
  differentiable(frame, {
    name: "IndexBackward0",
    inputs: [tensor],
    outputs: [result],
    saved: indices.map(({ index }) => index),
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : inner.empty(from, gradient.dtype)],
  });
  return result;
}

/** Adjacent indices stay where they are, separated ones come first. */
function indexedShape(
  call: OperatorCall,
  tensor: Tensor,
  indices: readonly { dimension: number; index: Tensor }[],
): number[] {
  const broadcast = broadcastShapes(...indices.map(({ index }) => index.shape));
  if (broadcast === undefined) {
    return call.fail(
      shapesDoNotFit(
        call.name,
        indices.map(({ index }) => index.shape),
      ),
    );
  }
  const dims = indices.map(({ dimension }) => dimension);
  const first = dims[0] ?? 0;
  const adjacent = dims.every((dimension, i) => dimension === first + i);
  const rest = (_: number, i: number): boolean => !dims.includes(i);
  if (!adjacent) return [...broadcast, ...tensor.shape.filter(rest)];
  return [...tensor.shape.slice(0, first), ...broadcast, ...tensor.shape.slice(first + dims.length)];
}

/** `x[index] = value`: written through a view where the index is one, by index_put_ where it has tensors. */
function setItem(call: OperatorCall): Argument {
  const target = call.tensor("self");
  const index = call.value("index");
  const value = call.value("value");
  const entries = isSequence(index) ? index : [index];
  const advanced = entries.filter((entry): entry is Tensor => isTensor(entry) && entry.shape.length > 0);
  const source = isTensor(value) ? value : undefined;
  target.values = undefined;
  if (advanced.length > 0) {
    // a number becomes a tensor first
    if (source === undefined) call.frame.temporarily((inner) => void inner.empty([], target.dtype));
    writeInPlace(call.frame, target, source, advanced, "IndexPutBackward0");
    return null;
  }
  const part = applySubscript(call, target, index);
  if (source !== undefined && broadcastShapes(part.shape, source.shape) === undefined) {
    call.fail(shapesDoNotFit(call.name, [part.shape, source.shape]));
  }
  copyInto(call.frame, part, source);
  return null;
}

/** `target.copy_(source)` or a fill. */
function copyInto(frame: Frame, target: Tensor, source: Tensor | undefined): void {
  if (!needsGraphInPlace(frame, target, [source])) return;
  attachInPlace(frame, {
    name: source === undefined ? "FillBackward0" : "CopyBackwards",
    target,
    others: [source],
    saved: [],
    backward: (inner, [gradient], _saved, wanted) => {
      if (gradient === undefined) return [];
      return [wanted[0] === true ? emptyLike(inner, gradient) : undefined, gradient];
    },
  });
}

/** Writes at places given by tensors: the target's gradient is copied with zeros there, the source's is gathered. */
export function writeInPlace(
  frame: Frame,
  target: Tensor,
  source: Tensor | undefined,
  kept: readonly Tensor[],
  name: string,
  accumulates = false,
): void {
  if (!needsGraphInPlace(frame, target, [source])) return;
  attachInPlace(frame, {
    name,
    target,
    others: [source],
    saved: kept,
    backward: (inner, [gradient], _saved, wanted) => {
      if (gradient === undefined) return [];
      return [
        wanted[0] === true ? (accumulates ? gradient : emptyLike(inner, gradient)) : undefined,
        wanted[1] === true && source !== undefined ? inner.empty(source.shape, gradient.dtype) : undefined,
      ];
    },
  });
}

/** An operator that picks elements by an index tensor; backward adds into zeros of the input's shape. */
function picked(
  frame: Frame,
  input: Tensor,
  shape: readonly number[],
  name: string,
  saved: readonly Tensor[],
): Tensor {
  const result = frame.empty(shape, input.dtype);
  const from = input.shape;
  differentiable(frame, {
    name,
    inputs: [input],
    outputs: [result],
    saved,
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : inner.empty(from, gradient.dtype)],
  });
  return result;
}

function indexSelect(call: OperatorCall): Tensor {
  const input = call.tensor("self");
  const index = call.tensor("index");
  const dimension = call.dimension(call.number("dim"), input.shape);
  const shape = input.shape.map((size, i) => (i === dimension ? elementCount(index.shape) : size));
  return picked(call.frame, input, shape, "IndexSelectBackward0", [index]);
}

/** `gather` keeps the input too (for its sizes). */
function gather(call: OperatorCall): Tensor {
  const input = call.tensor("self");
  const index = call.tensor("index");
  return picked(call.frame, input, index.shape, "GatherBackward0", [input, index]);
}

function take(call: OperatorCall): Tensor {
  const index = call.tensor("index");
  const self = call.tensor("self");
  return picked(call.frame, self, index.shape, "TakeBackward0", [self, index]);
}

/** `F.embedding`: keeps the indices; backward makes a gradient of the table's size, unless it is sparse. */
function embedding(call: OperatorCall): Tensor {
  const { frame } = call;
  const indices = call.tensor("input");
  const weight = call.tensor("weight");
  if (weight.shape.length !== 2) call.fail(shapesDoNotFit(call.name, [weight.shape]));
  const width = weight.shape[1] ?? 1;
  const result = frame.empty([...indices.shape, width], weight.dtype);
  const from = { shape: weight.shape, strides: weight.strides };
  const sparse = call.boolean("sparse");
  differentiable(frame, {
    name: "EmbeddingBackward0",
    inputs: [weight],
    outputs: [result],
    saved: [indices],
    backward: (inner, [gradient]) => {
      if (gradient === undefined) return [undefined];
      if (!sparse) return [inner.empty(from.shape, gradient.dtype)];
      // A sparse gradient holds one row an index; it passes for a tensor of the table's shape.
      inner.empty([1, elementCount(indices.shape)], "int64");
      const rows = inner.empty([elementCount(indices.shape), width], gradient.dtype);
      return [inner.alias(rows, from.shape, from.strides)];
    },
  });
  return result;
}

/**
 * `F.embedding_bag`: keeps indices, offsets, and bookkeeping of 8 bytes an index and bag. The CPU's kernel of sums needs
 * no bag of every index; the one of maxima keeps the places (EmbeddingBag.cpp).
 */
function embeddingBag(call: OperatorCall): Tensor {
  const { frame } = call;
  const names = ["input", "weight"] as const;
  // the order of old versions is understood by the types
  const isOld = isFloating(call.tensor("input").dtype);
  const [indices, weight] = (isOld ? names.toReversed() : names).map((name) => call.tensor(name));
  if (indices === undefined || weight === undefined) return call.notUnderstood("input");
  const given = call.optionalTensor("offsets");
  const factors = call.optionalTensor("per_sample_weights");
  const ends = call.boolean("include_last_offset") ? 1 : 0;
  const bags = given === undefined ? (indices.shape[0] ?? 1) : (given.shape[0] ?? 1) - ends;
  const offsets = given ?? frame.empty([bags], "int64");
  const onHost = frame.execution.device === "cpu";
  const width = weight.shape[1] ?? 1;
  const mode = call.text("mode");
  const result = frame.empty([bags, width], weight.dtype);
  const places = mode === "max" ? [bags, width] : [onHost ? bags : 0];
  const needsBags = !onHost || mode !== "sum" || call.value("padding_idx") !== null;
  const kept = [
    ...(factors === undefined ? [] : [factors, weight]),
    indices,
    offsets,
    frame.empty([needsBags ? elementCount(indices.shape) : 0], "int64"),
    frame.empty([onHost ? bags : (offsets.shape[0] ?? bags)], "int64"),
    frame.empty(places, "int64"),
  ];
  const from = weight.shape;
  differentiable(frame, {
    name: "EmbeddingBagBackward0",
    inputs: [weight, factors],
    outputs: [result],
    saved: kept,
    backward: (inner, [gradient], _saved, wanted) => {
      if (gradient === undefined) return [];
      return [from, factors?.shape ?? []].map((shape, i) =>
        wanted[i] === true ? inner.empty(shape, gradient.dtype) : undefined,
      );
    },
  });
  return result;
}

function oneHot(call: OperatorCall): Tensor {
  const input = call.tensor("self");
  const classes = call.number("num_classes");
  if (classes < 0) call.fail(dependsOnValues(call.name));
  return call.frame.empty([...input.shape, classes], "int64");
}

/** Results whose size only values know. */
const dependent = ["nonzero", "masked_select", "unique", "unique_consecutive", "argwhere", "bincount"];

export const indexingRows: readonly OperatorRow[] = [
  {
    names: ["Tensor.__getitem__"],
    signature: "self, index",
    run: (call) => applySubscript(call, call.tensor("self"), call.value("index")),
  },
  { names: ["Tensor.__setitem__"], signature: "self, index, value", run: setItem },
  {
    names: both("select"),
    signature: "self, dim, index",
    run: (call) => {
      const tensor = call.tensor("self");
      return select(call.frame, tensor, call.dimension(call.number("dim"), tensor.shape));
    },
  },
  { names: both("index_select"), signature: "self, dim, index, *, out=None", run: indexSelect },
  { names: both("gather"), signature: "self, dim, index, *, sparse_grad=False, out=None", run: gather },
  {
    names: both("take_along_dim"),
    signature: "self, index, dim=None",
    // negative places are made positive first
    run: (call) => {
      const self = call.tensor("self");
      const index = call.tensor("index");
      if (call.value("dim") === null) {
        const flat = call.op("Tensor.reshape", [self, -1]);
        return call.op("Tensor.gather", [flat, 0, call.op("Tensor.reshape", [index, -1])]);
      }
      // but for the dimension itself, both broadcast
      const dimension = call.dimension(call.number("dim"), self.shape);
      const others = (shape: readonly number[]): number[] =>
        shape.map((size, i) => (i === dimension ? 1 : size));
      const common = broadcastShapes(others(self.shape), others(index.shape));
      if (common === undefined) return call.fail(shapesDoNotFit(call.name, [self.shape, index.shape]));
      const [from, places] = [self, index].map((tensor) => {
        const shape = common.map((size, i) => (i === dimension ? (tensor.shape[i] ?? 1) : size));
        return sameShape(shape, tensor.shape) ? tensor : expand(call.frame, tensor, shape);
      });
      return call.op("Tensor.gather", [
        from ?? self,
        call.value("dim"),
        emptyLike(call.frame, places ?? index),
      ]);
    },
  },
  { names: both("take"), signature: "self, index", run: take },
  {
    names: ["Tensor.copy_"],
    signature: "self, src, non_blocking=False",
    run: (call) => {
      const target = call.tensor("self");
      target.values = undefined;
      copyInto(call.frame, target, call.tensor("src"));
      return target;
    },
  },
  ...[
    "fill_",
    "zero_",
    "normal_",
    "uniform_",
    "bernoulli_",
    "exponential_",
    "random_",
    "fill_diagonal_",
    "trunc_normal_",
  ].map((name): OperatorRow => ({
    names: [`Tensor.${name}`],
    signature: "self, *args, **kwargs",
    run: (call) => {
      const target = call.tensor("self");
      target.values = undefined;
      copyInto(call.frame, target, undefined);
      return target;
    },
  })),
  {
    names: ["torch.nn.functional.embedding"],
    signature:
      "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False",
    run: embedding,
  },
  {
    names: ["torch.nn.functional.embedding_bag"],
    signature:
      "input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode='mean', " +
      "sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None",
    run: embeddingBag,
  },
  { names: ["torch.nn.functional.one_hot"], signature: "self, num_classes=-1", run: oneHot },
  ...dependent.map((name): OperatorRow => ({
    names: both(name),
    signature: "self, *args, **kwargs",
    run: (call) => call.fail(dependsOnValues(call.name)),
  })),
  {
    names: [
      "Tensor.item",
      "Tensor.tolist",
      "Tensor.__float__",
      "Tensor.__int__",
      "Tensor.__bool__",
      "Tensor.__index__",
    ],
    signature: "self",
    run: (call) => {
      const { values, shape } = call.tensor("self");
      if (values === undefined) return call.fail(dependsOnValues(call.name));
      return shape.length === 0 ? (values[0] ?? 0) : [...values];
    },
  },
  {
    names: ["Tensor.numpy"],
    signature: "self, *, force=False",
    run: (call) => call.fail(dependsOnValues(call.name)),
  },
];
