/** Operators that fit no other topic: complex views, tensor products, diagonals, sampling. */
import { contiguousStrides, elementCount, isComplex, type Dtype, type Tensor } from "../tensor";
import { isSequence, isTensor, numberOf, type Argument } from "./argument";
import { differentiable, widest } from "./autograd";
import { kernelWithoutSaved } from "./convolution";
import { emptyLike } from "./kernels";
import { mm } from "./matrix";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { conjugatedWhenUsed, shapeNotValid, shapesDoNotFit } from "./reasons";
import { softmax } from "./reductions";
import { permute, reshape, viewOf } from "./views";

const F = "torch.nn.functional";

/**
 * `torch.multinomial`. One draw, or draws without replacement, are the greatest of the probabilities divided by exponential
 * noise; more draws with replacement go through cumulative sums, of one row on the CPU, of all rows on CUDA, where copies of the
 * probabilities as they are and normalized stand beside them. Sources: ATen/native/Distributions.cpp, cpu/MultinomialKernel.cpp,
 * cuda/MultinomialKernel.cu.
 */
function multinomial(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const count = call.number("num_samples");
  const rows = self.shape.slice(0, -1);
  const result = call.frame.empty([...rows, count], "int64");
  call.frame.temporarily((inner) => {
    if (count !== 1 && call.boolean("replacement")) {
      if (inner.execution.device === "cpu") inner.empty(self.shape.slice(-1), self.dtype);
      else for (let i = 0; i < 3; i++) inner.empty(self.shape, self.dtype);
      return undefined;
    }
    // what is checked first: the least and the greatest, and that no row is all zeros
    for (const dtype of [self.dtype, self.dtype, "bool"] as const) inner.empty([], dtype);
    inner.free(inner.empty(rows, self.dtype), inner.empty(rows, "bool"));
    inner.empty([], "bool");
    emptyLike(inner, self);
    if (count !== 1) inner.empty(result.shape, self.dtype);
    return undefined;
  });
  return result;
}

/** `view_as_complex`: pairs of the last dimension as one number, on the same storage. */
function viewAsComplex(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  if (self.shape.at(-1) !== 2) call.fail(shapeNotValid(call.name, self.shape, self.shape.slice(0, -1)));
  const dtype: Dtype = self.dtype === "float64" ? "complex128" : "complex64";
  return reinterpreted(
    call,
    self.shape.slice(0, -1),
    self.strides.slice(0, -1).map((s) => s / 2),
    dtype,
  );
}

function viewAsReal(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const dtype: Dtype = self.dtype === "complex128" ? "float64" : "float32";
  return reinterpreted(call, [...self.shape, 2], [...self.strides.map((s) => s * 2), 1], dtype);
}

/** Another dtype on the same storage; so is the gradient. */
function reinterpreted(
  call: OperatorCall,
  shape: readonly number[],
  strides: readonly number[],
  dtype: Dtype,
): Tensor {
  const { frame } = call;
  const self = call.tensor("self");
  const view = frame.own(frame.execution.alias(self, shape, strides, dtype));
  const from = { shape: self.shape, strides: self.strides, dtype: self.dtype };
  differentiable(frame, {
    name: isComplex(dtype) ? "ViewAsComplexBackward0" : "ViewAsRealBackward0",
    inputs: [self],
    outputs: [view],
    backward: (inner, [gradient]) => [
      gradient === undefined
        ? undefined
        : inner.own(inner.execution.alias(gradient, from.shape, contiguousStrides(from.shape), from.dtype)),
    ],
  });
  return view;
}

/** `torch.real`, `torch.imag`: every other number of the storage. */
function complexPart(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  if (!isComplex(self.dtype)) return self;
  const { frame } = call;
  const dtype: Dtype = self.dtype === "complex128" ? "float64" : "float32";
  const strides = self.strides.map((s) => s * 2);
  const view = frame.own(frame.execution.alias(self, self.shape, strides, dtype));
  const from = { shape: self.shape, dtype: self.dtype };
  differentiable(frame, {
    name: "SelectBackward0",
    inputs: [self],
    outputs: [view],
    backward: (inner) => [inner.empty(from.shape, from.dtype)],
  });
  return view;
}

