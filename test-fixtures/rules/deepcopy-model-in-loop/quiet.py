import copy

import torch
from torch import nn

model = nn.Linear(128, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]
initial = copy.deepcopy(model.state_dict())
ema = copy.deepcopy(model)

for epoch in range(10):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
    on_cpu = {key: value.cpu() for key, value in model.state_dict().items()}
    torch.save(copy.deepcopy(model.state_dict()), "last.pt")
    settings = copy.deepcopy({"epoch": epoch})
    frozen = copy.deepcopy(model)
    print(frozen(torch.randn(1, 128).cuda()))
    moved = copy.deepcopy(model)
    moved.cpu()

for _ in range(3):
    state = copy.deepcopy(model.state_dict())


def federated(server, clients):
    for data in clients:
        local = copy.deepcopy(server)
        own = torch.optim.SGD(local.parameters(), lr=0.1)
        for x, y in data:
            own.zero_grad()
            nn.functional.mse_loss(local(x), y).backward()
            own.step()


def save(model, optimizer, path):
    smoothed = copy.deepcopy(model)
    torch.save({"model": model.state_dict(), "smoothed": smoothed.state_dict()}, path)


def train_and_save(model, batches):
    own = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        own.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        own.step()
        save(model, own, "last.pt")


def reptile(model, tasks):
    own = torch.optim.SGD(model.parameters(), lr=0.1)
    for task in tasks:
        before = copy.deepcopy(model.state_dict())
        for x, y in task:
            own.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            own.step()
        after = model.state_dict()
        model.load_state_dict({name: before[name] + 0.1 * (after[name] - before[name]) for name in before})
