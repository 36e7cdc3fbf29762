/** Operators that PyTorch itself puts together from others (CompositeImplicitAutograd in native_functions.yaml). */
import { isComplex, type Tensor } from "../tensor";
import { isSequence, isTensor, numberOf, type Argument } from "./argument";
import { lowPrecision, lowPrecisionList } from "./autograd";
import { broadcastShapes } from "./kernels";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { elementwiseOp } from "./pointwise";
import { shapesDoNotFit } from "./reasons";
import { reshape } from "./views";

/** `torch.diff`: differences of neighbours, `n` times over. */
function diff(call: OperatorCall): Tensor {
  const { frame } = call;
  const self = call.tensor("self");
  const dimension = call.dimension(call.number("dim"), self.shape);
  const parts = [call.optionalTensor("prepend"), self, call.optionalTensor("append")].filter(isTensor);
  let result = parts.length === 1 ? self : call.op("torch.cat", [parts, dimension]);
  const isMask = self.dtype === "bool";
  for (let i = 0; i < call.number("n"); i++) {
    const size = (result.shape[dimension] ?? 1) - 1;
    // compilers evaluate the second argument first
    const [earlier, later] = [0, 1].map((start) =>
      call.op("Tensor.narrow", [result, dimension, start, size]),
    );
    const next = elementwiseOp(frame, isMask ? "logical_xor" : "sub", [later ?? result, earlier ?? result]);
    frame.free(later, earlier, result);
    result = next;
  }
  return result;
}

/** `torch.inner`: a product over the last dimensions of both. */
function inner(call: OperatorCall): Tensor {
  const [self, other] = [call.tensor("self"), call.tensor("other")];
  if (self.shape.length === 0 || other.shape.length === 0)
    return elementwiseOp(call.frame, "mul", [self, other]);
  return call.op("torch.tensordot", [self, other, [[-1], [-1]]]);
}

/** `torch.kron`: every element of one by the whole of the other. */
function kron(call: OperatorCall): Tensor {
  const { frame } = call;
  const [self, other] = [call.tensor("self"), call.tensor("other")];
  const rank = Math.max(self.shape.length, other.shape.length);
  const sizes = (tensor: Tensor): number[] => [
    ...new Array<number>(rank - tensor.shape.length).fill(1),
    ...tensor.shape,
  ];
  const [a, b] = [sizes(self), sizes(other)];
  const left = reshape(
    frame,
    self,
    a.flatMap((size) => [size, 1]),
  );
  const right = reshape(
    frame,
    other,
    b.flatMap((size) => [1, size]),
  );
  const product = elementwiseOp(frame, "mul", [left, right]);
  const shape = a.map((size, i) => size * (b[i] ?? 1));
  return reshape(frame, product, shape);
}

/** `torch.trapezoid`: means of neighbours, weighted by their distance. */
function trapezoid(call: OperatorCall): Tensor {
  const { frame } = call;
  const y = call.tensor("y");
  const x = call.value("x");
  const dimension = call.dimension(call.number("dim"), y.shape);
  if (isTensor(x) && x.shape.length !== 1 && x.shape.length !== y.shape.length)
    call.fail(shapesDoNotFit(call.name, [y.shape, x.shape]));
  const size = (y.shape[dimension] ?? 1) - 1;
  if (!isTensor(x)) {
    const [first, last] = [0, -1].map((index) => call.op("Tensor.select", [y, dimension, index]));
    const ends = elementwiseOp(frame, "add", [first ?? y, last ?? y]);
    const half = elementwiseOp(frame, "mul", [ends, 0.5]);
    const difference = elementwiseOp(frame, "sub", [call.op("torch.sum", [y, dimension]), half]);
    return elementwiseOp(frame, "mul", [difference, call.value("dx")]);
  }
  const part = (start: number): Tensor => call.op("Tensor.narrow", [y, dimension, start, size]);
  const steps = call.op("torch.diff", [x], { dim: x.shape.length === 1 ? 0 : dimension });
  const shape = y.shape.map((_, i) => (i === dimension ? size : 1));
  const wide = x.shape.length === 1 ? reshape(frame, steps, shape) : steps;
  const sums = elementwiseOp(frame, "add", [part(1), part(0)]);
  const products = elementwiseOp(frame, "mul", [wide, sums]);
  const total = call.op("torch.sum", [products, dimension]);
  return elementwiseOp(frame, "div", [total, 2]);
}

/** `torch.linalg.vecdot`: products along one dimension, summed. */
function vecdot(call: OperatorCall): Tensor {
  const { frame } = call;
  const [x = call.tensor("x"), y = call.tensor("y")] = lowPrecision(frame, [
    call.tensor("x"),
    call.tensor("y"),
  ]);
  const dimension = call.dimension(call.number("dim"), broadcastShapes(x.shape, y.shape) ?? x.shape);
  return call.withoutAutocast(() => call.op("torch.sum", [elementwiseOp(frame, "mul", [x, y]), dimension]));
}

