# Form of https://github.com/jiangxinke/Harness-RL/issues/5: a helper that saves memory turns the cache on again.
import torch
from transformers import AutoModelForCausalLM


def optimize_model_memory(model):
    model.train()
    model.config.use_cache = True  # expect: checkpoint-with-use-cache
    model.gradient_checkpointing_enable()
    return model


model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-3B").cuda()
model = optimize_model_memory(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)
for batch in batches:
    loss = model(**batch).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
