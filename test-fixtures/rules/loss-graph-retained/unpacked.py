# Sums and entries that one assignment of several values replaces.
import torch
from torch import nn

model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
criterion = nn.CrossEntropyLoss()


def split(out, y):
    return criterion(out, y), out.argmax(dim=1)


def summed(loader):
    total, count = 0, 0
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        total, count = total + loss, count + 1  # expect: loss-graph-retained
    print(total / count)


def by_index(loader):
    losses, labels = {}, {}
    for i, (x, y) in enumerate(loader):
        losses[i], labels[i] = split(model(x.cuda()), y.cuda())  # expect: loss-graph-retained
    print(max(losses), labels)


def numbers(loader):
    total, count = 0, 0
    losses, labels = {}, {}
    for i, (x, y) in enumerate(loader):
        loss, found = split(model(x.cuda()), y.cuda())
        total, count = total + loss.item(), count + 1
        losses[i], labels[i] = loss.item(), found
    print(total / count, losses, labels)


def swapped(states):
    for i in range(len(states) - 1):
        states[i], states[i + 1] = states[i + 1], states[i]
    return states
