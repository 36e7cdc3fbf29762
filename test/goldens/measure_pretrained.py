#!/usr/bin/env python3
"""Saved bytes and peaks of models of transformers, small ones made by the library's real classes: makes pretrained.json.

    python measure_pretrained.py fake-cpu fp32 [NAME …] > out.json      # any PyTorch, with transformers (and peft) installed
    python measure_pretrained.py fake-cuda amp-bf16 bert-cls gpt2 vit   # a CUDA build of PyTorch, no GPU needed

The library asks for values of the attention mask, which fake tensors do not have: here a mask that is given has padding, as
in scripts that pad. Layers that are dropped at random (`torch.rand([]) < rate`) are never dropped. `pretrained.json` holds
one such output for each version, device and precision; `scripts/pretrained.ts` compares them with the estimates.
"""
from __future__ import annotations

import json
import os
import sys
import warnings

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore")

import inspect  # noqa: E402

import torch  # noqa: E402
import transformers  # noqa: E402
import transformers.masking_utils as masks  # noqa: E402

import measure as m  # noqa: E402

BATCH = 2

# name: (configuration, model class, inputs as in a header). A name that ends in -ckpt has checkpointed layers.
CASES: dict[str, tuple[str, str, list[str]]] = {
    "bert-cls": ("BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000)", "BertForSequenceClassification", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B]<2"]),
    "bert-cls-eager": ("BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000, attn_implementation='eager')", "BertForSequenceClassification", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B]<2"]),
    "bert-tok": ("BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000)", "BertForTokenClassification", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B,16]<2"]),
    "bert-mlm": ("BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000)", "BertForMaskedLM", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B,16]<1000"]),
    "bert-qa": ("BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000)", "BertForQuestionAnswering", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "start_positions=int64[B]<16", "end_positions=int64[B]<16"]),
    "roberta-cls": ("RobertaConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000, max_position_embeddings=40)", "RobertaForSequenceClassification", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B]<2"]),
    "distilbert-cls": ("DistilBertConfig(dim=64, n_layers=2, n_heads=4, hidden_dim=128, vocab_size=1000)", "DistilBertForSequenceClassification", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B]<2"]),
    "electra-cls": ("ElectraConfig(hidden_size=64, embedding_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000)", "ElectraForSequenceClassification", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B]<2"]),
    "deberta-cls": ("DebertaV2Config(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000, relative_attention=True, position_buckets=8, norm_rel_ebd='layer_norm', share_att_key=True, pos_att_type='p2c|c2p', max_relative_positions=-1, position_biased_input=False)", "DebertaV2ForSequenceClassification", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B]<2"]),
    "albert-cls": ("AlbertConfig(hidden_size=64, embedding_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000)", "AlbertForSequenceClassification", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B]<2"]),
    "modernbert-cls": ("ModernBertConfig(hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=128, vocab_size=1000, local_attention=8, pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2)", "ModernBertForSequenceClassification", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B]<2"]),
    "gpt2": ("GPT2Config(n_embd=64, n_layer=2, n_head=4, vocab_size=1000, n_positions=64)", "GPT2LMHeadModel", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "gpt2-mask": ("GPT2Config(n_embd=64, n_layer=2, n_head=4, vocab_size=1000, n_positions=64)", "GPT2LMHeadModel", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B,16]<1000"]),
    "gpt2-eager": ("GPT2Config(n_embd=64, n_layer=2, n_head=4, vocab_size=1000, n_positions=64, attn_implementation='eager')", "GPT2LMHeadModel", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "gpt2-cls": ("GPT2Config(n_embd=64, n_layer=2, n_head=4, vocab_size=1000, n_positions=64, pad_token_id=0)", "GPT2ForSequenceClassification", ["input_ids=int64[B,16]<1000", "labels=int64[B]<2"]),
    "llama": ("LlamaConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64)", "LlamaForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "llama-mask": ("LlamaConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64)", "LlamaForCausalLM", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B,16]<1000"]),
    "llama-nocache": ("LlamaConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64, use_cache=False)", "LlamaForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "llama-eager": ("LlamaConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64, attn_implementation='eager')", "LlamaForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "mistral": ("MistralConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64, sliding_window=None)", "MistralForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "mistral-window": ("MistralConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64, sliding_window=8)", "MistralForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "qwen2": ("Qwen2Config(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64)", "Qwen2ForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "qwen3": ("Qwen3Config(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64, head_dim=32)", "Qwen3ForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "gemma": ("GemmaConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=1, intermediate_size=128, vocab_size=1000, max_position_embeddings=64, head_dim=16)", "GemmaForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "gemma2": ("Gemma2Config(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64, head_dim=16, sliding_window=8)", "Gemma2ForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "gemma3": ("Gemma3TextConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=1, intermediate_size=128, vocab_size=1000, max_position_embeddings=64, head_dim=16, sliding_window=8)", "Gemma3ForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "phi3": ("Phi3Config(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64, original_max_position_embeddings=64, pad_token_id=0)", "Phi3ForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "opt": ("OPTConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=128, vocab_size=1000, max_position_embeddings=64, word_embed_proj_dim=64)", "OPTForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "gpt-neox": ("GPTNeoXConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000, max_position_embeddings=64)", "GPTNeoXForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "t5": ("T5Config(d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, vocab_size=1000, decoder_start_token_id=0)", "T5ForConditionalGeneration", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B,12]<1000"]),
    "bart": ("BartConfig(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, vocab_size=1000, max_position_embeddings=64, encoder_layerdrop=0.0, decoder_layerdrop=0.0)", "BartForConditionalGeneration", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B,12]<1000"]),
    "vit": ("ViTConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, image_size=32, patch_size=8, num_labels=10)", "ViTForImageClassification", ["pixel_values=float32[B,3,32,32]", "labels=int64[B]<10"]),
    "swin": ("SwinConfig(image_size=32, patch_size=4, embed_dim=32, depths=[1,1], num_heads=[2,4], window_size=4, num_labels=10)", "SwinForImageClassification", ["pixel_values=float32[B,3,32,32]", "labels=int64[B]<10"]),
    "resnet": ("ResNetConfig(embedding_size=16, hidden_sizes=[16,32], depths=[1,1], num_labels=10)", "ResNetForImageClassification", ["pixel_values=float32[B,3,32,32]", "labels=int64[B]<10"]),
    "whisper": ("WhisperConfig(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, vocab_size=1000, num_mel_bins=16, max_source_positions=50, max_target_positions=32, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)", "WhisperForConditionalGeneration", ["input_features=float32[B,16,100]", "labels=int64[B,12]<1000"]),
    "wav2vec2": ("Wav2Vec2Config(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=32, conv_dim=[16,16,16], conv_stride=[5,2,2], conv_kernel=[10,3,3], num_feat_extract_layers=3, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, mask_time_prob=0.0, layerdrop=0.0)", "Wav2Vec2ForCTC", ["input_values=float32[B,800]", "labels=int64[B,5]<32"]),
    "bert-cls-ckpt": ("BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000)", "BertForSequenceClassification", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B]<2"]),
    "gpt2-ckpt": ("GPT2Config(n_embd=64, n_layer=2, n_head=4, vocab_size=1000, n_positions=64)", "GPT2LMHeadModel", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "llama-ckpt": ("LlamaConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64)", "LlamaForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "t5-ckpt": ("T5Config(d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, vocab_size=1000, decoder_start_token_id=0)", "T5ForConditionalGeneration", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B,12]<1000"]),
    "bart-ckpt": ("BartConfig(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, vocab_size=1000, max_position_embeddings=64, encoder_layerdrop=0.0, decoder_layerdrop=0.0)", "BartForConditionalGeneration", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B,12]<1000"]),
    "vit-ckpt": ("ViTConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, image_size=32, patch_size=8, num_labels=10)", "ViTForImageClassification", ["pixel_values=float32[B,3,32,32]", "labels=int64[B]<10"]),
    "bert-cls-lora": ("BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=1000)", "BertForSequenceClassification", ["input_ids=int64[B,16]<1000", "attention_mask=int64[B,16]<2", "labels=int64[B]<2"]),
    "llama-lora": ("LlamaConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128, vocab_size=1000, max_position_embeddings=64)", "LlamaForCausalLM", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
    "gpt2-lora": ("GPT2Config(n_embd=64, n_layer=2, n_head=4, vocab_size=1000, n_positions=64)", "GPT2LMHeadModel", ["input_ids=int64[B,16]<1000", "labels=int64[B,16]<1000"]),
}

# name: what get_peft_model is given
ADAPTERS: dict[str, str] = {
    "bert-cls-lora": "LoraConfig(r=4, lora_dropout=0.1, task_type='SEQ_CLS', target_modules=['query','value'])",
    "llama-lora": "LoraConfig(r=4, task_type='CAUSAL_LM', target_modules=['q_proj','v_proj'])",
    "gpt2-lora": "LoraConfig(r=4, lora_dropout=0.05, task_type='CAUSAL_LM')",
}


def take_masks_for_padded() -> None:
    signature = inspect.signature(masks._ignore_causal_mask_sdpa)

    def ignores_causal(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        queries = given.get("q_length", given.get("query_length"))
        window = given["local_attention_size"]
        if queries not in (1, given["kv_length"]) or (window is not None and given["kv_length"] >= window):
            return False
        return given["padding_mask"] is None

    masks._ignore_causal_mask_sdpa = ignores_causal
    masks.find_packed_sequence_indices = lambda position_ids: None
    if hasattr(masks, "_ignore_bidirectional_mask_sdpa"):
        masks._ignore_bidirectional_mask_sdpa = lambda padding_mask, kv_length, local_attention_size=None: (
            padding_mask is None and (local_attention_size is None or kv_length < local_attention_size))
    try:
        import transformers.modeling_attn_mask_utils as older
    except ImportError:
        return
    older.AttentionMaskConverter._ignore_causal_mask_sdpa = staticmethod(
        lambda attention_mask, inputs_embeds, past_key_values_length, sliding_window=None, is_training=False: (
            attention_mask is None and (sliding_window is None or inputs_embeds.shape[1] < sliding_window)))
    older._prepare_4d_attention_mask_for_sdpa = older._prepare_4d_attention_mask


def never_drop_layers() -> None:
    rand = torch.rand
    torch.rand = lambda *args, **kwargs: 1.0 if args and args[0] == [] else rand(*args, **kwargs)


def measured(name: str, device: str, precision: str) -> dict[str, object]:
    config, kind, inputs = CASES[name]

    def factory():
        made = eval(config, {config.split("(")[0]: getattr(transformers, config.split("(")[0])})
        model = getattr(transformers, kind)(made)
        if name.endswith("-ckpt"):
            model.gradient_checkpointing_enable()
        if name in ADAPTERS:
            import peft

            model = peft.get_peft_model(model, eval(ADAPTERS[name], vars(peft)))
        return model.train()

    job = m.Job(factory=factory, inputs=[m.Spec.parse(one) for one in inputs], targets=[],
                criterion=m.make_criterion("model", None), device=device, precision=precision, optimizers=("sgd", "adamw"))
    parameters = m.measure_parameters(job, per_module=False)
    peak = m.measure_peak(job, BATCH)
    return {
        "parameters": parameters["params"],
        "trainable": parameters["trainable"],
        "saved": m.measure_saved(job, BATCH, rows=False)["saved_bytes"],
        "forward_peak": peak["forward_peak"],
        "backward_peak": peak["backward_peak"],
        "optimizers": {name: one["peak"] for name, one in peak["optimizers"].items()},
    }


if __name__ == "__main__":
    device, precision, *names = sys.argv[1:]
    take_masks_for_padded()
    never_drop_layers()
    runs: dict[str, object] = {}
    for name in names or CASES:
        config, kind, inputs = CASES[name]
        entry: dict[str, object] = {"config": config, "model": kind, "inputs": inputs}
        if name in ADAPTERS:
            entry["adapters"] = ADAPTERS[name]
        try:
            entry.update(measured(name, device, precision))
        except Exception as error:  # noqa: BLE001 - what fake tensors cannot run is no golden
            print(name, type(error).__name__, error, file=sys.stderr)
            continue
        runs[name] = entry
    json.dump({"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0], "device": device,
               "precision": precision, "batch": BATCH, "runs": runs}, sys.stdout, indent=1)
    print()
