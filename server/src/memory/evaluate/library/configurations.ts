/**
 * Configurations of transformers' models: `PreTrainedConfig` and what it fills in. The classes under it are read from the
 * installed package. Source: transformers/{configuration_utils,modeling_rope_utils}.py of 4.57 and 5.24.
 */
import type { Span } from "../../../python/tree";
import type { Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { getAttribute, setAttribute } from "../attributes";
import { lengthOf } from "../builtins/functions";
import type { Interpreter } from "../interpreter";
import { dictOf, dictSet } from "../iteration";
import { integer } from "../numbers";
import {
  ClassValue,
  DictValue,
  Float,
  FunctionValue,
  ListValue,
  NativeFunction,
  ObjectValue,
  PropertyValue,
  type Native,
  type Value,
} from "../values";

/** The base rate of rotary embeddings where a configuration names none; it sets no size. */
const ropeTheta = 10_000;

/** What every configuration has, where its class says nothing else. */
const configurationDefaults: Readonly<Record<string, Value>> = {
  return_dict: true,
  use_return_dict: true,
  output_attentions: false,
  output_hidden_states: false,
  is_encoder_decoder: false,
  is_decoder: false,
  add_cross_attention: false,
  cross_attention_hidden_size: null,
  tie_word_embeddings: true,
  tie_encoder_decoder: false,
  chunk_size_feed_forward: 0,
  problem_type: null,
  pad_token_id: null,
  bos_token_id: null,
  eos_token_id: null,
  decoder_start_token_id: null,
  forced_bos_token_id: null,
  forced_eos_token_id: null,
  num_labels: 2,
  id2label: null,
  pruned_heads: new DictValue(),
  default_theta: new Float(ropeTheta),
  dtype: null,
  torch_dtype: null,
  attribute_map: new DictValue(),
  _attn_implementation: null,
};

/** The name under which an attribute is kept: `attribute_map` gives some a second one. */
function keptName(configuration: ObjectValue, name: string): string {
  if (name === "attn_implementation") return "_attn_implementation";
  const map = configuration.type.attribute("attribute_map");
  const other = map instanceof DictValue ? map.entries.get(`s${name}`)?.value : undefined;
  return typeof other === "string" ? other : name;
}

function writeAll(
  interpreter: Interpreter,
  configuration: ObjectValue,
  values: Iterable<readonly [string, Value]>,
  span: Span | undefined,
): void {
  for (const [name, value] of values) {
    setAttribute(interpreter, configuration, keptName(configuration, name), value, span);
    if (name !== "id2label" || value === null) continue;
    setAttribute(interpreter, configuration, "num_labels", lengthOf(interpreter, value, span), span);
  }
}

/** A dataclass in version 5: its annotated attributes are the arguments; a constructor of its own calls this in version 4. */
const initializeConfiguration: Native = (interpreter, args, span) => {
  const configuration = args.at(0);
  if (!(configuration instanceof ObjectValue)) return null;
  const fault =
    args.unknownKeywords ?? (args.positional.length > 1 ? notUnderstood(interpreter, span) : undefined);
  if (fault !== undefined) return fault;
  writeAll(interpreter, configuration, args.keywords, span);
  const own = configuration.type.attribute("__post_init__");
  if (!(own instanceof FunctionValue)) return finishConfiguration(interpreter, args, span);
  const rest = [...args.keywords].filter(([name]) => name === "tie_word_embeddings");
  return interpreter.call(own, new CallArguments([configuration], new Map(rest)), span);
};

function notUnderstood(interpreter: Interpreter, span: Span | undefined): Unknown {
  return interpreter.unknown("call", span, { name: "PreTrainedConfig" });
}

/** Fills a description of rotary embeddings with what it does not say. */
function completeRope(interpreter: Interpreter, rope: DictValue, theta: Value): void {
  const set = (name: string, value: Value): void => {
    if (!rope.entries.has(`s${name}`)) dictSet(interpreter, rope, name, value);
  };
  set("rope_type", rope.entries.get("stype")?.value ?? "default");
  set("rope_theta", theta);
}

/** `standardize_rope_params`: one description, or one for each kind of layer. */
const standardizeRope: Native = (interpreter, args, span) => {
  const configuration = args.at(0);
  if (!(configuration instanceof ObjectValue)) return null;
  const said = configuration.attributes.get("rope_parameters") ?? null;
  const rope = said instanceof DictValue ? said : dictOf([]);
  const theta = configuration.attributes.get("rope_theta") ?? null;
  const inner = [...rope.entries.values()]
    .map(({ value }) => value)
    .filter((one) => one instanceof DictValue);
  for (const one of inner.length > 0 ? inner : [rope])
    completeRope(interpreter, one, theta ?? new Float(ropeTheta));
  if (rope !== said) setAttribute(interpreter, configuration, "rope_parameters", rope, span);
  return null;
};

/** `__post_init__` of the base: rotary embeddings get a complete description. The kinds differ in values, not in sizes. */
const finishConfiguration: Native = (interpreter, args, span) => {
  const configuration = args.at(0);
  if (!(configuration instanceof ObjectValue)) return null;
  const { type } = configuration;
  if (type.attribute("rope_parameters") === undefined) return null;
  const own = type.attribute("convert_rope_params_to_dict");
  if (own instanceof FunctionValue)
    return interpreter.call(own, new CallArguments([configuration], args.keywords), span);
  standardizeRope(interpreter, args, span);
  return null;
};

/** `per_layer_config`: the configuration of each layer, the same for all. */
const perLayer: Native = (interpreter, args, span) => {
  const configuration = args.at(0) ?? null;
  const layers = integer(getAttribute(interpreter, configuration, "num_hidden_layers", span));
  return layers === undefined
    ? notUnderstood(interpreter, span)
    : new ListValue(Array.from({ length: layers }, () => configuration));
};

/** `PreTrainedConfig`, the base of all of them. */
export function configurationClass(): ClassValue {
  const type = new ClassValue("PreTrainedConfig", []);
  for (const [name, value] of Object.entries(configurationDefaults)) type.attributes.set(name, value);
  const methods: Readonly<Record<string, Native>> = {
    __init__: initializeConfiguration,
    __post_init__: finishConfiguration,
    __getattr__: (interpreter, args, span) => {
      const [object, name] = [args.at(0), args.at(1)];
      if (!(object instanceof ObjectValue) || typeof name !== "string") return null;
      const kept = keptName(object, name);
      const value = object.attributes.get(kept) ?? object.type.attribute(kept);
      if (kept !== name && value !== undefined) return value;
      return interpreter.raise("AttributeError", `no attribute '${name}'`, span);
    },
    standardize_rope_params: standardizeRope,
    get_text_config: (_, args) => args.at(0) ?? null,
    set_output_features_output_indices: () => null,
    to_dict: (interpreter, _, span) => notUnderstood(interpreter, span),
  };
  type.addMethods(methods);
  type.attributes.set(
    "per_layer_config",
    new PropertyValue(new NativeFunction("per_layer_config", perLayer)),
  );
  return type;
}
