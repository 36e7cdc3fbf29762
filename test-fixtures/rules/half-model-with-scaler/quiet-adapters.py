"""The trained adapters are made in fp32 after the cast; a head that is put back."""
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.float16).cuda()
model = get_peft_model(model, LoraConfig(r=8))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
scaler = torch.amp.GradScaler("cuda")

for batch in [{"input_ids": torch.zeros(1, 8).long().cuda()} for _ in range(3)]:
    optimizer.zero_grad()
    with torch.autocast("cuda"):
        loss = model(**batch, labels=batch["input_ids"]).loss
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
