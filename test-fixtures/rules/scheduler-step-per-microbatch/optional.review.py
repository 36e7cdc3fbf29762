# A scheduler that a setting turns on; a flag that a helper is given is no setting.
import torch
from torch import nn

k = 4


def train(model, batches, epochs, warm_up=None):
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = None
    if warm_up is not None:
        scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=len(batches) // k * epochs)
    for i, x in enumerate(batches):
        (model(x).mean() / k).backward()
        if (i + 1) % k == 0 or i + 1 == len(batches):
            optimizer.step()
            if scheduler is not None:
                scheduler.step()  # expect: scheduler-step-per-microbatch
            optimizer.zero_grad()


def step_when(scheduler, is_update):
    if is_update:
        scheduler.step()


def train_with_flag(model, batches):
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=len(batches) // k)
    for i, x in enumerate(batches):
        (model(x).mean() / k).backward()
        if (i + 1) % k == 0 or i + 1 == len(batches):
            optimizer.step()
            optimizer.zero_grad()
        step_when(scheduler, (i + 1) % k == 0)


train(nn.Linear(4, 1), torch.randn(100, 8, 4), 3)
