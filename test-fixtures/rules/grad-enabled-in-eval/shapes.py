"""In methods and nested blocks. As a statement or a decorator, `eval-without-no-grad` says the same already."""
import torch
from torch import nn
from torchvision.models import resnet18

net = resnet18()


def validate(loader, criterion):
    torch.set_grad_enabled(True)
    total = 0.0
    for x, y in loader:
        total += criterion(net(x), y).item()  # expect: eval-without-no-grad
    return total


@torch.enable_grad()
def predict(loader):
    return [net(x).argmax(1) for x in loader]  # expect: eval-without-no-grad


class Runner:
    def __init__(self, loader):
        self.model = nn.Linear(10, 10)
        self.loader = loader

    def test_epoch(self):
        for x, y in self.loader:
            with torch.set_grad_enabled(mode=True):  # expect: grad-enabled-in-eval
                out = self.model(x)
            print((out.argmax(1) == y).float().mean().item())


@torch.no_grad()
def validate_pairs(loader, criterion):
    total = 0.0
    for x, y in loader:
        if len(x) > 1:
            with torch.enable_grad():  # expect: grad-enabled-in-eval
                total += criterion(net(x), y).item()
    return total


def infer(model, loader):
    with torch.enable_grad():  # expect: grad-enabled-in-eval
        return [model(x).argmax(1) for x in loader]
