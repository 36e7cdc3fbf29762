import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for i in range(5):
    x, y = torch.randn(16, 3, 32, 32), torch.randint(0, 10, (16,))
    lam = np.random.beta(1.0, 1.0)
    idx = torch.randperm(x.size(0))
    mixed = lam * x + (1 - lam) * x[idx]
    out = model(mixed)
    loss = lam * F.cross_entropy(out, y) + (1 - lam) * F.cross_entropy(out, y[idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
