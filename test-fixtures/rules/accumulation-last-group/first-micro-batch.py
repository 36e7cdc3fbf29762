# `i % k == 0` steps on the first micro-batch; of 100, the last three are left.
import torch
from torch import nn

model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(100)]

for i, (x, y) in enumerate(batches):
    (nn.functional.mse_loss(model(x), y) / 4).backward()
    if i % 4 == 0:  # expect: accumulation-last-group
        optimizer.step()
        optimizer.zero_grad()
