import torch


def prepare(model):
    model.gradient_checkpointing_enable()
    model.enable_input_require_grads()
    model.config.use_cache = True  # expect: checkpoint-with-use-cache
    return model, torch.float32
