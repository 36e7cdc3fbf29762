import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")
args = parser.parse_args()

if args.debug:
    torch.autograd.set_detect_anomaly(True)

torch.autograd.set_detect_anomaly(args.debug)
torch.autograd.set_detect_anomaly(mode=args.debug)


def set_up(debug):
    if not debug:
        return
    torch.autograd.set_detect_anomaly(True)


def switch_on():
    torch.autograd.set_detect_anomaly(True)


if args.debug:
    switch_on()


def debug_nan(model, batch):
    with torch.autograd.detect_anomaly():
        model(batch).sum().backward()


model = nn.Linear(16, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 16)).mean()
    try:
        loss.backward()
    except RuntimeError:
        torch.autograd.set_detect_anomaly(True)
        raise
    with torch.autograd.set_detect_anomaly(step > 90):
        model(torch.randn(4, 16)).mean().backward()
    optimizer.step()
