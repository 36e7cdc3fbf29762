# `freeze()` of Lightning takes all gradients; a method of that name may leave a part of the model out.
import torch
from lightning import LightningModule
from torch import nn


class Forecast(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    def forward(self, x):
        return self.net(x)


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    def forward(self, x):
        return self.net(x)

    def freeze(self):
        for parameter in self.parameters():
            parameter.requires_grad = False


class Partly(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(3, 3)
        self.head = nn.Linear(3, 3)

    def forward(self, x):
        return self.head(self.backbone(x))

    def freeze(self):
        for parameter in self.backbone.parameters():
            parameter.requires_grad = False


def forecast(path, test_loader):
    model = Forecast.load_from_checkpoint(path).cuda()
    model.eval()
    model.freeze()
    return [model(x.cuda()).cpu().numpy() for x in test_loader]


def own(test_loader):
    model = Own().cuda()
    model.eval()
    model.freeze()
    return [model(x.cuda()).cpu().numpy() for x in test_loader]


def partly(test_loader):
    model = Partly().cuda()
    model.eval()
    model.freeze()
    results = []
    for x in test_loader:
        results.append(model(x.cuda()).detach().cpu().numpy())  # expect: eval-without-no-grad
    return results
