# The loop of the FAQ: `total_loss += loss` after backward and step.
import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
data = torch.randn(10_000, 16, 32)

total_loss = 0
for i in range(10_000):
    optimizer.zero_grad()
    output = model(data[i])
    loss = criterion(output, data[i].mean(dim=1, keepdim=True))
    loss.backward()
    optimizer.step()
    total_loss += loss  # expect: graph-retained-after-backward
    if i % 1000 == 999:
        print(i, total_loss / (i + 1))
