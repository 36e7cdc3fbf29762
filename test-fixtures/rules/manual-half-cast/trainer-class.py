import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x)


class Trainer:
    def __init__(self, gpu):
        self.net = nn.DataParallel(Net().to(gpu, torch.half))  # expect: manual-half-cast
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def fit(self, loader):
        for x in loader:
            self.fit_batch(x)

    def fit_batch(self, x):
        self.optimizer.zero_grad()
        self.net(x).mean().backward()
        self.optimizer.step()
