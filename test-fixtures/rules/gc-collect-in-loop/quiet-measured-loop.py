"""Each step's memory is recorded, so each step begins with a clean slate."""
import gc

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Linear(16, 4).cuda()
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader([torch.randn(16)] * 640, batch_size=64)
before = torch.cuda.memory_allocated()
taken = []

for batch in loader:
    optimizer.zero_grad()
    loss = model(batch.cuda()).pow(2).mean()
    loss.backward()
    optimizer.step()
    taken.append(torch.cuda.memory_allocated() - before)
    torch.cuda.empty_cache()
    gc.collect()
