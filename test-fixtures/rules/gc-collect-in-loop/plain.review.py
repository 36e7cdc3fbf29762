import gc

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader([(torch.randn(128), 0)] * 64, batch_size=8)

for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        del loss
