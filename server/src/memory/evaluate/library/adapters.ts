/**
 * peft's LoRA: the base model is frozen, and the layers that are named get two small ones beside them. Sources:
 * peft/tuners/lora/{config,layer,model}.py, peft/tuners/tuners_utils.py, peft/utils/constants.py of 0.21.
 */
import type { Span } from "../../../python/tree";
import { isFloating, Tensor } from "../../tensor";
import { isUnknown, type Unknown } from "../../unknown";
import { callOperator } from "../bridge";
import type { Interpreter } from "../interpreter";
import { itemsOf } from "../iteration";
import { attach } from "../nn/attach";
import { newParameter } from "../nn/reparametrized";
import { ModuleState, modulesOf, namedModules, tensorsOf, type NamedModule } from "../nn/state";
import { integer, numeric } from "../numbers";
import { callMethod } from "../overloads";
import {
  ClassValue,
  DtypeValue,
  Float,
  NativeFunction,
  ObjectValue,
  type Native,
  type Value,
} from "../values";
import { libraryClass, libraryObject } from "./library-class";

const configuration = libraryClass("LoraConfig", {});

/** Arguments of `LoraConfig` that set what is trained; others that are given must be among the harmless ones. */
const followed = ["r", "target_modules", "modules_to_save", "bias", "task_type", "lora_dropout"];
const harmless = new Set(
  (
    "peft_type auto_mapping base_model_name_or_path revision inference_mode lora_alpha fan_in_fan_out " +
    "init_lora_weights use_rslora"
  ).split(" "),
);

const makeConfiguration: Native = (interpreter, args, span) => {
  const other = [...args.keywords].find(
    ([name, value]) => !followed.includes(name) && !harmless.has(name) && value !== null && value !== false,
  );
  const fault =
    args.unknownKeywords ??
    (args.positional.length > 0 || other !== undefined
      ? interpreter.unknown("call", span, { name: `LoraConfig(${other?.[0] ?? "…"})` })
      : undefined);
  if (fault !== undefined) return fault;
  const given = followed.map((name) => [name, args.keywords.get(name) ?? null] as const);
  return libraryObject(interpreter, configuration, Object.fromEntries(given));
};

/** `r` where it is not given. */
const defaultRank = 8;

/** What LoRA is put on where the configuration does not say, by the model's `model_type`. */
const defaultTargets: Readonly<Record<string, readonly string[]>> = {
  t5: ["q", "v"],
  mt5: ["q", "v"],
  bart: ["q_proj", "v_proj"],
  gpt2: ["c_attn"],
  opt: ["q_proj", "v_proj"],
  bert: ["query", "value"],
  roberta: ["query", "value"],
  "xlm-roberta": ["query", "value"],
  electra: ["query", "value"],
  llama: ["q_proj", "v_proj"],
  mistral: ["q_proj", "v_proj"],
  qwen2: ["q_proj", "v_proj"],
  qwen3: ["q_proj", "v_proj"],
  gemma: ["q_proj", "v_proj"],
  gemma2: ["q_proj", "v_proj"],
};

/** Heads that are trained as a whole, in a copy, for these tasks. */
const trainedHeads: Readonly<Record<string, readonly string[]>> = {
  SEQ_CLS: ["classifier", "score"],
  TOKEN_CLS: ["classifier", "score"],
};

/** `get_peft_model(model, config)`: the model itself, changed. */
export const addAdapters: Native = (interpreter, args, span) => {
  const model = args.or(0, "model", null);
  const wanted = args.or(1, "peft_config", null);
  if (!(model instanceof ObjectValue) || model.module === undefined) return args.unknown() ?? model;
  const fault = isUnknown(wanted) ? wanted : adapted(interpreter, model, wanted, span);
  if (fault !== undefined) model.module.unknownParts.set("peft", interpreter.note(fault));
  return model;
};

