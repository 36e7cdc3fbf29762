import torch
import torch.nn as nn
import torch.nn.functional as F

m = nn.Sequential(nn.Linear(50, 100), nn.ReLU(), nn.Linear(100, 5))
for p in m[0].parameters():
    p.requires_grad = False
opt = torch.optim.Adam(m.parameters())
for p in m[0].parameters():
    p.requires_grad = True
for i in range(6):
    x, y = torch.randn(10, 50), torch.randn(10, 5)
    loss = F.mse_loss(m(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
