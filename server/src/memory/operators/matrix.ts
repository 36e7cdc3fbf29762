/** Matrix products: aten/src/ATen/native/{LinearAlgebra,Linear}.cpp. Under autocast they run in low precision. */
import { elementCount, isContiguous, type Tensor } from "../tensor";
import { differentiable, lowPrecision, needs, widest } from "./autograd";
import { formula } from "./formula";
import type { Frame } from "./frame";
import { numberOf } from "./argument";
import { broadcastShapes, elementwise, emptyLike, sameShape } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { promoteTypes } from "./promotion";
import { shapesDoNotFit } from "./reasons";
import { NotUnderstood } from "./values";
import {
  contiguousOf,
  expand,
  rawTranspose,
  reshape,
  squeeze,
  transpose,
  unsafeView,
  unsqueeze,
  view,
} from "./views";

export function misfit(operator: string, ...tensors: readonly Tensor[]): never {
  throw new NotUnderstood(
    shapesDoNotFit(
      operator,
      tensors.map((tensor) => tensor.shape),
    ),
  );
}

export function at(tensor: { shape: readonly number[] }, dimension: number): number {
  return tensor.shape.at(dimension) ?? 1;
}

interface Matrix {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** Whether a matrix lies column by column: then its gradient is computed transposed, so that it lies the same way. */
function columnMajor(matrix: Matrix): boolean {
  return matrix.strides[0] === 1 && matrix.strides[1] === matrix.shape[0];
}

/** mm_mat1_grad, mm_mat2_grad: a new matrix with the layout of the input. */
function matrixGradient(frame: Frame, input: Matrix, dtype: Tensor["dtype"]): Tensor {
  const [rows = 1, columns = 1] = input.shape;
  if (!columnMajor(input)) return frame.empty([rows, columns], dtype);
  return rawTranspose(frame, frame.empty([columns, rows], dtype));
}

function layoutOf(tensor: Tensor): Matrix {
  return { shape: tensor.shape, strides: tensor.strides };
}

/** `torch.mm`. */
export function mm(frame: Frame, a: Tensor, b: Tensor): Tensor {
  if (a.shape.length !== 2 || b.shape.length !== 2 || at(a, 1) !== at(b, 0)) misfit("mm", a, b);
  const result = frame.empty([at(a, 0), at(b, 1)], promoteTypes(a.dtype, b.dtype));
  const { execution } = frame;
  const left = layoutOf(a);
  const right = layoutOf(b);
  differentiable(frame, {
    name: "MmBackward0",
    inputs: [a, b],
    outputs: [result],
    saved: [needs(execution, a) ? b : undefined, needs(execution, b) ? a : undefined],
    backward: (inner, [gradient], _saved, wanted) => {
      const dtype = gradient?.dtype ?? result.dtype;
      return [
        wanted[0] === true ? matrixGradient(inner, left, dtype) : undefined,
        wanted[1] === true ? matrixGradient(inner, right, dtype) : undefined,
      ];
    },
  });
  execution.noteProducts(at(a, 0) * at(a, 1) * at(b, 1));
  return result;
}

/** Factors of `beta * added + alpha * (a @ b)`. */
interface Factors {
  readonly alpha: number;
  readonly beta: number;
}

const noFactors: Factors = { alpha: 1, beta: 1 };

function factorsOf(call: OperatorCall): Factors {
  return { alpha: numberOf(call.values.alpha) ?? 1, beta: numberOf(call.values.beta) ?? 1 };
}

/** maybe_multiply: a new tensor unless the factor is 1. */
function scaled(
  frame: Frame,
  factor: number,
  make: (inner: Frame) => Tensor | undefined,
): Tensor | undefined {
  if (factor === 1) return make(frame);
  return frame.temporarily((inner) => {
    const tensor = make(inner);
    return tensor === undefined ? undefined : emptyLike(inner, tensor);
  });
}

/** `torch.addmm(bias, a, b)`. */
export function addmm(
  frame: Frame,
  bias: Tensor,
  a: Tensor,
  b: Tensor,
  { alpha, beta }: Factors = noFactors,
): Tensor {
  if (a.shape.length !== 2 || b.shape.length !== 2 || at(a, 1) !== at(b, 0)) misfit("addmm", bias, a, b);
  const result = frame.empty([at(a, 0), at(b, 1)], promoteTypes(a.dtype, b.dtype));
  const { execution } = frame;
  const left = layoutOf(a);
  const right = layoutOf(b);
  differentiable(frame, {
    name: "AddmmBackward0",
    inputs: [bias, a, b],
    outputs: [result],
    saved: [needs(execution, b) ? a : undefined, needs(execution, a) ? b : undefined],
    backward: (inner, [gradient], _saved, wanted) => {
      const dtype = gradient?.dtype ?? result.dtype;
      const make = (input: Matrix): Tensor | undefined =>
        scaled(inner, alpha, (own) => matrixGradient(own, input, dtype));
      const ofA = wanted[1] === true ? make(left) : undefined;
      const ofB = wanted[2] === true ? make(right) : undefined;
      return [wanted[0] === true ? scaled(inner, beta, () => gradient) : undefined, ofA, ofB];
    },
  });
  execution.noteProducts(at(a, 0) * at(a, 1) * at(b, 1));
  return result;
}

/** `torch.bmm`, and `torch.baddbmm` when there is something to add. */
export function bmm(
  frame: Frame,
  a: Tensor,
  b: Tensor,
  added?: Tensor,
  { alpha, beta }: Factors = noFactors,
): Tensor {
  if (a.shape.length !== 3 || b.shape.length !== 3 || at(a, 0) !== at(b, 0) || at(a, 2) !== at(b, 1)) {
    misfit("bmm", a, b);
  }
  const result = frame.empty([at(a, 0), at(a, 1), at(b, 2)], promoteTypes(a.dtype, b.dtype));
  const { execution } = frame;
  const left = a.shape;
  const right = b.shape;
  const kept = [needs(execution, b) ? a : undefined, needs(execution, a) ? b : undefined];
  differentiable(frame, {
    name: added === undefined ? "BmmBackward0" : "BaddbmmBackward0",
    inputs: [a, b, added],
    outputs: [result],
    saved: added === undefined ? kept.toReversed() : kept,
    backward: (inner, [gradient], _saved, wanted) => {
      const dtype = gradient?.dtype ?? result.dtype;
      return [
        wanted[0] === true ? scaled(inner, alpha, (own) => own.empty(left, dtype)) : undefined,
        wanted[1] === true ? scaled(inner, alpha, (own) => own.empty(right, dtype)) : undefined,
        wanted[2] === true ? scaled(inner, beta, () => gradient) : undefined,
      ];
    },
  });
  execution.noteProducts(elementCount(a.shape) * at(b, 2));
  return result;
}

/** `torch.mv`. */
function mv(frame: Frame, a: Tensor, b: Tensor): Tensor {
  if (a.shape.length !== 2 || b.shape.length !== 1 || at(a, 1) !== at(b, 0)) misfit("mv", a, b);
  const result = frame.empty([at(a, 0)], promoteTypes(a.dtype, b.dtype));
  const { execution } = frame;
  const shapes = [a.shape, b.shape];
  differentiable(frame, {
    name: "MvBackward0",
    inputs: [a, b],
    outputs: [result],
    saved: [needs(execution, b) ? a : undefined, needs(execution, a) ? b : undefined],
    backward: (inner, [gradient], _saved, wanted) =>
      shapes.map((shape, i) =>
        wanted[i] === true ? inner.empty(shape, gradient?.dtype ?? result.dtype) : undefined,
      ),
  });
  execution.noteProducts(elementCount(a.shape));
  return result;
}

/** `torch.dot`. */
function dot(frame: Frame, a: Tensor, b: Tensor): Tensor {
  if (a.shape.length !== 1 || !sameShape(a.shape, b.shape)) misfit("dot", a, b);
  const gradients = { self: "grad * tensor", tensor: "grad * self" };
  const result = frame.empty([], promoteTypes(a.dtype, b.dtype));
  const names = ["self", "tensor"] as const;
  differentiable(frame, {
    name: "DotBackward0",
    inputs: [a, b],
    outputs: [result],
    saved: [needs(frame.execution, b) ? a : undefined, needs(frame.execution, a) ? b : undefined],
    backward: (inner, [grad], saved, wanted) =>
      names.map((name, i) =>
        wanted[i] === true
          ? formula(gradients[name]).evaluate(inner, { grad, self: saved[0], tensor: saved[1] })
          : undefined,
      ),
  });
  return result;
}

/** `torch.matmul` without autocast's casts. */
function matmulOf(frame: Frame, a: Tensor, b: Tensor): Tensor {
  const [rankA, rankB] = [a.shape.length, b.shape.length];
  if (rankA === 0 || rankB === 0) misfit("matmul", a, b);
  if (rankA === 1 && rankB === 1) return dot(frame, a, b);
  if (rankA === 2 && rankB === 1) return mv(frame, a, b);
  if (rankA === 1 && rankB === 2) return squeeze(frame, mm(frame, unsqueeze(frame, a, 0), b), [0]);
  if (rankA === 2 && rankB === 2) return mm(frame, a, b);
  if (at(a, -1) !== (rankB === 1 ? at(b, 0) : at(b, -2))) misfit("matmul", a, b);
  if (rankA === 3 && rankB === 3 && at(a, 0) !== at(b, 0)) {
    // A batch of one that trains is folded rather than repeated, for its gradient's sake (_matmul_impl in LinearAlgebra.cpp).
    if (at(a, 0) === 1 && a.requiresGrad) return matmulOf(frame, squeeze(frame, a, [0]), b);
    if (at(b, 0) === 1 && b.requiresGrad) return matmulOf(frame, a, squeeze(frame, b, [0]));
  }
  return shouldFold(a, b) ? foldedMatmul(frame, a, b) : batchedMatmul(frame, a, b);
}

/** Whether the larger operand is folded into a matrix (should_fold in LinearAlgebra.cpp). */
function shouldFold(a: Tensor, b: Tensor): boolean {
  const firstLarger = a.shape.length >= b.shape.length;
  const [larger, smaller] = firstLarger ? [a, b] : [b, a];
  if (larger.shape.length < 3 || smaller.shape.length > 2) return false;
  if (smaller.requiresGrad) return true;
  if (a.shape.length === 2) return false;
  const shape = [...larger.shape];
  const strides = [...larger.strides];
  if (!firstLarger) {
    // b.mT: the last two dimensions change places.
    const last = shape.length - 1;
    [shape[last], shape[last - 1]] = [shape[last - 1] ?? 1, shape[last] ?? 1];
    [strides[last], strides[last - 1]] = [strides[last - 1] ?? 1, strides[last] ?? 1];
  }
  for (let i = 0; i < shape.length - 2; i++) {
    if (strides[i] !== (strides[i + 1] ?? 1) * (shape[i + 1] ?? 1)) return false;
  }
  return true;
}

function foldedMatmul(frame: Frame, a: Tensor, b: Tensor): Tensor {
  const firstLarger = a.shape.length >= b.shape.length;
  const t1 = firstLarger ? a : transpose(frame, b);
  const t2 = firstLarger ? b : a.shape.length === 2 ? transpose(frame, a, 0, 1, "TBackward0") : a;
  const leading = t1.shape.slice(0, -1);
  const folded = reshape(frame, t1, [elementCount(leading), at(t1, -1)]);
  if (t2.shape.length === 1) return unsafeView(frame, mv(frame, folded, t2), leading);
  const product = mm(frame, folded, t2);
  const output = unsafeView(frame, product, [...leading, at(t2, 1)]);
  frame.free(product);
  if (firstLarger) return output;
  return contiguousOf(frame, transpose(frame, output));
}

function batchedMatmul(frame: Frame, a: Tensor, b: Tensor): Tensor {
  const left = a.shape.length === 1 ? unsqueeze(frame, a, 0) : a;
  const right = b.shape.length === 1 ? unsqueeze(frame, b, 1) : b;
  const batch = broadcastShapes(left.shape.slice(0, -2), right.shape.slice(0, -2));
  if (batch === undefined) misfit("matmul", a, b);
  const count = elementCount(batch);
  const flat = (tensor: Tensor): Tensor => {
    const matrix = tensor.shape.slice(-2);
    return reshape(frame, expand(frame, tensor, [...batch, ...matrix]), [count, ...matrix]);
  };
  const flatLeft = flat(left);
  const flatRight = flat(right);
  const product = bmm(frame, flatLeft, flatRight);
  const shape = [...batch];
  if (a.shape.length > 1) shape.push(at(left, -2));
  if (b.shape.length > 1) shape.push(at(right, -1));
  const result = unsafeView(frame, product, shape);
  frame.free(product);
  return result;
}

/** `torch.matmul`, `a @ b`. */
export function matmul(frame: Frame, first: Tensor, second: Tensor): Tensor {
  return frame.scoped((inner) => {
    const [a = first, b = second] = lowPrecision(inner, [first, second]);
    return matmulOf(inner, a, b);
  });
}

/** `F.linear`. */
export function linear(frame: Frame, input: Tensor, weight: Tensor, bias?: Tensor): Tensor {
  return frame.scoped((inner) => linearOf(inner, input, weight, bias));
}

function linearOf(frame: Frame, given: Tensor, givenWeight: Tensor, givenBias?: Tensor): Tensor {
  const [input = given, weight = givenWeight, bias] = lowPrecision<Tensor | undefined>(frame, [
    given,
    givenWeight,
    givenBias,
  ]);
  if (at(input, -1) !== at(weight, -1)) misfit("linear", input, weight);
  const transposed = transpose(frame, weight, 0, 1, "TBackward0");
  if (bias === undefined) return matmulOf(frame, input, transposed);
  if (input.shape.length === 2) return addmm(frame, bias, input, transposed);
  if (isContiguous(input)) {
    const leading = input.shape.slice(0, -1);
    const flat = reshape(frame, input, [elementCount(leading), at(input, -1)]);
    const product = addmm(frame, bias, flat, transposed);
    const result = view(frame, product, [...leading, at(weight, 0)]) ?? product;
    return result;
  }
  const product = matmulOf(frame, input, transposed);
  return elementwiseOp(frame, "add", [product, bias], { inPlace: true });
}

// --- Others ---------------------------------------------------------------------------------------------------------

/** `F.bilinear`: one kernel that contracts both inputs with the weight (at::_trilinear). */
function bilinear(call: OperatorCall): Tensor {
  const { frame } = call;
  const [first, second, weight, bias] = widest<Tensor | undefined>(frame, [
    call.tensor("input1"),
    call.tensor("input2"),
    call.tensor("weight"),
    call.optionalTensor("bias"),
  ]);
  if (first === undefined || second === undefined || weight === undefined)
    return call.notUnderstood("input1");
  if (at(first, -1) !== at(weight, 1) || at(second, -1) !== at(weight, 2))
    misfit("bilinear", first, second, weight);
  const leading = first.shape.slice(0, -1);
  const rows = elementCount(leading);
  const flatFirst = reshape(frame, first, [rows, at(first, -1)]);
  const flatSecond = reshape(frame, second, [rows, at(second, -1)]);
  const product = frame.empty([rows, at(weight, 0)], first.dtype);
  differentiable(frame, {
    name: "TrilinearBackward0",
    inputs: [flatFirst, weight, flatSecond],
    outputs: [product],
    saved: [flatFirst, weight, flatSecond],
    backward: (inner, [gradient], saved, wanted) =>
      saved.map((input, i) =>
        wanted[i] === true && input !== undefined
          ? inner.empty(input.shape, gradient?.dtype ?? input.dtype)
          : undefined,
      ),
  });
  const result = view(frame, product, [...leading, at(weight, 0)]) ?? product;
  return bias === undefined ? result : elementwiseOp(frame, "add", [result, bias]);
}

/** Whether `cdist` computes its distances by matrix products: Euclidean ones of more than 25 rows, unless told otherwise. */
function isByProducts(call: OperatorCall, a: Tensor, b: Tensor): boolean {
  const mode = call.value("compute_mode");
  if (numberOf(call.value("p")) !== 2 || mode === "donot_use_mm_for_euclid_dist" || mode === 2) return false;
  return mode === "use_mm_for_euclid_dist" || mode === 1 || at(a, -2) > 25 || at(b, -2) > 25;
}

/** `_euclidean_dist`, and `_euclidean_dist_backward` in FunctionsManual.cpp, whose temporaries live to its end. */
function distanceByProducts(frame: Frame, a: Tensor, b: Tensor, batch: readonly number[]): Tensor {
  const count = elementCount(batch);
  const flat = (tensor: Tensor): Tensor => {
    const matrix = tensor.shape.slice(-2);
    return reshape(frame, expand(frame, tensor, [...batch, ...matrix]), [count, ...matrix]);
  };
  const [left, right] = [flat(a), flat(b)];
  const [rows, columns, width] = [at(a, -2), at(b, -2), at(a, -1)];
  const result = frame.empty([count, rows, columns], promoteTypes(a.dtype, b.dtype));
  differentiable(frame, {
    name: "EuclideanDistBackward0",
    inputs: [left, right],
    outputs: [result],
    saved: [left, right, result],
    backward: (inner, [gradient], _saved, wanted) => {
      if (gradient === undefined) return [];
      const { dtype } = gradient;
      inner.scoped((own) => {
        own.empty(result.shape, "bool");
        return own.empty(result.shape, dtype);
      });
      return [rows, columns].map((size, i) => {
        if (wanted[i] !== true) return undefined;
        inner.empty([count, size, width], dtype);
        inner.empty([count, size, 1], dtype);
        inner.empty([count, size, width], dtype);
        return inner.empty([count, size, width], dtype);
      });
    },
  });
  return reshape(frame, result, [...batch, rows, columns]);
}

/** `torch.cdist`: keeps both inputs and the result. */
function cdist(call: OperatorCall): Tensor {
  const { frame } = call;
  const mode = call.execution.autocast;
  const [a, b] = [call.tensor("x1"), call.tensor("x2")].map((tensor) =>
    mode === undefined ? tensor : elementwiseFloat(frame, tensor),
  );
  if (a === undefined || b === undefined) return call.notUnderstood("x1");
  const batch = broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2));
  if (batch === undefined || at(a, -1) !== at(b, -1)) misfit("cdist", a, b);
  if (isByProducts(call, a, b)) return distanceByProducts(frame, a, b, batch);
  const result = frame.empty([...batch, at(a, -2), at(b, -2)], promoteTypes(a.dtype, b.dtype));
  differentiable(frame, {
    name: "CdistBackward0",
    inputs: [a, b],
    outputs: [result],
    saved: [a, b, result],
    backward: (inner, [gradient], saved, wanted) => {
      const dtype = gradient?.dtype ?? result.dtype;
      const one = (i: number): Tensor | undefined =>
        wanted[i] === true ? inner.empty(saved[i]?.shape ?? [], dtype) : undefined;
      // The gradient of the second input is computed with copies of the result's and the gradient's transposes.
      if (wanted[1] === true && gradient !== undefined) {
        for (let i = 0; i < 2; i++) inner.empty(gradient.shape, dtype);
      }
      return [one(0), one(1)];
    },
  });
  return result;
}

