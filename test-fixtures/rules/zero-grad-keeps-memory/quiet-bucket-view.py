import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

model = DistributedDataParallel(nn.Linear(8, 8).cuda(), gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for step in range(10):
    optimizer.zero_grad(set_to_none=False)
    model(torch.randn(4, 8)).mean().backward()
    optimizer.step()
