"""The collector is switched off and runs where the script wants it."""
import gc

import torch
from torch import nn

model = nn.Linear(16, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([torch.randn(16)] * 64)

gc.disable()
for x in loader:
    optimizer.zero_grad()
    model(x.cuda()).mean().backward()
    optimizer.step()
    gc.collect()
