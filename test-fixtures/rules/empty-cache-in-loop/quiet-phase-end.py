# Between phases, epochs, folds and models the call is fair.
import gc

import torch
from torch import nn


def build(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10)).cuda()


def train_epoch(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
        optimizer.step()


@torch.no_grad()
def evaluate(model, batches):
    return sum((model(x.cuda()).argmax(1) == y.cuda()).sum().item() for x, y in batches)


batches = [(torch.randn(32, 64), torch.randint(10, (32,))) for _ in range(100)]

for fold in range(5):
    model = build(256)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        train_epoch(model, optimizer, batches)
        torch.cuda.empty_cache()
        print(fold, epoch, evaluate(model, batches[:10]))
        torch.cuda.empty_cache()
    del model, optimizer
    gc.collect()
    torch.cuda.empty_cache()

for width in (128, 256, 512):
    model = build(width)
    print(width, evaluate(model, batches))
    del model
    torch.cuda.empty_cache()

torch.cuda.empty_cache()
