# "Only apply it to activation functions": a ReLU whose checkpoint saves nothing that is not kept anyway.
import torch
import torch.utils.checkpoint as cp
from torch import nn


class CheckpointedReLU(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU(inplace=False)

    def forward(self, x):
        return cp.checkpoint(self.relu, x, use_reentrant=False)  # expect: checkpoint-all-modules


model = nn.Sequential(nn.Conv2d(3, 64, 3), CheckpointedReLU(), nn.Conv2d(64, 64, 3), CheckpointedReLU(), nn.Flatten())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for image in torch.rand(100, 4, 3, 32, 32):
    optimizer.zero_grad()
    model(image).pow(2).mean().backward()
    optimizer.step()
