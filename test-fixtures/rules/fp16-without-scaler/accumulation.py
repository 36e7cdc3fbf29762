import torch
from torch import autocast, nn


def train(loader, steps):
    net = nn.Sequential(nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 10)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt.zero_grad()
    for index, (x, y) in enumerate(loader):
        with autocast("cuda"):  # expect: fp16-without-scaler
            loss = nn.functional.cross_entropy(net(x), y) / steps
        loss.backward()
        if (index + 1) % steps == 0 or index + 1 == len(loader):
            opt.step()
            opt.zero_grad()
