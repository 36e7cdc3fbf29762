# Checkpointed blocks and a key-value cache.
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
model.gradient_checkpointing_enable()
model.config.use_cache = True  # expect: checkpoint-with-use-cache
model.cuda().train()
for batch in loader:
    model(**batch).loss.backward()
