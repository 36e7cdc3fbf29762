import torch
import torch.nn as layers
from torch.nn import Conv2d, GRU, LayerNorm, Module


class InVariable(Module):
    def forward(self, x):
        conv = Conv2d(x.shape[1], 16, 3)  # expect: module-built-in-forward
        return conv(x)


class Moved(Module):
    def forward(self, x):
        return layers.Linear(x.size(-1), 10).to(x.device)(x)  # expect: module-built-in-forward


class MovedLater(Module):
    def forward(self, x):
        head = layers.Linear(x.size(-1), 10).cuda()  # expect: module-built-in-forward
        if x.dim() == 2:
            return head(x)
        return head(x.flatten(1))


class Stacked(Module):
    def forward(self, x):
        block = layers.Sequential(layers.Linear(8, 8), layers.ReLU(), layers.Linear(8, 8))  # expect: module-built-in-forward
        return block(x)


class InLoop(Module):
    def __init__(self, depth):
        super().__init__()
        self.depth = depth

    def forward(self, x):
        for _ in range(self.depth):
            x, _ = GRU(x.size(-1), x.size(-1))(x)  # expect: module-built-in-forward
        return x


class Base(Module):
    pass


class InHelper(Base):
    def _project(self, x):
        return layers.Linear(x.size(-1), 64)(x)  # expect: module-built-in-forward

    def forward(self, x):
        return torch.tanh(self._project(x))


class Normalised(Module):
    def forward(self, x):
        return LayerNorm(x.shape[1:])(x)  # expect: module-built-in-forward
