/** Splitting and joining: aten/src/ATen/native/TensorShape.cpp. */
import { elementCount, isContiguous, type Tensor } from "../tensor";
import { isSequence, type Argument } from "./argument";
import { differentiable } from "./autograd";
import { channelsLastStrides, isChannelsLast } from "./convolution";
import type { Frame } from "./frame";
import { sameShape } from "./kernels";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { resultType } from "./promotion";
import { shapeNotValid, shapesDoNotFit } from "./reasons";
import { reshape, slice } from "./views";

function self(call: OperatorCall): Tensor {
  return call.tensor("self");
}

// --- Splitting ------------------------------------------------------------------------------------------------------

/** Pieces of one dimension that share one node; its backward joins their gradients, with zeros for the missing ones. */
export function split(
  frame: Frame,
  tensor: Tensor,
  dimension: number,
  sizes: readonly number[],
  name: string,
): Tensor[] {
  const pieces = sizes.map((size) =>
    frame.view(
      tensor,
      tensor.shape.map((old, i) => (i === dimension ? size : old)),
      tensor.strides,
    ),
  );
  const shape = tensor.shape;
  differentiable(frame, {
    name,
    inputs: [tensor],
    outputs: pieces,
    backward: (inner, gradients) => {
      const dtype = gradients.find((gradient) => gradient !== undefined)?.dtype ?? tensor.dtype;
      sizes.forEach((size, i) => {
        if (gradients[i] === undefined) inner.empty(replaced(shape, dimension, size), dtype);
      });
      return [inner.empty(shape, dtype)];
    },
  });
  return pieces;
}

export function replaced(shape: readonly number[], dimension: number, size: number): number[] {
  return shape.map((old, i) => (i === dimension ? size : old));
}

/** `sections`: the parameter that has the size or the sizes; the function, the methods and their kin name it differently. */
function runSplit(call: OperatorCall, sections: string): Argument {
  const tensor = self(call);
  const dimension = call.dimension(call.number("dim"), tensor.shape);
  const total = tensor.shape[dimension] ?? 1;
  const asked = call.value(sections);
  if (isSequence(asked)) {
    const sizes = call.integers(sections);
    if (sizes.reduce((sum, size) => sum + size, 0) !== total) {
      call.fail(shapeNotValid(call.name, tensor.shape, sizes));
    }
    return split(call.frame, tensor, dimension, sizes, "SplitWithSizesBackward0");
  }
  return split(call.frame, tensor, dimension, evenSizes(total, call.number(sections)), "SplitBackward0");
}

function evenSizes(total: number, size: number): number[] {
  const sizes: number[] = [];
  for (let left = total; left > 0 && size > 0; left -= size) sizes.push(Math.min(size, left));
  return sizes.length === 0 ? [0] : sizes;
}

function chunk(call: OperatorCall): Argument {
  const tensor = self(call);
  const dimension = call.dimension(call.number("dim"), tensor.shape);
  const total = tensor.shape[dimension] ?? 1;
  const size = Math.ceil(total / Math.max(call.number("chunks"), 1));
  return split(call.frame, tensor, dimension, evenSizes(total, size), "SplitBackward0");
}

function tensorSplit(call: OperatorCall): Argument {
  const tensor = self(call);
  const dimension = call.dimension(call.number("dim"), tensor.shape);
  const total = tensor.shape[dimension] ?? 1;
  const asked = call.value("indices_or_sections");
  if (isSequence(asked)) {
    const ends = [...call.integers("indices_or_sections"), total];
    return ends.map((end, i) =>
      slice(call.frame, tensor, dimension, end - (i === 0 ? 0 : (ends[i - 1] ?? 0)), 1),
    );
  }
  const sections = call.number("indices_or_sections");
  return Array.from({ length: sections }, (_, i) =>
    slice(call.frame, tensor, dimension, Math.floor(total / sections) + (i < total % sections ? 1 : 0), 1),
  );
}

