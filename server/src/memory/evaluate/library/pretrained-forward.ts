/**
 * What stands around the `forward` of a model of transformers: the choice of the attention's function, losses, gradient
 * checkpointing. The forwards themselves, masks, caches, rotary embeddings and losses are read from the installed package.
 * Sources: transformers/{modeling_utils,modeling_layers}.py, utils/generic.py of 4.57 and 5.24.
 */
import type { Span } from "../../../python/tree";
import { isFloating, Tensor } from "../../tensor";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { findAttribute, setAttribute } from "../attributes";
import type { Interpreter } from "../interpreter";
import { dictOf } from "../iteration";
import { integer } from "../numbers";
import { modulesOf, tensorsOf } from "../nn/state";
import { keyText } from "../operations";
import { getItem } from "../subscripts";
import {
  ClassValue,
  DictValue,
  DtypeValue,
  LibraryName,
  ListValue,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  PartialValue,
  PropertyValue,
  SliceValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { decoratorFunctions, known } from "./pretrained-decorators";

const nowhere: Span = { start: 0, end: 0 };

/** `GeneralInterface`: functions by name, those of the class under those of the instance. */
const mappings = ["_local_mapping", "_global_mapping"] as const;

function registered(object: Value | undefined, name: Value | undefined): Value | undefined {
  if (!(object instanceof ObjectValue) || typeof name !== "string") return undefined;
  for (const key of mappings) {
    const map = object.attributes.get(key) ?? object.type.attribute(key);
    const found = map instanceof DictValue ? map.entries.get(`s${name}`)?.value : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What is registered under a name; unknown where it is no function that is read. */
const lookUp =
  (otherwise: (args: CallArguments) => Value | undefined): Native =>
  (interpreter, args, span) => {
    const name = args.at(1) ?? null;
    if (isUnknown(name)) return name;
    const found = registered(args.at(0), name) ?? otherwise(args);
    return found ?? interpreter.unknown("attention", span, { name: keyText(name) });
  };

const interfaceMethods: Readonly<Record<string, Native>> = {
  __init__: (interpreter, args, span) => {
    setAttribute(interpreter, args.at(0) ?? null, "_local_mapping", new DictValue(), span);
    return null;
  },
  __getitem__: lookUp(() => undefined),
  __contains__: (_, args) => registered(args.at(0), args.at(1)) !== undefined,
  get: lookUp((args) => args.or(2, "default", null)),
  get_interface: lookUp((args) =>
    args.at(1) === "eager" || args.at(1) === null ? args.or(2, "default", null) : undefined,
  ),
};

const register: Native = (interpreter, args, span) => {
  const map = findAttribute(interpreter, args.at(0) ?? null, "_global_mapping", span);
  const [name, callee] = [args.at(1), args.at(2) ?? null];
  if (!(map instanceof DictValue) || typeof name !== "string") return null;
  interpreter.references.adopt(map, callee);
  map.entries.set(`s${name}`, { key: name, value: callee });
  return null;
};

const interfaceNames = /^transformers\.utils\.(generic\.)?GeneralInterface$/;

/** The class at a path; undefined for other paths. */
export function interfaceClass(path: string): ClassValue | undefined {
  if (!interfaceNames.test(path)) return undefined;
  const type = new ClassValue("GeneralInterface", []);
  type.addMethods(interfaceMethods);
  type.attributes.set("register", new MethodWrapper("class", new NativeFunction("register", register)));
  return type;
}

/** `ALL_ATTENTION_FUNCTIONS`: of the library's own functions those for sdpa are read; a script may register others. */
function attentionFunctions(interpreter: Interpreter): Value {
  const type = interfaceClass("transformers.utils.generic.GeneralInterface");
  const made = new ObjectValue(type ?? new ClassValue("AttentionInterface", []));
  const file = "transformers.integrations.sdpa_attention";
  const sdpa = interpreter.files.source(file)?.frame.lookup("sdpa_attention_forward");
  made.attributes.set("_global_mapping", dictOf(sdpa === undefined ? [] : [["sdpa", sdpa]]));
  made.attributes.set("_local_mapping", new DictValue());
  interpreter.references.retain(made);
  return made;
}

/** What one interpreter has made: there is one `ALL_ATTENTION_FUNCTIONS`. */
const attentionOf = new WeakMap<Interpreter, Value>();

export const forwardConstants: Readonly<Record<string, (interpreter: Interpreter) => Value>> = {
  "transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS": (interpreter) => {
    const made = attentionOf.get(interpreter) ?? attentionFunctions(interpreter);
    attentionOf.set(interpreter, made);
    return made;
  },
};

/** The library's losses by their kind. */
function lossTable(
  interpreter: Interpreter,
): { readonly table: DictValue; readonly kinds: readonly string[] } | undefined {
  const table = interpreter.files.source("transformers.loss.loss_utils")?.frame.lookup("LOSS_MAPPING");
  if (!(table instanceof DictValue)) return undefined;
  return { table, kinds: [...table.entries.values()].map(({ key }) => keyText(key)) };
}

/** `model.loss_function`: by the class's name, from the library's table of losses. */
const lossFunction: Native = (interpreter, args, span) => {
  const model = args.at(0);
  if (!(model instanceof ObjectValue)) return null;
  const own = model.attributes.get("_loss_function");
  if (own !== undefined) return own;
  const losses = lossTable(interpreter);
  if (losses === undefined)
    return interpreter.unknown("name", span, { name: "transformers.loss.loss_utils.LOSS_MAPPING" });
  const { table, kinds } = losses;
  const said = model.attributes.get("loss_type");
  const isKnown = typeof said === "string" && kinds.includes(said);
  return getItem(interpreter, table, isKnown ? said : "ForCausalLM", span ?? nowhere);
};

/** What `__init__` notes as the kind of loss: the first kind whose name stands in the class's. */
export function lossKind(interpreter: Interpreter, type: ClassValue): Value {
  const kinds = lossTable(interpreter)?.kinds;
  if (kinds === undefined) return null;
  if (kinds.includes(type.name)) return type.name;
  return new RegExp(kinds.join("|")).exec(type.name)?.[0] ?? null;
}

/** Which attention a model takes: the configuration's, else sdpa where the class has it. Also set on its configuration. */
export function chooseAttention(interpreter: Interpreter, model: ObjectValue, configuration: Value): void {
  if (!(configuration instanceof ObjectValue)) return;
  const said = configuration.attributes.get("_attn_implementation") ?? null;
  if (said !== null) return;
  const hasSdpa = model.type.attribute("_supports_sdpa") === true;
  setAttribute(interpreter, configuration, "_attn_implementation", hasSdpa ? "sdpa" : "eager", undefined);
}

/** Turns checkpointing on or off in every module that has the flag. */
const setCheckpointing =
  (enable: boolean): Native =>
  (interpreter, args, span) => {
    const model = args.at(0);
    if (!(model instanceof ObjectValue)) return null;
    const name = enable ? "gradient_checkpointing_enable" : "gradient_checkpointing_disable";
    const every = integer(args.keywords.get("every_n_layers") ?? 1);
    const given =
      args.get(1, "gradient_checkpointing_kwargs") ?? args.keywords.get("activation_checkpointing_kwargs");
    const isPlain = every === 1 && [undefined, null, false].includes(args.keywords.get("offload") as null);
    if (!isPlain || args.unknownKeywords !== undefined || isUnknown(given ?? null)) {
      interpreter.note(interpreter.unknown("changedModule", span, { name }));
      return null;
    }
    const keywords =
      given instanceof DictValue
        ? [...given.entries.values()].map(({ key, value }) => [keyText(key), value] as const)
        : [["use_reentrant", defaultsToReentrant(interpreter)] as const];
    const run = new PartialValue(
      new LibraryName("torch.utils.checkpoint.checkpoint"),
      new CallArguments([], new Map(keywords)),
    );
    for (const module of modulesOf(model)) {
      if (known(interpreter, module, "gradient_checkpointing") === undefined) continue;
      setAttribute(interpreter, module, "_gradient_checkpointing_func", run, span);
      setAttribute(interpreter, module, "gradient_checkpointing", enable, span);
    }
    if (enable && majorVersion(interpreter) >= 5) requireInputGradients(interpreter, model, span);
    return null;
  };

export function majorVersion(interpreter: Interpreter): number {
  const version = interpreter.files.source("transformers")?.frame.lookup("__version__");
  return typeof version === "string" ? Number.parseInt(version, 10) : NaN;
}

/** Version 5 takes the kind without re-entrance where nobody says which. */
function defaultsToReentrant(interpreter: Interpreter): boolean {
  return majorVersion(interpreter) < 5;
}

/** `enable_input_require_grads`: what the embeddings give needs a gradient, whether they are trained or not. */
function requireInputGradients(interpreter: Interpreter, model: ObjectValue, span: Span | undefined): void {
  const hook = new NativeFunction("make_inputs_require_grads", (_, args) => {
    const output = args.at(2);
    if (output instanceof Tensor) output.requiresGrad = true;
    return null;
  });
  const seen = new Set<Value>();
  for (const module of modulesOf(model)) {
    const ask = module.type.attribute("tie_weights") === undefined ? undefined : embeddingsOf(module);
    const embeddings = ask === undefined ? null : interpreter.guard(() => ask(interpreter, span));
    if (!(embeddings instanceof ObjectValue) || embeddings.module === undefined || seen.has(embeddings))
      continue;
    seen.add(embeddings);
    interpreter.references.adopt(embeddings, hook);
    embeddings.module.hooks.push({ callee: hook, takesKeywords: false });
  }
}

/** How to ask a model of the library for its embeddings; some have none. */
function embeddingsOf(model: ObjectValue): (interpreter: Interpreter, span: Span | undefined) => Value {
  return (interpreter, span) => {
    const method = findAttribute(interpreter, model, "get_input_embeddings", span) ?? null;
    return isUnknown(method) ? method : interpreter.call(method, new CallArguments([]), span);
  };
}

/** `set_attn_implementation`. */
const setAttention: Native = (interpreter, args, span) => {
  const configuration = known(interpreter, args.at(0), "config");
  if (configuration !== undefined)
    setAttribute(interpreter, configuration, "_attn_implementation", args.at(1) ?? null, span);
  return null;
};

/** Methods and properties of `PreTrainedModel` that a step needs. */
export const stepMethods: Readonly<Record<string, Native>> = {
  gradient_checkpointing_enable: setCheckpointing(true),
  activation_checkpointing_enable: setCheckpointing(true),
  gradient_checkpointing_disable: setCheckpointing(false),
  activation_checkpointing_disable: setCheckpointing(false),
  enable_input_require_grads: (interpreter, args, span) => {
    const model = args.at(0);
    if (model instanceof ObjectValue) requireInputGradients(interpreter, model, span);
    return null;
  },
  set_attn_implementation: setAttention,
  /** A head's mask: none, or one for each layer. */
  get_head_mask: (interpreter, args, span) => {
    const [mask, count] = [args.at(1) ?? null, integer(args.at(2) ?? null)];
    if (mask === null && count !== undefined) return new ListValue(Array.from({ length: count }, () => null));
    return interpreter.unknown("call", span, { name: "get_head_mask" });
  },
};

export const lossProperty = new PropertyValue(
  new NativeFunction("loss_function", lossFunction),
  new NativeFunction("loss_function", (interpreter, args, span) => {
    setAttribute(interpreter, args.at(0) ?? null, "_loss_function", args.at(1) ?? null, span);
    return null;
  }),
);

/** `model.dtype`: that of the first parameter of real numbers. */
export const dtypeProperty = new PropertyValue(
  new NativeFunction("dtype", (interpreter, args, span) => {
    const model = args.at(0);
    const tensors = model instanceof ObjectValue ? tensorsOf(model, "parameters") : [];
    const dtype = tensors.find((tensor) => isFloating(tensor.dtype))?.dtype;
    return dtype === undefined
      ? interpreter.unknown("attribute", span, { name: "dtype", type: "PreTrainedModel" })
      : new DtypeValue(dtype);
  }),
);

/** `maybe_autocast(device_type, dtype, enabled)`: nothing where autocast is neither on nor asked for. */
const maybeAutocast: Native = (interpreter, args, span) => {
  const isOn = interpreter.execution.autocast !== undefined || args.or(2, "enabled", true) !== false;
  const name = isOn ? "torch.autocast" : "contextlib.nullcontext";
  return interpreter.library.call(name, isOn ? args : new CallArguments([]), span);
};

/** `slice_logits_to_keep(hidden_states, logits_to_keep)`: the last so many positions, all of them for none. */
const sliceLogits: Native = (interpreter, args, span) => {
  const [states, kept] = [args.or(0, "hidden_states", null), args.or(1, "logits_to_keep", 0)];
  const whole = new SliceValue(null, null, null);
  const count = integer(kept);
  if (count === undefined) return args.unknown() ?? interpreter.unknown("tensorValue", span);
  const index = new TupleValue([whole, new SliceValue(-count, null, null), whole]);
  return getItem(interpreter, states, index, span ?? nowhere);
};

const yes: Native = () => true;
const no: Native = () => false;

/** How the process runs: eagerly, on CUDA, with a PyTorch of this year. */
const circumstances: readonly (readonly [string, Native])[] = [
  ["is_torchdynamo_compiling", no],
  ["is_torchdynamo_exporting", no],
  ["is_tracing", no],
  ["is_jit_tracing", no],
  ["is_torch_fx_proxy", no],
  ["is_torch_npu_available", no],
  ["is_torch_xpu_available", no],
  ["is_torch_mps_available", no],
  ["is_torch_xla_available", no],
  ["is_torch_mlu_available", no],
  ["is_torch_flex_attn_available", no],
  ["is_flash_attention_requested", no],
  ["is_deepspeed_zero3_enabled", no],
  ["is_fsdp_managed_module", no],
  ["is_torch_available", yes],
  ["is_torch_greater_or_equal", yes],
];

/** `torch_int`, `torch_float`: Python's own numbers where nothing is traced. */
const castWith =
  (type: string): Native =>
  (interpreter, args, span) =>
    interpreter.call(interpreter.library.types.get(type) ?? null, args, span);

const named = (names: readonly string[], native: Native): [string, Native][] =>
  names.map((name) => [`transformers.${name}`, native]);

export const forwardFunctions: Readonly<Record<string, Native>> = Object.fromEntries([
  ...Object.entries(decoratorFunctions),
  ...named(["utils.generic.maybe_autocast"], maybeAutocast),
  ...named(["modeling_utils.slice_logits_to_keep"], sliceLogits),
  ...named(["utils.torch_int", "utils.generic.torch_int"], castWith("int")),
  ...named(["utils.torch_float", "utils.generic.torch_float"], castWith("float")),
  ...circumstances.flatMap(([name, native]) =>
    named(
      ["utils", "utils.import_utils", "utils.generic", "integrations.deepspeed", "integrations.fsdp"].map(
        (room) => `${room}.${name}`,
      ),
      native,
    ),
  ),
]);
