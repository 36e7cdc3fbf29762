/**
 * Hugging Face's transformers as far as it makes models: configurations, `from_pretrained`, tied weights. The models
 * themselves are read from the installed package; what they compute is not followed. Sources:
 * transformers/{configuration_utils,modeling_utils}.py, models/auto/{auto_factory,modeling_auto}.py of 4.57 and 5.24.
 */
import type { Span } from "../../../python/tree";
import { dtypeBytes, type Dtype } from "../../tensor";
import { isUnknown, type Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { bindAttribute, getAttribute, setAttribute } from "../attributes";
import type { Interpreter } from "../interpreter";
import { attach } from "../nn/attach";
import { namedModules, tensorsOf } from "../nn/state";
import { callMethod } from "../overloads";
import {
  ClassValue,
  DictValue,
  DtypeValue,
  FunctionValue,
  ListValue,
  MethodWrapper,
  NativeFunction,
  ObjectValue,
  TupleValue,
  type Native,
  type Value,
} from "../values";
import { configurationClass } from "./configurations";
import { checkpointNamed, type Checkpoint } from "./checkpoints";
import {
  chooseAttention,
  dtypeProperty,
  lossKind,
  lossProperty,
  majorVersion,
  stepMethods,
} from "./pretrained-forward";
import { quantise } from "./quantised";

/** Arguments of `from_pretrained` that say how to load, not what the model is. */
const loading = new Set(
  (
    "cache_dir force_download local_files_only token use_auth_token revision use_safetensors weights_only device_map " +
    "low_cpu_mem_usage ignore_mismatched_sizes trust_remote_code output_loading_info max_memory offload_folder " +
    "state_dict from_tf from_flax subfolder variant dtype torch_dtype quantization_config load_in_4bit load_in_8bit " +
    "attn_implementation config label2id return_dict"
  ).split(" "),
);

const nothing: Native = () => null;

function classMethod(name: string, method: Native): MethodWrapper {
  return new MethodWrapper("class", new NativeFunction(name, method));
}

const configurationFromPretrained: Native = (interpreter, args, span) => {
  const name = args.at(1) ?? null;
  const known = knownCheckpoint(interpreter, name, span);
  return isUnknown(known) ? known : configurationOf(interpreter, known, args.keywords, span);
};

function knownCheckpoint(
  interpreter: Interpreter,
  name: Value,
  span: Span | undefined,
): Checkpoint | Unknown {
  if (isUnknown(name)) return name;
  const found = typeof name === "string" ? checkpointNamed(name) : undefined;
  return found ?? interpreter.unknown("checkpoint", span, { name: typeof name === "string" ? name : "…" });
}

/** The configuration of a checkpoint, with what the call changes of it. */
function configurationOf(
  interpreter: Interpreter,
  { type, configuration }: Checkpoint,
  changes: ReadonlyMap<string, Value>,
  span: Span | undefined,
): Value {
  const module = type.replaceAll("-", "_");
  const file = interpreter.files.source(`transformers.models.${module}.configuration_${module}`);
  const found = file?.classNames.flatMap((name) => {
    const value = file.frame.lookup(name);
    return value instanceof ClassValue && value.attributes.get("model_type") === type ? [value] : [];
  });
  const [own] = found ?? [];
  if (own === undefined) return interpreter.unknown("name", span, { name: `transformers.models.${module}` });
  const values = Object.entries(configuration).map(
    ([name, value]) => [name, typeof value === "object" ? new ListValue([...value]) : value] as const,
  );
  const changed = [...changes].filter(([name]) => !loading.has(name));
  return interpreter.call(own, new CallArguments([], new Map<string, Value>([...values, ...changed])), span);
}

/** `Class.from_pretrained(name, …)` and `Class.from_config(config)`, the class first. */
const modelFromPretrained: Native = (interpreter, args, span) => {
  const type = args.at(0);
  if (!(type instanceof ClassValue)) return args.unknown() ?? null;
  return loaded(interpreter, () => type, args.withoutFirst(), span);
};

/** Makes the model of a checkpoint; `classFor` says of which class, once the configuration is known. */
function loaded(
  interpreter: Interpreter,
  classFor: (configuration: ObjectValue) => Value,
  args: CallArguments,
  span: Span | undefined,
): Value {
  const given = args.keywords.get("config");
  const known = knownCheckpoint(interpreter, args.or(0, "pretrained_model_name_or_path", null), span);
  if (args.unknownKeywords !== undefined) return args.unknownKeywords;
  const own = given instanceof ObjectValue ? given : undefined;
  if (isUnknown(known)) return asModel(interpreter, known);
  const configuration = own ?? configurationOf(interpreter, known, args.keywords, span);
  if (!(configuration instanceof ObjectValue)) return asModel(interpreter, configuration);
  const attention = args.keywords.get("attn_implementation") ?? null;
  if (attention !== null) setAttribute(interpreter, configuration, "_attn_implementation", attention, span);
  const type = classFor(configuration);
  if (isUnknown(type)) return asModel(interpreter, type);
  const model = interpreter.call(type, new CallArguments([configuration]), span);
  if (!(model instanceof ObjectValue) || model.module === undefined) return model;
  const dtype = dtypeOf(interpreter, args, known, span);
  if (isUnknown(dtype)) model.module.unknownParts.set("dtype", interpreter.note(dtype));
  // Buffers that are computed, such as rotary frequencies, keep their own type.
  else interpreter.execution.castStates(dtype, tensorsOf(model, "parameters"));
  quantise(interpreter, model, args, span);
  return model;
}

/** A model that is not known may hold anything. */
function asModel(interpreter: Interpreter, reason: Value): Value {
  if (isUnknown(reason)) interpreter.callResults.add(reason);
  return reason;
}

/** What the weights are loaded as: version 5 keeps what they were stored in, version 4 makes them single precision. */
function dtypeOf(
  interpreter: Interpreter,
  args: CallArguments,
  checkpoint: Checkpoint,
  span: Span | undefined,
): Dtype | Unknown {
  const given = args.keywords.get("dtype") ?? args.keywords.get("torch_dtype") ?? null;
  if (given instanceof DtypeValue) return given.dtype;
  if (isUnknown(given)) return given;
  if (given === "auto") return checkpoint.dtype;
  const named = typeof given === "string" && given in dtypeBytes ? (given as Dtype) : undefined;
  if (named !== undefined) return named;
  if (given !== null) return interpreter.unknown("call", span, { name: "from_pretrained" });
  const major = majorVersion(interpreter);
  if (Number.isNaN(major)) return interpreter.unknown("name", span, { name: "transformers.__version__" });
  return major >= 5 ? checkpoint.dtype : "float32";
}

/** `tie_weights`: what `_tied_weights_keys` pairs, in version 4 the input's and the output's embeddings. */
const tieWeights: Native = (interpreter, args, span) => {
  const model = args.at(0);
  if (!(model instanceof ObjectValue)) return null;
  const configuration = model.attributes.get("config");
  const ties =
    configuration instanceof ObjectValue
      ? (configuration.attributes.get("tie_word_embeddings") ??
        configuration.type.attribute("tie_word_embeddings"))
      : true;
  if (ties === false) return null;
  const keys = model.type.attribute("_tied_weights_keys") ?? null;
  if (keys instanceof DictValue) {
    for (const { key, value } of keys.entries.values()) tie(interpreter, model, key, value, span);
    return null;
  }
  const [output, input] = ["get_output_embeddings", "get_input_embeddings"].map((name) =>
    interpreter.guard(() =>
      interpreter.call(getAttribute(interpreter, model, name, span), new CallArguments([]), span),
    ),
  );
  const weight = input instanceof ObjectValue ? input.module?.parameters.get("weight") : undefined;
  if (output instanceof ObjectValue && weight !== undefined && weight !== null)
    attach(interpreter, output, "parameters", "weight", weight);
  return null;
};

function tie(
  interpreter: Interpreter,
  model: ObjectValue,
  target: Value,
  source: Value,
  span: Span | undefined,
): void {
  const [to, from] = [target, source].map((path) => ownerOf(model, path));
  const tensor = from?.owner.module?.parameters.get(from.name);
  if (to === undefined || tensor === undefined || tensor === null) {
    interpreter.note(interpreter.unknown("call", span, { name: "tie_weights" }));
    return;
  }
  attach(interpreter, to.owner, "parameters", to.name, tensor);
}

/** The module that a dotted path of a parameter leads to; patterns are not followed. */
function ownerOf(model: ObjectValue, path: Value): { owner: ObjectValue; name: string } | undefined {
  if (typeof path !== "string") return undefined;
  const names = path.split(".");
  const name = names.pop() ?? "";
  const owner = namedModules(model).find(({ path: own }) => own === names.join("."))?.module;
  return owner === undefined ? undefined : { owner, name };
}

const initializeModel: Native = (interpreter, args) => {
  const model = args.at(0);
  if (!(model instanceof ObjectValue)) return null;
  const configuration = args.at(1) ?? args.keywords.get("config") ?? null;
  interpreter.references.adopt(model, configuration);
  model.attributes.set("config", configuration);
  model.attributes.set("loss_type", lossKind(interpreter, model.type));
  chooseAttention(interpreter, model, configuration);
  return null;
};

/** A change of the model that is not followed. */
const changing =
  (name: string): Native =>
  (interpreter, _, span) => {
    interpreter.note(interpreter.unknown("changedModule", span, { name }));
    return null;
  };

/** What version 4 and 5 have for generating text: no part of a step. */
const generation = /^(generate|prepare_inputs_for_generation|generation_config|compute_transition_scores)$/;

/** The library's own `PreTrainedModel`; what making the class rests on is none of the script's. */
function realBase(interpreter: Interpreter): Value | undefined {
  const before = new Set(interpreter.assumed.keys());
  const found = interpreter.files.source("transformers.modeling_utils")?.frame.lookup("PreTrainedModel");
  for (const key of interpreter.assumed.keys()) if (!before.has(key)) interpreter.assumed.delete(key);
  return found;
}

/** What the real base has and is not modelled here is read from the library's own file. */
const inheritedAttribute: Native = (interpreter, args, span) => {
  const [model, name] = [args.at(0), args.at(1)];
  if (!(model instanceof ObjectValue) || typeof name !== "string") return null;
  const parts = model.module?.unknownParts;
  const doubt = parts?.get(name) ?? parts?.get("__init__") ?? model.type.find((type) => type.unknownBase);
  if (doubt !== undefined) return doubt;
  const real = realBase(interpreter);
  if (real === undefined || generation.test(name))
    return interpreter.unknown("attribute", span, { name, type: "PreTrainedModel" });
  const found = real instanceof ClassValue ? real.attribute(name) : real;
  if (found === undefined)
    return interpreter.raise(
      "AttributeError",
      `'${model.type.name}' object has no attribute '${name}'`,
      span,
    );
  return bindAttribute(interpreter, found, model, model.type);
};

function modelClass(base: ClassValue): ClassValue {
  const type = new ClassValue("PreTrainedModel", [base]);
  const methods: Readonly<Record<string, Native>> = {
    __init__: initializeModel,
    post_init: (interpreter, args, span) => {
      const model = args.at(0);
      return model instanceof ObjectValue
        ? (callMethod(interpreter, model, "tie_weights", [], span) ?? null)
        : null;
    },
    init_weights: nothing,
    tie_weights: tieWeights,
    __getattr__: inheritedAttribute,
    ...stepMethods,
    resize_token_embeddings: changing("resize_token_embeddings"),
    num_parameters: (interpreter, _, span) => interpreter.unknown("call", span, { name: "num_parameters" }),
    print_trainable_parameters: nothing,
    warn_if_padding_and_no_attention_mask: nothing,
    save_pretrained: nothing,
    push_to_hub: nothing,
  };
  type.addMethods(methods);
  for (const name of ["from_config", "_from_config"])
    type.attributes.set(name, classMethod(name, fromConfiguration));
  type.attributes.set("from_pretrained", classMethod("from_pretrained", modelFromPretrained));
  type.attributes.set("loss_function", lossProperty);
  type.attributes.set("dtype", dtypeProperty);
  return type;
}

const fromConfiguration: Native = (interpreter, args, span) => {
  const [type, configuration] = [args.at(0) ?? null, args.at(1) ?? null];
  const attention = args.keywords.get("attn_implementation") ?? null;
  if (attention !== null) setAttribute(interpreter, configuration, "_attn_implementation", attention, span);
  return interpreter.call(type, new CallArguments([configuration]), span);
};

const modelNames = /^transformers\.(modeling_utils\.)?PreTrainedModel$/;
const configurationNames = /^transformers\.(configuration_utils\.)?Pre[tT]rainedConfig$/;

/** The bases of transformers' models and configurations; undefined for other paths. */
export function pretrainedClass(path: string, moduleBase: ClassValue): ClassValue | undefined {
  if (modelNames.test(path)) return modelClass(moduleBase);
  if (!configurationNames.test(path)) return undefined;
  const type = configurationClass();
  type.attributes.set("from_pretrained", classMethod("from_pretrained", configurationFromPretrained));
  return type;
}

/** `AutoModel…` and the table of `models/auto/modeling_auto.py` that gives its classes by the configuration's `model_type`. */
const autoModels: Readonly<Record<string, string>> = {
  AutoModel: "MODEL_MAPPING_NAMES",
  AutoModelForCausalLM: "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
  AutoModelForMaskedLM: "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
  AutoModelForSeq2SeqLM: "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
  AutoModelForSequenceClassification: "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES",
  AutoModelForTokenClassification: "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES",
  AutoModelForQuestionAnswering: "MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES",
  AutoModelForMultipleChoice: "MODEL_FOR_MULTIPLE_CHOICE_MAPPING_NAMES",
  AutoModelForImageClassification: "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES",
};

function autoClass(
  interpreter: Interpreter,
  table: string,
  configuration: ObjectValue,
  span: Span | undefined,
): Value {
  const kind = configuration.type.attribute("model_type");
  const names = interpreter.files.source("transformers.models.auto.modeling_auto")?.frame.lookup(table);
  const map = names instanceof ObjectValue ? names.payload : names;
  const name =
    map instanceof DictValue && typeof kind === "string" ? map.entries.get(`s${kind}`)?.value : undefined;
  const first = name instanceof TupleValue ? name.items[0] : name;
  const module = typeof kind === "string" ? kind.replaceAll("-", "_") : "";
  const frame = interpreter.files.source(`transformers.models.${module}.modeling_${module}`)?.frame;
  const found = typeof first === "string" ? frame?.lookup(first) : undefined;
  return found ?? interpreter.unknown("name", span, { name: typeof first === "string" ? first : table });
}

function autoFunctions(name: string, table: string): [string, Native][] {
  const missing = (interpreter: Interpreter, span: Span | undefined): Value | undefined =>
    interpreter.files.source("transformers") === undefined
      ? asModel(interpreter, interpreter.unknown("notInstalled", span, { library: "transformers", name }))
      : undefined;
  const load: Native = (interpreter, args, span) =>
    missing(interpreter, span) ??
    loaded(interpreter, (configuration) => autoClass(interpreter, table, configuration, span), args, span);
  const fromConfig: Native = (interpreter, args, span) => {
    const configuration = args.at(0);
    if (!(configuration instanceof ObjectValue))
      return (
        missing(interpreter, span) ??
        asModel(interpreter, args.unknown() ?? interpreter.unknown("call", span, { name }))
      );
    const type = autoClass(interpreter, table, configuration, span);
    return interpreter.call(type, new CallArguments([configuration]), span);
  };
  return ["transformers", "transformers.models.auto", "transformers.models.auto.modeling_auto"].flatMap(
    (root): [string, Native][] => [
      [`${root}.${name}.from_pretrained`, load],
      [`${root}.${name}.from_config`, fromConfig],
    ],
  );
}

/** Decorators that document: they leave what they are given as it is. */
const decorators = (
  "utils.auto_docstring utils.add_start_docstrings utils.add_start_docstrings_to_model_forward " +
  "utils.add_code_sample_docstrings utils.replace_return_docstrings utils.generic.no_inherit_decorator"
).split(" ");

const transparent: Native = (_, args) => {
  const made = args.at(0);
  const isMade = [ClassValue, FunctionValue, NativeFunction].some((type) => made instanceof type);
  if (args.count === 1 && isMade) return made ?? null;
  return new NativeFunction("decorator", (__, given) => given.at(0) ?? null);
};

/** Decorators that are always called first, some of them with a function. */
const calledDecorators = (
  "integrations.use_kernel_forward_from_hub integrations.use_kernelized_func integrations.use_kernel_func_from_hub " +
  "integrations.hub_kernels.use_kernel_forward_from_hub"
).split(" ");

const givesDecorator: Native = () => new NativeFunction("decorator", (_, given) => given.at(0) ?? null);

export const pretrainedFunctions: Readonly<Record<string, Native>> = {
  ...Object.fromEntries(Object.entries(autoModels).flatMap(([name, table]) => autoFunctions(name, table))),
  "transformers.AutoConfig.from_pretrained": (interpreter, args, span) =>
    configurationFromPretrained(interpreter, args.withReceiver(null), span),
  ...Object.fromEntries(decorators.map((name) => [`transformers.${name}`, transparent])),
  ...Object.fromEntries(calledDecorators.map((name) => [`transformers.${name}`, givesDecorator])),
  "huggingface_hub.dataclasses.strict": transparent,
};
