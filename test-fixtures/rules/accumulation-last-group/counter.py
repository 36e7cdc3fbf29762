# Counted by hand, from nothing in each epoch; 102 micro-batches in groups of 16.
import torch as th
import torch.nn.functional as F

net = th.nn.Linear(80, 30)
opt = th.optim.Adam(net.parameters())
virtual_batches = 16
batches = [(th.randn(2, 80), th.randint(30, (2,))) for _ in range(102)]

for epoch in range(5):
    pending = 0
    opt.zero_grad()
    for features, tokens in batches:
        loss = F.cross_entropy(net(features), tokens) / virtual_batches
        loss.backward()
        pending += 1
        if pending == virtual_batches:  # expect: accumulation-last-group
            opt.step()
            opt.zero_grad()
            pending = 0
