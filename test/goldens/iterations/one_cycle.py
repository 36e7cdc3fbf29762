import torch
import torch.nn as nn
import torch.nn.functional as F

features = nn.Sequential(nn.Linear(25, 120), nn.SELU(), nn.AlphaDropout(0.1))
head = nn.Linear(120, 1)
optimizer = torch.optim.SGD([*features.parameters(), *head.parameters()], lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=100)
for i in range(5):
    x, y = torch.randn(16, 25), torch.randn(16)
    optimizer.zero_grad()
    loss = F.huber_loss(head(features(x)).squeeze(-1), y)
    loss.backward()
    optimizer.step()
    scheduler.step()
