"""Rounds that run the same forward again keep one graph at a time; where the result is dropped, none."""
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()


def load(device):
    model.eval()
    for _ in range(3):
        data = torch.randn(1, 3, 48, 168).to(device)
        _ = model(data)
    return device


def measure(data, rounds):
    model.eval()
    for _ in range(rounds):
        model(data)
    for _ in range(rounds):
        # expect-next: eval-without-no-grad
        output = model(data)
    return output.shape


def fit(data, labels, unseen, wanted):
    for _ in range(200):
        model.train()
        optimizer.zero_grad()
        criterion(model(data), labels).backward()
        optimizer.step()
        model.eval()
        # expect-next: eval-without-no-grad
        error = criterion(model(unseen), wanted)
        print(error.item())


def evaluate(loader):
    model.eval()
    for images, labels in loader:
        # expect-next: eval-without-no-grad
        print(criterion(model(images), labels).item())


load("cuda")
