# Unused parameters are looked for, another model is distributed, nothing accumulates.
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

k = 4


def unused(rank, batches, find_unused):
    model = DDP(nn.Linear(32, 4).to(rank), device_ids=[rank], find_unused_parameters=find_unused)
    optimizer = torch.optim.AdamW(model.parameters())
    for i, x in enumerate(batches):
        (model(x).mean() / k).backward()
        if (i + 1) % k == 0 or i + 1 == len(batches):
            optimizer.step()
            optimizer.zero_grad()


def other_model(rank, batches):
    teacher = DDP(nn.Linear(32, 4).to(rank), device_ids=[rank])
    student = nn.Linear(32, 4).to(rank)
    optimizer = torch.optim.AdamW(student.parameters())
    for i, x in enumerate(batches):
        with torch.no_grad():
            target = teacher(x)
        (nn.functional.mse_loss(student(x), target) / k).backward()
        if (i + 1) % k == 0 or i + 1 == len(batches):
            optimizer.step()
            optimizer.zero_grad()


def no_accumulation(rank, batches):
    model = DDP(nn.Linear(32, 4).to(rank), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters())
    for i, x in enumerate(batches):
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        if i % k == 0:
            print(i)
