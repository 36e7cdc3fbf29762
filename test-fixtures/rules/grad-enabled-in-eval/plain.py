import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 10))


def evaluate(loader):
    model.eval()
    correct = 0
    with torch.enable_grad():  # expect: grad-enabled-in-eval
        for x, y in loader:
            correct += (model(x).argmax(dim=1) == y).sum().item()
    return correct
