/**
 * `torch.fft`: sizes, layouts and gradients as in aten/src/ATen/native/SpectralOps.cpp and the kernels of MKL and cuFFT,
 * which write transformed dimensions innermost (`_exec_fft` in torch/_meta_registrations.py). Transforms of real numbers
 * keep their input, the others keep nothing.
 */
import { isComplex, type Dtype, type Tensor } from "../tensor";
import { isSequence, numberOf, type Argument } from "./argument";
import { cast, differentiable } from "./autograd";
import type { Frame } from "./frame";
import { sameShape } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { pad } from "./padding";
import { conjugatedWhenUsed } from "./reasons";

/** What a transform makes of what: complex of complex, half of the complex numbers of real ones, and back. */
type Kind = "complex" | "to-half" | "from-half";

/** A gradient of a step of a transform may leave it as a strided view. */
interface Transform {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
  readonly dims: readonly number[];
}

function complexOf(dtype: Dtype): Dtype {
  return dtype === "float64" || dtype === "complex128" ? "complex128" : "complex64";
}

function realOf(dtype: Dtype): Dtype {
  return dtype === "float64" || dtype === "complex128" ? "float64" : "float32";
}

function replacedAt(shape: readonly number[], dimension: number, size: number): number[] {
  return shape.map((old, i) => (i === dimension ? size : old));
}

/** The kernel: batch dimensions outside in the order of their strides, transformed ones inside. */
function execute(frame: Frame, input: Pick<Tensor, "strides">, { shape, dtype, dims }: Transform): Tensor {
  return frame.empty(shape, dtype, layoutOf(input, shape, dims));
}

function layoutOf(
  input: Pick<Tensor, "strides">,
  shape: readonly number[],
  dims: readonly number[],
): number[] {
  const byStride = (a: number, b: number): number => (input.strides[b] ?? 0) - (input.strides[a] ?? 0);
  const batch = shape
    .map((_, i) => i)
    .filter((i) => !dims.includes(i))
    .sort(byStride);
  const order = [...batch, ...dims];
  const strides = new Array<number>(shape.length).fill(0);
  let elements = 1;
  for (const dimension of order.reverse()) {
    strides[dimension] = elements;
    elements *= shape[dimension] ?? 1;
  }
  return strides;
}

/** All dimensions, or all but the last, in the order of their strides. */
function sorted(input: Tensor, dims: readonly number[], keepsLast: boolean): number[] {
  const end = keepsLast ? dims.length - 1 : dims.length;
  const first = dims.slice(0, end).sort((a, b) => (input.strides[b] ?? 0) - (input.strides[a] ?? 0));
  return [...first, ...dims.slice(end)];
}

function complexKernel(frame: Frame, input: Tensor, dims: readonly number[]): Tensor {
  return execute(frame, input, { shape: input.shape, dtype: input.dtype, dims: sorted(input, dims, false) });
}

/** `_fft_c2c`. */
function complexToComplex(frame: Frame, input: Tensor, dims: readonly number[]): Tensor {
  const result = complexKernel(frame, input, dims);
  differentiable(frame, {
    name: "FftC2CBackward0",
    inputs: [input],
    outputs: [result],
    backward: (inner, [gradient]) => [
      gradient === undefined ? undefined : complexKernel(inner, gradient, dims),
    ],
  });
  return result;
}

function realKernel(frame: Frame, input: Tensor, dims: readonly number[], isOneSided: boolean): Tensor {
  const last = dims.at(-1) ?? 0;
  const half = Math.floor((input.shape[last] ?? 1) / 2) + 1;
  const shape = isOneSided ? replacedAt(input.shape, last, half) : input.shape;
  const dtype = complexOf(input.dtype);
  return execute(frame, input, { shape, dtype, dims: sorted(input, dims, true) });
}

/** `_fft_r2c`: its gradient is the real part of a full complex transform. */
export function realToComplex(
  frame: Frame,
  input: Tensor,
  dims: readonly number[],
  isOneSided: boolean,
): Tensor {
  const result = realKernel(frame, input, dims, isOneSided);
  differentiable(frame, {
    name: "FftR2CBackward0",
    inputs: [input],
    outputs: [result],
    saved: [input],
    backward: (inner, [gradient]) => {
      if (gradient === undefined) return [undefined];
      const full = sameShape(gradient.shape, input.shape) ? gradient : inner.empty(input.shape, result.dtype);
      return [realPart(inner, complexKernel(inner, full, dims))];
    },
  });
  return result;
}

function realPart(frame: Frame, complex: Tensor): Tensor {
  const strides = complex.strides.map((stride) => stride * 2);
  return frame.own(frame.execution.alias(complex, complex.shape, strides, realOf(complex.dtype)));
}

/** How the input lies after the kernel has transformed these dimensions, in memory of its own that is not counted. */
function turnedInside(input: Tensor, dims: readonly number[]): Pick<Tensor, "strides"> {
  return dims.length === 0 ? input : { strides: layoutOf(input, input.shape, sorted(input, dims, false)) };
}

