"""What is added up under no_grad has no graph; a list keeps that of its elements wherever they are put into it."""
import torch
from torch import nn

model = nn.Linear(16, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train(loader):
    total = 0
    mean = 0
    losses = []
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            total += loss
            mean = 0.9 * mean + 0.1 * loss
            losses.append(loss)  # expect: graph-retained-after-backward
    return total, mean, len(losses)


def train_and_add(loader):
    total = 0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss  # expect: graph-retained-after-backward
    return total
