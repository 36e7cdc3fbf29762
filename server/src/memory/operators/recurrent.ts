/**
 * Recurrent layers and cells: aten/src/ATen/native/RNN.cpp. On the CPU GRU and RNN run step by step and LSTM is one oneDNN
 * kernel a layer; on CUDA a layer is one cuDNN kernel and a cell one fused kernel.
 */
import { elementCount, type Dtype, type Tensor } from "../tensor";
import { isSequence, isTensor, type Argument } from "./argument";
import { differentiable, lowPrecision } from "./autograd";
import type { Frame } from "./frame";
import { elementwise } from "./kernels";
import { linear, matmul, mm } from "./matrix";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { reserveNotKnown, shapesDoNotFit } from "./reasons";
import { cat, stack, unbind } from "./joining";
import { contiguousOf, select, transpose } from "./views";

type Kind = "lstm" | "gru" | "rnn";

/** Weights of one layer and direction. */
interface CellWeights {
  readonly input: Tensor;
  readonly hidden: Tensor;
  readonly inputBias: Tensor | undefined;
  readonly hiddenBias: Tensor | undefined;
  readonly projection: Tensor | undefined;
}

const gates: Readonly<Record<Kind, number>> = { lstm: 4, gru: 3, rnn: 1 };

// --- Steps of the composed cells ------------------------------------------------------------------------------------

/** `unsafe_chunk`: pieces that autograd does not treat as views, so that in-place operators may write to them. */
function unsafeChunk(frame: Frame, tensor: Tensor, count: number): Tensor[] {
  const width = (tensor.shape[1] ?? 0) / count;
  const shape = [tensor.shape[0] ?? 1, width];
  const pieces = Array.from({ length: count }, () => frame.alias(tensor, shape, tensor.strides));
  const whole = tensor.shape;
  differentiable(frame, {
    name: "UnsafeSplitBackward0",
    inputs: [tensor],
    outputs: pieces,
    backward: (inner, gradients) => {
      const dtype = gradients.find((gradient) => gradient !== undefined)?.dtype ?? tensor.dtype;
      for (let i = 0; i < count; i++) if (gradients[i] === undefined) inner.empty(shape, dtype);
      return [inner.empty(whole, dtype)];
    },
  });
  return pieces;
}

function inPlace(frame: Frame, op: string, ...operands: readonly Tensor[]): Tensor {
  return elementwiseOp(frame, op, operands, { inPlace: true });
}

/** What the input contributes to the gates: computed before the loop where it can be. */
function inputGates(frame: Frame, input: Tensor, weights: CellWeights): Tensor {
  return linear(frame, input, weights.input, weights.inputBias);
}

function gruStep(frame: Frame, fromInput: Tensor, hidden: Tensor, weights: CellWeights): Tensor {
  return frame.scoped((inner) => {
    const [inputReset, inputUpdate, inputNew] = unsafeChunk(inner, fromInput, 3);
    const all = linear(inner, hidden, weights.hidden, weights.hiddenBias);
    const [hiddenReset, hiddenUpdate, hiddenNew] = unsafeChunk(inner, all, 3);
    if (
      inputReset === undefined ||
      inputUpdate === undefined ||
      inputNew === undefined ||
      hiddenReset === undefined ||
      hiddenUpdate === undefined ||
      hiddenNew === undefined
    ) {
      return hidden;
    }
    const reset = inPlace(inner, "sigmoid", inPlace(inner, "add", hiddenReset, inputReset));
    const update = inPlace(inner, "sigmoid", inPlace(inner, "add", hiddenUpdate, inputUpdate));
    const candidate = elementwiseOp(inner, "add", [inputNew, inPlace(inner, "mul", hiddenNew, reset)]);
    inPlace(inner, "tanh", candidate);
    const difference = elementwiseOp(inner, "sub", [hidden, candidate]);
    return inPlace(inner, "add", inPlace(inner, "mul", difference, update), candidate);
  });
}

function rnnStep(
  frame: Frame,
  fromInput: (frame: Frame) => Tensor,
  hidden: Tensor,
  weights: CellWeights,
  activation: string,
): Tensor {
  return frame.scoped((inner) => {
    const all = linear(inner, hidden, weights.hidden, weights.hiddenBias);
    return elementwiseOp(inner, activation, [inPlace(inner, "add", all, fromInput(inner))]);
  });
}

