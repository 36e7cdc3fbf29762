/** Operators with gradients of a shape of their own: complex numbers from parts, running extrema, blocks on a diagonal. */
import type { Dtype, Tensor } from "../tensor";
import { isSequence, isTensor } from "./argument";
import { differentiable, needs } from "./autograd";
import { formula } from "./formula";
import type { Frame } from "./frame";
import { broadcastShapes, elementwiseStrides, emptyLike } from "./kernels";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { named } from "./reductions";
import { shapesDoNotFit } from "./reasons";

function complexOf(dtype: Dtype): Dtype {
  return dtype === "float64" ? "complex128" : "complex64";
}

/** Real or imaginary parts, where they lie. */
function part(frame: Frame, complex: Tensor): Tensor {
  const dtype: Dtype = complex.dtype === "complex128" ? "float64" : "float32";
  const strides = complex.strides.map((stride) => stride * 2);
  return frame.own(frame.execution.alias(complex, complex.shape, strides, dtype));
}

/** `torch.complex(real, imag)`: its gradients are the parts of the complex one. */
function complex(call: OperatorCall): Tensor {
  const parts = [call.tensor("real"), call.tensor("imag")];
  const shape = broadcastShapes(...parts.map((tensor) => tensor.shape));
  const [real] = parts;
  if (shape === undefined || real === undefined)
    return call.fail(
      shapesDoNotFit(
        call.name,
        parts.map((tensor) => tensor.shape),
      ),
    );
  const result = call.frame.empty(shape, complexOf(real.dtype));
  differentiable(call.frame, {
    name: "ComplexBackward0",
    inputs: parts,
    outputs: [result],
    saved: parts.filter((one) => needs(call.execution, one)),
    backward: (inner, [gradient], _saved, wanted) =>
      gradient === undefined ? [] : wanted.map((one) => (one ? part(inner, gradient) : undefined)),
  });
  return result;
}

/** `torch.polar(abs, angle)`: polar_backward in FunctionsManual.cpp. */
function polar(call: OperatorCall): Tensor {
  const [abs, angle] = [call.tensor("real"), call.tensor("imag")];
  const shape = broadcastShapes(abs.shape, angle.shape);
  if (shape === undefined) return call.fail(shapesDoNotFit(call.name, [abs.shape, angle.shape]));
  const result = call.frame.empty(shape, complexOf(abs.dtype), elementwiseStrides(shape, [abs, angle]));
  differentiable(call.frame, {
    name: "PolarBackward0",
    inputs: [abs, angle],
    outputs: [result],
    saved: [result],
    backward: (inner, [gradient], _saved, wanted) => {
      if (gradient === undefined) return [];
      const product = (): Tensor =>
        inner.scoped((own) => {
          // the factor, and the conjugated gradient written out for the product
          for (let i = 0; i < 2; i++) emptyLike(own, gradient);
          return part(own, emptyLike(own, gradient));
        });
      return wanted.map((one) => (one ? product() : undefined));
    },
  });
  return result;
}

/** `angle` of complex numbers; of real ones it is 0 or pi and has no gradient. */
function angle(call: OperatorCall): Tensor {
  const { frame } = call;
  const self = call.tensor("self");
  const isComplexInput = self.dtype === "complex64" || self.dtype === "complex128";
  const dtype: Dtype = self.dtype === "complex128" || self.dtype === "float64" ? "float64" : "float32";
  const result = emptyLike(frame, self, dtype);
  differentiable(frame, {
    name: "AngleBackward0",
    inputs: [self],
    outputs: [result],
    saved: [self],
    backward: (inner, [gradient]) => {
      if (gradient === undefined || !isComplexInput) return [gradient && emptyLike(inner, gradient)];
      for (let i = 0; i < 2; i++) emptyLike(inner, gradient);
      for (let i = 0; i < 3; i++) emptyLike(inner, gradient, self.dtype);
      inner.empty([], self.dtype);
      emptyLike(inner, gradient, "bool");
      return [emptyLike(inner, gradient, self.dtype)];
    },
  });
  return result;
}

/** `atan2`: both gradients share the reciprocal of the sum of squares (atan2_backward). */
function atan2(call: OperatorCall): Tensor {
  const { frame } = call;
  const inputs = [call.tensor("self"), call.tensor("other")];
  const shape = broadcastShapes(...inputs.map((tensor) => tensor.shape));
  const [self] = inputs;
  if (shape === undefined || self === undefined)
    return call.fail(
      shapesDoNotFit(
        call.name,
        inputs.map((tensor) => tensor.shape),
      ),
    );
  const result = frame.empty(shape, self.dtype);
  differentiable(frame, {
    name: "Atan2Backward0",
    inputs,
    outputs: [result],
    saved: inputs,
    backward: (inner, [grad], [first, second], wanted) => {
      const names = { grad, self: first, other: second };
      // all that the two products need lives until both are there
      const evaluate = (text: string): Tensor | undefined =>
        formula(text).evaluate(inner, { ...names, shared });
      const inverse = inner.temporarily((own) =>
        formula("reciprocal(self * self + other * other)").evaluate(own, names),
      );
      const shared = inner.temporarily((own) =>
        formula("masked_fill(shared, shared == 0)").evaluate(own, { shared: inverse }),
      );
      const gradients = ["(grad * other) * shared", "(grad * -self) * shared"];
      return gradients.map((text, i) => (wanted[i] === true ? evaluate(text) : undefined));
    },
  });
  return result;
}

