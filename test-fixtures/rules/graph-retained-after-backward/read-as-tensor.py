"""Losses that later code reads as tensors: a number would have no `.cpu()`, no `.item()` and could not be stacked."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
loader = [(torch.randn(8, 32).cuda(), torch.randint(4, (8,)).cuda()) for _ in range(1000)]


def step(x, y):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


moved, stacked, numbers = [], [], []
total = 0
for x, y in loader:
    loss = step(x, y)
    moved.append(loss)  # expect: graph-retained-after-backward
    stacked.append(loss)  # expect: graph-retained-after-backward
    numbers.append(loss)  # expect: graph-retained-after-backward
    total += loss  # expect: graph-retained-after-backward

print([i.cpu() for i in moved])
print(torch.stack(stacked).mean())
print(sum(numbers) / len(numbers))
print((total / len(loader)).item())