/** `torch.linalg.multi_dot` of two or three matrices; of more, the order depends on what is cheapest. */
function multiDot(call: OperatorCall): Tensor {
  const matrices = lowPrecisionList(call.frame, call.tensors("tensors"));
  const [first, second, ...rest] = matrices;
  if (first === undefined || second === undefined || rest.length > 1) return call.notUnderstood("tensors");
  const [third] = rest;
  if (third === undefined) return call.op("torch.matmul", [first, second]);
  const [a = 1, b = 1] = first.shape.length === 1 ? [1, ...first.shape] : first.shape;
  const [, c = 1] = second.shape;
  const d = third.shape.at(1) ?? 1;
  const fromLeft = a * b * c + a * c * d < b * c * d + a * b * d;
  return fromLeft
    ? call.op("torch.matmul", [call.op("torch.matmul", [first, second]), third])
    : call.op("torch.matmul", [first, call.op("torch.matmul", [second, third])]);
}

/** `torch.linalg.matrix_power`: squares, and products of those that the exponent's bits name. */
function matrixPower(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const exponent = call.number("n");
  const times = (a: Tensor, b: Tensor): Tensor => call.op("torch.matmul", [a, b]);
  if (exponent < 0 || exponent === 0) return call.notUnderstood("n");
  if (exponent === 1) return call.op("torch.clone", [self]);
  if (exponent === 2) return times(self, self);
  if (exponent === 3) return times(times(self, self), self);
  let [square, result]: [Tensor, Tensor | undefined] = [self, undefined];
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left !== exponent) square = times(square, square);
    if (left % 2 === 1) result = result === undefined ? square : times(result, square);
  }
  return result ?? square;
}

/** `torch.broadcast_tensors`: views as large as all are together. */
function broadcastTensors(call: OperatorCall): Argument {
  const [only] = call.rest;
  const given = call.rest.length === 1 && only !== undefined && isSequence(only) ? only : call.rest;
  const tensors = given.map((each) => (isTensor(each) ? each : call.notUnderstood("tensors")));
  const shape = broadcastShapes(...tensors.map((tensor) => tensor.shape));
  if (shape === undefined)
    return call.fail(
      shapesDoNotFit(
        call.name,
        tensors.map((tensor) => tensor.shape),
      ),
    );
  return tensors.map((tensor) => call.op("Tensor.expand", [tensor, shape]));
}

/** `hsplit`, `vsplit`, `dsplit`: `tensor_split` along a dimension of their own. */
function splitAlong(call: OperatorCall, dimension: (rank: number) => number): Argument {
  const self = call.tensor("self");
  const axis = dimension(self.shape.length);
  const asked = call.value("indices_or_sections");
  if (isSequence(asked)) return call.call("torch.tensor_split", [self, asked, axis]);
  const count = numberOf(asked) ?? call.notUnderstood("indices_or_sections");
  return call.call("torch.tensor_split", [self, count, axis]);
}

function cartesianProduct(call: OperatorCall): Tensor {
  const given = call.rest.map((each) => (isTensor(each) ? each : call.notUnderstood("tensors")));
  const [only] = given;
  if (only !== undefined && given.length === 1) return only;
  const grids = call.call("torch.meshgrid", [...given], { indexing: "ij" });
  if (!isSequence(grids)) return call.notUnderstood("tensors");
  const flat = grids.map((grid) => call.op("Tensor.reshape", [grid, [-1]]));
  return call.op("torch.stack", [flat, 1]);
}

/** `matrix_norm`: Frobenius' is that of all elements; the others sum up magnitudes or decompose. */
function matrixNorm(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const order = call.value("ord");
  const dims = call.integers("dim");
  const keepdim = call.boolean("keepdim");
  if (order === "fro") return call.op("torch.linalg.vector_norm", [self, 2, dims], { keepdim });
  const number = numberOf(order);
  if (number === undefined || Math.abs(number) === 2) return call.notUnderstood("ord");
  const [rows = 0, columns = 0] = dims.map((each) => call.dimension(each, self.shape));
  const [summed, chosen] = Math.abs(number) === 1 ? [rows, columns] : [columns, rows];
  const sums = call.op("torch.linalg.vector_norm", [self, 1, summed], { keepdim: true });
  const result = call.op(number > 0 ? "torch.amax" : "torch.amin", [sums, chosen], { keepdim: true });
  if (keepdim) return result;
  const shape = self.shape.filter((_, i) => i !== rows && i !== columns);
  return reshape(call.frame, result, shape);
}

