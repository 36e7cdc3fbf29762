"""By phase, restored afterwards, gradients used, training."""
import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18()


def evaluate_phases(loaders):
    for phase in ("train", "val"):
        with torch.set_grad_enabled(phase == "train"):
            for x, y in loaders[phase]:
                model(x)


def validate(loader):
    torch.set_grad_enabled(False)
    total = sum(model(x).mean().item() for x in loader)
    torch.set_grad_enabled(True)
    return total


def evaluate_saliency(loader):
    for x in loader:
        with torch.enable_grad():
            x.requires_grad_(True)
            model(x).max().backward()
        yield x.grad


def test_robustness(loader, attack):
    for x, y in loader:
        with torch.enable_grad():
            adversarial = attack.perturb(model, x, y)
        with torch.no_grad():
            yield model(adversarial).argmax(1) == y


def evaluate_and_adapt(loader, optimizer):
    for x in loader:
        with torch.enable_grad():
            loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train(loader):
    with torch.enable_grad():
        for x in loader:
            model(x).mean().backward()
