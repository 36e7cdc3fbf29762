from functools import partial

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def enable_checkpointing(model):
    """Replaces forward of every module by its checkpointed form."""
    for m in model.modules():
        m.forward = partial(checkpoint, m.forward, use_reentrant=False)  # expect: checkpoint-all-modules


def main():
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    enable_checkpointing(model)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(50):
        x = torch.randn(16, 64)
        optimizer.zero_grad()
        (model(x) - x).pow(2).mean().backward()
        optimizer.step()


main()