/** The next hidden state and the next cell state. */
function lstmStep(
  frame: Frame,
  fromInput: (frame: Frame) => Tensor,
  hidden: Tensor,
  cell: Tensor,
  weights: CellWeights,
): readonly Tensor[] {
  return frame.scopedAll((inner) => {
    const all = inner.scoped((each) =>
      inPlace(each, "add", linear(each, hidden, weights.hidden, weights.hiddenBias), fromInput(each)),
    );
    const [inputGate, forgetGate, candidate, outputGate] = unsafeChunk(inner, all, 4);
    if (
      inputGate === undefined ||
      forgetGate === undefined ||
      candidate === undefined ||
      outputGate === undefined
    ) {
      return [hidden, cell];
    }
    inPlace(inner, "sigmoid", inputGate);
    inPlace(inner, "sigmoid", forgetGate);
    inPlace(inner, "tanh", candidate);
    inPlace(inner, "sigmoid", outputGate);
    const next = inner.scoped((each) => {
      const kept = elementwiseOp(each, "mul", [forgetGate, cell]);
      return inPlace(each, "add", kept, elementwiseOp(each, "mul", [inputGate, candidate]));
    });
    const output = inner.scoped((each) =>
      elementwiseOp(each, "mul", [outputGate, elementwiseOp(each, "tanh", [next])]),
    );
    return [projectedState(inner, output, weights), next];
  });
}

/** The hidden state of an LSTM with `proj_size`: a product with one more matrix. */
function projectedState(frame: Frame, output: Tensor, { projection }: CellWeights): Tensor {
  if (projection === undefined) return output;
  return frame.scoped((inner) => matmul(inner, output, transpose(inner, projection, 0, 1, "TBackward0")));
}

// --- Fused kernels of CUDA ------------------------------------------------------------------------------------------

/** _thnn_fused_lstm_cell and _thnn_fused_gru_cell: keep both products, the state, the biases and a workspace. */
function fusedCell(
  frame: Frame,
  kind: "lstm" | "gru",
  fromInput: Tensor,
  fromHidden: Tensor,
  state: Tensor,
  weights: CellWeights,
): Tensor[] {
  const [batch = 1, width = 1] = state.shape;
  const { dtype } = fromInput;
  const outputs =
    kind === "lstm"
      ? [0, 1].map(() => frame.empty([batch, width], dtype))
      : [frame.empty([batch, width], dtype)];
  const workspace = frame.empty([batch, (kind === "lstm" ? 4 : 5) * width], dtype);
  const inputs = [fromInput, fromHidden, state, weights.inputBias, weights.hiddenBias];
  const products = fromInput.shape;
  differentiable(frame, {
    name: kind === "lstm" ? "ThnnFusedLstmCellBackward0" : "ThnnFusedGruCellBackward0",
    inputs,
    outputs,
    saved: [...inputs, kind === "lstm" ? outputs[1] : undefined, workspace],
    backward: (inner, _gradients, _saved, wanted) => {
      const product = inner.empty(products, dtype);
      const other = kind === "lstm" ? product : inner.empty(products, dtype);
      const stateGradient = inner.empty(state.shape, dtype);
      const bias = weights.inputBias === undefined ? undefined : inner.empty([products[1] ?? 1], dtype);
      const otherBias = kind === "lstm" || bias === undefined ? bias : inner.empty([products[1] ?? 1], dtype);
      return [product, other, stateGradient, bias, otherBias].map((gradient, i) =>
        wanted[i] === true ? gradient : undefined,
      );
    },
  });
  return outputs;
}

function times(frame: Frame, input: Tensor, weight: Tensor): Tensor {
  return mm(frame, input, transpose(frame, weight, 0, 1, "TBackward0"));
}

// --- Cells ----------------------------------------------------------------------------------------------------------

