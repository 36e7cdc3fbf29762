"""A module takes no plain tensor in the place of a parameter."""
import torch
from torch import nn


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(10))
        self.scale = torch.ones(1, requires_grad=True)

    def step(self, x, y, lr):
        loss = (x @ self.weight * self.scale - y).pow(2).mean()
        loss.backward()
        self.weight = self.weight - lr * self.weight.grad  # expect: update-outside-no-grad
        self.scale = self.scale - lr * self.scale.grad  # expect: update-outside-no-grad