/** `tensordot`: both operands permuted and flattened to one matrix product. */
function tensordot(call: OperatorCall): Tensor {
  const { frame } = call;
  const [a, b] = widest(frame, [call.tensor("a"), call.tensor("b")]);
  if (a === undefined || b === undefined) return call.notUnderstood("a");
  const [left, right] = contractedDimensions(call, a, b);
  const sizes = left.map((dimension) => a.shape[dimension] ?? 1);
  if (!right.every((dimension, i) => b.shape[dimension] === sizes[i])) {
    call.fail(shapesDoNotFit(call.name, [a.shape, b.shape]));
  }
  const keptA = a.shape.map((_, i) => i).filter((i) => !left.includes(i));
  const keptB = b.shape.map((_, i) => i).filter((i) => !right.includes(i));
  const outA = keptA.map((i) => a.shape[i] ?? 1);
  const outB = keptB.map((i) => b.shape[i] ?? 1);
  const inner = elementCount(sizes);
  const matrixA = reshape(frame, permute(frame, a, [...keptA, ...left]), [elementCount(outA), inner]);
  const matrixB = reshape(frame, permute(frame, b, [...right, ...keptB]), [inner, elementCount(outB)]);
  return reshape(frame, mm(frame, matrixA, matrixB), [...outA, ...outB]);
}

function contractedDimensions(call: OperatorCall, a: Tensor, b: Tensor): [number[], number[]] {
  const dims = call.value("dims");
  const count = numberOf(dims);
  if (count !== undefined) {
    const left = Array.from({ length: count }, (_, i) => a.shape.length - count + i);
    return [left, Array.from({ length: count }, (_, i) => i)];
  }
  const [first, second] = isSequence(dims) ? dims : [];
  const read = (value: Argument | undefined, tensor: Tensor): number[] => {
    const list = value !== undefined && isSequence(value) ? value : [value ?? null];
    return list.map((each) => call.dimension(numberOf(each) ?? call.notUnderstood("dims"), tensor.shape));
  };
  return [read(first, a), read(second, b)];
}

/** `torch.diag`: a matrix of a vector, or the other way round. */
function diag(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const offset = Math.abs(call.number("diagonal"));
  if (self.shape.length === 1) {
    const size = (self.shape[0] ?? 0) + offset;
    return kernelWithoutSaved(call.frame, self, [size, size], "DiagEmbedBackward0");
  }
  // torch.diag copies where torch.diagonal looks
  const view = call.op("torch.diagonal", [self, call.value("diagonal")]);
  return call.op("torch.clone", [view]);
}

function diagEmbed(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const size = (self.shape.at(-1) ?? 0) + Math.abs(call.number("offset"));
  const shape = self.shape.slice(0, -1);
  const rank = Array.from({ length: self.shape.length + 1 }, () => 1);
  const dims = [call.number("dim1"), call.number("dim2")].map((dimension) => call.dimension(dimension, rank));
  for (const dimension of dims.sort((a, b) => a - b)) shape.splice(dimension, 0, size);
  return kernelWithoutSaved(call.frame, self, shape, "DiagEmbedBackward0");
}

/** `rot90`: a flip and a transposition (native/TensorTransformations.cpp). */
function rotate(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const turns = ((call.number("k") % 4) + 4) % 4;
  const [first = 0, second = 1] = call.integers("dims");
  if (turns === 0) return call.op("Tensor.clone", [self]);
  if (turns === 2) return call.op("torch.flip", [self, [first, second]]);
  const flipped = call.op("torch.flip", [self, [turns === 1 ? second : first]]);
  return call.op("torch.transpose", [flipped, first, second]);
}

/** `trace`: backward fills zeros at places that it counts first. */
function trace(call: OperatorCall): Tensor {
  const { frame } = call;
  const self = call.tensor("self");
  const [rows = 1, columns = 1] = self.shape;
  const result = frame.empty([], self.dtype);
  differentiable(frame, {
    name: "TraceBackward0",
    inputs: [self],
    outputs: [result],
    backward: (inner, [gradient]) => {
      if (gradient === undefined) return [undefined];
      inner.empty([Math.ceil((rows * columns) / (columns + 1))], "int64");
      return [inner.empty([rows, columns], gradient.dtype)];
    },
  });
  return result;
}

