import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 10)

    def forward(self, x):
        return self.fc(x)


class Frozen(nn.Module):
    """Its own forward turns gradients off."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 10)

    @torch.no_grad()
    def forward(self, x):
        return self.fc(x)
