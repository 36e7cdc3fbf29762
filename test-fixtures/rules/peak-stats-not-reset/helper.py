import torch
from torch import nn


def measure(model, x):
    """Peak of one step in MiB."""
    model(x).sum().backward()
    used = torch.cuda.max_memory_allocated()  # expect: peak-stats-not-reset
    return used / 2**20


def peak_of(width):
    nn.Linear(width, width).cuda()
    return torch.cuda.max_memory_allocated()  # expect: peak-stats-not-reset


x = torch.randn(4, 8, device="cuda")
plain = measure(nn.Linear(8, 8).cuda(), x)
deep = measure(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8)).cuda(), x)
print(plain, deep)

for width in (1024, 512):
    print(width, peak_of(width))
