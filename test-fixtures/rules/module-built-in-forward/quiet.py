import torch
from torch import nn


class WithoutParameters(nn.Module):
    def forward(self, x, y):
        x = nn.ReLU()(x)
        x = nn.BatchNorm1d(8, affine=False)(x)
        x = nn.LayerNorm(8, elementwise_affine=False)(x)
        x = nn.Sequential(nn.Flatten(), nn.Dropout(0.1))(x)
        return nn.CrossEntropyLoss()(x, y)


class KeptOnFirstCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = None

    def forward(self, x):
        if self.head is None:
            self.head = nn.Linear(x.size(-1), 10).to(x.device)
        return self.head(x)


class Registered(nn.Module):
    def forward(self, x):
        if "head" not in self._modules:
            head = nn.Linear(x.size(-1), 10)
            self.add_module("head", head)
        return self._modules["head"](x)


class FixedKernel(nn.Module):
    def forward(self, x, kernel):
        blur = nn.Conv2d(1, 1, 3, bias=False)
        blur.weight.data = kernel
        return blur(x)


class Frozen(nn.Module):
    def forward(self, x):
        return nn.Linear(8, 8).requires_grad_(False)(x)


class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x, layer=None):
        if layer is None:
            layer = self.layer
        else:
            layer = nn.Linear(8, 8)
        return layer(x)


class RandomProjection(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return nn.Linear(x.size(-1), 32)(x)


class HyperNetwork(nn.Module):
    def forward(self, x, weights):
        layer = nn.Linear(8, 8)
        return torch.func.functional_call(layer, weights, (x,))


class Builder(nn.Module):
    def make(self, width):
        return nn.Linear(width, width)

    def forward(self, x):
        return self.make(8)

    def __init__(self):
        super().__init__()
        self.first = self.make(4)


class NotAModule:
    def forward(self, x):
        return nn.Linear(8, 8)(x)


def helper(x):
    return nn.Linear(8, 8)(x)


class Shared(nn.Module):
    def forward(self, x):
        return helper(x)


helper(torch.zeros(1, 8))
