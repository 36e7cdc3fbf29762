/**
 * Published checkpoints by what their `config.json` says beyond the defaults of its class, as far as sizes depend on it.
 * Source of each: `https://huggingface.co/NAME/blob/main/config.json`. Weights are not read: what they are loaded into has
 * these sizes.
 */
import type { Dtype } from "../../tensor";

type ConfigurationValue = number | string | boolean | readonly number[];

export interface Checkpoint {
  /** `model_type`. */
  readonly type: string;
  readonly configuration: Readonly<Record<string, ConfigurationValue>>;
  /** What the weights are stored in. */
  readonly dtype: Dtype;
}

function checkpoint(
  type: string,
  configuration: Checkpoint["configuration"] = {},
  dtype: Dtype = "float32",
): Checkpoint {
  return { type, configuration, dtype };
}

const large = {
  hidden_size: 1024,
  num_hidden_layers: 24,
  num_attention_heads: 16,
  intermediate_size: 4096,
};
const roberta = { vocab_size: 50265, max_position_embeddings: 514, type_vocab_size: 1 };
const multilingualRoberta = { ...roberta, vocab_size: 250002 };

const bert = (configuration: Checkpoint["configuration"]): Checkpoint => checkpoint("bert", configuration);
const gpt2 = (n_embd: number, n_layer: number, n_head: number): Checkpoint =>
  checkpoint("gpt2", { n_embd, n_layer, n_head });
const t5 = (d_model: number, d_ff: number, num_layers: number, num_heads: number): Checkpoint =>
  checkpoint("t5", { d_model, d_ff, num_layers, num_heads, vocab_size: 32128 });

/** Decoders of the Llama kind: hidden and intermediate size, layers, heads, heads of keys and values, vocabulary. */
function decoder(
  type: string,
  dtype: Dtype,
  sizes: readonly [number, number, number, number, number, number],
  more: Checkpoint["configuration"] = {},
): Checkpoint {
  const [
    hidden_size,
    intermediate_size,
    num_hidden_layers,
    num_attention_heads,
    num_key_value_heads,
    vocab_size,
  ] = sizes;
  return checkpoint(
    type,
    {
      hidden_size,
      intermediate_size,
      num_hidden_layers,
      num_attention_heads,
      num_key_value_heads,
      vocab_size,
      tie_word_embeddings: false,
      ...more,
    },
    dtype,
  );
}

const tied = { tie_word_embeddings: true };

