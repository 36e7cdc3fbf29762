# Batch normalization in evaluation mode uses its running statistics.
import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader

k = 4
net = torchvision.models.resnet50(weights="DEFAULT")
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def train(dataset):
    loader = DataLoader(dataset, batch_size=2, drop_last=True)
    net.train()
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()
    for i, (x, y) in enumerate(loader):
        (nn.functional.cross_entropy(net(x), y) / k).backward()
        if (i + 1) % k == 0:
            opt.step()
            opt.zero_grad()
