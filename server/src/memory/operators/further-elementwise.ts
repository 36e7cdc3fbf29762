/** Element-wise functions whose gradients use what they compute more than once (FunctionsManual.cpp). */
import { isComplex, type Tensor } from "../tensor";
import { differentiable } from "./autograd";
import { formula, type FormulaNames } from "./formula";
import type { Frame } from "./frame";
import { emptyLike } from "./kernels";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { toFloating } from "./promotion";
import { named } from "./reductions";

function computed(frame: Frame, text: string, names: FormulaNames, otherwise: Tensor): Tensor {
  return frame.scoped((inner) => formula(text).evaluate(inner, names) ?? otherwise);
}

/** `torch.sinc`: sinc_backward keeps the angle and its square until the result is chosen. */
function sinc(call: OperatorCall): Tensor {
  const { frame } = call;
  const self = call.tensor("self");
  const result = emptyLike(frame, self, toFloating(self.dtype));
  differentiable(frame, {
    name: "SincBackward0",
    inputs: [self],
    outputs: [result],
    saved: [self],
    backward: (inner, [grad], [input]) => {
      if (grad === undefined || input === undefined) return [undefined];
      const angle = computed(inner, "input * 1", { input }, input);
      const square = computed(inner, "input * input * 1", { input }, input);
      const slope = computed(
        inner,
        "grad * ((angle * cos(angle) - sin(angle)) / square)",
        { grad, angle, square },
        grad,
      );
      return [computed(inner, "where(square == 0, scalar(grad), slope)", { square, slope, grad }, slope)];
    },
  });
  return result;
}

export const furtherElementwiseRows: readonly OperatorRow[] = [
  {
    names: [...both("conj_physical"), ...both("resolve_neg")],
    signature: "self",
    run: (call) => (isComplex(call.tensor("self").dtype) ? call.notUnderstood("self") : call.tensor("self")),
  },
  { names: [...both("sinc"), "torch.special.sinc"], signature: "self, *, out=None", run: sinc },
  {
    names: both("frexp"),
    signature: "self, *, out=None",
    run: (call) => {
      const self = call.tensor("self");
      if (call.execution.needsGraph([self])) return call.notUnderstood("self");
      return named(
        ["mantissa", "exponent"],
        [emptyLike(call.frame, self), emptyLike(call.frame, self, "int32")],
      );
    },
  },
];
