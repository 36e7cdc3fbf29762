import torch
import torch.nn as nn
import torch.nn.functional as F

def batches(n, size):
    for _ in range(n):
        x = torch.rand(size, 12)
        yield x, (x.sum(1, keepdim=True) > 6).float()
a, b = nn.Sequential(nn.Linear(12, 256), nn.Tanh()), nn.Linear(256, 1)
opt = torch.optim.Adamax([*a.parameters(), *b.parameters()])
for x, y in batches(30, 40):
    opt.zero_grad()
    loss = F.binary_cross_entropy_with_logits(b(a(x)), y)
    loss.backward()
    opt.step()
