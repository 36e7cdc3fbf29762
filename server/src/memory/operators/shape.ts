/** Views, copies of another shape, and joining: aten/src/ATen/native/TensorShape.cpp. */
import { contiguousStrides, elementCount, type Dtype, type Tensor } from "../tensor";
import { isTensor, type Argument } from "./argument";
import { cast, differentiable } from "./autograd";
import type { Frame } from "./frame";
import { replaced } from "./joining";
import { elementwiseStrides, sameShape } from "./kernels";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { shapeNotValid } from "./reasons";
import {
  clone,
  contiguousOf,
  detach,
  expand,
  inferSize,
  permute,
  reshape,
  slice,
  squeeze,
  transpose,
  unsqueeze,
  view,
  viewOf,
} from "./views";

function self(call: OperatorCall): Tensor {
  return call.tensor("self");
}

/** Known values follow a tensor whose elements keep their order. */
function withValues(result: Tensor, source: Tensor): Tensor {
  if (result !== source && source.values !== undefined) {
    result.values = source.values;
    result.bound = source.bound;
  }
  return result;
}

function sizesFor(call: OperatorCall, asked: readonly number[]): number[] {
  const tensor = self(call);
  const sizes = inferSize(asked, elementCount(tensor.shape));
  return sizes ?? call.fail(shapeNotValid(call.name, tensor.shape, asked));
}

function runView(call: OperatorCall): Argument {
  const tensor = self(call);
  const first = call.rest[0];
  if (typeof first === "object" && first !== null && "kind" in first && first.kind === "dtype") {
    return call.fail(shapeNotValid(call.name, tensor.shape, []));
  }
  const sizes = sizesFor(call, call.restIntegers());
  const result = view(call.frame, tensor, sizes);
  return result === undefined
    ? call.fail(shapeNotValid(call.name, tensor.shape, sizes))
    : withValues(result, tensor);
}

function flatten(call: OperatorCall): Tensor {
  const tensor = self(call);
  const start = call.dimension(call.number("start_dim"), tensor.shape);
  const end = call.dimension(call.number("end_dim"), tensor.shape);
  if (tensor.shape.length === 0) return reshape(call.frame, tensor, [1]);
  if (start === end) return tensor;
  const middle = elementCount(tensor.shape.slice(start, end + 1));
  const shape = [...tensor.shape.slice(0, start), middle, ...tensor.shape.slice(end + 1)];
  return withValues(reshape(call.frame, tensor, shape), tensor);
}

function unflatten(call: OperatorCall): Tensor {
  const tensor = self(call);
  const dimension = call.dimension(call.number("dim"), tensor.shape);
  const sizes = inferSize(call.integers("sizes"), tensor.shape[dimension] ?? 1);
  if (sizes === undefined) return call.fail(shapeNotValid(call.name, tensor.shape, call.integers("sizes")));
  const shape = [...tensor.shape.slice(0, dimension), ...sizes, ...tensor.shape.slice(dimension + 1)];
  return view(call.frame, tensor, shape) ?? call.fail(shapeNotValid(call.name, tensor.shape, shape));
}

function runPermute(call: OperatorCall, asked: readonly number[]): Tensor {
  const tensor = self(call);
  const order = asked.map((dimension) => call.dimension(dimension, tensor.shape));
  if (order.length !== tensor.shape.length || new Set(order).size !== order.length) {
    call.fail(shapeNotValid(call.name, tensor.shape, asked));
  }
  return permute(call.frame, tensor, order);
}

function moveDimensions(call: OperatorCall): Tensor {
  const tensor = self(call);
  const from = call.integers("source").map((dimension) => call.dimension(dimension, tensor.shape));
  const to = call.integers("destination").map((dimension) => call.dimension(dimension, tensor.shape));
  const order = new Array<number>(tensor.shape.length).fill(-1);
  from.forEach((dimension, i) => (order[to[i] ?? 0] = dimension));
  const others = tensor.shape.map((_, i) => i).filter((i) => !from.includes(i));
  return permute(
    call.frame,
    tensor,
    order.map((dimension) => (dimension >= 0 ? dimension : (others.shift() ?? 0))),
  );
}

