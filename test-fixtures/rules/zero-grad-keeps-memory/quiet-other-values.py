import torch
from torch import nn

model = nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
keep = len(list(model.parameters())) > 3


class Buckets:
    def zero_grad(self, set_to_none=True):
        pass


buckets = Buckets()
for step in range(10):
    optimizer.zero_grad()
    optimizer.zero_grad(set_to_none=True)
    optimizer.zero_grad(set_to_none=keep)
    buckets.zero_grad(set_to_none=False)
    model(torch.randn(4, 8)).mean().backward()
    optimizer.step()
