# `model.train()` is no call of the method `train`, and functions that only call each other run with gradients on.
import torch
from torch import nn


class Trainer:
    @staticmethod
    def train(loader, epochs):
        model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(epochs):
            Trainer.epoch(model, loader, optimizer)
            print(Trainer.check(model, loader))

    @staticmethod
    def epoch(model, loader, optimizer):
        model.train()
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    @staticmethod
    def check(model, loader):
        model.eval()
        total = 0
        for x, y in loader:
            predicted = model(x.cuda())  # expect: eval-without-no-grad
            total += nn.functional.mse_loss(predicted, y.cuda())  # expect: loss-graph-retained
        return float(total)


def descend(model, nodes, depth):
    model.eval()
    total = 0
    for node in nodes:
        total += model(node.x.cuda()).mean()
        total += visit(model, node, depth)
    return total


def visit(model, node, depth):
    return descend(model, node.children, depth - 1) if depth > 0 else 0


@torch.no_grad()
def score(model, nodes):
    return descend(model, nodes, 3)