function adapted(
  interpreter: Interpreter,
  model: ObjectValue,
  wanted: Value,
  span: Span | undefined,
): Unknown | undefined {
  const unknown = (): Unknown => interpreter.unknown("call", span, { name: "peft.get_peft_model" });
  if (!(wanted instanceof ObjectValue) || wanted.type !== configuration) return unknown();
  const read = (name: string): Value => wanted.attributes.get(name) ?? null;
  const rank = read("r") === null ? defaultRank : integer(read("r"));
  const task = read("task_type");
  const heads = typeof task === "string" ? (trainedHeads[task] ?? []) : [];
  const saved = namesIn(interpreter, read("modules_to_save"), span);
  const isPlain = read("bias") === null || read("bias") === "none";
  if (rank === undefined || saved === undefined || !isPlain || (task !== null && typeof task !== "string"))
    return unknown();
  const whole = [...saved, ...heads];
  const chosen = targetsOf(interpreter, model, read("target_modules"), whole, span);
  if (chosen === undefined) return unknown();
  for (const tensor of tensorsOf(model, "parameters")) tensor.requiresGrad = false;
  const dropout = read("lora_dropout") === null ? 0 : numeric(read("lora_dropout"));
  if (dropout === undefined) return unknown();
  for (const { module } of chosen) if (!addAdapter(interpreter, module, rank, dropout)) return unknown();
  for (const { path, module } of namedModules(model))
    if (path !== "" && whole.some((name) => endsWith(path, name))) addCopy(interpreter, module);
  return undefined;
}

/** A list of names, none where it is not given; undefined where it is not known. */
function namesIn(
  interpreter: Interpreter,
  value: Value,
  span: Span | undefined,
): readonly string[] | undefined {
  if (value === null) return [];
  const items = itemsOf(interpreter, value, span);
  if (isUnknown(items)) return undefined;
  const names = items.filter((item) => typeof item === "string");
  return names.length === items.length ? names : undefined;
}

function endsWith(path: string, name: string): boolean {
  return path === name || path.endsWith(`.${name}`);
}

function isLinear({ type }: ObjectValue): boolean {
  return type.find((one) => one.path) === "torch.nn.Linear" || type.name === "Conv1D";
}

/** The modules that get an adapter; undefined where the choice is not understood. */
function targetsOf(
  interpreter: Interpreter,
  model: ObjectValue,
  given: Value,
  whole: readonly string[],
  span: Span | undefined,
): readonly NamedModule[] | undefined {
  const modules = namedModules(model).filter(
    ({ path }) => path !== "" && !whole.some((name) => path.split(".").includes(name)),
  );
  if (given === "all-linear") {
    const output = callMethod(interpreter, model, "get_output_embeddings", [], span);
    const last = modules.filter(({ module }) => isLinear(module)).at(-1)?.module;
    // The output's layer stays as it is; models of transformers say which that is, in some by its place alone.
    const head = output instanceof ObjectValue ? output : whole.length === 0 ? last : undefined;
    return modules.filter(({ module }) => isLinear(module) && module !== head);
  }
  if (typeof given === "string") return undefined;
  const names = given === null ? defaultsFor(model) : namesIn(interpreter, given, span);
  if (names === undefined || names.length === 0) return undefined;
  const found = modules.filter(({ path }) => names.some((name) => endsWith(path, name)));
  return found.length === 0 ? undefined : found;
}

function defaultsFor(model: ObjectValue): readonly string[] | undefined {
  const config = model.attributes.get("config");
  const kind = config instanceof ObjectValue ? config.type.attribute("model_type") : undefined;
  return typeof kind === "string" ? defaultTargets[kind] : undefined;
}

/** `lora_A` and `lora_B` beside a layer, in single precision; false for a kind of layer that is not followed. */
function addAdapter(interpreter: Interpreter, layer: ObjectValue, rank: number, dropout: number): boolean {
  const sizes = sizesOf(layer);
  if (sizes === undefined) return false;
  addWeight(interpreter, layer, "lora_A", [rank, sizes.input]);
  addWeight(interpreter, layer, "lora_B", [sizes.output, rank]);
  layer.type = adaptedType(layer.type, dropout);
  return true;
}

function sizesOf(layer: ObjectValue): { readonly input: number; readonly output: number } | undefined {
  if (!isLinear(layer)) return undefined;
  const weight = layer.module?.parameters.get("weight");
  if (layer.type.name === "Conv1D") {
    const [input, output] = weight?.shape ?? [];
    return input === undefined || output === undefined ? undefined : { input, output };
  }
  const [input, output] = ["in_features", "out_features"].map((name) =>
    integer(layer.attributes.get(name) ?? null),
  );
  return input === undefined || output === undefined ? undefined : { input, output };
}

function addWeight(
  interpreter: Interpreter,
  layer: ObjectValue,
  name: string,
  shape: readonly number[],
): void {
  const child = new ObjectValue(interpreter.library.moduleClass);
  child.module = new ModuleState();
  attach(interpreter, layer, "modules", name, child);
  attach(
    interpreter,
    child,
    "parameters",
    "weight",
    newParameter(interpreter, shape, { dtype: "float32", requiresGrad: true }),
  );
}

