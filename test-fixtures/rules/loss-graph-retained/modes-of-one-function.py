"""What is summed where the backward does not run keeps its activations, whatever the other mode does."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()


def run(loader, mode):
    total = 0
    for x, y in loader:
        loss = criterion(model(x), y)
        if mode == "train":
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if mode == "test":
            total = total + loss  # expect: loss-graph-retained
    if mode == "test":
        return total / len(loader)


def run_flagged(loader, training=True):
    losses = []
    for x, y in loader:
        loss = criterion(model(x), y)
        if training:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if not training:
            losses.append(loss)  # expect: loss-graph-retained
    return float(sum(losses))


def run_quietly(loader, training):
    total = 0
    for x, y in loader:
        loss = criterion(model(x), y)
        if training:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        else:
            total += loss
    return total


def run_without(loader, mode):
    total = 0
    for x, y in loader:
        loss = criterion(model(x), y)
        if mode == "train":
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        else:
            total += loss
        if mode != "eval":
            total += loss  # expect: graph-retained-after-backward
    return total


history = []
for epoch in range(100):
    run(train_loader, "train")
    run_flagged(train_loader)
    run_quietly(train_loader, True)
    run_without(train_loader, "train")
    # expect-next: eval-without-no-grad
    history.append(run(test_loader, "test"))  # expect: loss-graph-retained
    # expect-next: eval-without-no-grad
    print(run_flagged(test_loader, training=False))
    with torch.no_grad():
        print(run_quietly(test_loader, False))
        print(run_without(test_loader, "eval"))
