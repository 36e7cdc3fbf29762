/** Scattering: aten/src/ATen/native/TensorAdvancedIndexing.cpp, scatter_reduce_backward in FunctionsManual.cpp. */
import type { BackwardFunction } from "../graph";
import type { Tensor } from "../tensor";
import { isSequence, isTensor, numberOf } from "./argument";
import { differentiable, needs } from "./autograd";
import { Frame } from "./frame";
import { writeInPlace } from "./indexing";
import { attachInPlace, needsGraphInPlace } from "./inplace";
import { emptyLike } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { clone } from "./views";

interface Scatter {
  readonly node: string;
  /** Adds to what is there, whose gradient passes unchanged. */
  readonly adds: boolean;
  /** Keeps the source too, for its shape. */
  readonly keepsSource: boolean;
}

const kinds: Readonly<Record<string, Scatter>> = {
  scatter: { node: "ScatterBackward0", adds: false, keepsSource: false },
  scatter_add: { node: "ScatterAddBackward0", adds: true, keepsSource: false },
  index_add: { node: "IndexAddBackward0", adds: true, keepsSource: true },
  index_copy: { node: "IndexCopyBackward0", adds: false, keepsSource: true },
};

/** Out of place or in place. */
function scatter(call: OperatorCall, kind: Scatter, inPlace: boolean): Tensor {
  const { frame } = call;
  const self = call.tensor("self");
  const index = call.tensor("index");
  const value = call.value("src") ?? call.values.source;
  const source = isTensor(value) ? value : undefined;
  const isNeeded = needs(frame.execution, source);
  const saved = isNeeded || !kind.adds ? [index, kind.keepsSource && isNeeded ? source : undefined] : [];
  const row = { name: kind.node, saved, backward: scatterBackward(source, kind.adds, alphaOf(call)) };
  if (inPlace) {
    if (needsGraphInPlace(frame, self, [source]))
      attachInPlace(frame, { ...row, target: self, others: [source] });
    return self;
  }
  const result = emptyLike(frame, self);
  differentiable(frame, { ...row, inputs: [self, source], outputs: [result] });
  return result;
}

/** The factor of what `index_add` adds. */
function alphaOf(call: OperatorCall): number {
  return numberOf(call.values.alpha) ?? 1;
}

/** `alpha`: a factor of the source, with which its gradient is multiplied once more. */
function scatterBackward(source: Tensor | undefined, adds: boolean, alpha = 1): BackwardFunction {
  return (inner, [gradient], _saved, wanted) => {
    if (gradient === undefined) return [];
    const own = adds || wanted[0] !== true ? gradient : emptyLike(inner, gradient);
    const taken = (): Tensor | undefined =>
      wanted[1] === true && source !== undefined ? inner.empty(source.shape, gradient.dtype) : undefined;
    return [
      wanted[0] === true ? own : undefined,
      alpha === 1
        ? taken()
        : inner.temporarily((frame) => {
            const gathered = taken();
            return gathered === undefined ? undefined : emptyLike(frame, gathered);
          }),
    ];
  };
}

/** `scatter_reduce`: keeps target, source, places and result whatever it computes. */
function scatterReduce(call: OperatorCall, inPlace: boolean): Tensor {
  const { frame } = call;
  const [self, index, source] = [call.tensor("self"), call.tensor("index"), call.tensor("src")];
  const kind = call.text("reduce");
  // the gradient of products goes by which of them are zero
  if (kind === "prod") return call.notUnderstood("reduce");
  const includesSelf = call.value("include_self") !== false;
  const own = inPlace ? clone(frame, self) : self;
  const result = inPlace ? self : emptyLike(frame, self);
  const inputs = [self, source];
  const row = {
    name: "ScatterReduceBackward0",
    saved: [index, own, source, result],
    backward: reduceBackward(kind, includesSelf, self, source),
  };
  if (!inPlace) differentiable(frame, { ...row, inputs, outputs: [result] });
  else if (needsGraphInPlace(frame, self, [source]))
    attachInPlace(frame, { ...row, target: self, others: [source] });
  return result;
}

type Pair = readonly [ofSelf: Tensor, ofSource: Tensor];

/** Gradients of target and source; all that a formula makes lives until both are there. */
const reduceGradients: Readonly<
  Record<string, (frame: Frame, gradient: Tensor, self: Tensor, source: Tensor) => Pair>