/** `unbind`: views that share one node; its backward stacks the gradients, with a zero for each missing one. */
export function unbind(frame: Frame, tensor: Tensor, dimension: number): Tensor[] {
  const keep = (_: number, i: number): boolean => i !== dimension;
  const shape = tensor.shape.filter(keep);
  const strides = tensor.strides.filter(keep);
  const count = tensor.shape[dimension] ?? 0;
  const pieces = Array.from({ length: count }, () => frame.view(tensor, shape, strides));
  const whole = tensor.shape;
  differentiable(frame, {
    name: "UnbindBackward0",
    inputs: [tensor],
    outputs: pieces,
    backward: (inner, gradients) => {
      const dtype = gradients.find((gradient) => gradient !== undefined)?.dtype ?? tensor.dtype;
      for (let i = 0; i < count; i++) if (gradients[i] === undefined) inner.empty([], dtype);
      return [inner.empty(whole, dtype)];
    },
  });
  return pieces;
}

// --- Joining --------------------------------------------------------------------------------------------------------

/** `cat`: the gradients of the parts are views of the result's gradient. */
export function cat(frame: Frame, tensors: readonly Tensor[], dimension: number): Tensor {
  const parts = tensors.filter((tensor) => tensor.shape.length > 1 || elementCount(tensor.shape) > 0);
  const first = parts[0] ?? tensors[0];
  if (first === undefined) return frame.empty([0], "float32");
  const dtype = resultType(parts);
  const size = parts.reduce((sum, part) => sum + (part.shape[dimension] ?? 0), 0);
  const shape = replaced(first.shape, dimension, size);
  // of all layouts only channels-last is kept
  const keepsLayout = parts.every((part) => !isContiguous(part) && isChannelsLast(part));
  const strides = keepsLayout ? channelsLastStrides(shape) : undefined;
  const result = frame.empty(shape, dtype, strides);
  const sizes = parts.map((part) => part.shape);
  differentiable(frame, {
    name: "CatBackward0",
    inputs: parts,
    outputs: [result],
    backward: (inner, [gradient], _saved, wanted) =>
      sizes.map((part, i) =>
        gradient === undefined || wanted[i] !== true
          ? undefined
          : inner.view(gradient, part, gradient.strides),
      ),
  });
  return result;
}

function runCat(call: OperatorCall): Tensor {
  const tensors = call.tensors("tensors");
  // an empty vector fits anywhere and says nothing of the dimensions
  const whole = tensors.find(({ shape }) => shape.length > 0 && !sameShape(shape, [0]));
  const first = whole ?? tensors.find(({ shape }) => shape.length > 0) ?? call.notUnderstood("tensors");
  const dimension = call.dimension(call.number("dim"), first.shape);
  const fits = tensors.every(
    (tensor) =>
      sameShape(tensor.shape, [0]) ||
      (tensor.shape.length === first.shape.length &&
        tensor.shape.every((size, i) => i === dimension || size === first.shape[i])),
  );
  if (!fits) {
    call.fail(
      shapesDoNotFit(
        call.name,
        tensors.map((tensor) => tensor.shape),
      ),
    );
  }
  return cat(call.frame, tensors, dimension);
}

/** `stack`: as `cat` of unsqueezed tensors, with one node. */
export function stack(frame: Frame, tensors: readonly Tensor[], dimension: number): Tensor {
  const shape = [...(tensors[0]?.shape ?? [])];
  shape.splice(dimension, 0, tensors.length);
  const result = frame.empty(shape, resultType(tensors));
  const values = tensors.every((tensor) => tensor.values?.length === 1)
    ? tensors.map((tensor) => tensor.values?.[0] ?? 0)
    : undefined;
  result.values = values;
  differentiable(frame, {
    name: "StackBackward0",
    inputs: tensors,
    outputs: [result],
    backward: (inner, [gradient], _saved, wanted) => {
      if (gradient === undefined) return [];
      const keep = (_: number, i: number): boolean => i !== dimension;
      return tensors.map((_, i) =>
        wanted[i] === true
          ? inner.view(gradient, gradient.shape.filter(keep), gradient.strides.filter(keep))
          : undefined,
      );
    },
  });
  return result;
}

