"""In a helper, through a scaler, through Accelerate, in a while loop."""
import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator()
model = nn.Linear(128, 10)
optimizer = torch.optim.Adam(model.parameters())
model, optimizer = accelerator.prepare(model, optimizer)
scaler = torch.amp.GradScaler("cuda")


def step(x, y):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward(create_graph=True, retain_graph=True)  # expect: create-graph-in-backward
    optimizer.step()


def train(loader):
    for x, y in loader:
        step(x, y)


class Trainer:
    def run(self, loader):
        iterator = iter(loader)
        count = 0
        while count < 100:
            x, y = next(iterator)
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            scaler.scale(loss).backward(create_graph=True)  # expect: create-graph-in-backward
            scaler.step(optimizer)
            scaler.update()
            count += 1


def accelerated(loader):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        accelerator.backward(loss, create_graph=True)  # expect: create-graph-in-backward
        optimizer.step()