> = {
  sum: (frame, gradient, _self, source) => [gradient, frame.empty(source.shape, gradient.dtype)],
  mean: (frame, { dtype }, self, source) => {
    // how many there are of each: ones added to ones
    frame.scoped((inner) => {
      const [ones] = [inner.empty(self.shape, dtype), inner.empty(source.shape, dtype)];
      const counts = inner.empty(self.shape, dtype);
      inner.free(ones);
      return counts;
    });
    const ofSelf = frame.empty(self.shape, dtype);
    frame.empty(source.shape, dtype);
    frame.empty(source.shape, dtype);
    return [ofSelf, frame.empty(source.shape, dtype)];
  },
  amax: (frame, { dtype }, self, source) => {
    const mask = (tensor: Tensor): Tensor =>
      frame.scoped((inner) => {
        inner.empty(tensor.shape, "bool");
        return inner.empty(tensor.shape, dtype);
      });
    frame.empty(source.shape, dtype);
    mask(self);
    mask(source);
    for (let i = 0; i < 2; i++) frame.empty(self.shape, dtype);
    const ofSelf = mask(self);
    frame.empty(source.shape, dtype);
    return [ofSelf, mask(source)];
  },
};

const sameGradients: Readonly<Record<string, string>> = { add: "sum", amin: "amax" };

function reduceBackward(kind: string, includesSelf: boolean, self: Tensor, source: Tensor): BackwardFunction {
  return (frame, [gradient], _saved, wanted) => {
    const compute = reduceGradients[sameGradients[kind] ?? kind];
    if (gradient === undefined || compute === undefined) return [];
    const inner = new Frame(frame.execution);
    const [ofSelf, ofSource] = compute(inner, gradient, self, source);
    inner.end([ofSelf, ofSource]);
    const own = includesSelf ? frame.own(ofSelf) : frame.empty(self.shape, gradient.dtype);
    if (!includesSelf) frame.execution.dropTensor(ofSelf);
    frame.own(ofSource);
    return [wanted[0] === true ? own : undefined, wanted[1] === true ? ofSource : undefined];
  };
}

// --- Writing by index -----------------------------------------------------------------------------------------------

/** `index_fill` and its like: where it wrote, nothing flows back. */
function filled(call: OperatorCall, node: string, kept: readonly Tensor[], inPlace: boolean): Tensor {
  const { frame } = call;
  const self = call.tensor("self");
  if (inPlace) {
    writeInPlace(frame, self, undefined, kept, node);
    return self;
  }
  const result = emptyLike(frame, self);
  differentiable(frame, {
    name: node,
    inputs: [self],
    outputs: [result],
    saved: kept,
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : emptyLike(inner, gradient)],
  });
  return result;
}

/** `index_put` and `masked_scatter`: out of place they write into a copy. */
function put(call: OperatorCall, node: string, index: string, values: string, inPlace: boolean): Tensor {
  const { frame } = call;
  const self = call.tensor("self");
  const given = call.value(index);
  const kept = (isSequence(given) ? given : [given]).filter(isTensor);
  const source = call.tensor(values);
  const accumulates = call.values.accumulate === true;
  if (inPlace) {
    writeInPlace(frame, self, source, kept, node, accumulates);
    return self;
  }
  const result = emptyLike(frame, self);
  differentiable(frame, {
    name: node,
    inputs: [self, source],
    outputs: [result],
    saved: kept,
    backward: scatterBackward(source, accumulates),
  });
  return result;
}

const inPlaceOrNot = [false, true];

function spelled(name: string, inPlace: boolean): string[] {
  return inPlace ? [`Tensor.${name}_`] : [`Tensor.${name}`, `torch.${name}`];
}

export const scatteringRows: readonly OperatorRow[] = inPlaceOrNot.flatMap((inPlace): OperatorRow[] => [
  ...Object.entries(kinds).map(([name, kind]): OperatorRow => ({
    names: spelled(name, inPlace),
    signature:
      name === "scatter"
        ? "self, dim, index, src=None, *, value=None, reduce=None"
        : "self, dim, index, src=None, *, alpha=1, source=None",
    run: (call) => scatter(call, kind, inPlace),
  })),
  {
    names: spelled("scatter_reduce", inPlace),
    signature: "self, dim, index, src, reduce, *, include_self=True",
    run: (call) => scatterReduce(call, inPlace),
  },
  {
    names: spelled("index_fill", inPlace),
    signature: "self, dim, index, value",
    run: (call) => {
      const value = call.value("value");
      // how many different places there are decides what the gradient of a value needs
      if (isTensor(value) && needs(call.execution, value)) return call.notUnderstood("value");
      return filled(call, "IndexFillBackward0", [call.tensor("index")], inPlace);
    },
  },
  {
    names: spelled("index_put", inPlace),
    signature: "self, indices, values, accumulate=False",
    run: (call) => put(call, "IndexPutBackward0", "indices", "values", inPlace),
  },
  {
    names: spelled("masked_scatter", inPlace),
    signature: "self, mask, source",
    run: (call) => put(call, "MaskedScatterBackward0", "mask", "source", inPlace),
  },
]);
