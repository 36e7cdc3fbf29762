# Before each forward, with gc.collect() (which is a matter of its own), in a while loop.
import torch
from torch import nn

net = nn.Sequential(nn.Linear(64, 2048), nn.ReLU(), nn.Linear(2048, 64)).cuda()
opt = torch.optim.Adam(net.parameters())
it = iter([torch.randn(n, 64) for n in range(64, 1064)])
while True:
    try:
        x = next(it).cuda()
    except StopIteration:
        break
    torch.cuda.empty_cache()  # expect: empty-cache-in-loop
    opt.zero_grad()
    loss = (net(x) - x).pow(2).mean()
    loss.backward()
    opt.step()
