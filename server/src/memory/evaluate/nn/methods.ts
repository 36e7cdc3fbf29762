/** Methods of `nn.Module`. */
import type { Argument, MemoryFormatArgument } from "../../operators/argument";
import { channelsLastStrides } from "../../operators/convolution";
import { contiguousStrides, Tensor, type Dtype } from "../../tensor";
import type { Span } from "../../../python/tree";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { getAttribute } from "../attributes";
import type { Interpreter } from "../interpreter";
import { deviceAmong, placeModule } from "../training/host";
import {
  DictValue,
  DtypeValue,
  FunctionValue,
  IteratorValue,
  ObjectValue,
  OpaqueValue,
  TupleValue,
  type Native,
  type ClassValue,
  type Value,
} from "../values";
import { attach, attachUnknown } from "./attach";
import { runForward } from "./call";
import { addHook } from "./hooks";
import { joinPath, modulesOf, namedModules, namedTensors, tensorsOf, type NamedTensor } from "./state";

/** A method whose receiver is a module. */
export function method(
  run: (
    object: ObjectValue,
    args: CallArguments,
    interpreter: Interpreter,
    span: Parameters<Native>[2],
  ) => Value,
): Native {
  return (interpreter, args, span) => {
    const object = args.at(0);
    if (!(object instanceof ObjectValue) || object.module === undefined) return args.unknown() ?? null;
    return run(object, args.withoutFirst(), interpreter, span);
  };
}

function iterator(items: readonly Value[]): IteratorValue {
  return new IteratorValue(items.values(), items);
}

function pairs(items: readonly NamedTensor[]): IteratorValue {
  return iterator(items.map(({ name, tensor }) => new TupleValue([name, tensor])));
}

function tensors(kind: "parameters" | "buffers", named: boolean): Native {
  return method((object, args) => {
    const recurse = args.or(named ? 1 : 0, "recurse", true) !== false;
    const prefix = named ? args.or(0, "prefix", "") : "";
    const once = args.keywords.get("remove_duplicate") !== false;
    const found = namedTensors(object, kind, recurse, typeof prefix === "string" ? prefix : "", once);
    return named ? pairs(found) : iterator(found.map((one) => one.tensor));
  });
}

function childrenOf(object: ObjectValue): [string, ObjectValue][] {
  const found: [string, ObjectValue][] = [];
  for (const [name, child] of object.module?.modules ?? []) if (child !== null) found.push([name, child]);
  return found;
}

/** Runs a function on every submodule, children first, as `apply` does. */
const apply: Native = method((object, args, interpreter, span) => {
  const callee = args.at(0) ?? null;
  for (const module of modulesOf(object).toReversed()) {
    const mark = interpreter.references.mark();
    interpreter.call(callee, new CallArguments([module]), span);
    interpreter.references.releaseTo(mark);
  }
  return object;
});

/** `nn.Module.train`: the flag of the module, then `train` of every child, which its class may define itself. */
function setTraining(
  interpreter: Interpreter,
  object: ObjectValue,
  training: boolean,
  span: Span | undefined,
): void {
  if (object.module === undefined) return;
  object.module.training = training;
  for (const [, child] of childrenOf(object)) trainModule(interpreter, child, training, span);
}

/** Whether `train()` would change anything: the mode of some module, or whatever a class's own method does. */
export function isInTraining(object: ObjectValue): boolean {
  const types = new Set<ClassValue>();
  for (const { module, type } of modulesOf(object)) {
    if (module?.training === false) return false;
    types.add(type);
  }
  for (const type of types) if (type.attribute("train") instanceof FunctionValue) return false;
  return true;
}

/** `module.train(mode)`, by the module's own method where its class has one. */
export function trainModule(
  interpreter: Interpreter,
  object: ObjectValue,
  training: boolean,
  span: Span | undefined,
): void {
  const own = object.type.attribute("train");
  if (!(own instanceof FunctionValue)) setTraining(interpreter, object, training, span);
  else interpreter.call(own, new CallArguments([object, training]), span);
}

const train: Native = method((object, args, interpreter, span) => {
  const mode = args.or(0, "mode", true);
  if (typeof mode === "boolean") setTraining(interpreter, object, mode, span);
  else if (isUnknown(mode)) interpreter.note(mode);
  return object;
});

const requiresGrad: Native = method((object, args, interpreter) => {
  const flag = args.or(0, "requires_grad", true);
  if (typeof flag !== "boolean") {
    if (isUnknown(flag)) interpreter.note(flag);
    return object;
  }
  for (const tensor of tensorsOf(object, "parameters")) tensor.requiresGrad = flag;
  return object;
});

/** `module.to(dtype)`: floating parameters and buffers of the module change their dtype. */
export function castModule(interpreter: Interpreter, object: ObjectValue, dtype: Dtype): ObjectValue {
  interpreter.execution.castStates(dtype, [
    ...tensorsOf(object, "parameters"),
    ...tensorsOf(object, "buffers"),
  ]);
  return object;
}

function cast(dtype: Dtype): Native {
  return method((object, _, interpreter) => castModule(interpreter, object, dtype));
}

const to: Native = method((object, args, interpreter) => {
  const device = deviceAmong(args);
  if (device === undefined) interpreter.placed.add(object);
  else placeModule(interpreter, object, device);
  for (const value of args.values()) {
    if (value instanceof DtypeValue) castModule(interpreter, object, value.dtype);
    else if (value instanceof Tensor) castModule(interpreter, object, value.dtype);
  }
  const format = args.keywords.get("memory_format");
  if (format instanceof OpaqueValue && isMemoryFormat(format.argument)) layOut(object, format.argument.name);
  return object;
});

