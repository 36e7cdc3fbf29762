import copy

import torch
from torch import nn


class EMA:
    def __init__(self, model, decay=0.999):
        self.shadow = copy.deepcopy(model).requires_grad_(False)
        self.decay = decay

    def update(self, model):
        # expect-next: no-grad-not-applied
        with torch.no_grad():
            for s, p in zip(self.shadow.parameters(), model.parameters()):
                s.data.mul_(self.decay).add_(p.data, alpha=1 - self.decay)


net = nn.Sequential(nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 8))
ema = EMA(net)
optimizer = torch.optim.Adam(net.parameters())
for step in range(100):
    x = torch.randn(32, 8)
    optimizer.zero_grad()
    (net(x) - x).pow(2).mean().backward()
    optimizer.step()
    ema.update(net)
