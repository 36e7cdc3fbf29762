import torch
from torch import nn

model = nn.Linear(16, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

torch.autograd.set_detect_anomaly(True)
for step in range(10):
    optimizer.zero_grad()
    model(torch.randn(4, 16)).mean().backward()
    optimizer.step()
torch.autograd.set_detect_anomaly(False)
for step in range(100000):
    optimizer.zero_grad()
    model(torch.randn(4, 16)).mean().backward()
    optimizer.step()
