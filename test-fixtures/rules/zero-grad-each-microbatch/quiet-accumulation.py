# Correct accumulation in all the usual shapes.
import torch
from torch import nn

model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters())
batches = [(torch.randn(8, 16), torch.randint(4, (8,))) for _ in range(64)]
k = 4


def in_the_guard():
    optimizer.zero_grad()
    for i, (x, y) in enumerate(batches):
        loss = criterion(model(x), y) / k
        loss.backward()
        if (i + 1) % k == 0 or i + 1 == len(batches):
            optimizer.step()
            optimizer.zero_grad()


def zeroed_at_the_start_of_a_group():
    for i, (x, y) in enumerate(batches):
        if i % k == 0:
            optimizer.zero_grad()
        (criterion(model(x), y) / k).backward()
        if i % k == k - 1:
            optimizer.step()


def micro_loop():
    for start in range(0, len(batches), k):
        optimizer.zero_grad(set_to_none=True)
        for x, y in batches[start : start + k]:
            loss = criterion(model(x), y) / k
            loss.backward()
        optimizer.step()


def continue_guard():
    for i, (x, y) in enumerate(batches, 1):
        loss = criterion(model(x), y) / k
        loss.backward()
        if i % k:
            continue
        optimizer.step()
        optimizer.zero_grad()


def by_flag():
    for i, (x, y) in enumerate(batches):
        is_last = (i + 1) % k == 0
        criterion(model(x), y).div(k).backward()
        if not is_last:
            continue
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        model.zero_grad()


def each_arm_for_itself(accumulate):
    for i, (x, y) in enumerate(batches):
        loss = criterion(model(x), y)
        if accumulate:
            (loss / k).backward()
            if (i + 1) % k == 0:
                optimizer.step()
                optimizer.zero_grad()
        else:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
