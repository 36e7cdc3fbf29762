"""A method around the model moves what it gives, or gives something small or something of another kind."""

import torch
import torch.nn as nn


class Process:
    def __init__(self):
        self.model = nn.Sequential(nn.Conv1d(20, 128, 9), nn.ReLU(), nn.Conv1d(128, 64, 1)).cuda()
        self.seen = []

    def moved(self, x):
        return self.model(x).cpu()

    def labels(self, x):
        return self.model(x).argmax(dim=1)

    def loss(self, x):
        return self.model(x).mean()

    def either(self, x):
        if x.shape[0] == 0:
            return None
        return self.model(x).float().cpu()

    def given(self, x):
        return x

    @torch.no_grad()
    def predict(self, loader):
        moved, labels, losses, either, given = [], [], [], [], []
        for batch in loader:
            x = batch.cuda()
            moved.append(self.moved(x))
            labels.append(self.labels(x))
            losses.append(self.loss(x))
            either.append(self.either(x))
            given.append(self.given(batch))
        return torch.cat(moved), torch.cat(labels), torch.stack(losses), torch.cat(either), torch.cat(given)
