# All but the last micro-batch go past the wrapper.
import torch
from torch import nn


def train(batches, gradient_accumulation_steps=4):
    model = torch.nn.parallel.DistributedDataParallel(nn.Linear(8, 1).cuda())
    optimizer = torch.optim.Adam(model.parameters())
    for step, batch in enumerate(batches):
        is_last = (step + 1) % gradient_accumulation_steps == 0 or step + 1 == len(batches)
        loss = (model(batch) if is_last else model.module(batch)).mean()
        loss = loss / gradient_accumulation_steps
        loss.backward()
        if is_last:
            optimizer.step()
            model.zero_grad()
