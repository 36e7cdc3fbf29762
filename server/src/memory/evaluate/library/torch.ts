/** PyTorch besides operators and modules: parameters, modes, devices, checkpoints, initialisation. */
import { dtypeBytes, isFloating, Tensor, type Dtype } from "../../tensor";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { runOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import type { Span } from "../../../python/tree";
import { knownValueFunctions } from "./known-values";
import { itemsOf } from "../iteration";
import { integer, numeric } from "../numbers";
import { parametrizeFunctions } from "../nn/parametrize";
import { plainWeight, spectralNorm, weightNorm } from "../nn/reparametrized";
import { deviceOf } from "../nn/tensors";
import {
  BoundMethod,
  ContextValue,
  DeviceValue,
  DtypeValue,
  Float,
  FunctionValue,
  NativeFunction,
  OpaqueValue,
  ListValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { dtypeIn } from "./array-types";
import { checkpointFunctions } from "./checkpoint";
import { withContext } from "./contexts";
import { dtypeLimits } from "./dtype-limits";
import { identity, nothing, transparentDecorator } from "./standard";

type Constant = (interpreter: Interpreter) => Value;

/** `nn.Parameter(data, requires_grad=True)`. */
const parameter: Native = (interpreter, args, span) => {
  const data = args.get(0, "data") ?? null;
  const flag = args.or(1, "requires_grad", true);
  if (data instanceof Tensor) {
    if (isUnknown(flag)) interpreter.note(flag);
    const made = interpreter.execution.parameterFrom(data, flag !== false);
    interpreter.parameterTensors.add(made);
    return interpreter.references.own(made);
  }
  const reason = isUnknown(data) ? data : interpreter.unknown("call", span, { name: "nn.Parameter" });
  interpreter.callResults.add(reason);
  return reason;
};

/** `nn.Buffer(data)`: a module that it is set on registers it. */
const buffer: Native = (interpreter, args) => {
  const data = args.or(0, "data", null);
  if (!(data instanceof Tensor)) return data;
  const made = interpreter.execution.alias(data, data.shape, data.strides);
  made.values = data.values;
  interpreter.bufferTensors.add(made);
  return interpreter.references.own(made);
};

/** A mode that code runs in: a context, and a decorator of functions. */
function mode(
  name: string,
  enter: (interpreter: Interpreter) => void,
  exit: (interpreter: Interpreter) => void,
): ContextValue {
  return new ContextValue(
    (interpreter) => {
      enter(interpreter);
      return null;
    },
    exit,
    name,
  );
}

function gradMode(name: string, enabled: boolean): Native {
  return (_, args) => {
    const context = mode(
      name,
      (interpreter) => interpreter.execution.pushGradMode(enabled),
      (interpreter) => interpreter.execution.popGradMode(),
    );
    const wrapped = args.at(0);
    const decorates =
      wrapped instanceof FunctionValue || wrapped instanceof NativeFunction || wrapped instanceof BoundMethod;
    return decorates ? withContext(context, wrapped) : context;
  };
}

const setGradEnabled: Native = (interpreter, args, span) => {
  const flag = args.get(0, "mode");
  if (typeof flag === "boolean")
    return gradMode("set_grad_enabled", flag)(interpreter, new CallArguments([]), span);
  return interpreter.note(
    args.unknown() ?? interpreter.unknown("call", span, { name: "torch.set_grad_enabled" }),
  );
};

function dtypeOf(value: Value | undefined): Dtype | undefined {
  return value instanceof DtypeValue ? value.dtype : undefined;
}

/** `torch.autocast(device_type, dtype, enabled)`; the `torch.cuda.amp` form has no device. */
function autocast(hasDevice: boolean): Native {
  return (interpreter, args) => {
    const dtype = dtypeOf(args.get(1, "dtype"));
    const enabled = hasDevice ? args.or(2, "enabled", true) : args.or(0, "enabled", true);
    const device = hasDevice ? args.or(0, "device_type", "cuda") : "cuda";
    if (isUnknown(enabled)) return interpreter.note(enabled);
    const kind: Dtype = dtype ?? (device === "cpu" ? "bfloat16" : "float16");
    const own = typeof device !== "string" || device.split(":")[0] === interpreter.execution.device;
    return mode(
      "autocast",
      (inner) => {
        if (inner.training !== undefined) inner.training.usesAutocast = true;
        if (own && inner.training?.ignoresAutocast !== true)
          inner.execution.pushAutocast({ enabled: enabled !== false, dtype: kind });
      },
      (inner) => {
        if (own && inner.training?.ignoresAutocast !== true) inner.execution.popAutocast();
      },
    );
  };
}

const emptyContext: Native = (_, args) =>
  new ContextValue(
    () => args.at(0) ?? null,
    () => undefined,
    "nullcontext",
  );

const device: Native = (interpreter, args) => {
  const [type, index] = [args.or(0, "type", "cuda"), args.get(1, "index")];
  if (type instanceof DeviceValue) return type;
  if (typeof type === "number") return new DeviceValue(`cuda:${type}`);
  if (typeof type !== "string") return isUnknown(type) ? deviceOf(interpreter) : new DeviceValue("cuda");
  return new DeviceValue(typeof index === "number" ? `${type}:${index}` : type);
};

const size: Native = (interpreter, args, span) => {
  const given = args.at(0);
  if (given instanceof TupleValue) return new TupleValue(given.items, undefined, true);
  const list = interpreter.library.call("builtins.tuple", args, span);
  return list instanceof TupleValue ? new TupleValue(list.items, undefined, true) : list;
};

const finfo: Native = (interpreter, args, span) => {
  const dtype = dtypeOf(args.at(0)) ?? "float32";
  const limits = dtypeLimits[dtype];
  if (limits === undefined) return interpreter.unknown("call", span, { name: "torch.finfo" });
  const { min, max, eps } = limits;
  return interpreter.library.call(
    "types.SimpleNamespace",
    new CallArguments(
      [],
      new Map<string, Value>([
        ["min", new Float(min)],
        ["max", new Float(max)],
        ["eps", new Float(eps)],
        ["tiny", new Float(1e-38)],
        ["bits", dtypeBytes[dtype] * 8],
      ]),
    ),
    span,
  );
};

/**
 * Keeps its values while it is short: stochastic depth is decided on them. Of a type that is asked for it is NumPy's, with 50
 * where no number is given.
 */
function spaced(interpreter: Interpreter, args: CallArguments, span: Span | undefined, asked?: Dtype): Value {
  const [end, steps] = asked === undefined ? ["end", "steps"] : ["stop", "num"];
  const [from, to, count] = [args.or(0, "start", null), args.or(1, end, null), args.or(2, steps, 50)];
  const given =
    asked === undefined
      ? args
      : new CallArguments([from, to, count], new Map([["dtype", new DtypeValue(asked)] as const]));
  const made = runOperator(interpreter, "torch.linspace", given, span);
  const [first, last, length] = [numeric(from), numeric(to), integer(count)];
  if (!(made instanceof Tensor) || first === undefined || last === undefined || length === undefined)
    return made;
  if (length > 4096) return made;
  made.values = Array.from({ length }, (_, i) =>
    length === 1 ? first : first + ((last - first) * i) / (length - 1),
  );
  return made;
}

const linspace: Native = (interpreter, args, span) => spaced(interpreter, args, span);

/** A NumPy array is followed as a tensor, of doubles where no other type is asked for. */
const numpyLinspace: Native = (interpreter, args, span) => {
  const dtype = args.keywords.get("dtype") ?? null;
  const asked = dtype === null ? "float64" : dtypeIn(dtype);
  const isPlain =
    args.count - (dtype === null ? 0 : 1) <= 3 &&
    [...args.keywords.keys()].every((name) => /^(start|stop|num|dtype)$/.test(name));
  if (!isPlain || asked === undefined || !isFloating(asked))
    return args.unknown() ?? interpreter.unknown("call", span, { name: "numpy.linspace" });
  return spaced(interpreter, args, span, asked);
};

/** `nn.init.calculate_gain`: only used to scale values. */
const gain: Native = () => new Float(1);

const fans: Native = (interpreter, args, span) => {
  const tensor = args.at(0);
  if (!(tensor instanceof Tensor))
    return args.unknown() ?? interpreter.unknown("call", span, { name: "fan_in" });
  const [out = 1, into = 1, ...field] = tensor.shape;
  const area = field.reduce((product, one) => product * one, 1);
  return new TupleValue([into * area, out * area]);
};

const initialisers = (
  "uniform_ normal_ trunc_normal_ constant_ ones_ zeros_ eye_ dirac_ xavier_uniform_ xavier_normal_ kaiming_uniform_ " +
  "kaiming_normal_ orthogonal_ sparse_ xavier_uniform xavier_normal kaiming_uniform kaiming_normal normal uniform constant"
).split(" ");

/** Functions of the set-up that leave the step's memory as it is. */
const without = (
  "torch.manual_seed torch.cuda.manual_seed torch.cuda.manual_seed_all torch.cuda.empty_cache torch.cuda.set_device " +
  "torch.cuda.synchronize torch.distributed.barrier torch.distributed.all_reduce torch.distributed.broadcast " +
  "torch.distributed.reduce torch.distributed.init_process_group torch.distributed.destroy_process_group " +
  "torch.set_float32_matmul_precision torch.use_deterministic_algorithms torch.set_num_threads " +
  "torch.autograd.set_detect_anomaly torch.set_printoptions torch._assert torch.backends.cuda.enable_flash_sdp " +
  "torch.backends.cuda.enable_math_sdp torch.backends.cuda.enable_mem_efficient_sdp torch._dynamo.disable"
).split(" ");

/** `torch.nn.modules.utils._pair` and its kin: a sequence as a tuple, anything else repeated. */
function repeatedValue(count: number): Native {
  return (interpreter, args, span) => {
    const value = args.at(0) ?? null;
    if (!(value instanceof ListValue || value instanceof TupleValue))
      return args.unknown() ?? new TupleValue(Array.from({ length: count }, () => value));
    const items = itemsOf(interpreter, value, span);
    return isUnknown(items) ? items : new TupleValue(items);
  };
}

const repeatedValues: Readonly<Record<string, Native>> = Object.fromEntries(
  ["_single", "_pair", "_triple", "_quadruple"].map((name, i) => [
    `torch.nn.modules.utils.${name}`,
    repeatedValue(i + 1),
  ]),
);

const yes: Native = () => true;
const no: Native = () => false;

export const torchFunctions: Readonly<Record<string, Native>> = {
  "torch.nn.Parameter": parameter,
  "torch.nn.Buffer": buffer,
  "torch.no_grad": gradMode("no_grad", false),
  "torch.inference_mode": (interpreter, args, span) =>
    gradMode("inference_mode", args.at(0) === false)(
      interpreter,
      args.at(0) === false ? new CallArguments([]) : args,
      span,
    ),
  "torch.enable_grad": gradMode("enable_grad", true),
  "torch.set_grad_enabled": setGradEnabled,
  "torch.autocast": autocast(true),
  "torch.amp.autocast": autocast(true),
  "torch.amp.autocast_mode.autocast": autocast(true),
  "torch.cuda.amp.autocast": autocast(false),
  "torch.autograd.once_differentiable": transparentDecorator,
  "torch.amp.custom_fwd": transparentDecorator,
  "torch.amp.custom_bwd": transparentDecorator,
  "torch.cuda.amp.custom_fwd": transparentDecorator,
  "torch.cuda.amp.custom_bwd": transparentDecorator,
  "torch.profiler.record_function": emptyContext,
  "torch.autograd.profiler.record_function": emptyContext,
  "torch.nn.attention.sdpa_kernel": emptyContext,
  "torch.backends.cuda.sdp_kernel": emptyContext,
  "torch.device": device,
  "torch.Size": size,
  "torch.finfo": finfo,
  "torch.is_tensor": (_, args) => args.unknown() ?? args.at(0) instanceof Tensor,
  "torch.is_floating_point": (_, args) => {
    const tensor = args.at(0);
    return tensor instanceof Tensor ? tensor.dtype.includes("float") : (args.unknown() ?? false);
  },
  "torch.numel": (_, args) => {
    const tensor = args.at(0);
    return tensor instanceof Tensor
      ? tensor.shape.reduce((product, one) => product * one, 1)
      : (args.unknown() ?? 0);
  },
  "torch.linspace": linspace,
  "numpy.linspace": numpyLinspace,
  ...repeatedValues,
  ...knownValueFunctions,
  "torch.compile": transparentDecorator,
  "torch.jit.script": transparentDecorator,
  "torch.jit.script_method": identity,
  "torch.jit.ignore": transparentDecorator,
  "torch.jit.export": identity,
  "torch.jit.unused": identity,
  "torch.jit.trace": identity,
  "torch.jit.annotate": (_, args) => args.at(1) ?? null,
  "torch.jit.is_scripting": no,
  "torch.jit.is_tracing": no,
  "torch.onnx.is_in_onnx_export": no,
  "torch.compiler.is_compiling": no,
  "torch._dynamo.is_compiling": no,
  "torch.is_grad_enabled": (interpreter) => interpreter.execution.gradEnabled,
  "torch.is_autocast_enabled": (interpreter) => interpreter.execution.autocast !== undefined,
  "torch.cuda.is_available": yes,
  "torch.accelerator.is_available": yes,
  "torch.accelerator.current_accelerator": (interpreter) => deviceOf(interpreter),
  "torch.autograd.Variable": identity,
  "torch.cuda.is_bf16_supported": yes,
  "torch.cuda.device_count": () => 1,
  "torch.cuda.current_device": () => 0,
  "torch.backends.mps.is_available": no,
  "torch.distributed.is_available": yes,
  "torch.distributed.is_initialized": no,
  "torch.distributed.get_world_size": () => 1,
  "torch.distributed.get_rank": () => 0,
  "torch.get_default_dtype": () => new DtypeValue("float32"),
  "torch.Generator": () => new OpaqueValue({ kind: "opaque", what: "generator" }),
  "torch._dynamo._trace_wrapped_higher_order_op.TransformGetItemToIndex": emptyContext,
  "contextlib.nullcontext": emptyContext,
  "contextlib.suppress": emptyContext,
  "torch.nn.init.calculate_gain": gain,
  "torch.nn.init._calculate_fan_in_and_fan_out": fans,
  "torch.nn.init._calculate_correct_fan": (interpreter, args, span) => {
    const both = fans(interpreter, args, span);
    return both instanceof TupleValue ? (both.items[0] ?? 1) : both;
  },
  "torch.nn.utils.weight_norm": weightNorm,
  "torch.nn.utils.spectral_norm": spectralNorm,
  ...parametrizeFunctions,
  "torch.nn.utils.remove_weight_norm": plainWeight,
  "torch.nn.utils.remove_spectral_norm": plainWeight,
  "torch.equal": (interpreter, _args, span) => interpreter.unknown("tensorValue", span),
  "torch.allclose": (interpreter, _args, span) => interpreter.unknown("tensorValue", span),
  "torch.nn.utils.clip_grad_norm_": nothing,
  "torch.nn.utils.clip_grad_value_": nothing,
  ...Object.fromEntries(initialisers.map((name) => [`torch.nn.init.${name}`, identity])),
  ...Object.fromEntries(without.map((name) => [name, nothing])),
  ...checkpointFunctions,
};

const dtypeNames: Readonly<Record<string, Dtype>> = {
  float: "float32",
  double: "float64",
  half: "float16",
  long: "int64",
  int: "int32",
  short: "int16",
  cfloat: "complex64",
  cdouble: "complex128",
};

const formats = ["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"] as const;

function dtypeConstants(): [string, Constant][] {
  const names: [string, Dtype][] = Object.keys(dtypeBytes).map((name) => [name, name as Dtype]);
  return [...names, ...Object.entries(dtypeNames)].map(([name, dtype]) => [
    `torch.${name}`,
    (): Value => new DtypeValue(dtype),
  ]);
}

export const torchConstants: Readonly<Record<string, Constant>> = {
  ...Object.fromEntries(dtypeConstants()),
  ...Object.fromEntries(
    formats.map((name) => [`torch.${name}`, (): Value => new OpaqueValue({ kind: "memory-format", name })]),
  ),
  "torch.strided": () => new OpaqueValue({ kind: "opaque", what: "layout" }),
  "torch.newaxis": () => null,
  "numpy.newaxis": () => null,
  "torch.__version__": () => "2.9.0",
  "torch.version.cuda": () => "13.0",
  "typing.TYPE_CHECKING": () => false,
  "sys.argv": ({ world }) => new ListValue(["model.py", ...(world.commandLine ?? [])]),
  "sys.maxsize": () => Number.MAX_SAFE_INTEGER,
  "sys.version_info": () => new TupleValue([3, 12, 0]),
};
