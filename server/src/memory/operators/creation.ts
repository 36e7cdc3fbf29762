/** New tensors: zeros, arange, *_like, new_*, torch.tensor. They have no graph unless `requires_grad` is asked for. */
import type { Dtype, Tensor } from "../tensor";
import { elementCount, isFloating } from "../tensor";
import { isSequence, isTensor, numberOf, type Argument } from "./argument";
import { differentiable } from "./autograd";
import { broadcastShapes, elementwiseStrides, sameShape } from "./kernels";
import type { OperatorCall, OperatorRow } from "./operator";
import { dependsOnValues, shapesDoNotFit } from "./reasons";
import { expand, view } from "./views";

const options =
  "out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, memory_format=None, " +
  "generator=None, names=None";

/** Known values are carried for vectors up to this many elements: enough for positions and tables of sizes. */
const valuesLimit = 4096;

function made(call: OperatorCall, shape: readonly number[], dtype: Dtype): Tensor {
  const tensor = call.frame.empty(shape, dtype);
  if (call.values.requires_grad === true) tensor.requiresGrad = true;
  return tensor;
}

function withSize(name: string, dtype: Dtype): OperatorRow {
  return {
    names: [`torch.${name}`],
    signature: `*size, ${options}`,
    run: (call) => made(call, call.restIntegers(), call.dtype("dtype") ?? dtype),
  };
}

function like(name: string): OperatorRow {
  return {
    names: [`torch.${name}_like`],
    signature: `self, *args, fill_value=None, low=None, high=None, ${options}`,
    run: (call) => {
      const source = call.tensor("self");
      const tensor = call.frame.empty(
        source.shape,
        call.dtype("dtype") ?? source.dtype,
        elementwiseStrides(source.shape, [source]),
      );
      if (call.values.requires_grad === true) tensor.requiresGrad = true;
      return tensor;
    },
  };
}

function newLike(name: string): OperatorRow {
  return {
    names: [`Tensor.new_${name}`],
    signature: `self, *size, ${options}`,
    run: (call) => made(call, call.restIntegers(), call.dtype("dtype") ?? call.tensor("self").dtype),
  };
}

/** The dtype `torch.full(size, value)` and `torch.tensor(value)` give a number. */
function dtypeOfNumber(value: Argument): Dtype {
  if (typeof value === "boolean") return "bool";
  return typeof value === "number" ? "int64" : "float32";
}

function full(call: OperatorCall): Tensor {
  const value = call.values.fill_value ?? null;
  return made(call, call.integers("size"), call.dtype("dtype") ?? dtypeOfNumber(value));
}

function arange(call: OperatorCall): Tensor {
  const given = [
    call.values.start ?? null,
    call.values.end ?? null,
    call.values.step ?? null,
    ...call.rest,
  ].filter((value) => value !== null);
  const numbers = given.map((value) => {
    if (isTensor(value) && value.values?.length === 1) return value.values[0] ?? 0;
    return numberOf(value) ?? call.notUnderstood("end");
  });
  const [first = 0, second, third = 1] = numbers;
  const start = second === undefined ? 0 : first;
  const end = second ?? first;
  const count = Math.max(0, Math.ceil((end - start) / third));
  const whole = given.every((value) => typeof value === "number" || isTensor(value));
  const tensor = made(call, [count], call.dtype("dtype") ?? (whole ? "int64" : "float32"));
  if (count <= valuesLimit) tensor.values = Array.from({ length: count }, (_, i) => start + i * third);
  tensor.bound = Math.max(end, 0);
  return tensor;
}

function linspace(call: OperatorCall): Tensor {
  return made(call, [call.number("steps")], call.dtype("dtype") ?? "float32");
}

function eye(call: OperatorCall): Tensor {
  const rows = call.number("n");
  return made(call, [rows, call.optionalNumber("m") ?? rows], call.dtype("dtype") ?? "float32");
}

