/**
 * Views that change the tensor itself (`x.squeeze_()`), and views by strides that are given outright: VariableType's in-place
 * views, as_strided_backward in FunctionsManual.cpp.
 */
import { elementCount, type Tensor } from "../tensor";
import type { Argument } from "./argument";
import type { Frame } from "./frame";
import type { OperatorCall, OperatorRow } from "./operator";
import { argumentNotUnderstood, shapeNotValid } from "./reasons";
import { clone, rawReshape, rawTranspose, viewOf } from "./views";

interface Geometry {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** How many elements from its first to its last. */
function reach({ shape, strides }: Geometry): number {
  if (elementCount(shape) === 0) return 0;
  return shape.reduce((last, size, i) => last + (size - 1) * (strides[i] ?? 0), 1);
}

/** `_maybe_overlapping_memory`: whether two places may be one element. */
function mayOverlap({ shape, strides }: Geometry): boolean {
  const order = shape.map((_, i) => i).sort((a, b) => (strides[a] ?? 0) - (strides[b] ?? 0));
  let last = 0;
  for (const i of order) {
    const stride = strides[i] ?? 0;
    if (stride <= last) return true;
    last += stride * ((shape[i] ?? 1) - 1);
  }
  return false;
}

/** The gradient lies in zeros as long as both reach; where places of the view are one element, it is added by index. */
function asStridedBackward(
  frame: Frame,
  gradient: Tensor,
  input: Geometry,
  view: Geometry,
  offset: number,
): Tensor {
  const length = Math.max(reach(input), offset + reach(view));
  const zeros = frame.empty([length], gradient.dtype);
  if (mayOverlap(view)) {
    frame.scoped((inner) => {
      const places = inner.empty([length], "int64");
      inner.empty([elementCount(view.shape)], "int64");
      rawReshape(inner, gradient, [elementCount(view.shape)]);
      return places;
    });
  }
  return frame.view(zeros, input.shape, input.strides);
}

/** `torch.as_strided(input, size, stride)`: any view of the same storage. */
export function asStrided(
  frame: Frame,
  tensor: Tensor,
  shape: readonly number[],
  strides: readonly number[],
  offset = 0,
): Tensor {
  return viewOf(frame, tensor, "AsStridedBackward0", shape, strides, (inner, gradient, input) =>
    asStridedBackward(inner, gradient, input, { shape, strides }, offset),
  );
}

function runAsStrided(call: OperatorCall): Tensor {
  const self = call.tensor("self");
  const [shape, strides] = [call.integers("size"), call.integers("stride")];
  if (shape.length !== strides.length) call.fail(shapeNotValid(call.name, self.shape, shape));
  return asStrided(call.frame, self, shape, strides, call.optionalNumber("storage_offset"));
}

/** How the gradient gets back to the shape before. */
type Back = (frame: Frame, gradient: Tensor, before: Geometry) => Tensor;

/** Gives the tensor the shape and strides of the view, and a node of its own. */
function change(call: OperatorCall, name: string, positional: readonly Argument[], back: Back): Tensor {
  const { execution } = call;
  const self = call.tensor("self");
  // a tensor that was an operand has another layout afterwards
  execution.effects?.abandon();
  const before = { shape: self.shape, strides: self.strides };
  execution.pushGradMode(false);
  const { shape, strides } = call.op(name, [self, ...positional]);
  execution.popGradMode();
  self.shape = shape;
  self.strides = strides;
  self.layout = 0;
  if (!execution.needsGraph([self])) return self;
  // on a view too: what it was written through does not change
  execution.attach({
    name: `${name}_`,
    inputs: [self],
    outputs: [self],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : back(inner, gradient, before)],
  });
  return self;
}

const reshaped: Back = (frame, gradient, before) => rawReshape(frame, gradient, before.shape);

function transposed(call: OperatorCall, first: Argument, second: Argument): Tensor {
  const self = call.tensor("self");
  const [a = 0, b = 1] = [first, second].map((each) =>
    typeof each === "number" ? call.dimension(each, self.shape) : call.notUnderstood("dim0"),
  );
  return change(call, "Tensor.transpose", [a, b], (frame, gradient) => rawTranspose(frame, gradient, a, b));
}

export const changingViewRows: readonly OperatorRow[] = [
  {
    names: ["torch.as_strided", "Tensor.as_strided"],
    signature: "self, size, stride, storage_offset=None",
    run: runAsStrided,
  },
  {
    names: ["torch.as_strided_copy"],
    signature: "self, size, stride, storage_offset=None",
    run: (call) => clone(call.frame, runAsStrided(call), "contiguous"),
  },
  {
    names: ["Tensor.squeeze_"],
    signature: "self, dim=None",
    run: (call) => change(call, "Tensor.squeeze", [call.value("dim")], reshaped),
  },
  {
    names: ["Tensor.unsqueeze_"],
    signature: "self, dim",
    run: (call) => change(call, "Tensor.unsqueeze", [call.value("dim")], reshaped),
  },
  {
    names: ["Tensor.transpose_", "Tensor.swapaxes_", "Tensor.swapdims_"],
    signature: "self, dim0, dim1",
    run: (call) => transposed(call, call.value("dim0"), call.value("dim1")),
  },
  {
    names: ["Tensor.t_"],
    signature: "self",
    run: (call) => (call.tensor("self").shape.length < 2 ? call.tensor("self") : transposed(call, 0, 1)),
  },
  {
    names: ["Tensor.as_strided_"],
    signature: "self, size, stride, storage_offset=None",
    run: (call) => {
      if (call.execution.needsGraph([call.tensor("self")]))
        return call.fail(argumentNotUnderstood(call.name, "self"));
      const positional = [call.value("size"), call.value("stride")];
      return change(call, "Tensor.as_strided", positional, reshaped);
    },
  },
];
