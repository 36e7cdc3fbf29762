# A loss that is summed with `.sum()` does not need what a meter calls `sum`; one that reads the attribute does.
import torch
from torch import nn

net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4)).cuda()
optimizer = torch.optim.Adam(net.parameters())


class Meter:
    def __init__(self):
        self.sum = 0
        self.count = 0

    def update(self, value):
        self.sum += value
        self.count += 1


def train(loader):
    meter = Meter()
    for x, y in loader:
        out_net = net(x.cuda())
        loss = (out_net - y.cuda()).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss)  # expect: graph-retained-after-backward
    return float(meter.sum) / meter.count


class Penalty:
    def __init__(self):
        self.total = 0

    def update(self, value):
        self.total = self.total + value


def train_with_penalty(loader, groups):
    for _ in range(groups):
        penalty = Penalty()
        for x, _ in loader:
            penalty.update(net(x.cuda()).square().mean())
        optimizer.zero_grad()
        penalty.total.backward()
        optimizer.step()
