# -*- coding: latin-1 -*-
# Verlust für jede Epoche
import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
verluste = []
for x, y in batches:
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    verluste.append(loss)
print(verluste)
print('époque')
