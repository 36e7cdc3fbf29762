"""The sum of the losses is walked behind the loop and holds the graph of every output until then: the list adds nothing to it."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4)).cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def meta_step(tasks):
    outputs = []
    total = 0
    for x, y in tasks:
        output = model(x)
        outputs.append(output)
        total += criterion(output, y)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()


def train(tasks, rounds=100):
    for _ in range(rounds):
        meta_step(tasks)


def compared(tasks, others):
    outputs = []
    total = 0
    for (x, y), z in zip(tasks, others):
        outputs.append(model(z))  # expect: loss-graph-retained
        total += criterion(model(x), y)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    return len(outputs)