/** `torch.tensor(nested numbers)`: shape and dtype from the data; small integer data are kept. */
function fromData(call: OperatorCall): Tensor {
  const data = call.value("data");
  if (isTensor(data)) {
    const copy = made(call, data.shape, call.dtype("dtype") ?? data.dtype);
    copy.values = data.values;
    return copy;
  }
  const shape: number[] = [];
  let level: readonly Argument[] = [data];
  let nested: Argument = data;
  while (isSequence(nested)) {
    const size = nested.length;
    shape.push(size);
    if (!level.every((entry) => isSequence(entry) && entry.length === size)) {
      call.fail(shapesDoNotFit(call.name, [shape]));
    }
    level = level.flatMap((entry) => (isSequence(entry) ? entry : []));
    nested = level[0] ?? null;
  }
  // arrays inside a list: one dimension more
  const [inner] = level;
  const innerShape = isTensor(inner) ? inner.shape : [];
  if (!level.every((entry) => sameShape(isTensor(entry) ? entry.shape : [], innerShape)))
    call.fail(shapesDoNotFit(call.name, [shape]));
  shape.push(...innerShape);
  const count = elementCount(innerShape);
  const values = level.flatMap((entry): (number | undefined)[] => {
    if (isTensor(entry)) return entry.values?.length === count ? [...entry.values] : [undefined];
    return [numberOf(entry) ?? call.notUnderstood("data")];
  });
  const dtypes = level.map((entry) => (isTensor(entry) ? entry.dtype : dtypeOfNumber(entry)));
  const natural: Dtype =
    dtypes.find((dtype) => isFloating(dtype)) ?? (level.length === 0 ? "float32" : (dtypes[0] ?? "float32"));
  const mixed = dtypes.includes("int64") && natural === "bool" ? "int64" : natural;
  const tensor = made(call, shape, call.dtype("dtype") ?? mixed);
  const known = values.filter((value) => value !== undefined);
  if (known.length === values.length && known.length <= valuesLimit) tensor.values = known;
  return tensor;
}

function randint(call: OperatorCall): Tensor {
  const numbers = [call.values.low ?? null, call.values.high ?? null, ...call.rest];
  const size = call.values.size ?? numbers.find(isSequence) ?? null;
  if (!isSequence(size)) return call.notUnderstood("size");
  const shape = size.map((entry) => numberOf(entry) ?? call.notUnderstood("size"));
  const tensor = made(call, shape, call.dtype("dtype") ?? "int64");
  const bounds = numbers.map(numberOf).filter((value) => value !== undefined);
  tensor.bound = bounds.at(-1);
  return tensor;
}

/** `torch.meshgrid`: expanded views of its vectors. */
function meshgrid(call: OperatorCall): Argument {
  const [only] = call.rest;
  const vectors = (call.rest.length === 1 && only !== undefined && isSequence(only) ? only : call.rest).map(
    (entry) => (isTensor(entry) ? entry : call.notUnderstood("tensors")),
  );
  const sizes = vectors.map((vector) => elementCount(vector.shape));
  const swap = call.values.indexing === "xy" && vectors.length > 1;
  const order = swap ? [1, 0, ...sizes.map((_, i) => i).slice(2)] : sizes.map((_, i) => i);
  const shape = order.map((i) => sizes[i] ?? 1);
  return vectors.map((vector, i) => {
    const own = shape.map((_, at) => (order[at] === i ? (sizes[i] ?? 1) : 1));
    return expand(call.frame, view(call.frame, vector, own) ?? vector, shape);
  });
}

function normal(call: OperatorCall): Tensor {
  const mean = call.value("mean");
  const std = call.value("std");
  const size = call.optionalIntegers("size");
  const sources = [mean, std].filter(isTensor);
  const shape = size ?? broadcastShapes(...sources.map((source) => source.shape));
  if (shape === undefined)
    return call.fail(
      shapesDoNotFit(
        call.name,
        sources.map((source) => source.shape),
      ),
    );
  const result = made(call, shape, call.dtype("dtype") ?? sources[0]?.dtype ?? "float32");
  return drawn(call, "NormalBackward3", sources, result);
}

