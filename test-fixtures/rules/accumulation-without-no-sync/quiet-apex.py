# Apex's wrapper has no no_sync().
import torch
from apex.parallel import DistributedDataParallel as DDP
from torch import nn


def train(batches, gradient_accumulation_steps=4):
    model = DDP(nn.Linear(8, 1).cuda())
    optimizer = torch.optim.Adam(model.parameters())
    for step, batch in enumerate(batches, 1):
        (model(batch).mean() / gradient_accumulation_steps).backward()
        if step % gradient_accumulation_steps == 0 or step == len(batches):
            optimizer.step()
            optimizer.zero_grad()