function runExpand(call: OperatorCall, asked: readonly number[]): Tensor {
  const tensor = self(call);
  const offset = asked.length - tensor.shape.length;
  const shape = asked.map((size, i) => (size === -1 ? (tensor.shape[i - offset] ?? 1) : size));
  const fits = offset >= 0 && tensor.shape.every((size, i) => size === 1 || size === shape[i + offset]);
  if (!fits) call.fail(shapeNotValid(call.name, tensor.shape, asked));
  return expand(call.frame, tensor, shape);
}

function runSqueeze(call: OperatorCall): Tensor {
  const tensor = self(call);
  const asked = call.optionalIntegers("dim") ?? tensor.shape.map((_, i) => i);
  const dimensions = asked
    .map((dimension) => call.dimension(dimension, tensor.shape))
    .filter((dimension) => tensor.shape[dimension] === 1);
  return squeeze(call.frame, tensor, dimensions);
}

function runUnsqueeze(call: OperatorCall): Tensor {
  const tensor = self(call);
  const asked = call.number("dim");
  const rank = tensor.shape.length + 1;
  return withValues(
    unsqueeze(call.frame, tensor, call.dimension(asked, new Array<number>(rank).fill(1))),
    tensor,
  );
}

/** `repeat`: one copy; the gradient is summed over the repetitions. */
function repeat(call: OperatorCall, counts: readonly number[]): Tensor {
  const tensor = self(call);
  const { frame } = call;
  const offset = counts.length - tensor.shape.length;
  if (offset < 0) call.fail(shapeNotValid(call.name, tensor.shape, counts));
  const shape = counts.map((count, i) => count * (i < offset ? 1 : (tensor.shape[i - offset] ?? 1)));
  const result = frame.empty(shape, tensor.dtype);
  const from = tensor.shape;
  differentiable(frame, {
    name: "RepeatBackward0",
    inputs: [tensor],
    outputs: [result],
    backward: (inner, [gradient]) => [
      gradient === undefined ? undefined : sumOfRepetitions(inner, gradient, counts, from),
    ],
  });
  return result;
}

/** repeat_backward: one sum for every new dimension, the one before alive meanwhile, then one for all the others. */
function sumOfRepetitions(
  frame: Frame,
  gradient: Tensor,
  counts: readonly number[],
  shape: readonly number[],
): Tensor {
  const offset = counts.length - shape.length;
  let sum = gradient;
  for (let i = 0; i < offset; i++) {
    const next = frame.empty(sum.shape.slice(1), gradient.dtype);
    if (sum !== gradient) frame.free(sum);
    sum = next;
  }
  if (sameShape(sum.shape, shape)) return sum;
  const apart = counts.slice(offset).flatMap((count, i) => [...(count === 1 ? [] : [count]), shape[i] ?? 1]);
  reshape(frame, sum, apart);
  return frame.empty(shape, gradient.dtype);
}

function repeatInterleave(call: OperatorCall): Tensor {
  const tensor = self(call);
  const { frame } = call;
  const count = call.number("repeats");
  const flat = call.optionalNumber("dim") === undefined;
  const source = flat ? reshape(frame, tensor, [elementCount(tensor.shape)]) : tensor;
  const dimension = call.dimension(call.optionalNumber("dim") ?? 0, source.shape);
  const wide = unsqueeze(frame, source, dimension + 1);
  const expanded = expand(
    frame,
    wide,
    wide.shape.map((size, i) => (i === dimension + 1 ? count : size)),
  );
  const copy = clone(frame, expanded, "contiguous");
  const shape = source.shape.map((size, i) => (i === dimension ? size * count : size));
  return view(frame, copy, shape) ?? copy;
}

// --- Copies ---------------------------------------------------------------------------------------------------------

/** Operators that copy all elements to other places; so does their backward. */
function rearranged(
  call: OperatorCall,
  shape: readonly number[],
  name: string,
  { dtype, rowMajor }: { readonly dtype?: Dtype; readonly rowMajor?: boolean } = {},
): Tensor {
  const tensor = self(call);
  const { frame } = call;
  const keeps = rowMajor !== true && sameShape(shape, tensor.shape);
  const result = frame.empty(
    shape,
    dtype ?? tensor.dtype,
    keeps ? elementwiseStrides(shape, [tensor]) : contiguousStrides(shape),
  );
  const from = tensor.shape;
  differentiable(frame, {
    name,
    inputs: [tensor],
    outputs: [result],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : inner.empty(from, gradient.dtype)],
  });
  return result;
}

