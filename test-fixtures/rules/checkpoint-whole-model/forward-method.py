import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self, use_checkpoint=True):
        super().__init__()
        self.first = nn.Linear(8, 64)
        self.second = nn.Linear(64, 8)
        self.use_checkpoint = use_checkpoint

    def _forward(self, x):
        return self.second(self.first(x).relu())

    def forward(self, x):
        if self.use_checkpoint and self.training:
            return checkpoint(self._forward, x, use_reentrant=False)  # expect: checkpoint-whole-model
        return self._forward(x)


def main():
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(100):
        optimizer.zero_grad()
        net(torch.randn(4, 8, device="cuda")).mean().backward()
        optimizer.step()
