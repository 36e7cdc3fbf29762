import gc

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Linear(16, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader([torch.randn(16)] * 64)

for epoch in range(3):
    for step, x in enumerate(loader):
        optimizer.zero_grad()
        try:
            loss = model(x.cuda()).mean()
            loss.backward()
        except torch.cuda.OutOfMemoryError:
            gc.collect()
            continue
        optimizer.step()
        gc.collect(0)
        gc.collect(generation=1)
        if step % 100 == 0:
            gc.collect()
    gc.collect()

for name in ["resnet18", "resnet50"]:
    candidate = nn.Linear(4, 4)
    del candidate
    gc.collect()