function runCell(call: OperatorCall, kind: Kind): Argument {
  const { frame } = call;
  const given = call.tensor("input");
  if (given.shape.length !== 2) call.fail(shapesDoNotFit(call.name, [given.shape]));
  const size = call.number("hidden_size");
  const hx = call.value("hx");
  const zeros = (): Tensor => frame.empty([given.shape[0] ?? 1, size], given.dtype);
  let states: readonly Argument[];
  if (hx === null) {
    const zero = zeros();
    states = kind === "lstm" ? [zero, zero] : [zero];
  } else {
    states = isSequence(hx) ? hx : [hx];
  }
  const [firstState = null, secondState = null] = states;
  if (!isTensor(firstState)) return call.notUnderstood("hx");
  // The last argument is cast first.
  const [input, hidden, cell, wIh, wHh, bIh, bHh] = lowPrecision<Tensor | undefined>(frame, [
    given,
    firstState,
    isTensor(secondState) ? secondState : undefined,
    call.tensor("w_ih"),
    call.tensor("w_hh"),
    call.optionalTensor("b_ih"),
    call.optionalTensor("b_hh"),
  ]);
  if (input === undefined || hidden === undefined || wIh === undefined || wHh === undefined) {
    return call.notUnderstood("input");
  }
  const weights: CellWeights = {
    input: wIh,
    hidden: wHh,
    inputBias: bIh,
    hiddenBias: bHh,
    projection: undefined,
  };
  if (frame.execution.device === "cuda" && kind !== "rnn") {
    const fromInput = times(frame, input, wIh);
    const fromHidden = times(frame, hidden, wHh);
    const [output = hidden, next] = fusedCell(
      frame,
      kind,
      fromInput,
      fromHidden,
      kind === "lstm" ? (cell ?? hidden) : hidden,
      weights,
    );
    return kind === "lstm" ? [output, next ?? output] : output;
  }
  if (kind === "lstm")
    return [...lstmStep(frame, (each) => inputGates(each, input, weights), hidden, cell ?? hidden, weights)];
  if (kind === "rnn")
    return rnnStep(frame, (each) => inputGates(each, input, weights), hidden, weights, "tanh");
  return gruStep(frame, inputGates(frame, input, weights), hidden, weights);
}

// --- Layers ---------------------------------------------------------------------------------------------------------

interface Layer {
  readonly call: OperatorCall;
  readonly kind: Kind;
  readonly size: number;
  readonly output: number;
}

function weightsOf(call: OperatorCall, index: number, projected: boolean): CellWeights {
  const biased = call.boolean("has_biases");
  const each = 2 + (biased ? 2 : 0) + (projected ? 1 : 0);
  const own = call.tensors("params").slice(index * each, (index + 1) * each);
  const [input, hidden] = own;
  if (input === undefined || hidden === undefined) return call.notUnderstood("params");
  return {
    input,
    hidden,
    inputBias: biased ? own[2] : undefined,
    hiddenBias: biased ? own[3] : undefined,
    projection: projected ? own.at(-1) : undefined,
  };
}

/** What a layer, or one direction of it, gives: its output, and the states after its last step. */
interface LayerResult {
  readonly output: Tensor;
  readonly last: readonly Tensor[];
}

/** The cells of one direction, one a step; the first of a state is what the step puts out. */
function runSteps(
  frame: Frame,
  kind: Kind,
  steps: readonly Tensor[],
  states: readonly Tensor[],
  weights: CellWeights,
): { outputs: Tensor[]; last: readonly Tensor[] } {
  const outputs: Tensor[] = [];
  let last = states;
  for (const step of steps) {
    const [hidden = step, cell = hidden] = last;
    const before = last;
    if (kind === "lstm") last = lstmStep(frame, () => step, hidden, cell, weights);
    else if (kind === "gru") last = [gruStep(frame, step, hidden, weights)];
    else last = [rnnStep(frame, () => step, hidden, weights, "tanh")];
    // the outputs stay, the cell before goes with the hidden state that it belongs to
    if (before !== states) frame.free(before[1]);
    const [output] = last;
    if (output !== undefined) outputs.push(output);
  }
  return { outputs, last };
}

/**
 * One layer step by step, with the lifetimes of FullLayer and FullBidirectionalLayer in RNN.cpp: the input's share of all
 * steps is computed at once; of two directions, the first one's share and steps go when the second one's have been made,
 * and the outputs of all steps stay until the layer is done.
 */
function composedLayer(
  frame: Frame,
  kind: Kind,
  input: Tensor,
  states: readonly (readonly Tensor[])[],
  weights: readonly CellWeights[],
): readonly LayerResult[] {
  const results: LayerResult[] = [];
  const made = frame.scopedAll((inner) => {
    let earlier: readonly Tensor[] = [];
    for (const [direction, own] of weights.entries()) {
      const shares = inputGates(inner, input, own);
      inner.free(...earlier.slice(0, 1));
      const steps = unbind(inner, shares, 0);
      inner.free(...earlier.slice(1));
      const order = direction === 1 ? steps.toReversed() : steps;
      const { outputs, last } = runSteps(inner, kind, order, states[direction] ?? [], own);
      const output = stack(inner, direction === 1 ? outputs.toReversed() : outputs, 0);
      results.push({ output, last });
      earlier = [shares, ...steps];
    }
    if (results.length === 1) return results.flatMap(({ output, last }) => [output, ...last]);
    const whole = cat(
      inner,
      results.map(({ output }) => output),
      2,
    );
    return [whole, ...results.flatMap(({ last }) => last)];
  });
  const [output = input] = made;
  return results.map(({ last }) => ({ output, last }));
}

