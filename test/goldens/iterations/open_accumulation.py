import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--accum", type=int, default=None)
args = parser.parse_args([])
accum = args.accum or 4
m = nn.Sequential(nn.Linear(50, 100), nn.ReLU(), nn.Linear(100, 5))
opt = torch.optim.Adam(m.parameters())
for i in range(20):
    x, y = torch.randn(10, 50), torch.randn(10, 5)
    loss = F.mse_loss(m(x), y) / accum
    loss.backward()
    if (i + 1) % accum == 0:
        opt.step()
        opt.zero_grad()
