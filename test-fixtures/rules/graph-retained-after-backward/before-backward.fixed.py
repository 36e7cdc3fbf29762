# Kept a few lines before the backward of the same iteration: that backward still frees the activations.
import torch as T
from torch import nn

net = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128))
opt = T.optim.AdamW(net.parameters(), lr=1e-4)
curve = []

step = 0
while step < 10_000:
    x = T.randn(64, 128)
    reconstruction = net(x)
    loss = (reconstruction - x).pow(2).mean()
    curve.append(loss.detach())  # expect: graph-retained-after-backward
    opt.zero_grad()
    loss.backward()
    opt.step()
    step += 1

print(T.stack(curve).mean())