/** Where the second bias stands among the inputs of the kernel. */
const hiddenBiasAt = 4;

/** One direction of an LSTM layer as oneDNN runs it: input, states, output and last states are kept. */
function kernelDirection(
  layer: Layer,
  input: Tensor,
  states: readonly Tensor[],
  weights: CellWeights,
): { output: Tensor; last: Tensor; lastCell: Tensor } {
  const { frame } = layer.call;
  const [length = 1, batch = 1] = input.shape;
  const output = frame.empty([length, batch, layer.output], input.dtype);
  const last = frame.empty([batch, layer.output], input.dtype);
  const lastCell = frame.empty([batch, layer.size], input.dtype);
  // without biases zeros stand for them, and they have the weights' shapes: RNN.cpp, mkldnn_rnn
  const biases = [
    weights.inputBias ?? frame.empty(weights.input.shape, input.dtype),
    weights.hiddenBias ?? frame.empty(weights.hidden.shape, input.dtype),
  ];
  const inputs = [input, weights.input, weights.hidden, ...biases, ...states];
  const shapes = inputs.map(({ shape, dtype }, i) => ({
    shape: i === hiddenBiasAt - 1 || i === hiddenBiasAt ? shape.slice(0, 1) : shape,
    dtype,
  }));
  differentiable(frame, {
    name: "MkldnnRnnLayerBackward0",
    inputs,
    outputs: [output, last, lastCell],
    saved: [...inputs, output, last, lastCell],
    backward: (inner, gradients, _saved, wanted) => {
      if (gradients[0] === undefined) inner.empty(output.shape, output.dtype);
      // Both biases get the same gradient.
      const made = shapes.map(({ shape, dtype }, i) =>
        i === hiddenBiasAt ? undefined : inner.empty(shape, dtype),
      );
      made[hiddenBiasAt] = made[hiddenBiasAt - 1];
      return made.map((gradient, i) => (wanted[i] === true ? gradient : undefined));
    },
  });
  return { output, last, lastCell };
}

/** Both directions of a layer as oneDNN runs them, one kernel a direction. */
function kernelLayer(
  layer: Layer,
  input: Tensor,
  states: readonly (readonly Tensor[])[],
  weights: readonly CellWeights[],
): readonly LayerResult[] {
  const results = weights.map((own, direction) =>
    kernelDirection(layer, input, states[direction] ?? [], own),
  );
  const outputs = results.map(({ output }) => output);
  const [only = input] = outputs;
  const output = outputs.length === 1 ? only : cat(layer.call.frame, outputs, 2);
  return results.map(({ last, lastCell }) => ({ output, last: [last, lastCell] }));
}

function runLayers(call: OperatorCall, kind: Kind): Argument {
  const { frame } = call;
  const given = call.tensor("input");
  const size = call.number("hidden_size");
  const projected = call.number("proj_size");
  const layer: Layer = { call, kind, size, output: projected > 0 ? projected : size };
  const batchFirst = call.boolean("batch_first");
  const directions = call.boolean("bidirectional") ? 2 : 1;
  const layers = call.number("num_layers");
  const batch = given.shape[batchFirst ? 0 : 1] ?? 1;
  const initial = initialStates(call, layer, layers * directions, batch, given.dtype);
  if (frame.execution.device === "cuda")
    return cudnnLayers(layer, given, initial, batchFirst, directions, layers);
  let input = batchFirst ? transpose(frame, given, 0, 1) : given;
  // oneDNN has no projections
  const kernel = kind === "lstm" && projected === 0;
  if (kernel) input = contiguousOf(frame, input);
  const states = initial.map((state) =>
    kernel
      ? Array.from({ length: layers * directions }, () => select(frame, state, 0))
      : unbind(frame, state, 0),
  );
  const lasts: (readonly Tensor[])[] = [];
  const dropout = call.boolean("train") && call.number("dropout") > 0;
  for (let i = 0; i < layers; i++) {
    const places = Array.from({ length: directions }, (_, direction) => i * directions + direction);
    const weights = places.map((place) => weightsOf(call, place, projected > 0));
    const own = places.map((place) => states.map((each) => each[place] ?? input));
    const results = kernel
      ? kernelLayer(layer, input, own, weights)
      : composedLayer(frame, kind, input, own, weights);
    if (i > 0) frame.free(input);
    const [{ output } = { output: input }] = results;
    for (const { last } of results) lasts.push(last);
    input = output;
    if (!dropout || i === layers - 1) continue;
    input = frame.scoped((inner) =>
      elementwiseOp(inner, "mul", [output, elementwise(inner, [output], output.dtype)]),
    );
    frame.free(output);
  }
  const output = batchFirst ? transpose(frame, input, 0, 1) : input;
  const final = initial.map((_, place) =>
    stack(
      frame,
      lasts.flatMap((each) => each.slice(place, place + 1)),
      0,
    ),
  );
  return kind === "lstm" ? [output, final] : [output, final[0] ?? null];
}