/** By name, without the organisation where a name was published without one first. */
const checkpoints: Readonly<Record<string, Checkpoint>> = {
  "bert-base-uncased": bert({}),
  "bert-base-cased": bert({ vocab_size: 28996 }),
  "bert-base-chinese": bert({ vocab_size: 21128 }),
  "bert-base-multilingual-cased": bert({ vocab_size: 119547 }),
  "bert-base-multilingual-uncased": bert({ vocab_size: 105879 }),
  "bert-large-uncased": bert(large),
  "bert-large-cased": bert({ ...large, vocab_size: 28996 }),
  "distilbert-base-uncased": checkpoint("distilbert"),
  "distilbert-base-cased": checkpoint("distilbert", { vocab_size: 28996 }),
  "roberta-base": checkpoint("roberta", roberta),
  "roberta-large": checkpoint("roberta", { ...roberta, ...large }),
  "distilroberta-base": checkpoint("roberta", { ...roberta, num_hidden_layers: 6 }),
  "xlm-roberta-base": checkpoint("xlm-roberta", multilingualRoberta),
  "xlm-roberta-large": checkpoint("xlm-roberta", { ...multilingualRoberta, ...large }),
  "albert-base-v2": checkpoint("albert", {
    hidden_size: 768,
    num_attention_heads: 12,
    intermediate_size: 3072,
  }),
  gpt2: gpt2(768, 12, 12),
  "gpt2-medium": gpt2(1024, 24, 16),
  "gpt2-large": gpt2(1280, 36, 20),
  "gpt2-xl": gpt2(1600, 48, 25),
  distilgpt2: gpt2(768, 6, 12),
  "t5-small": t5(512, 2048, 6, 8),
  "t5-base": t5(768, 3072, 12, 12),
  "t5-large": t5(1024, 4096, 24, 16),
  "facebook/bart-base": checkpoint("bart", {
    d_model: 768,
    encoder_layers: 6,
    decoder_layers: 6,
    encoder_ffn_dim: 3072,
    decoder_ffn_dim: 3072,
    encoder_attention_heads: 12,
    decoder_attention_heads: 12,
  }),
  "facebook/bart-large": checkpoint("bart"),
  "facebook/opt-125m": checkpoint("opt", {}, "float16"),
  "google/vit-base-patch16-224": checkpoint("vit", { num_labels: 1000 }),
  "google/vit-base-patch16-224-in21k": checkpoint("vit"),
  "google/vit-large-patch16-224": checkpoint("vit", { ...large, num_labels: 1000 }),
  "microsoft/resnet-18": checkpoint("resnet", {
    layer_type: "basic",
    depths: [2, 2, 2, 2],
    hidden_sizes: [64, 128, 256, 512],
    num_labels: 1000,
  }),
  "microsoft/resnet-50": checkpoint("resnet", { num_labels: 1000 }),
  "meta-llama/Llama-2-7b-hf": decoder("llama", "float16", [4096, 11008, 32, 32, 32, 32000]),
  "meta-llama/Llama-2-7b-chat-hf": decoder("llama", "float16", [4096, 11008, 32, 32, 32, 32000]),
  "meta-llama/Llama-2-13b-hf": decoder("llama", "float16", [5120, 13824, 40, 40, 40, 32000]),
  "meta-llama/Meta-Llama-3-8B": decoder("llama", "bfloat16", [4096, 14336, 32, 32, 8, 128256]),
  "meta-llama/Meta-Llama-3-8B-Instruct": decoder("llama", "bfloat16", [4096, 14336, 32, 32, 8, 128256]),
  "meta-llama/Llama-3.1-8B": decoder("llama", "bfloat16", [4096, 14336, 32, 32, 8, 128256]),
  "meta-llama/Llama-3.1-8B-Instruct": decoder("llama", "bfloat16", [4096, 14336, 32, 32, 8, 128256]),
  "meta-llama/Llama-3.2-1B": decoder("llama", "bfloat16", [2048, 8192, 16, 32, 8, 128256], tied),
  "meta-llama/Llama-3.2-1B-Instruct": decoder("llama", "bfloat16", [2048, 8192, 16, 32, 8, 128256], tied),
  "meta-llama/Llama-3.2-3B": decoder("llama", "bfloat16", [3072, 8192, 28, 24, 8, 128256], tied),
  "TinyLlama/TinyLlama-1.1B-Chat-v1.0": decoder("llama", "bfloat16", [2048, 5632, 22, 32, 4, 32000]),
  "mistralai/Mistral-7B-v0.1": decoder("mistral", "bfloat16", [4096, 14336, 32, 32, 8, 32000]),
  "mistralai/Mistral-7B-Instruct-v0.2": decoder("mistral", "bfloat16", [4096, 14336, 32, 32, 8, 32000]),
  "mistralai/Mistral-7B-v0.3": decoder("mistral", "bfloat16", [4096, 14336, 32, 32, 8, 32768]),
  "Qwen/Qwen2.5-0.5B": decoder("qwen2", "bfloat16", [896, 4864, 24, 14, 2, 151936], tied),
  "Qwen/Qwen2.5-0.5B-Instruct": decoder("qwen2", "bfloat16", [896, 4864, 24, 14, 2, 151936], tied),
  "Qwen/Qwen2.5-1.5B": decoder("qwen2", "bfloat16", [1536, 8960, 28, 12, 2, 151936], tied),
  "Qwen/Qwen2.5-1.5B-Instruct": decoder("qwen2", "bfloat16", [1536, 8960, 28, 12, 2, 151936], tied),
  "Qwen/Qwen2.5-7B": decoder("qwen2", "bfloat16", [3584, 18944, 28, 28, 4, 152064]),
  "Qwen/Qwen2.5-7B-Instruct": decoder("qwen2", "bfloat16", [3584, 18944, 28, 28, 4, 152064]),
};

/** Organisations under which names without one were published again. */
const organisations =
  /^(google-bert|FacebookAI|distilbert|openai-community|google-t5|albert)\/(?=(bert|distilbert|roberta|distilroberta|xlm-roberta|albert|gpt2|distilgpt2|t5)\b)/;

export function checkpointNamed(name: string): Checkpoint | undefined {
  const short = name.replace(organisations, "");
  return Object.hasOwn(checkpoints, short) ? checkpoints[short] : undefined;
}

export const checkpointNames: readonly string[] = Object.keys(checkpoints);
