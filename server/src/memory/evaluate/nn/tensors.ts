/** Attributes and methods of tensors: shapes and flags are known here, all else is an operator's. */
import type { Span } from "../../../python/tree";
import {
  canRequireGrad,
  dtypeBytes,
  elementCount,
  isComplex,
  isContiguous,
  isFloating,
  type Dtype,
  type Tensor,
} from "../../tensor";
import { CallArguments } from "../arguments";
import { runOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import { integer } from "../numbers";
import { backward } from "../training/backward";
import { unknownFloat } from "../unknown-floats";
import {
  BoundMethod,
  DeviceValue,
  DtypeValue,
  Float,
  LibraryName,
  ListValue,
  NativeFunction,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { arrayTypes, dtypeIn } from "../library/array-types";
import { Tensor as TensorClass } from "../../tensor";

type Read = (tensor: Tensor, interpreter: Interpreter) => Value;

/** `torch.Size` of a tensor. */
export function sizeOf(tensor: Tensor): TupleValue {
  return new TupleValue(tensor.shape, undefined, true);
}

const attributes: Readonly<Record<string, Read>> = {
  shape: sizeOf,
  dtype: (tensor) => new DtypeValue(tensor.dtype),
  device: (_, interpreter) => deviceOf(interpreter),
  requires_grad: (tensor) => tensor.requiresGrad,
  ndim: (tensor) => tensor.shape.length,
  is_cuda: (_, interpreter) => interpreter.execution.device === "cuda",
  is_leaf: (tensor) => tensor.isLeaf,
  is_sparse: () => false,
  is_quantized: () => false,
  is_cpu: (_, interpreter) => interpreter.execution.device === "cpu",
  is_xpu: () => false,
  is_mps: () => false,
  is_xla: () => false,
  is_nested: () => false,
  is_meta: () => false,
  grad: (tensor) => tensor.gradient ?? null,
  grad_fn: () => null,
  itemsize: (tensor) => dtypeBytes[tensor.dtype],
  nbytes: (tensor) => elementCount(tensor.shape) * dtypeBytes[tensor.dtype],
};

/** A tensor of data, as arrays, pictures and batches are: its values are not known. */
export function dataTensor(interpreter: Interpreter, shape: readonly number[], dtype: Dtype): Tensor {
  return interpreter.references.own(interpreter.execution.input(shape, dtype));
}

/** The device that tensors of the run are on. */
export function deviceOf(interpreter: Interpreter): DeviceValue {
  return new DeviceValue(interpreter.execution.device === "cuda" ? "cuda:0" : "cpu");
}

/** Attributes that PyTorch computes by an operator. */
const computed = new Set(["T", "mT", "H", "mH", "real", "imag", "data"]);

function native(
  run: (tensor: Tensor, interpreter: Interpreter, args: CallArguments, span: Span | undefined) => Value,
): Native {
  return (interpreter, args, span) => {
    const tensor = args.at(0);
    return tensor instanceof TensorClass
      ? run(tensor, interpreter, args.withoutFirst(), span)
      : interpreter.unknown("call", span, { name: "Tensor" });
  };
}

/** One element as a Python number, when it is known. */
function element(tensor: Tensor, value: number | undefined): Value | undefined {
  if (value === undefined) return undefined;
  if (tensor.dtype === "bool") return value !== 0;
  return isFloating(tensor.dtype) ? new Float(value) : value;
}

function nested(tensor: Tensor, values: readonly number[]): Value {
  const { shape } = tensor;
  let level: Value[] = values.map((value) => element(tensor, value) ?? null);
  for (let dim = shape.length - 1; dim >= 0; dim--) {
    const size = shape[dim] ?? 1;
    const next: Value[] = [];
    for (let i = 0; i < level.length; i += size) next.push(new ListValue(level.slice(i, i + size)));
    level = next;
  }
  return level[0] ?? new ListValue([]);
}

/** Dtypes of `torch.FloatTensor` and the like. */
export const tensorTypes: Readonly<Record<string, Dtype>> = {
  Float: "float32",
  Double: "float64",
  Half: "float16",
  BFloat16: "bfloat16",
  Long: "int64",
  Int: "int32",
  Short: "int16",
  Char: "int8",
  Byte: "uint8",
  Bool: "bool",
};

const methods: Readonly<Record<string, Native>> = {
  size: native((tensor, interpreter, args, span) => {
    const given = args.get(0, "dim");
    if (given === undefined || given === null) return sizeOf(tensor);
    const dim = integer(given);
    if (dim === undefined) return args.unknown() ?? interpreter.unknown("call", span, { name: "size" });
    const size = tensor.shape[dim < 0 ? dim + tensor.shape.length : dim];
    return size ?? interpreter.raise("IndexError", "Dimension out of range", span);
  }),
  dim: native((tensor) => tensor.shape.length),
  ndimension: native((tensor) => tensor.shape.length),
  numel: native((tensor) => elementCount(tensor.shape)),
  nelement: native((tensor) => elementCount(tensor.shape)),
  element_size: native((tensor) => dtypeBytes[tensor.dtype]),
  stride: native((tensor, _, args) => {
    const dim = integer(args.at(0) ?? null);
    return dim === undefined ? new TupleValue(tensor.strides) : (tensor.strides.at(dim) ?? 0);
  }),
  is_floating_point: native((tensor) => isFloating(tensor.dtype)),
  is_complex: native((tensor) => isComplex(tensor.dtype)),
  is_contiguous: native((tensor) => isContiguous(tensor)),
  get_device: native(() => 0),
  is_pinned: native(() => false),
  is_shared: native(() => false),
  is_inference: native(() => false),
  is_conj: native(() => false),
  is_neg: native(() => false),
  is_signed: native((tensor) => tensor.dtype !== "uint8" && tensor.dtype !== "bool"),
  record_stream: native(() => null),
  equal: native((_tensor, interpreter, _args, span) => interpreter.unknown("tensorValue", span)),
  allclose: native((_tensor, interpreter, _args, span) => interpreter.unknown("tensorValue", span)),
  is_nonzero: native((_tensor, interpreter, _args, span) => interpreter.unknown("tensorValue", span)),
  __len__: native((tensor) => tensor.shape[0] ?? 0),
  item: native((tensor, interpreter, _, span) => {
    const value = tensor.values?.length === 1 ? tensor.values[0] : undefined;
    const known = element(tensor, value);
    if (known !== undefined) return known;
    const unknown = interpreter.unknown("tensorValue", span);
    return isFloating(tensor.dtype) ? unknownFloat(unknown) : unknown;
  }),
  tolist: native((tensor, interpreter, _, span) => {
    const { values } = tensor;
    return values === undefined ? interpreter.unknown("tensorValue", span) : nested(tensor, values);
  }),
  requires_grad_: native((tensor, interpreter, args, span) => {
    const flag = args.or(0, "requires_grad", true);
    if (typeof flag === "boolean" && canRequireGrad(tensor.dtype)) tensor.requiresGrad = flag;
    else interpreter.note(args.unknown() ?? interpreter.unknown("tensorValue", span));
    return tensor;
  }),
  /** `x.type(torch.cuda.FloatTensor)` names the dtype by the class of its tensors. */
  type: native((tensor, interpreter, args, span) => {
    const given = args.or(0, "dtype", null);
    const name = given instanceof LibraryName ? /(\w+)Tensor$/.exec(given.path)?.[1] : undefined;
    const dtype = name === undefined ? undefined : tensorTypes[name];
    const named =
      dtype === undefined ? args.positional : [new DtypeValue(dtype), ...args.positional.slice(1)];
    const operator = dtype === undefined ? "Tensor.type" : "Tensor.to";
    return runOperator(interpreter, operator, new CallArguments([tensor, ...named], args.keywords), span);
  }),
  /** Of numpy's arrays, which are tensors on the host here. */
  astype: native((tensor, interpreter, args, span) => {
    const dtype = dtypeIn(args.get(0, "dtype"));
    return dtype !== undefined
      ? dataTensor(interpreter, tensor.shape, dtype)
      : interpreter.unknown("call", span, { name: "astype" });
  }),
  /** An array on the host; what has no type of numpy's PyTorch refuses. */
  numpy: native((tensor, interpreter, _, span) => {
    if (!arrayTypes.includes(tensor.dtype)) return interpreter.unknown("call", span, { name: "numpy" });
    const array = dataTensor(interpreter, tensor.shape, tensor.dtype);
    array.values = tensor.values;
    array.bound = tensor.bound;
    array.isArray = true;
    return array;
  }),
  backward,
  register_hook: native(() => null),
  retain_grad: native(() => null),
};

/** Methods that numpy's arrays have under the name of another one of PyTorch's tensors. */
const arrayMethods: Readonly<Record<string, Native>> = {
  transpose: native((tensor, interpreter, args, span) => {
    const axes = args.count === 0 ? tensor.shape.map((_, i) => tensor.shape.length - 1 - i) : args.positional;
    return runOperator(interpreter, "Tensor.permute", new CallArguments([tensor, ...axes]), span);
  }),
};

const bound = new Map<string, NativeFunction>();

function boundMethod(tensor: Tensor, name: string, call: Native): BoundMethod {
  let made = bound.get(name);
  if (made === undefined) {
    made = new NativeFunction(name, call);
    bound.set(name, made);
  }
  return new BoundMethod(tensor, made);
}

/** An attribute of a tensor; undefined when nothing is known of it. */
export function tensorAttribute(
  interpreter: Interpreter,
  tensor: Tensor,
  name: string,
  span: Span | undefined,
): Value | undefined {
  const read = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (read !== undefined) return read(tensor, interpreter);
  if (tensor.isArray && name === "size") return elementCount(tensor.shape);
  const ofArray = tensor.isArray && Object.hasOwn(arrayMethods, name) ? arrayMethods[name] : undefined;
  if (ofArray !== undefined) return boundMethod(tensor, `ndarray.${name}`, ofArray);
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method !== undefined) return boundMethod(tensor, name, method);
  const operator = `Tensor.${name}`;
  if (!interpreter.execution.supports(operator)) {
    if (name === "data") return runOperator(interpreter, "Tensor.detach", new CallArguments([tensor]), span);
    return interpreter.tensorAttributes.get(tensor)?.get(name);
  }
  if (computed.has(name)) return runOperator(interpreter, operator, new CallArguments([tensor]), span);
  return boundMethod(tensor, name, (inner, args) => runOperator(inner, operator, args));
}
