# Form of https://github.com/pytorch/pytorch/issues/18853: the second, smaller attempt fails as well.
import sys

import torch
import torch.nn as nn


class Mod(nn.Module):
    def __init__(self, bs):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(bs, bs), nn.ReLU(), nn.Linear(bs, bs))

    def forward(self, x):
        return self.layers(x)


def fwbw(model, bs):
    X = torch.randn(bs, 2048).cuda()
    yhat = model(X)
    loss = yhat.sum()
    loss.backward()


def run_trial():
    model = Mod(2048).cuda()
    try:
        fwbw(model, 2**20)
        print("no out of memory")
        sys.exit(1)
    except RuntimeError as rerr:
        if "out of memory" not in str(rerr):
            raise
        print("caught", rerr)
        torch.cuda.empty_cache()
        fwbw(model, 2)  # expect: oom-retry-in-except
