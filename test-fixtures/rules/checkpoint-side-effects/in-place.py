import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        x *= 0.5
        return self.linear(x)

    def activated(self, x):
        return self.linear(self.act(x))


def clamped(x):
    """Values in range."""
    y = F.relu(x, inplace=True)
    return y.sin()


def shifted(x, weight):
    x[:, 0] = 0
    return x @ weight


scale = Scale()
head = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(8, 8))


def run(x, weight):
    x = checkpoint(scale, x, use_reentrant=False)  # expect: checkpoint-side-effects
    x = checkpoint(scale.activated, x, use_reentrant=False)  # expect: checkpoint-side-effects
    x = checkpoint(clamped, x, use_reentrant=False)  # expect: checkpoint-side-effects
    x = checkpoint(shifted, x, weight, use_reentrant=False)  # expect: checkpoint-side-effects
    x = checkpoint(head, x, use_reentrant=False)  # expect: checkpoint-side-effects
    return checkpoint(lambda t: t.mul_(2).exp(), x, use_reentrant=False)  # expect: checkpoint-side-effects
