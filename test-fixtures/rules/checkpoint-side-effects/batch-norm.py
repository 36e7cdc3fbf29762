import torch.utils.checkpoint as cp
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        def inner(x):
            return self.relu(self.bn1(self.conv1(x)) + x)

        return cp.checkpoint(inner, x, use_reentrant=False)  # expect: checkpoint-side-effects


class Stages(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(8, 8, 3), nn.GroupNorm(2, 8), nn.ReLU())

    def forward(self, x):
        x = cp.checkpoint(self.first, x, use_reentrant=False)  # expect: checkpoint-side-effects
        return cp.checkpoint(self.second, x, use_reentrant=False)


class Dense(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.SyncBatchNorm(width)
        self.conv = nn.Conv2d(width, width, 3)

    def bottleneck(self, x):
        return self.conv(self.norm(x))

    def forward(self, x):
        return cp.checkpoint(self.bottleneck, x, use_reentrant=True)  # expect: checkpoint-side-effects


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Stages()
        self.blocks = nn.ModuleList([Dense(8), Dense(8)])

    def forward(self, x):
        for block in self.blocks:
            x = cp.checkpoint(lambda h: self.block(h), x, use_reentrant=False)  # expect: checkpoint-side-effects
            x = cp.checkpoint(block, x, use_reentrant=False)  # expect: checkpoint-side-effects
        return x
