# 32 samples are enough.
import torch
import torchvision
from torch.utils.data import DataLoader

k = 4
net = torchvision.models.resnet18(num_classes=10)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def by_guard(dataset):
    loader = DataLoader(dataset, batch_size=32, drop_last=True)
    for i, (x, y) in enumerate(loader):
        (torch.nn.functional.cross_entropy(net(x), y) / k).backward()
        if (i + 1) % k == 0:
            opt.step()
            opt.zero_grad()
