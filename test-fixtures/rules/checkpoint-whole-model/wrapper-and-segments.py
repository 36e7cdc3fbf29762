import torch
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.utils.checkpoint import checkpoint_sequential

SEGMENTS = 1
layers = nn.Sequential(*[nn.Linear(8, 8) for _ in range(9)])
optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
wrapped = checkpoint_wrapper(layers)  # expect: checkpoint-whole-model

for step in range(100):
    optimizer.zero_grad()
    out = checkpoint_sequential(layers, SEGMENTS, torch.randn(4, 8), use_reentrant=False)  # expect: checkpoint-whole-model
    out = out + checkpoint_sequential(layers, 3, torch.randn(4, 8), use_reentrant=False)
    (out + wrapped(torch.randn(4, 8))).mean().backward()
    optimizer.step()
