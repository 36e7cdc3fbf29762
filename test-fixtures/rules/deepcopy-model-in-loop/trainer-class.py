"""The best state behind a condition (a hint), and a list of all states."""
from copy import deepcopy

import torch
from torch import nn


class Trainer:
    def __init__(self, model, device="cuda"):
        self.model = model.to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.best = None
        self.best_loss = float("inf")

    def epoch(self, loader):
        total = 0.0
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total

    def keep(self, loss):
        if loss < self.best_loss:
            self.best_loss = loss
            self.best = deepcopy(self.model.state_dict())  # expect: deepcopy-model-in-loop

    def fit(self, loader, epochs):
        for _ in range(epochs):
            self.keep(self.epoch(loader))
        self.model.load_state_dict(self.best)


def fit_all(model, loader):
    model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        history.append(deepcopy(model.state_dict()))  # expect: deepcopy-model-in-loop
    return history