function runStack(call: OperatorCall): Tensor {
  const tensors = call.tensors("tensors");
  const first = tensors[0] ?? call.notUnderstood("tensors");
  if (!tensors.every((tensor) => sameShape(tensor.shape, first.shape))) {
    call.fail(
      shapesDoNotFit(
        call.name,
        tensors.map((tensor) => tensor.shape),
      ),
    );
  }
  return stack(call.frame, tensors, call.dimension(call.number("dim"), [...first.shape, 1]));
}

/** hstack, vstack, dstack: `cat` along one dimension of tensors that have at least so many. */
function joinAlong(call: OperatorCall, dimension: number): Tensor {
  const tensors = call.tensors("tensors").map((tensor) => {
    if (dimension !== 0 || tensor.shape.length > 1) return tensor;
    return reshape(call.frame, tensor, [1, tensor.shape[0] ?? 1]);
  });
  const rank = tensors[0]?.shape.length ?? 1;
  return cat(call.frame, tensors, rank === 1 ? 0 : dimension);
}

export const joiningRows: readonly OperatorRow[] = [
  {
    names: ["torch.split"],
    signature: "self, split_size_or_sections, dim=0",
    run: (call) => runSplit(call, "split_size_or_sections"),
  },
  {
    names: ["Tensor.split"],
    signature: "self, split_size, dim=0",
    run: (call) => runSplit(call, "split_size"),
  },
  {
    names: both("split_with_sizes"),
    signature: "self, split_sizes, dim=0",
    run: (call) => runSplit(call, "split_sizes"),
  },
  { names: both("chunk"), signature: "self, chunks, dim=0", run: chunk },
  { names: both("tensor_split"), signature: "self, indices_or_sections, dim=0", run: tensorSplit },
  {
    names: both("unbind"),
    signature: "self, dim=0",
    run: (call) => unbind(call.frame, self(call), call.dimension(call.number("dim"), self(call).shape)),
  },
  {
    names: ["Tensor.__iter__"],
    signature: "self",
    run: (call) => unbind(call.frame, self(call), 0),
  },
  {
    names: ["torch.cat", "torch.concat", "torch.concatenate"],
    signature: "tensors, dim=0, *, out=None",
    run: runCat,
  },
  { names: ["torch.stack"], signature: "tensors, dim=0, *, out=None", run: runStack },
  {
    names: ["torch.hstack"],
    signature: "tensors, *, out=None",
    run: (call) => joinAlong(call, 1),
  },
  {
    names: ["torch.column_stack"],
    signature: "tensors, *, out=None",
    run: (call) => {
      // vectors and numbers become columns
      const columns = call
        .tensors("tensors")
        .map((tensor) =>
          tensor.shape.length > 1 ? tensor : reshape(call.frame, tensor, [elementCount(tensor.shape), 1]),
        );
      return cat(call.frame, columns, 1);
    },
  },
  {
    names: ["torch.dstack"],
    signature: "tensors, *, out=None",
    run: (call) => {
      const cubes = call.tensors("tensors").map((tensor) => {
        if (tensor.shape.length > 2) return tensor;
        const [rows, columns] = tensor.shape.length === 2 ? tensor.shape : [1, elementCount(tensor.shape)];
        return reshape(call.frame, tensor, [rows ?? 1, columns ?? 1, 1]);
      });
      return cat(call.frame, cubes, 2);
    },
  },
  {
    names: ["torch.vstack", "torch.row_stack"],
    signature: "tensors, *, out=None",
    run: (call) => joinAlong(call, 0),
  },
];
