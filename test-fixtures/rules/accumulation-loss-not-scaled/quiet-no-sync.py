# Accumulation under DDP: gradients are reduced on the last micro-batch of a group.
import contextlib

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(rank, batches, accumulate):
    model = DDP(nn.Linear(32, 4).to(rank), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters())
    for i, (x, y) in enumerate(batches):
        last = (i + 1) % accumulate == 0 or i + 1 == len(batches)
        context = contextlib.nullcontext() if last else model.no_sync()
        with context:
            loss = nn.functional.cross_entropy(model(x.to(rank)), y.to(rank))
            loss = loss / accumulate
            loss.backward()
        if last:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