/** `cummax`, `cummin`: values and places. */
function runningExtremum(call: OperatorCall, node: string): ReturnType<typeof named> {
  const { frame } = call;
  const self = call.tensor("self");
  const [values, indices] = [emptyLike(frame, self), emptyLike(frame, self, "int64")];
  differentiable(frame, {
    name: node,
    inputs: [self],
    outputs: [values],
    saved: [self, indices],
    backward: (inner, [gradient]) => [gradient === undefined ? undefined : emptyLike(inner, gradient)],
  });
  return named(["values", "indices"], [values, indices]);
}

/** `block_diag`: its gradients are blocks of the whole one. */
function blockDiagonal(call: OperatorCall): Tensor {
  const [only] = call.rest;
  const given = call.rest.length === 1 && only !== undefined && isSequence(only) ? only : call.rest;
  const blocks = given.map((each) => (isTensor(each) ? each : call.notUnderstood("tensors")));
  const size = (dimension: number): number =>
    blocks.reduce((sum, { shape }) => sum + (shape.at(dimension) ?? 1), 0);
  const [first] = blocks;
  if (first === undefined) return call.notUnderstood("tensors");
  const result = call.frame.empty([size(-2), size(-1)], first.dtype);
  const columns = size(-1);
  differentiable(call.frame, {
    name: "BlockDiagBackward0",
    inputs: blocks,
    outputs: [result],
    backward: (inner, [gradient], _saved, wanted) =>
      blocks.map(({ shape }, i) =>
        gradient === undefined || wanted[i] !== true
          ? undefined
          : inner.alias(gradient, shape, shape.length === 2 ? [columns, 1] : [1]),
      ),
  });
  return result;
}

/** `max_unpool2d` and its like: values at the places that pooling has found. */
function maxUnpool(call: OperatorCall, rank: number): Tensor {
  const { frame } = call;
  const [self, indices] = [call.tensor("input"), call.tensor("indices")];
  const kernel = call.repeated("kernel_size", rank);
  const stride = call.value("stride") === null ? kernel : call.repeated("stride", rank);
  const padding = call.repeated("padding", rank);
  const asked = call.optionalIntegers("output_size");
  const leading = self.shape.slice(0, self.shape.length - rank);
  const spatial = kernel.map((size, i) => {
    const input = self.shape[leading.length + i] ?? 1;
    return (input - 1) * (stride[i] ?? 1) - 2 * (padding[i] ?? 0) + size;
  });
  const result = frame.empty([...leading, ...(asked?.slice(-rank) ?? spatial)], self.dtype);
  differentiable(frame, {
    name: `MaxUnpool${rank}DBackward0`,
    inputs: [self],
    outputs: [result],
    saved: [indices],
    backward: (inner, [gradient]) => [
      gradient === undefined ? undefined : inner.empty(self.shape, gradient.dtype),
    ],
  });
  return result;
}

/** `aminmax`: a pair of extrema, each with a share of the gradient for all that are as large. */
function bothExtrema(call: OperatorCall): ReturnType<typeof named> {
  const self = call.tensor("self");
  const dim = call.value("dim");
  const dims = dim === null ? self.shape.map((_, i) => i) : dim;
  const [least, most] = ["Tensor.amin", "Tensor.amax"].map((name) =>
    call.op(name, [self, dims], { keepdim: call.value("keepdim") }),
  );
  return named(["min", "max"], [least ?? null, most ?? null]);
}

export const specialRows: readonly OperatorRow[] = [
  { names: ["torch.complex"], signature: "real, imag, *, out=None", run: complex },
  { names: ["torch.polar"], signature: "real, imag, *, out=None", run: polar },
  { names: both("angle"), signature: "self", run: angle },
  { names: [...both("atan2"), ...both("arctan2")], signature: "self, other, *, out=None", run: atan2 },
  { names: both("cummax"), signature: "self, dim", run: (call) => runningExtremum(call, "CummaxBackward0") },
  { names: both("cummin"), signature: "self, dim", run: (call) => runningExtremum(call, "CumminBackward0") },
  { names: ["torch.block_diag"], signature: "*tensors", run: blockDiagonal },
  { names: both("aminmax"), signature: "self, *, dim=None, keepdim=False", run: bothExtrema },
  ...[1, 2, 3].map((rank): OperatorRow => ({
    names: [`torch.nn.functional.max_unpool${rank}d`],
    signature: "input, indices, kernel_size, stride=None, padding=0, output_size=None",
    run: (call) => maxUnpool(call, rank),
  })),
];
