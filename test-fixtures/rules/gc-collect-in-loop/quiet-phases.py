"""Each round takes a batch of prompts, generates, and trains on that for several epochs: its end is a phase's end."""
import gc

import torch
from torch import nn
from torch.utils.data import DataLoader

policy = nn.Linear(16, 4).cuda()
optimizer = torch.optim.Adam(policy.parameters())
prompts = iter(DataLoader([torch.randn(16)] * 640, batch_size=64))

for update in range(10):
    data = next(prompts).cuda()
    with torch.no_grad():
        old = policy(data)
    gc.collect()
    for ppo_epoch in range(4):
        for start in range(0, 64, 16):
            optimizer.zero_grad()
            loss = (policy(data[start : start + 16]) - old[start : start + 16]).pow(2).mean()
            loss.backward()
            optimizer.step()
    torch.cuda.empty_cache()
    gc.collect()
