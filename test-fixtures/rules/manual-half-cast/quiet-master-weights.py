import torch
from torch import nn

model = nn.Linear(128, 10).cuda().half()
master_params = [p.detach().clone().float() for p in model.parameters()]
optimizer = torch.optim.SGD(master_params, lr=0.1)
other = torch.optim.SGD(model.parameters(), lr=0.1)

for x in [torch.randn(32, 128) for _ in range(10)]:
    other.zero_grad()
    model(x.cuda().half()).float().mean().backward()
    other.step()
    optimizer.zero_grad()
    optimizer.step()
