"""Code that runs where the command line says so."""
import sys

import torch

DEBUG = "debug" in sys.argv
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []


def check(loader):
    if DEBUG:
        for x in loader:
            losses.append(model(x).mean())  # expect: loss-graph-retained


if len(sys.argv) > 1:
    for x in torch.randn(1000, 4, 8):
        losses.append(model(x).mean())  # expect: loss-graph-retained

if not DEBUG:
    for x in torch.randn(1000, 4, 8):
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
else:
    for x in torch.randn(1000, 4, 8):
        losses.append(model(x).mean())  # expect: loss-graph-retained
