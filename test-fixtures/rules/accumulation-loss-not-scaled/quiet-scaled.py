# Divided by k in every way there is.
import torch
from torch import nn

model = nn.Linear(16, 4)
criterion = nn.CrossEntropyLoss()
summed = nn.CrossEntropyLoss(reduction="sum")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(8, 16), torch.randint(4, (8,))) for _ in range(64)]
k = 4


def update(i):
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()


def divided_in_place():
    for i, (x, y) in enumerate(batches):
        loss = criterion(model(x), y)
        loss /= k
        loss.backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()


def multiplied():
    for i, (x, y) in enumerate(batches):
        loss = criterion(model(x), y) * (1.0 / k)
        loss.backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()


def loss_of(x, y):
    return criterion(model(x), y) / k


def divided_in_helper():
    for i, (x, y) in enumerate(batches):
        loss_of(x, y).backward()
        update(i)


def gradients_divided():
    for i, (x, y) in enumerate(batches):
        criterion(model(x), y).backward()
        if (i + 1) % k == 0:
            for p in model.parameters():
                p.grad /= k
            optimizer.step()
            optimizer.zero_grad()


def gradients_divided_in_place():
    for i, (x, y) in enumerate(batches):
        criterion(model(x), y).backward()
        if (i + 1) % k == 0:
            for group in optimizer.param_groups:
                for p in group["params"]:
                    p.grad.data.div_(k)
            optimizer.step()
            optimizer.zero_grad()


def divided_by_samples():
    samples = 0
    for i, (x, y) in enumerate(batches):
        summed(model(x), y).backward()
        samples += len(x)
        if (i + 1) % k == 0:
            for p in model.parameters():
                p.grad.mul_(1 / samples)
            optimizer.step()
            optimizer.zero_grad()
            samples = 0


def divided_by_effective_batch():
    for i, (x, y) in enumerate(batches):
        loss = summed(model(x), y) / (8 * k)
        loss.backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()


def divided_in_gradient_argument():
    for i, (x, y) in enumerate(batches):
        criterion(model(x), y).backward(torch.tensor(1.0 / k))
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
