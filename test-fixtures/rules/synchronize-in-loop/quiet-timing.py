import time

import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([torch.randn(128)] * 64, batch_size=8)

for x in loader:
    torch.cuda.synchronize()
    start = time.perf_counter()
    loss = model(x.cuda()).pow(2).mean()
    torch.cuda.synchronize()
    forward = time.perf_counter() - start
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

for x in loader:
    optimizer.zero_grad()
    model(x.cuda()).pow(2).mean().backward()
    optimizer.step()
    torch.cuda.synchronize()

for step, x in enumerate(loader):
    optimizer.zero_grad()
    model(x.cuda()).pow(2).mean().backward()
    if step % 100 == 0:
        torch.cuda.synchronize()
        torch.cuda.synchronize()
    optimizer.step()