/** `channels_last` as strides. */
function channelsLast(shape: readonly number[]): number[] {
  const order = [0, ...shape.map((_, i) => i).slice(2), 1];
  const strides = new Array<number>(shape.length).fill(1);
  let expected = 1;
  for (const dimension of order.reverse()) {
    strides[dimension] = expected;
    expected *= shape[dimension] ?? 1;
  }
  return strides;
}

/** `contiguous(memory_format)` and `to(memory_format)`: a clone when the order of dimensions differs. */
function inFormat(frame: Frame, tensor: Tensor, format: Argument): Tensor {
  const name =
    typeof format === "object" && format !== null && "kind" in format && format.kind === "memory-format"
      ? format.name
      : "contiguous_format";
  if (name === "preserve_format") return tensor;
  if (!name.startsWith("channels_last")) return contiguousOf(frame, tensor);
  const strides = channelsLast(tensor.shape);
  const same = tensor.shape.every((size, i) => size === 1 || tensor.strides[i] === strides[i]);
  if (same) return tensor;
  const copy = frame.empty(tensor.shape, tensor.dtype, strides);
  differentiable(frame, {
    name: "CloneBackward0",
    inputs: [tensor],
    outputs: [copy],
    backward: (_inner, [gradient]) => [gradient],
  });
  return copy;
}

const dtypeMethods: Readonly<Record<string, Dtype>> = {
  float: "float32",
  double: "float64",
  half: "float16",
  bfloat16: "bfloat16",
  long: "int64",
  int: "int32",
  short: "int16",
  char: "int8",
  byte: "uint8",
  bool: "bool",
  cfloat: "complex64",
  cdouble: "complex128",
};

/** `tensor.to(…)`: a dtype, another tensor, a device, or several of them. Devices are the one being estimated. */
function runTo(call: OperatorCall): Tensor {
  let tensor = self(call);
  for (const value of [...call.rest, call.values.dtype ?? null, call.values.other ?? null]) {
    if (isTensor(value)) tensor = cast(call.frame, tensor, value.dtype);
    else if (typeof value === "object" && value !== null && "kind" in value && value.kind === "dtype") {
      tensor = withValues(cast(call.frame, tensor, value.dtype), tensor);
    }
  }
  if (call.values.copy === true && tensor === self(call)) tensor = clone(call.frame, tensor);
  const format = call.values.memory_format ?? null;
  return format === null ? tensor : inFormat(call.frame, tensor, format);
}

/** `tensor.unfold(dimension, size, step)`: an overlapping view; backward adds into zeros. */
function unfoldView(call: OperatorCall): Tensor {
  const tensor = self(call);
  const dimension = call.dimension(call.number("dimension"), tensor.shape);
  const size = call.number("size");
  const step = call.number("step");
  const count = Math.floor(((tensor.shape[dimension] ?? 0) - size) / step) + 1;
  const stride = tensor.strides[dimension] ?? 1;
  return viewOf(
    call.frame,
    tensor,
    "UnfoldBackward0",
    [...replaced(tensor.shape, dimension, count), size],
    [...tensor.strides.map((old, i) => (i === dimension ? old * step : old)), stride],
    (inner, _gradient, input) => inner.empty(input.shape, input.dtype),
  );
}

function narrow(call: OperatorCall): Tensor {
  const tensor = self(call);
  const dimension = call.dimension(call.number("dim"), tensor.shape);
  return slice(call.frame, tensor, dimension, call.number("length"), 1);
}

function diagonal(call: OperatorCall): Tensor {
  const tensor = self(call);
  const a = call.dimension(call.number("dim1"), tensor.shape);
  const b = call.dimension(call.number("dim2"), tensor.shape);
  const offset = call.number("offset");
  const size = Math.max(
    0,
    Math.min((tensor.shape[a] ?? 0) + Math.min(offset, 0), (tensor.shape[b] ?? 0) - Math.max(offset, 0)),
  );
  const keep = (_: number, i: number): boolean => i !== a && i !== b;
  return viewOf(
    call.frame,
    tensor,
    "DiagonalBackward0",
    [...tensor.shape.filter(keep), size],
    [...tensor.strides.filter(keep), (tensor.strides[a] ?? 0) + (tensor.strides[b] ?? 0)],
    (inner, _gradient, input) => inner.empty(input.shape, input.dtype),
  );
}

