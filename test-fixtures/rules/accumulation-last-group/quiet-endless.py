# Steps that somebody chose, loops without an end, counters that go on through the epochs.
import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader
from tqdm import tqdm

k = 4
model = nn.Linear(8, 1)
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(torch.randn(1001, 8), batch_size=8)


def update():
    optimizer.step()
    optimizer.zero_grad()


def steps(num_steps):
    iterator = iter(loader)
    for step in range(num_steps):
        (model(next(iterator)).mean() / k).backward()
        if (step + 1) % k == 0:
            update()


def endless():
    step = 0
    while True:
        for x in loader:
            (model(x).mean() / k).backward()
            step += 1
            if step % k == 0:
                update()


def cycled():
    for i, x in enumerate(itertools.cycle(loader)):
        (model(x).mean() / k).backward()
        if (i + 1) % k == 0:
            update()


def sliced(updates):
    for i, x in enumerate(itertools.islice(loader, updates * k)):
        (model(x).mean() / k).backward()
        if (i + 1) % k == 0:
            update()


def going_on():
    seen = 0
    for epoch in range(10):
        for x in loader:
            (model(x).mean() / k).backward()
            seen += 1
            if seen == k:
                update()
                seen = 0


def over_all_epochs():
    for epoch in range(10):
        for i, x in enumerate(loader):
            (model(x).mean() / k).backward()
            if (epoch * len(loader) + i + 1) % k == 0:
                update()


def counted_beside_a_bar(num_steps):
    bar = tqdm(range(num_steps))
    batches = itertools.cycle(loader)
    seen = 0
    for _ in bar:
        (model(next(batches)).mean() / k).backward()
        seen += 1
        if seen % k == 0:
            update()
