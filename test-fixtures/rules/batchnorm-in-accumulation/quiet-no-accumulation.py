# Small batches, each with its step; another model accumulates.
import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader

backbone = torchvision.models.resnet50(weights="DEFAULT")
opt = torch.optim.SGD(backbone.parameters(), lr=0.1)


def train(dataset):
    for i, (x, y) in enumerate(DataLoader(dataset, batch_size=2)):
        opt.zero_grad()
        nn.functional.cross_entropy(backbone(x), y).backward()
        opt.step()
        if i % 8 == 0:
            print(i)


def train_head(features, k=4):
    head = nn.Linear(2048, 10)
    head_opt = torch.optim.Adam(head.parameters())
    for i, (x, y) in enumerate(DataLoader(features, batch_size=2, drop_last=True)):
        (nn.functional.cross_entropy(head(x), y) / k).backward()
        if (i + 1) % k == 0:
            head_opt.step()
            head_opt.zero_grad()