/** Zeros where no state is given, as torch/nn/modules/rnn.py makes them. */
function initialStates(
  call: OperatorCall,
  layer: Layer,
  count: number,
  batch: number,
  dtype: Dtype,
): Tensor[] {
  const hx = call.value("hx");
  if (hx !== null) {
    const given = (isSequence(hx) ? hx : [hx]).filter(isTensor);
    return given.length === (layer.kind === "lstm" ? 2 : 1) ? given : call.notUnderstood("hx");
  }
  const hidden = call.frame.empty([count, batch, layer.output], dtype);
  return layer.kind === "lstm" ? [hidden, call.frame.empty([count, batch, layer.size], dtype)] : [hidden];
}

/**
 * _cudnn_rnn: one kernel for all layers. It keeps input, states, output and a reserve. cuDNN does not document the
 * reserve's size; counted here is what backward cannot do without: the activated gates of every step, LSTM's cell states,
 * and the outputs between the layers. The true reserve is larger, so a step with a graph through it is a lower bound.
 */
function cudnnLayers(
  layer: Layer,
  given: Tensor,
  states: readonly Tensor[],
  batchFirst: boolean,
  directions: number,
  layers: number,
): Argument {
  const { call, kind } = layer;
  const { frame } = call;
  const mode = frame.execution.autocast;
  const parameters = call.tensors("params");
  const cast =
    mode === undefined
      ? [given, ...states, ...parameters]
      : lowPrecision(frame, [given, ...states, ...parameters]);
  const [input = given] = cast;
  const hidden = cast.slice(1, 1 + states.length);
  const weights = cast.slice(1 + states.length);
  const time = contiguousOf(frame, batchFirst ? transpose(frame, input, 0, 1) : input);
  const [length = 1, batch = 1] = time.shape;
  const { dtype } = time;
  const output = frame.empty([length, batch, layer.output * directions], dtype);
  const lasts = hidden.map((state) => frame.empty(state.shape, dtype));
  const perStep =
    gates[kind] * layer.size + (kind === "lstm" ? layer.size : 0) + (kind === "gru" ? layer.size : 0);
  const between = layers > 1 ? (layers - 1) * layer.output * directions : 0;
  const reserve = frame.empty([length, batch, perStep * directions * layers + between], dtype);
  const matrices = weights.filter((weight) => weight.shape.length > 1);
  const perRow = matrices.reduce((sum, { shape }) => sum + elementCount(shape), 0);
  frame.execution.noteProducts(length * batch * perRow);
  const inputs = [time, ...hidden, ...weights];
  if (frame.execution.needsGraph(inputs)) frame.execution.noteBound(reserveNotKnown(`torch.${kind}`));
  differentiable(frame, {
    name: "CudnnRnnBackward0",
    inputs,
    outputs: [output, ...lasts],
    saved: [...inputs, output, reserve],
    backward: (inner, gradients, saved, wanted) => {
      if (gradients[0] === undefined) inner.empty(output.shape, dtype);
      return inputs.map((_, i) => {
        const source = saved[i];
        return wanted[i] === true && source !== undefined
          ? inner.empty(source.shape, source.dtype)
          : undefined;
      });
    },
  });
  const shown = batchFirst ? transpose(frame, output, 0, 1) : output;
  return kind === "lstm" ? [shown, lasts] : [shown, lasts[0] ?? null];
}

const kinds: readonly Kind[] = ["lstm", "gru", "rnn"];

export const recurrentRows: readonly OperatorRow[] = kinds.flatMap((kind): OperatorRow[] => [
  {
    names: [`torch.${kind}`],
    signature:
      "input, hx, params, *, has_biases=True, num_layers=1, dropout=0.0, train=False, bidirectional=False, " +
      "batch_first=False, hidden_size, proj_size=0",
    run: (call) => runLayers(call, kind),
  },
  {
    names: [`torch.${kind}_cell`],
    signature: "input, hx, w_ih, w_hh, b_ih=None, b_hh=None, *, hidden_size",
    run: (call) => runCell(call, kind),
  },
]);
