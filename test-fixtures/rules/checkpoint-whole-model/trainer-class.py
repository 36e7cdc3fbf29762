import torch
import torch.utils.checkpoint as cp
from torch import nn


class Trainer:
    def __init__(self, loader):
        self.net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.loader = loader

    def forward(self, batch):
        return cp.checkpoint(self.net.forward, batch, use_reentrant=False).mean()  # expect: checkpoint-whole-model

    def fit(self):
        for batch in self.loader:
            self.optimizer.zero_grad()
            self.forward(batch).backward()
            self.optimizer.step()
