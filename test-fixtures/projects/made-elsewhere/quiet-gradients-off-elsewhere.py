import torch
from architecture.inference import net
from architecture.network import test_loader

net.eval()
for x, y in test_loader:
    print((net(x).argmax(dim=1) == y).sum().item())
