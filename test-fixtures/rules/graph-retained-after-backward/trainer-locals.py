"""A trainer whose epoch nobody calls in this file; what it gathers in local variables outlives the iterations all the same."""

import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, loader):
        self.loader = loader
        self.net = nn.Linear(3, 3)
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.seen = []

    def step(self, x):
        loss = F.softplus(self.net(x)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def run_epoch(self):
        running = 0
        losses = []
        self.seen = []
        for x in self.loader:
            loss = self.step(x)
            running = running + loss  # expect: graph-retained-after-backward
            losses.append(loss)  # expect: graph-retained-after-backward
            self.seen.append(loss)  # expect: graph-retained-after-backward
        print(running / len(losses))


class Cleared:
    """A framework may call `on_batch_end` after each batch."""

    def __init__(self, loader):
        self.loader = loader
        self.net = nn.Linear(3, 3)
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.seen = []

    def on_batch_end(self):
        self.seen = []

    def run_epoch(self):
        for x in self.loader:
            loss = F.softplus(self.net(x)).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.seen.append(loss)
