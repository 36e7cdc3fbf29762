import gc

import torch
from torch import nn
from torch.nn.functional import cross_entropy


def run_batch(model: nn.Module, batch, labels):
    logits = model(batch.cuda())
    loss = cross_entropy(logits, labels.cuda())
    loss.backward()
    return loss.item()


def forgiving(model: nn.Module, batch, labels):
    try:
        return run_batch(model, batch, labels)
    except RuntimeError as e:
        if "out of memory" not in str(e).lower():
            raise
        gc.collect()
        torch.cuda.empty_cache()
        half = len(batch) // 2
        first = run_batch(model, batch[:half], labels[:half])  # expect: oom-retry-in-except
        second = run_batch(model, batch[half:], labels[half:])
        return (first + second) / 2


def train_with_halved_batches(loader):
    model = nn.Linear(64, 8).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        try:
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
        except RuntimeError:
            torch.cuda.empty_cache()
            half = x.shape[0] // 2
            loss = nn.functional.mse_loss(model(x[:half]), y[:half])  # expect: oom-retry-in-except
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