/** `F.gumbel_softmax`: noise, a softmax, and with `hard` a one-hot copy. */
function gumbelSoftmax(call: OperatorCall): Tensor {
  const { frame } = call;
  const logits = call.tensor("self");
  const noise = emptyLike(frame, logits);
  const shifted = elementwiseOp(frame, "add", [logits, noise]);
  const scaled = elementwiseOp(frame, "div", [shifted, call.value("tau")]);
  frame.free(noise, shifted);
  const soft = softmax(frame, scaled, "softmax");
  if (!call.boolean("hard")) return soft;
  // the places of the largest, and ones there
  const dimension = call.dimension(call.number("dim"), logits.shape);
  frame.empty(
    logits.shape.map((size, i) => (i === dimension ? 1 : size)),
    "int64",
  );
  const hard = emptyLike(frame, logits);
  const difference = elementwiseOp(frame, "sub", [hard, call.op("Tensor.detach", [soft])]);
  return elementwiseOp(frame, "add", [difference, soft]);
}

/** `cross`: the product of vectors of three, both kept. */
function cross(call: OperatorCall): Tensor {
  const { frame } = call;
  const [a, b] = [call.tensor("self"), call.tensor("other")];
  const result = elementwiseOp(frame, "mul", [a, b]);
  return result;
}

/** `conj`: a view that says to conjugate; most operators write the conjugate out before they read it. */
function conjugate(call: OperatorCall): Tensor {
  const isLazy = isComplex(call.tensor("self").dtype) && call.name.endsWith(".conj");
  if (isLazy) call.execution.noteBound(conjugatedWhenUsed(call.name));
  return alias(call, "ConjBackward0");
}

function alias(call: OperatorCall, name: string): Tensor {
  const self = call.tensor("self");
  return viewOf(call.frame, self, name, self.shape, self.strides, (_inner, gradient) => gradient);
}

export const furtherRows: readonly OperatorRow[] = [
  { names: ["torch.view_as_complex"], signature: "self", run: viewAsComplex },
  { names: ["torch.view_as_real"], signature: "self", run: viewAsReal },
  { names: ["torch.real", "torch.imag", "Tensor.real", "Tensor.imag"], signature: "self", run: complexPart },
  {
    names: [...both("conj"), ...both("resolve_conj")],
    signature: "self",
    run: conjugate,
  },
  { names: ["torch.tensordot"], signature: "a, b, dims=2, out=None", run: tensordot },
  { names: both("diag"), signature: "self, diagonal=0, *, out=None", run: diag },
  { names: both("diag_embed"), signature: "self, offset=0, dim1=-2, dim2=-1", run: diagEmbed },
  {
    names: both("rot90"),
    signature: "self, k=1, dims=(0, 1)",
    run: rotate,
  },
  {
    names: both("trace"),
    signature: "self",
    run: trace,
  },
  {
    names: [`${F}.gumbel_softmax`],
    signature: "self, tau=1, hard=False, eps=1e-10, dim=-1",
    run: gumbelSoftmax,
  },
  {
    names: [...both("cross"), "torch.linalg.cross"],
    signature: "self, other, dim=-1, *, out=None",
    run: cross,
  },
  {
    names: ["torch.multinomial", "Tensor.multinomial"],
    signature: "self, num_samples, replacement=False, *, generator=None, out=None",
    run: multinomial,
  },
  {
    names: ["torch.bucketize", "torch.searchsorted"],
    signature: "first, second, *, out_int32=False, right=False, side=None, out=None, sorter=None",
    run: (call) => {
      const tensor = call.name.endsWith("bucketize") ? call.tensor("first") : call.value("second");
      const dtype: Dtype = call.boolean("out_int32") ? "int32" : "int64";
      return isTensor(tensor) ? call.frame.empty(tensor.shape, dtype) : call.notUnderstood("second");
    },
  },
];
