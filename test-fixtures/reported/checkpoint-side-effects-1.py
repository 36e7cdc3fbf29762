# Form of https://github.com/pytorch/pytorch/issues/62471: the running mean moves twice a batch.
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class bn_linear(nn.Module):
    def __init__(self):
        super(bn_linear, self).__init__()
        self.bn = nn.BatchNorm1d(10, momentum=0.001)
        self.linear = nn.Linear(10, 1)

    def forward(self, x):
        return self.linear(self.bn(x))


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()
        self.s = bn_linear()

    def forward(self, inp):
        return checkpoint(self.s, inp)  # expect: checkpoint-side-effects, checkpoint-use-reentrant


model = Model()
