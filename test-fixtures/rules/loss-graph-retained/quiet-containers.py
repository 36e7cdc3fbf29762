# Containers that do not outlive the iteration, are bounded, or are written over each time.
import torch
from collections import deque
from torch import nn


class Logger:
    def __init__(self):
        self.latest = None
        self.values = {}

    def record(self, loss):
        self.latest = loss
        self.values["loss"] = loss


model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
teacher = nn.Linear(10, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
recent = deque(maxlen=20)
last = {}
logger = Logger()
buffer = []
soft_targets = []

for epoch in range(10):
    for step in range(100):
        x, y = torch.randn(16, 10), torch.randint(2, (16,))
        parts = []
        out = model(x)
        for chunk, target in zip(out.chunk(4), y.chunk(4)):
            parts.append(criterion(chunk, target))
        loss = torch.stack(parts).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        recent.append(loss)
        last["loss"] = loss
        logger.record(loss)
        buffer.append(loss)
        if step % 10 == 9:
            print(torch.stack(buffer).mean().item())
            buffer.clear()
        with torch.no_grad():
            soft_targets.append(teacher(x).softmax(-1))
