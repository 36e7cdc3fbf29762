# A pass of as many batches as somebody chose: a multiple, or nobody knows.
import itertools

import torch
from torch.utils.data import DataLoader

model = torch.nn.Linear(128, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(torch.randn(10_000, 128), batch_size=4)


def multiple():
    for epoch in range(10):
        for i, x in enumerate(itertools.islice(loader, 1600)):
            (model(x).mean() / 16).backward()
            if (i + 1) % 16 == 0:
                optimizer.step()
                optimizer.zero_grad()


def chosen(steps, k):
    for epoch in range(10):
        for i, x in enumerate(itertools.islice(loader, steps)):
            (model(x).mean() / k).backward()
            if (i + 1) % k == 0:
                optimizer.step()
                optimizer.zero_grad()


def chosen_by_caller(k):
    for epoch in range(10):
        for i, x in enumerate(itertools.islice(loader, 1000)):
            (model(x).mean() / k).backward()
            if (i + 1) % k == 0:
                optimizer.step()
                optimizer.zero_grad()
