import torch
import torch.nn as nn
import torch.nn.functional as F

def stream():
    while True:
        yield torch.randn(32, 16)
a, b = nn.Linear(16, 64), nn.Linear(64, 16)
opt = torch.optim.Adam([*a.parameters(), *b.parameters()])
for i, x in enumerate(stream()):
    if i == 6:
        break
    loss = F.mse_loss(b(F.relu(a(x))), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
