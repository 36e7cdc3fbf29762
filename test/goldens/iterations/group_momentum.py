import torch
import torch.nn as nn
import torch.nn.functional as F

m = nn.Sequential(nn.Linear(50, 100), nn.ReLU(), nn.Linear(100, 5))
opt = torch.optim.SGD(m.parameters(), lr=0.1)
for g in opt.param_groups:
    g["momentum"] = 0.9
for i in range(6):
    x, y = torch.randn(10, 50), torch.randn(10, 5)
    opt.zero_grad()
    loss = F.mse_loss(m(x), y)
    loss.backward()
    opt.step()
