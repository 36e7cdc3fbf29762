# Something is done about the remainder, or there is none.
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

k = 4
model = nn.Linear(8, 1)
optimizer = torch.optim.Adam(model.parameters())
data = torch.utils.data.TensorDataset(torch.randn(1001, 8), torch.randn(1001, 1))
loader = DataLoader(data, batch_size=8)
dropping = DataLoader(data, batch_size=8, drop_last=True)
sampled = DataLoader(data, batch_sampler=BatchSampler(RandomSampler(data), 8, drop_last=True))
known = [(torch.randn(8, 8), torch.randn(8, 1)) for _ in range(64)]


def loss_of(x, y):
    return nn.functional.mse_loss(model(x), y) / k


def update():
    optimizer.step()
    optimizer.zero_grad()


def last_in_the_guard():
    for i, (x, y) in enumerate(loader):
        loss_of(x, y).backward()
        if (i + 1) % k == 0 or i + 1 == len(loader):
            update()


def last_by_flag():
    for i, (x, y) in enumerate(loader):
        loss_of(x, y).backward()
        is_update = (i + 1) % k == 0 or (i + 1) == len(loader)
        if is_update:
            update()


def last_in_another_branch():
    for i, (x, y) in enumerate(loader):
        loss_of(x, y).backward()
        if (i + 1) % k == 0:
            update()
        elif i == len(loader) - 1:
            update()


def flushed_behind():
    for epoch in range(3):
        for i, (x, y) in enumerate(loader):
            loss_of(x, y).backward()
            if (i + 1) % k == 0:
                update()
        if len(loader) % k != 0:
            update()


def flushed_in_else():
    for i, (x, y) in enumerate(loader):
        loss_of(x, y).backward()
        if (i + 1) % k == 0:
            update()
    else:
        update()


def dropped():
    for i, (x, y) in enumerate(dropping):
        loss_of(x, y).backward()
        if (i + 1) % k == 0:
            update()
    for i, (x, y) in enumerate(sampled):
        loss_of(x, y).backward()
        if (i + 1) % k == 0:
            update()


def divides():
    for i, (x, y) in enumerate(known):
        loss_of(x, y).backward()
        if (i + 1) % k == 0:
            update()
    for i in range(len(known)):
        loss_of(*known[i]).backward()
        if i % k == k - 1:
            update()


def ends_where_chosen(updates):
    for i, (x, y) in enumerate(loader):
        if i >= updates * k:
            break
        loss_of(x, y).backward()
        if (i + 1) % k == 0:
            update()
