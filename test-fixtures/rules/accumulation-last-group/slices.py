# A pass over the first batches of a loader: how many there are, and how many go together, are defaults.
import argparse
import itertools

import torch
from torch.utils.data import DataLoader

model = torch.nn.Linear(128, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(torch.randn(10_000, 128), batch_size=4)


def defaults(epochs=10, steps_per_epoch=1000, accumulate=16):
    for epoch in range(epochs):
        optimizer.zero_grad()
        for i, x in enumerate(itertools.islice(loader, steps_per_epoch)):
            (model(x).mean() / accumulate).backward()
            if (i + 1) % accumulate == 0:  # expect: accumulation-last-group
                optimizer.step()
                optimizer.zero_grad()


def multiple(epochs=10, steps_per_epoch=1600, accumulate=16):
    for epoch in range(epochs):
        optimizer.zero_grad()
        for i, x in enumerate(itertools.islice(loader, steps_per_epoch)):
            (model(x).mean() / accumulate).backward()
            if (i + 1) % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=int, default=250)
    parser.add_argument("--accumulate", type=int, default=8)
    parser.add_argument("--whole", type=int, default=256)
    args = parser.parse_args()
    for epoch in range(10):
        for i, x in enumerate(itertools.islice(loader, args.batches)):
            (model(x).mean() / args.accumulate).backward()
            if (i + 1) % args.accumulate == 0:  # expect: accumulation-last-group
                optimizer.step()
                optimizer.zero_grad()
    for epoch in range(10):
        for i, x in enumerate(itertools.islice(loader, args.whole)):
            (model(x).mean() / args.accumulate).backward()
            if (i + 1) % args.accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
