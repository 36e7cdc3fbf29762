/** Questions about tensors that need no values: sizes, dtypes, flags. */
import { dtypeBytes, elementCount, isContiguous, isFloating } from "../tensor";
import { isTensor, type Argument } from "./argument";
import type { OperatorCall, OperatorRow } from "./operator";

/** Questions that are functions of `torch` too. */
const functions = ["numel", "is_floating_point"];

function query(name: string, answer: (call: OperatorCall) => Argument, signature = "self"): OperatorRow {
  return {
    names: [`Tensor.${name}`, ...(functions.includes(name) ? [`torch.${name}`] : [])],
    signature,
    run: answer,
  };
}

export const queryRows: readonly OperatorRow[] = [
  query(
    "size",
    (call) => {
      const { shape } = call.tensor("self");
      const asked = call.optionalNumber("dim");
      return asked === undefined ? [...shape] : (shape[call.dimension(asked, shape)] ?? 0);
    },
    "self, dim=None",
  ),
  query("shape", (call) => [...call.tensor("self").shape]),
  query("dim", (call) => call.tensor("self").shape.length),
  query("ndim", (call) => call.tensor("self").shape.length),
  query("ndimension", (call) => call.tensor("self").shape.length),
  query("numel", (call) => elementCount(call.tensor("self").shape)),
  query("nelement", (call) => elementCount(call.tensor("self").shape)),
  query("element_size", (call) => dtypeBytes[call.tensor("self").dtype]),
  query("__len__", (call) => call.tensor("self").shape[0] ?? 0),
  query("dtype", (call) => ({ kind: "dtype", dtype: call.tensor("self").dtype })),
  query("device", (call) => ({ kind: "device", name: call.execution.device })),
  query("is_cuda", (call) => call.execution.device === "cuda"),
  query("requires_grad", (call) => call.tensor("self").requiresGrad),
  query("is_leaf", (call) => call.tensor("self").isLeaf),
  query("is_floating_point", (call) => isFloating(call.tensor("self").dtype)),
  query("is_contiguous", (call) => isContiguous(call.tensor("self")), "self, memory_format=None"),
  query("stride", (call) => [...call.tensor("self").strides]),
  query("grad", (call) => call.tensor("self").gradient ?? null),
  {
    names: ["torch.is_tensor"],
    signature: "obj",
    run: (call) => isTensor(call.values.obj),
  },
];