function ranked(call: OperatorCall, rank: number): Tensor {
  const tensor = self(call);
  if (tensor.shape.length >= rank) return tensor;
  const missing = new Array<number>(rank - tensor.shape.length).fill(1);
  return reshape(call.frame, tensor, [...missing, ...tensor.shape]);
}

export const shapeRows: readonly OperatorRow[] = [
  { names: ["Tensor.view", "Tensor._unsafe_view"], signature: "self, *size", run: runView },
  {
    names: ["Tensor.view_as"],
    signature: "self, other",
    run: (call) => {
      const shape = call.tensor("other").shape;
      return (
        view(call.frame, self(call), shape) ?? call.fail(shapeNotValid(call.name, self(call).shape, shape))
      );
    },
  },
  {
    names: ["Tensor.reshape"],
    signature: "self, *shape",
    run: (call) =>
      withValues(reshape(call.frame, self(call), sizesFor(call, call.restIntegers())), self(call)),
  },
  {
    names: ["torch.reshape"],
    signature: "self, shape",
    run: (call) =>
      withValues(reshape(call.frame, self(call), sizesFor(call, call.integers("shape"))), self(call)),
  },
  {
    names: ["Tensor.reshape_as"],
    signature: "self, other",
    run: (call) => reshape(call.frame, self(call), sizesFor(call, call.tensor("other").shape)),
  },
  { names: both("flatten"), signature: "self, start_dim=0, end_dim=-1", run: flatten },
  {
    names: both("ravel"),
    signature: "self",
    run: (call) => reshape(call.frame, self(call), [elementCount(self(call).shape)]),
  },
  { names: both("unflatten"), signature: "self, dim, sizes", run: unflatten },
  {
    names: [...both("transpose"), ...both("swapaxes"), ...both("swapdims")],
    signature: "self, dim0, dim1",
    run: (call) =>
      transpose(
        call.frame,
        self(call),
        call.dimension(call.number("dim0"), self(call).shape),
        call.dimension(call.number("dim1"), self(call).shape),
      ),
  },
  {
    names: [...both("t"), "Tensor.T"],
    signature: "self",
    run: (call) => {
      const tensor = self(call);
      if (tensor.shape.length < 2) return tensor;
      if (tensor.shape.length === 2) return transpose(call.frame, tensor, 0, 1, "TBackward0");
      return permute(
        call.frame,
        tensor,
        tensor.shape.map((_, i) => tensor.shape.length - 1 - i),
      );
    },
  },
  {
    names: ["Tensor.mT", "torch.adjoint", "Tensor.mH", "Tensor.H"],
    signature: "self",
    run: (call) => transpose(call.frame, self(call)),
  },
  {
    names: ["Tensor.permute"],
    signature: "self, *dims",
    run: (call) => runPermute(call, call.restIntegers()),
  },
  {
    names: ["torch.permute"],
    signature: "self, dims",
    run: (call) => runPermute(call, call.integers("dims")),
  },
  {
    names: [...both("movedim"), ...both("moveaxis")],
    signature: "self, source, destination",
    run: moveDimensions,
  },
  { names: ["Tensor.expand"], signature: "self, *size", run: (call) => runExpand(call, call.restIntegers()) },
  {
    names: ["Tensor.expand_as"],
    signature: "self, other",
    run: (call) => runExpand(call, call.tensor("other").shape),
  },
  {
    names: ["torch.broadcast_to", "Tensor.broadcast_to"],
    signature: "self, size",
    run: (call) => runExpand(call, call.integers("size")),
  },
  { names: both("squeeze"), signature: "self, dim=None", run: runSqueeze },
  { names: both("unsqueeze"), signature: "self, dim", run: runUnsqueeze },
  { names: both("atleast_1d"), signature: "self", run: (call) => ranked(call, 1) },
  { names: both("atleast_2d"), signature: "self", run: (call) => ranked(call, 2) },
  { names: ["Tensor.repeat"], signature: "self, *sizes", run: (call) => repeat(call, call.restIntegers()) },
  {
    names: ["Tensor.tile"],
    signature: "self, *dims",
    run: (call) => tile(call, call.restIntegers()),
  },
  { names: ["torch.tile"], signature: "self, dims", run: (call) => tile(call, call.integers("dims")) },
  {
    names: both("repeat_interleave"),
    signature: "self, repeats, dim=None, *, output_size=None",
    run: repeatInterleave,
  },
  {
    names: both("roll"),
    signature: "self, shifts, dims=None",
    run: (call) => rearranged(call, self(call).shape, "RollBackward0", { rowMajor: true }),
  },
  {
    names: both("flip"),
    signature: "self, *dims",
    run: (call) => rearranged(call, self(call).shape, "FlipBackward0"),
  },
  {
    names: [...both("fliplr"), ...both("flipud")],
    signature: "self",
    run: (call) => rearranged(call, self(call).shape, "FlipBackward0"),
  },
  ...(["tril", "triu"] as const).map((name): OperatorRow => ({
    names: both(name),
    signature: "self, diagonal=0, *, out=None",
    run: (call) =>
      rearranged(call, self(call).shape, name === "tril" ? "TrilBackward0" : "TriuBackward0", {
        rowMajor: true,
      }),
  })),
  {
    names: both("clone"),
    signature: "self, *, memory_format=None",
    run: (call) => {
      const format = call.values.memory_format ?? null;
      const isContiguousAsked =
        typeof format === "object" &&
        format !== null &&
        "kind" in format &&
        format.kind === "memory-format" &&
        format.name === "contiguous_format";
      return clone(call.frame, self(call), isContiguousAsked ? "contiguous" : "preserve");
    },
  },
  {
    names: ["Tensor.contiguous"],
    signature: "self, memory_format=None",
    run: (call) => inFormat(call.frame, self(call), call.values.memory_format ?? null),
  },
  {
    names: [...both("detach"), "Tensor.data"],
    signature: "self",
    run: (call) => detach(call.frame, self(call)),
  },
  {
    names: ["Tensor.detach_"],
    signature: "self",
    run: (call) => {
      const tensor = self(call);
      if (tensor.node !== undefined) call.execution.dropNode(tensor.node);
      tensor.node = undefined;
      tensor.requiresGrad = false;
      return tensor;
    },
  },
  {
    names: ["Tensor.requires_grad_"],
    signature: "self, requires_grad=True",
    run: (call) => {
      const tensor = self(call);
      if (tensor.isLeaf) tensor.requiresGrad = call.boolean("requires_grad");
      return tensor;
    },
  },
  {
    names: ["Tensor.to"],
    signature:
      "self, *args, device=None, dtype=None, other=None, non_blocking=False, copy=False, memory_format=None",
    run: runTo,
  },
  {
    names: ["Tensor.type_as"],
    signature: "self, other",
    run: (call) => cast(call.frame, self(call), call.tensor("other").dtype),
  },
  {
    names: ["Tensor.type"],
    signature: "self, dtype, non_blocking=False",
    run: (call) => cast(call.frame, self(call), call.dtype("dtype") ?? self(call).dtype),
  },
  ...Object.entries(dtypeMethods).map(([name, dtype]): OperatorRow => ({
    names: [`Tensor.${name}`],
    signature: "self, memory_format=None",
    run: (call) => withValues(cast(call.frame, self(call), dtype), self(call)),
  })),
  {
    names: ["Tensor.cuda", "Tensor.pin_memory", "Tensor.share_memory_"],
    signature: "self, device=None, non_blocking=False, memory_format=None",
    run: (call) => self(call),
  },
  {
    names: ["Tensor.cpu"],
    signature: "self, memory_format=None",
    run: (call) => toHost(call),
  },
  { names: ["Tensor.unfold"], signature: "self, dimension, size, step", run: unfoldView },
  { names: both("narrow"), signature: "self, dim, start, length", run: narrow },
  { names: both("diagonal"), signature: "self, offset=0, dim1=0, dim2=1", run: diagonal },
];

function tile(call: OperatorCall, dims: readonly number[]): Tensor {
  const missing = Math.max(0, self(call).shape.length - dims.length);
  return repeat(call, [...new Array<number>(missing).fill(1), ...dims]);
}

/** A copy in host memory: it counts for nothing on the device. */
function toHost(call: OperatorCall): Tensor {
  const tensor = self(call);
  if (call.execution.device === "cpu") return tensor;
  const copy = call.frame.own(call.execution.allocate(tensor.shape, tensor.dtype, { kind: "host" }));
  const from = tensor.shape;
  differentiable(call.frame, {
    name: "ToCopyBackward0",
    inputs: [tensor],
    outputs: [copy],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : inner.empty(from, gradient.dtype)],
  });
  return copy;
}
