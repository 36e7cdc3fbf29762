import torch
from torch import nn


class Buffer:
    def collect(self):
        return []


gc = Buffer()
model = nn.Linear(16, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([torch.randn(16)] * 64)

for x in loader:
    optimizer.zero_grad()
    model(x.cuda()).mean().backward()
    optimizer.step()
    gc.collect()