function elementwiseFloat(frame: Frame, tensor: Tensor): Tensor {
  return tensor.dtype === "float32" ? tensor : elementwise(frame, [tensor], "float32");
}

/** `torch.outer(a, b)`: the product of a column and a row. */
function outer(call: OperatorCall): Tensor {
  const a = call.tensor("self");
  const b = call.tensor("vec2");
  const column = reshape(call.frame, a, [at(a, 0), 1]);
  return elementwiseOp(call.frame, "mul", [column, b]);
}

function pair(call: OperatorCall): [Tensor, Tensor] {
  return [call.tensor("self"), call.tensor("other")];
}

export const matrixRows: readonly OperatorRow[] = [
  {
    names: ["torch.matmul", "Tensor.matmul", "Tensor.__matmul__", "torch.linalg.matmul"],
    signature: "self, other, *, out=None",
    run: (call) => matmul(call.frame, ...pair(call)),
  },
  {
    names: ["Tensor.__rmatmul__"],
    signature: "other, self",
    run: (call) => matmul(call.frame, ...pair(call)),
  },
  {
    names: ["torch.mm", "Tensor.mm"],
    signature: "self, other, *, out=None",
    run: (call) => {
      const [a, b] = lowPrecision(call.frame, pair(call));
      return a === undefined || b === undefined ? null : mm(call.frame, a, b);
    },
  },
  {
    names: ["torch.bmm", "Tensor.bmm"],
    signature: "self, other, *, out=None",
    run: (call) => {
      const [a, b] = lowPrecision(call.frame, pair(call));
      return a === undefined || b === undefined ? null : bmm(call.frame, a, b);
    },
  },
  {
    names: ["torch.mv", "Tensor.mv"],
    signature: "self, other, *, out=None",
    run: (call) => {
      const [a, b] = lowPrecision(call.frame, pair(call));
      return a === undefined || b === undefined ? null : mv(call.frame, a, b);
    },
  },
  {
    names: ["torch.dot", "Tensor.dot", "torch.vdot", "Tensor.vdot"],
    signature: "self, other, *, out=None",
    run: (call) => dot(call.frame, ...pair(call)),
  },
  {
    names: ["torch.baddbmm", "Tensor.baddbmm"],
    signature: "self, batch1, batch2, *, beta=1, alpha=1, out=None",
    run: (call) => {
      const given = [call.tensor("self"), call.tensor("batch1"), call.tensor("batch2")];
      const [added, a, b] = lowPrecision(call.frame, given);
      return a === undefined || b === undefined ? null : bmm(call.frame, a, b, added, factorsOf(call));
    },
  },
  {
    names: ["torch.addmm", "Tensor.addmm"],
    signature: "self, mat1, mat2, *, beta=1, alpha=1, out=None",
    run: (call) => {
      const given = [call.tensor("self"), call.tensor("mat1"), call.tensor("mat2")];
      const [bias, a, b] = lowPrecision(call.frame, given);
      return bias === undefined || a === undefined || b === undefined
        ? null
        : addmm(call.frame, bias, a, b, factorsOf(call));
    },
  },
  {
    names: ["torch.nn.functional.linear"],
    signature: "input, weight, bias=None",
    run: (call) =>
      linear(call.frame, call.tensor("input"), call.tensor("weight"), call.optionalTensor("bias")),
  },
  {
    names: ["torch.nn.functional.bilinear"],
    signature: "input1, input2, weight, bias=None",
    run: bilinear,
  },
  { names: ["torch.cdist"], signature: "x1, x2, p=2.0, compute_mode=None", run: cdist },
  { names: ["torch.outer", "Tensor.outer", "torch.ger"], signature: "self, vec2, *, out=None", run: outer },
];
