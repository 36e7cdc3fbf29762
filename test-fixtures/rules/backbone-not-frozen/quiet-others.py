import torch
from torch import nn
from torchvision import models


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = models.resnet18(weights="DEFAULT")
        self.head = nn.Linear(1000, 10)

    def forward(self, x):
        with torch.no_grad():
            features = self.backbone(x)
        return self.head(features)


def own(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.head.parameters(), lr=0.01)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
