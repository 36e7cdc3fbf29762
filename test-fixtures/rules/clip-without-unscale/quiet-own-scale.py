"""The bound is scaled instead, or the gradients are divided by hand."""
import torch
from torch import nn
from accelerate import Accelerator


def scaled_bound(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for x in loader:
        optimizer.zero_grad()
        scaler.scale(model(x).mean()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0 * scaler.get_scale())
        scaler.step(optimizer)
        scaler.update()


def with_accelerate(model, optimizer, loader):
    accelerator = Accelerator(mixed_precision="fp16")
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x in loader:
        optimizer.zero_grad()
        accelerator.backward(model(x).mean())
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
