import torch
from torch import nn

model = nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for step in range(10):
    optimizer.zero_grad(set_to_none=False)
    for p in model.parameters():
        p.grad.add_(1e-3)
    model(torch.randn(4, 8)).mean().backward()
    optimizer.step()