/** Random numbers out of a distribution whose parameters require a gradient: it is zeros of their shapes. */
function drawn(call: OperatorCall, name: string, sources: readonly Tensor[], result: Tensor): Tensor {
  const shapes = sources.map(({ shape }) => shape);
  differentiable(call.frame, {
    name,
    inputs: sources,
    outputs: [result],
    backward: (inner, [gradient], _saved, wanted) =>
      shapes.map((shape, i) =>
        wanted[i] === true && gradient !== undefined ? inner.empty(shape, gradient.dtype) : undefined,
      ),
  });
  return result;
}

export const creationRows: readonly OperatorRow[] = [
  ...(
    [
      ["zeros", "float32"],
      ["ones", "float32"],
      ["empty", "float32"],
      ["rand", "float32"],
      ["randn", "float32"],
    ] as const
  ).map(([name, dtype]) => withSize(name, dtype)),
  {
    names: ["torch.Tensor", "torch.FloatTensor"],
    signature: `*size, ${options}`,
    run: (call) => made(call, call.restIntegers(), "float32"),
  },
  ...["zeros", "ones", "empty", "rand", "randn", "full", "randint"].map(like),
  ...["zeros", "ones", "empty"].map(newLike),
  // the old `tensor.new(2, 3)`: of its own type, with whatever was in memory; of a list it has the list's numbers
  {
    names: ["Tensor.new"],
    signature: "self, *size",
    run: (call) => {
      if (call.rest.some((size) => typeof size !== "number")) call.notUnderstood("size");
      return made(call, call.restIntegers(), call.tensor("self").dtype);
    },
  },
  {
    names: ["Tensor.new_full"],
    signature: `self, size, fill_value, ${options}`,
    run: (call) => made(call, call.integers("size"), call.dtype("dtype") ?? call.tensor("self").dtype),
  },
  {
    names: ["Tensor.new_tensor"],
    signature: `self, data, ${options}`,
    run: fromData,
  },
  { names: ["torch.full"], signature: `size, fill_value, ${options}`, run: full },
  {
    names: ["torch.arange", "torch.range"],
    signature: `start=None, end=None, step=None, ${options}`,
    run: arange,
  },
  {
    names: ["torch.linspace", "torch.logspace"],
    signature: `start, end, steps, base=10.0, ${options}`,
    run: linspace,
  },
  { names: ["torch.eye"], signature: `n, m=None, ${options}`, run: eye },
  {
    names: ["torch.tensor", "torch.as_tensor", "torch.LongTensor", "torch.asarray"],
    signature: `data, ${options}`,
    run: fromData,
  },
  { names: ["torch.from_numpy"], signature: "data", run: (call) => call.fail(dependsOnValues(call.name)) },
  { names: ["torch.randint"], signature: `low=None, high=None, *rest, size=None, ${options}`, run: randint },
  {
    names: ["torch.randperm"],
    signature: `n, ${options}`,
    run: (call) => made(call, [call.number("n")], call.dtype("dtype") ?? "int64"),
  },
  { names: ["torch.normal"], signature: `mean, std=1.0, size=None, ${options}`, run: normal },
  {
    names: ["torch.bernoulli", "Tensor.bernoulli", "torch.poisson"],
    signature: "self, p=None, *, generator=None, out=None",
    run: (call) => {
      const self = call.tensor("self");
      return drawn(call, "BernoulliBackward0", [self], made(call, self.shape, self.dtype));
    },
  },
  { names: ["torch.meshgrid"], signature: "*tensors, indexing=None", run: meshgrid },
  {
    names: ["torch.triu_indices", "torch.tril_indices"],
    signature: `row, col, offset=0, ${options}`,
    run: (call) => {
      const rows = call.number("row");
      const columns = call.number("col");
      const offset = call.number("offset");
      let count = 0;
      for (let row = 0; row < rows; row++) {
        const upper = Math.min(columns, Math.max(0, columns - row - offset));
        const lower = Math.min(columns, Math.max(0, row + offset + 1));
        count += call.name.endsWith("triu_indices") ? upper : lower;
      }
      return made(call, [2, count], call.dtype("dtype") ?? "int64");
    },
  },
];
