# Other things with that name.
import torch
from torch import nn


class Tokens:
    def __init__(self):
        self.cache = {}

    def empty_cache(self):
        self.cache.clear()


def empty_cache(directory):
    for file in directory.iterdir():
        file.unlink()


def train(model, loader, tokens, directory):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        tokens.empty_cache()
        empty_cache(directory)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
