import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))

    def forward(self, x):
        return self.layers(x)


class Trainer:
    def __init__(self, loader):
        self.model = Net().cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.loader = loader

    def train(self):
        for x in self.loader:
            self.model(x.cuda()).mean().backward()
            self.optimizer.step()
            self.optimizer.zero_grad(False)  # expect: zero-grad-keeps-memory