/** `deg2rad` and its inverse: a product with a number. */
function degrees(call: OperatorCall): Tensor {
  return elementwiseOp(call.frame, "mul", [call.tensor("self"), call.value("factor")]);
}

function atLeast3d(call: OperatorCall): Argument {
  const shaped = (tensor: Argument): Tensor => {
    if (!isTensor(tensor)) return call.notUnderstood("tensors");
    const { shape } = tensor;
    const wide =
      shape.length === 0
        ? [1, 1, 1]
        : shape.length === 1
          ? [1, ...shape, 1]
          : shape.length === 2
            ? [...shape, 1]
            : shape;
    return wide === shape ? tensor : reshape(call.frame, tensor, wide);
  };
  const [only = null] = call.rest;
  if (call.rest.length > 1) return call.rest.map(shaped);
  return isSequence(only) ? only.map(shaped) : shaped(only);
}

/** Names of a view and its `_copy`. */
const copies = ["alias", "expand", "permute", "squeeze", "t", "transpose", "unsqueeze", "view"] as const;

export const composedRows: readonly OperatorRow[] = [
  {
    names: both("diagflat"),
    signature: "self, offset=0",
    run: (call) => {
      const flat = call.op("Tensor.reshape", [call.tensor("self"), -1]);
      return call.op("torch.diag_embed", [flat, call.value("offset")]);
    },
  },
  {
    names: ["torch.linalg.diagonal"],
    signature: "A, *, offset=0, dim1=-2, dim2=-1",
    run: (call) =>
      call.op(
        "torch.diagonal",
        ["A", "offset", "dim1", "dim2"].map((name) => call.value(name)),
      ),
  },
  { names: both("diff"), signature: "self, n=1, dim=-1, prepend=None, append=None, *, out=None", run: diff },
  { names: both("inner"), signature: "self, other, *, out=None", run: inner },
  { names: both("kron"), signature: "self, other, *, out=None", run: kron },
  { names: ["torch.trapezoid", "torch.trapz"], signature: "y, x=None, *, dx=1, dim=-1", run: trapezoid },
  { names: ["torch.linalg.vecdot"], signature: "x, y, *, dim=-1, out=None", run: vecdot },
  { names: ["torch.linalg.multi_dot"], signature: "tensors, *, out=None", run: multiDot },
  {
    names: ["torch.linalg.matrix_power", ...both("matrix_power")],
    signature: "self, n, *, out=None",
    run: matrixPower,
  },
  {
    names: ["torch.linalg.matrix_norm"],
    signature: "self, ord='fro', dim=(-2, -1), keepdim=False, *, dtype=None, out=None",
    run: matrixNorm,
  },
  { names: ["torch.broadcast_tensors"], signature: "*tensors", run: broadcastTensors },
  {
    names: both("hsplit"),
    signature: "self, indices_or_sections",
    run: (call) => splitAlong(call, (rank) => (rank === 1 ? 0 : 1)),
  },
  { names: both("vsplit"), signature: "self, indices_or_sections", run: (call) => splitAlong(call, () => 0) },
  { names: both("dsplit"), signature: "self, indices_or_sections", run: (call) => splitAlong(call, () => 2) },
  { names: ["torch.cartesian_prod"], signature: "*tensors", run: cartesianProduct },
  { names: both("deg2rad"), signature: "self, *, factor=0.017, out=None", run: degrees },
  { names: both("rad2deg"), signature: "self, *, factor=57.3, out=None", run: degrees },
  { names: ["torch.atleast_3d"], signature: "*tensors", run: atLeast3d },
  {
    names: both("sum_to_size"),
    signature: "self, *size",
    run: (call) => {
      const self = call.tensor("self");
      const size = call.restIntegers();
      const offset = self.shape.length - size.length;
      const dims = self.shape
        .map((_, i) => i)
        .filter((i) => i < offset || size[i - offset] !== self.shape[i]);
      if (dims.length === 0) return self;
      return reshape(call.frame, call.op("torch.sum", [self, dims, true]), size);
    },
  },
  ...copies.map((name): OperatorRow => ({
    names: [`torch.${name}_copy`],
    signature: "self, *args",
    run: (call) => {
      const self = call.tensor("self");
      const seen = name === "alias" ? self : call.op(`Tensor.${name}`, [self, ...call.rest]);
      return call.op("torch.clone", [seen], {
        memory_format: { kind: "memory-format", name: "contiguous_format" },
      });
    },
  })),
  {
    names: both("isreal"),
    signature: "self",
    run: (call) => {
      const self = call.tensor("self");
      if (isComplex(self.dtype)) return elementwiseOp(call.frame, "eq", [call.op("torch.imag", [self]), 0]);
      return call.frame.empty(self.shape, "bool");
    },
  },
];
