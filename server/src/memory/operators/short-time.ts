/** Short-time Fourier transforms and windows: aten/src/ATen/native/SpectralOps.cpp, torch/functional.py. */
import { isComplex, type Tensor } from "../tensor";
import { differentiable } from "./autograd";
import { asStrided } from "./changing-views";
import { complexToReal, realToComplex } from "./fourier";
import type { Frame } from "./frame";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { shapesDoNotFit } from "./reasons";
import { reshape, squeeze, transpose, unsqueeze } from "./views";

const F = "torch.nn.functional";

/** `hop_length` and `win_length`, or what PyTorch takes for them. */
function lengthsOf(call: OperatorCall): { size: number; hop: number; width: number } {
  const size = call.number("n_fft");
  const hop = call.optionalNumber("hop_length") ?? Math.floor(size / 4);
  return { size, hop, width: call.optionalNumber("win_length") ?? size };
}

/** The signal with half a window of its mirror image on both sides. */
function centred(call: OperatorCall, input: Tensor, size: number): Tensor {
  const { frame } = call;
  const half = Math.floor(size / 2);
  const wide = reshape(frame, input, [...new Array<number>(3 - input.shape.length).fill(1), ...input.shape]);
  const padded = call.op(`${F}.pad`, [wide, [half, half], call.value("pad_mode")]);
  return reshape(frame, padded, input.shape.length === 1 ? padded.shape.slice(2) : padded.shape.slice(1));
}

/** `torch.stft`: overlapping frames by strides, each multiplied by the window, all transformed at once. */
function stft(call: OperatorCall): Tensor {
  const { frame } = call;
  const input = call.tensor("input");
  const { size, hop, width } = lengthsOf(call);
  const window = call.optionalTensor("window");
  const isWindowComplex = window !== undefined && isComplex(window.dtype);
  if (input.shape.length > 2 || isComplex(input.dtype) || isWindowComplex) return call.notUnderstood("input");
  const signal = call.boolean("center") ? centred(call, input, size) : input;
  const rows = signal.shape.length === 1 ? unsqueeze(frame, signal, 0) : signal;
  // a narrow window stands in the middle of zeros, one of ones too
  const factor = width < size ? frame.empty([size], window?.dtype ?? input.dtype) : window;
  const [batch = 1, length = 0] = rows.shape;
  if (length < size) return call.fail(shapesDoNotFit(call.name, [input.shape, [size]]));
  const count = 1 + Math.floor((length - size) / hop);
  const [stride = length, step = 1] = rows.strides;
  const frames = asStrided(frame, rows, [batch, count, size], [stride, hop * step, step]);
  const weighted = factor === undefined ? frames : elementwiseOp(frame, "mul", [frames, factor]);
  const isOneSided = call.value("onesided") !== false;
  const spectrum = transpose(frame, realToComplex(frame, weighted, [2], isOneSided), 1, 2);
  const result = input.shape.length === 1 ? squeeze(frame, spectrum, [0]) : spectrum;
  return call.boolean("return_complex") ? result : call.op("torch.view_as_real", [result]);
}

/** unfold_backward: frames added where they overlap; its gradient is the frames again, as a view. */
function overlapAdded(frame: Frame, frames: Tensor, length: number, hop: number): Tensor {
  const [batch = 1, count = 1, size = 1] = frames.shape;
  const result = frame.empty([batch, length], frames.dtype);
  differentiable(frame, {
    name: "UnfoldBackwardBackward0",
    inputs: [frames],
    outputs: [result],
    backward: (inner, [gradient]) => {
      if (gradient === undefined) return [undefined];
      const [stride = length, step = 1] = gradient.strides;
      return [inner.view(gradient, [batch, count, size], [stride, hop * step, step])];
    },
  });
  return result;
}

/** `torch.istft`: the frames transformed back, added up, and divided by what the windows add up to. */
function istft(call: OperatorCall): Tensor {
  const { frame } = call;
  const given = call.tensor("input");
  const { size, hop, width } = lengthsOf(call);
  if (!isComplex(given.dtype) || given.shape.length < 2 || call.boolean("return_complex"))
    return call.notUnderstood("input");
  const own = call.optionalTensor("window") ?? frame.empty([width], "float32");
  const left = Math.floor((size - width) / 2);
  const window = width < size ? call.op(`${F}.pad`, [own, [left, size - width - left]]) : own;
  const batched = given.shape.length === 2 ? unsqueeze(frame, given, 0) : given;
  const turned = transpose(frame, batched, 1, 2);
  const [batch = 1, count = 1] = turned.shape;
  const isOneSided = call.value("onesided") !== false;
  const half =
    isOneSided || turned.shape[2] !== size
      ? turned
      : call.op("Tensor.narrow", [turned, 2, 0, Math.floor(size / 2) + 1]);
  const frames = complexToReal(frame, half, [2], size);
  const length = size + hop * (count - 1);
  const weighted = elementwiseOp(frame, "mul", [frames, reshape(frame, window, [1, 1, size])]);
  const sums = overlapAdded(frame, weighted, length, hop);
  const power = call.op("torch.pow", [window, 2]);
  const envelope = overlapAdded(frame, call.op("Tensor.expand", [power, [1, count, size]]), length, hop);
  const start = call.boolean("center") ? Math.floor(size / 2) : 0;
  const asked = call.optionalNumber("length");
  const end = asked === undefined ? length - start : Math.min(start + asked, length);
  const [signal = sums, divisor = envelope] = [sums, envelope].map((tensor) =>
    call.op("Tensor.narrow", [tensor, 1, start, end - start]),
  );
  // whether the envelope has zeros
  frame.scoped((inner) => {
    inner.empty(divisor.shape, divisor.dtype);
    return inner.empty([], "bool");
  });
  const restored = elementwiseOp(frame, "div", [signal, divisor]);
  const missing = (asked ?? 0) - (end - start);
  const whole = missing > 0 ? call.op(`${F}.pad`, [restored, [0, missing]]) : restored;
  return given.shape.length === 2 || batch === 0 ? squeeze(frame, whole, [0]) : whole;
}

const windows = ["hann", "hamming", "blackman", "bartlett"] as const;

export const shortTimeRows: readonly OperatorRow[] = [
  {
    names: both("stft"),
    signature:
      "input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode='reflect', " +
      "normalized=False, onesided=None, return_complex=None, align_to_window=None",
    run: stft,
  },
  {
    names: both("istft"),
    signature:
      "input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, " +
      "onesided=None, length=None, return_complex=False",
    run: istft,
  },
  ...windows.map((name): OperatorRow => ({
    names: [`torch.${name}_window`],
    signature:
      "window_length, periodic=True, alpha=None, beta=None, *, dtype=None, layout=None, device=None, " +
      "requires_grad=False, pin_memory=False",
    run: (call) => call.frame.empty([call.number("window_length")], call.dtype("dtype") ?? "float32"),
  })),
  {
    names: ["torch.kaiser_window"],
    signature:
      "window_length, periodic=True, beta=12.0, *, dtype=None, layout=None, device=None, requires_grad=False",
    run: (call) => call.frame.empty([call.number("window_length")], call.dtype("dtype") ?? "float32"),
  },
];
