# The scheduler comes from a module that is not seen.
import torch
from torch import nn
from project import build_model, build_scheduler, loader

model = build_model()
optimizer = torch.optim.Adam(model.parameters())
scheduler = build_scheduler(optimizer)
k = 4

for i, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), y) / k
    loss.backward()
    if i % k == k - 1 or i == len(loader) - 1:
        optimizer.step()
        optimizer.zero_grad()
    scheduler.step()  # expect: scheduler-step-per-microbatch
