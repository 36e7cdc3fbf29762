# Zeroed once for each epoch: from the second batch on the gradients of all batches before are still in it.
import torch as th
import torch.nn.functional as F
from torch import nn

net = nn.Sequential(nn.Conv1d(1, 16, 9, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 248, 5)).cuda()
opt = th.optim.Adam(net.parameters(), lr=1e-3)

step = 0
while step < 5000:
    opt.zero_grad()
    for wave, label in [(th.randn(32, 1, 1000), th.randint(5, (32,))) for _ in range(100)]:
        loss = F.cross_entropy(net(wave.cuda()), label.cuda())
        loss.backward()
        opt.step()  # expect: missing-zero-grad
        step += 1