function isMemoryFormat(argument: Argument): argument is MemoryFormatArgument {
  return (
    typeof argument === "object" &&
    argument !== null &&
    "kind" in argument &&
    argument.kind === "memory-format"
  );
}

/** `module.to(memory_format=…)`: parameters and buffers of four dimensions, or of five, change their order in memory. */
function layOut(object: ObjectValue, format: string): void {
  const rank = format === "channels_last" ? 4 : format === "channels_last_3d" ? 5 : undefined;
  for (const tensor of [...tensorsOf(object, "parameters"), ...tensorsOf(object, "buffers")]) {
    if (format === "contiguous_format") tensor.strides = contiguousStrides(tensor.shape);
    else if (tensor.shape.length === rank) tensor.strides = channelsLastStrides(tensor.shape);
  }
}

const self: Native = method((object) => object);

const addModule: Native = method((object, args, interpreter) => {
  const [name, module] = [args.or(0, "name", null), args.or(1, "module", null)];
  if (typeof name !== "string") {
    if (isUnknown(name)) attachUnknown(interpreter, object, "?", name);
    return null;
  }
  if (isUnknown(module)) attachUnknown(interpreter, object, name, module);
  else if (module === null || module instanceof ObjectValue)
    attach(interpreter, object, "modules", name, module);
  return null;
});

const registerBuffer: Native = method((object, args, interpreter) => {
  const [name, tensor] = [args.or(0, "name", null), args.or(1, "tensor", null)];
  if (typeof name !== "string") return null;
  if (isUnknown(tensor)) attachUnknown(interpreter, object, name, tensor, "buffer");
  else if (tensor instanceof Tensor || tensor === null) {
    if (tensor !== null) interpreter.execution.asBuffer(tensor);
    attach(interpreter, object, "buffers", name, tensor);
  }
  return null;
});

const registerParameter: Native = method((object, args, interpreter) => {
  const [name, tensor] = [args.or(0, "name", null), args.or(1, "param", null)];
  if (typeof name !== "string") return null;
  if (isUnknown(tensor)) attachUnknown(interpreter, object, name, tensor, "parameter");
  else if (tensor instanceof Tensor || tensor === null)
    attach(interpreter, object, "parameters", name, tensor);
  return null;
});

/** What it does in backward is not followed. */
const backwardHook: Native = method((object) => {
  if (object.module !== undefined) object.module.hasBackwardHooks = true;
  return null;
});

/** A submodule or parameter by its dotted path. */
const byPath: Native = method((object, args, interpreter, span) => {
  const path = args.at(0);
  if (typeof path !== "string") return args.unknown() ?? null;
  let value: Value = object;
  for (const name of path.split(".").filter(Boolean)) value = getAttribute(interpreter, value, name, span);
  return value;
});

const stateDict: Native = method((object) => {
  const dict = new DictValue();
  for (const { name, tensor } of [
    ...namedTensors(object, "parameters"),
    ...namedTensors(object, "buffers"),
  ]) {
    dict.entries.set(`s${name}`, { key: name, value: tensor });
  }
  return dict;
});

export const moduleMethods: Readonly<Record<string, Native>> = {
  __init__: () => null,
  __call__: method((object, args, interpreter, span) => runForward(interpreter, object, args, span)),
  forward: method((_, _args, interpreter, span) => interpreter.raise("NotImplementedError", "forward", span)),
  parameters: tensors("parameters", false),
  named_parameters: tensors("parameters", true),
  buffers: tensors("buffers", false),
  named_buffers: tensors("buffers", true),
  modules: method((object) => iterator(modulesOf(object))),
  named_modules: method((object, args) => {
    const prefix = args.or(1, "prefix", "");
    const found = namedModules(object, typeof prefix === "string" ? prefix : "");
    return iterator(found.map(({ path, module }) => new TupleValue([path, module])));
  }),
  children: method((object) => iterator([...new Set(childrenOf(object).map(([, child]) => child))])),
  named_children: method((object) =>
    iterator(childrenOf(object).map(([name, child]) => new TupleValue([name, child]))),
  ),
  apply,
  train,
  eval: method((object, _, interpreter, span) => {
    trainModule(interpreter, object, false, span);
    return object;
  }),
  requires_grad_: requiresGrad,
  to,
  cuda: method((object, _, interpreter) => placeModule(interpreter, object, "gpu")),
  cpu: method((object, _, interpreter) => placeModule(interpreter, object, "host")),
  share_memory: self,
  half: cast("float16"),
  bfloat16: cast("bfloat16"),
  float: cast("float32"),
  double: cast("float64"),
  type: to,
  compile: () => null,
  zero_grad: method((object, args, interpreter) => {
    const setToNone = args.or(0, "set_to_none", true) !== false;
    interpreter.training?.zeroGradients(tensorsOf(object, "parameters"), setToNone);
    return null;
  }),
  add_module: addModule,
  register_module: addModule,
  register_buffer: registerBuffer,
  register_parameter: registerParameter,
  register_forward_hook: method((object, args, interpreter) => addHook(interpreter, object, "hooks", args)),
  register_forward_pre_hook: method((object, args, interpreter) =>
    addHook(interpreter, object, "preHooks", args),
  ),
  register_full_backward_hook: backwardHook,
  register_full_backward_pre_hook: backwardHook,
  register_backward_hook: backwardHook,
  get_submodule: byPath,
  get_parameter: byPath,
  get_buffer: byPath,
  state_dict: stateDict,
  load_state_dict: () => null,
  extra_repr: () => "",
  gradient_checkpointing_enable: backwardHook,
};

/** Whether a module's `forward` is written in the user's file. */
export function hasOwnForward(object: ObjectValue): boolean {
  return object.type.attribute("forward") instanceof FunctionValue;
}

export { joinPath };
