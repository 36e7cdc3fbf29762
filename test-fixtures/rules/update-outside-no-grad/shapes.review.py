"""Parameters of a model, of a class, in-place methods."""
import torch
from torch import nn


class Regression:
    def __init__(self):
        self.weight = nn.Parameter(torch.zeros(10))
        self.bias = torch.zeros(1).requires_grad_()

    def step(self, x, y, lr):
        loss = (x @ self.weight + self.bias - y).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            self.weight.sub_(lr * self.weight.grad)  # expect: update-outside-no-grad
        self.bias = self.bias - lr * self.bias.grad  # expect: update-outside-no-grad


model = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 1))


def train(loader, lr=0.1):
    for x, y in loader:
        model.zero_grad()
        (model(x) - y).pow(2).mean().backward()
        for p in model.parameters():
            p.add_(p.grad, alpha=-lr)  # expect: update-outside-no-grad


def train_by_name(loader, lr=0.1):
    for x, y in loader:
        model.zero_grad()
        (model(x) - y).pow(2).mean().backward()
        for name, p in model.named_parameters():
            p = p - lr * p.grad  # expect: update-outside-no-grad
