# Pre-training with a loop over micro-steps, wrapped only when started by torchrun.
import os

import torch
from model import GPT, GPTConfig, get_batch
from torch.nn.parallel import DistributedDataParallel as DDP

grad_accum_steps = 32
ddp = int(os.environ.get("RANK", -1)) != -1
local_rank = int(os.environ.get("LOCAL_RANK", 0))
device = f"cuda:{local_rank}"

model = GPT(GPTConfig()).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, fused=True)
if ddp:
    model = DDP(model, device_ids=[local_rank])

x, y = get_batch("train")
for step in range(10000):
    for micro_step in range(grad_accum_steps):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(x, y)
        x, y = get_batch("train")
        loss = loss / grad_accum_steps
        loss.backward()  # expect: accumulation-without-no-sync
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