/** `_fft_c2r`: the complex dimensions first, then the half one. */
export function complexToReal(frame: Frame, input: Tensor, dims: readonly number[], size: number): Tensor {
  const last = dims.at(-1) ?? 0;
  const shape = replacedAt(input.shape, last, size);
  const result = execute(frame, turnedInside(input, dims.slice(0, -1)), {
    shape,
    dtype: realOf(input.dtype),
    dims: [last],
  });
  differentiable(frame, {
    name: "FftC2RBackward0",
    inputs: [input],
    outputs: [result],
    backward: (inner, [gradient]) => [
      gradient === undefined ? undefined : realKernel(inner, gradient, dims, true),
    ],
  });
  return result;
}

/** The dimensions that are transformed, last one last, and the sizes they are brought to first. */
function dimensionsOf(
  call: OperatorCall,
  self: Tensor,
  rank: number | undefined,
): [number[], (number | undefined)[]] {
  const asked = call.value("dim");
  const sizes = rank === 1 ? call.value("n") : (call.value("s") ?? call.value("n"));
  const given = sizes === null ? undefined : isSequence(sizes) ? sizes.map(numberOf) : [numberOf(sizes)];
  let dims: number[];
  if (asked !== null)
    dims = (isSequence(asked) ? asked : [asked]).map((one) => numberOf(one) ?? call.notUnderstood("dim"));
  else {
    const count = rank ?? given?.length ?? self.shape.length;
    dims = Array.from({ length: count }, (_, i) => i - count);
  }
  const found = dims.map((one) => call.dimension(one, self.shape));
  return [found, found.map((_, i) => given?.[i])];
}

/** Zeros behind, or the rest cut off, where another size is asked for. */
function resized(
  call: OperatorCall,
  self: Tensor,
  dims: readonly number[],
  sizes: readonly (number | undefined)[],
): Tensor {
  const pads = new Array<number>(self.shape.length * 2).fill(0);
  let result = self;
  dims.forEach((dimension, i) => {
    const size = sizes[i];
    const more = size === undefined || size < 0 ? 0 : size - (self.shape[dimension] ?? 0);
    if (more > 0) pads[(self.shape.length - 1 - dimension) * 2 + 1] = more;
    if (size !== undefined && more < 0) result = call.op("Tensor.narrow", [result, dimension, 0, size]);
  });
  return pads.every((one) => one === 0) ? result : pad(call.frame, result, pads, "constant");
}

function fourier(call: OperatorCall, kind: Kind, rank: number | undefined): Tensor {
  const { frame } = call;
  const self = call.tensor("self");
  const [dims, sizes] = dimensionsOf(call, self, rank);
  const last = dims.at(-1) ?? 0;
  if (kind === "from-half") {
    const size = sizes.at(-1) ?? 2 * ((self.shape[last] ?? 1) - 1);
    const wide = isComplex(self.dtype) ? self : cast(frame, self, complexOf(self.dtype));
    const halves = sizes.map((one, i) => (i === sizes.length - 1 ? Math.floor(size / 2) + 1 : one));
    return complexToReal(frame, resized(call, wide, dims, halves), dims, size);
  }
  if (kind === "to-half") return realToComplex(frame, resized(call, self, dims, sizes), dims, true);
  if (!isComplex(self.dtype) && rank === 1) {
    // the inverse transform of real numbers is the conjugate of the transform (fft_r2c_maybe_out)
    if (call.name.endsWith(".ifft")) call.execution.noteBound(conjugatedWhenUsed(call.name));
    return realToComplex(frame, resized(call, self, dims, sizes), dims, false);
  }
  const wide = isComplex(self.dtype) ? self : cast(frame, self, complexOf(self.dtype));
  return complexToComplex(frame, resized(call, wide, dims, sizes), dims);
}

const names: readonly (readonly [plain: string, kind: Kind])[] = [
  ["fft", "complex"],
  ["ifft", "complex"],
  ["rfft", "to-half"],
  ["irfft", "from-half"],
];

const ranks: readonly (readonly [suffix: string, rank: number | undefined, dim: string])[] = [
  ["", 1, "-1"],
  ["2", 2, "(-2, -1)"],
  ["n", undefined, "None"],
];

/** `fftshift` and its inverse: every dimension rolled by half. */
function shift(call: OperatorCall): Argument {
  const self = call.tensor("self");
  const asked = call.value("dim");
  const dims = asked === null ? self.shape.map((_, i) => i) : isSequence(asked) ? asked : [asked];
  const half = (one: Argument): number =>
    Math.floor((self.shape[call.dimension(numberOf(one) ?? 0, self.shape)] ?? 0) / 2);
  return call.call("torch.roll", [self, dims.map(half), [...dims]]);
}

const shiftRows: readonly OperatorRow[] = [
  { names: ["torch.fft.fftshift", "torch.fft.ifftshift"], signature: "self, dim=None", run: shift },
];

const transformRows: readonly OperatorRow[] = ranks.flatMap(([suffix, rank, dim]) =>
  names.map(([plain, kind]): OperatorRow => ({
    names: [`torch.fft.${plain}${suffix}`],
    signature: `self, ${rank === 1 ? "n" : "s"}=None, dim=${dim}, norm=None, *, out=None`,
    run: (call) => fourier(call, kind, rank),
  })),
);

export const fourierRows: readonly OperatorRow[] = [...transformRows, ...shiftRows];
