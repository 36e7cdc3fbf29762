"""The norms stay in fp32, or the weights have fp32 copies: mixed precision by hand."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(128, 64), nn.BatchNorm1d(64), nn.Linear(64, 10)).cuda().half()
for layer in model.modules():
    if isinstance(layer, nn.BatchNorm1d):
        layer.float()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for x in [torch.randn(32, 128) for _ in range(10)]:
    optimizer.zero_grad()
    model(x.cuda().half()).float().mean().backward()
    optimizer.step()
