import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(8, 8), nn.ReLU())

    def _inner(self, x):
        return self.model(x)

    def forward(self, x):
        return checkpoint(self._inner, x, use_reentrant=False)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(*[Block() for _ in range(4)])
        self.blocks = nn.ModuleList([Block() for _ in range(4)])
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = checkpoint(self.backbone, x, use_reentrant=False)
        for model in self.blocks:
            x = checkpoint(model, x, use_reentrant=False)
        return self.head(x)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(100):
    optimizer.zero_grad()
    net(torch.randn(4, 8)).mean().backward()
    optimizer.step()
