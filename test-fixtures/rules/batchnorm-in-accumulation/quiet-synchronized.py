# SyncBatchNorm takes the samples of all processes.
import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader

k = 4


def train(dataset, rank):
    net = torchvision.models.resnet50(weights="DEFAULT")
    net = nn.SyncBatchNorm.convert_sync_batchnorm(net).to(rank)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(dataset, batch_size=2, drop_last=True)
    for i, (x, y) in enumerate(loader):
        (nn.functional.cross_entropy(net(x), y) / k).backward()
        if (i + 1) % k == 0:
            opt.step()
            opt.zero_grad()
