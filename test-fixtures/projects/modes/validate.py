import torch.nn as nn
from contexts import evaluating, frozen, quiet, timed_inference, without_graph

model = nn.Sequential(nn.Linear(4, 4))


def validate_frozen(model, val_loader):
    correct = 0
    with frozen(model):
        for x, y in val_loader:
            correct += (model(x).argmax(1) == y).sum()
    return correct


def validate_evaluating(model, val_loader):
    correct = 0
    with evaluating(model):
        for x, y in val_loader:
            correct += (model(x).argmax(1) == y).sum()  # expect: eval-without-no-grad
    return correct


def validate_quiet(model, val_loader):
    correct = 0
    with quiet():
        for x, y in val_loader:
            correct += (model(x).argmax(1) == y).sum()
    return correct


@without_graph
def validate_decorated(model, val_loader):
    correct = 0
    for x, y in val_loader:
        correct += (model(x).argmax(1) == y).sum()
    return correct


@timed_inference
def validate_timed(model, val_loader):
    correct = 0
    for x, y in val_loader:
        correct += (model(x).argmax(1) == y).sum()  # expect: eval-without-no-grad
    return correct


def main(val_loader):
    optimizer = Adam(model.parameters())
    validate_frozen(model, val_loader)
    validate_evaluating(model, val_loader)
    validate_quiet(model, val_loader)
    validate_decorated(model, val_loader)
    validate_timed(model, val_loader)
