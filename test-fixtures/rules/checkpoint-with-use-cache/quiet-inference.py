import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
model.gradient_checkpointing_enable()


def generate_samples(ids):
    model.config.use_cache = True
    return model.generate(ids, use_cache=True)


@torch.no_grad()
def score(ids):
    return model(ids, use_cache=True).logits
