import torch
from torch import nn
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, get_linear_schedule_with_warmup

accumulation_steps = 8
epochs = 3
model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
loader = DataLoader(torch.randint(50257, (4096, 256)), batch_size=4, shuffle=True, drop_last=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
total_steps = len(loader) // accumulation_steps * epochs
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=100, num_training_steps=total_steps)

for epoch in range(epochs):
    for i, tokens in enumerate(loader):
        tokens = tokens.cuda()
        loss = model(tokens, labels=tokens).loss / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()  # expect: scheduler-step-per-microbatch
            optimizer.zero_grad()