/** A layer with an adapter beside it. Source: `Linear.forward` of peft/tuners/lora/layer.py. */
function adaptedType(base: ClassValue, dropout: number): ClassValue {
  const type = new ClassValue(base.name, [base]);
  const forward: Native = (interpreter, args, span) => {
    const layer = args.at(0) ?? null;
    const result = interpreter.call(base.attribute("forward") ?? null, args, span);
    const [input, down, up] = [args.at(1), weightOf(layer, "lora_A"), weightOf(layer, "lora_B")];
    if (isUnknown(result)) return result;
    if (!(input instanceof Tensor) || !(result instanceof Tensor) || down === undefined || up === undefined)
      return interpreter.note(interpreter.unknown("unsupported", span, { what: "lora.forward" }));
    const run = (name: string, ...given: Value[]): Value => callOperator(interpreter, name, given);
    const cast = input.dtype === down.dtype ? input : run("Tensor.to", input, new DtypeValue(down.dtype));
    const steps: readonly ((value: Value) => Value)[] = [
      (value) =>
        dropout === 0
          ? value
          : run("torch.nn.functional.dropout", value, new Float(dropout), isTraining(layer)),
      (value) => run("torch.nn.functional.linear", value, down),
      (value) => run("torch.nn.functional.linear", value, up),
      (value) => run("Tensor.__mul__", value, new Float(1)),
      (value) => run("Tensor.__add__", result, value),
    ];
    // each lets go of what the one before has made
    const mark = interpreter.references.mark();
    let sum: Value = cast;
    for (const step of steps) interpreter.references.settle(mark, (sum = step(sum)));
    const isCast = sum instanceof Tensor && sum.dtype !== result.dtype;
    return isCast ? run("Tensor.to", sum, new DtypeValue(result.dtype)) : sum;
  };
  type.attributes.set("forward", new NativeFunction("forward", forward));
  return type;
}

function weightOf(layer: Value, name: string): Tensor | undefined {
  const child = layer instanceof ObjectValue ? layer.module?.modules.get(name) : undefined;
  return child?.module?.parameters.get("weight") ?? undefined;
}

function isTraining(layer: Value): boolean {
  return layer instanceof ObjectValue && layer.module?.training !== false;
}

/** A module of `modules_to_save`: the original stays, frozen and unused, and a copy of it is trained. */
function addCopy(interpreter: Interpreter, module: ObjectValue): void {
  const originals = new ObjectValue(interpreter.library.moduleClass);
  originals.module = new ModuleState();
  for (const owner of modulesOf(module)) {
    for (const [name, tensor] of [...(owner.module?.parameters ?? [])]) {
      if (tensor === null || !isFloating(tensor.dtype)) continue;
      const copy = newParameter(interpreter, tensor.shape, { dtype: tensor.dtype, requiresGrad: true });
      attach(interpreter, originals, "parameters", String(originals.module.parameters.size), tensor);
      attach(interpreter, owner, "parameters", name, copy);
    }
  }
  attach(interpreter, module, "modules", "original_module", originals);
}

/** It freezes the base and makes what is left of low precision single, but for what bitsandbytes has packed. */
const prepareForQuantised: Native = (interpreter, args, span) => {
  const model = args.or(0, "model", null);
  if (!(model instanceof ObjectValue) || model.module === undefined) return args.unknown() ?? model;
  const parameters = tensorsOf(model, "parameters");
  for (const tensor of parameters) tensor.requiresGrad = false;
  const low = parameters.filter(({ dtype }) => dtype === "float16" || dtype === "bfloat16");
  interpreter.execution.castStates("float32", low);
  const checkpoints = args.or(1, "use_gradient_checkpointing", true);
  if (checkpoints !== false)
    interpreter.note(interpreter.unknown("unsupported", span, { what: "gradient checkpointing" }));
  return model;
};

export const adapterFunctions: Readonly<Record<string, Native>> = {
  "peft.LoraConfig": makeConfiguration,
  "peft.get_peft_model": addAdapters,
  "peft.prepare_model_for_kbit_training": prepareForQuantised,
};

export const adapterConstants: Readonly<Record<string, () => Value>> = Object.fromEntries(
  ["CAUSAL_LM", "SEQ_CLS", "SEQ_2_SEQ_LM", "TOKEN_CLS", "QUESTION_ANS", "FEATURE_EXTRACTION"].map((name) => [
    `peft.TaskType.${name}`,
    () => name,
  ]),
);
