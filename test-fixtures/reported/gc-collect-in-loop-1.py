# Form of https://github.com/huggingface/peft/pull/2894: 108 s for 250 steps, 65 s without the collection.
import gc

import torch
from torch import nn


def train(*, model: nn.Module, loader, num_epochs: int, optimizer, max_steps: int):
    losses = []
    model.train()
    for epoch in range(num_epochs):
        for step, batch in enumerate(loader):
            outputs = model(**batch)
            loss = outputs.loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
            torch.cuda.empty_cache()  # expect: empty-cache-in-loop
            gc.collect()  # expect: gc-collect-in-loop
    return losses
