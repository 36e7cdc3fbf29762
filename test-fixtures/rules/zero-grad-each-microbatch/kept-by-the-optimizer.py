"""The optimizer takes the gradients of each round over before the next one resets them."""
import torch
from torch import nn


def observe(net: nn.Module, optimizer, batches):
    for x, y in batches:
        for part, target in zip(x.chunk(4), y.chunk(4)):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(part), target)
            loss.backward()
            optimizer.aggregate_grads(batch_size=len(x))
        optimizer.step()


def reset_too_often(net: nn.Module, optimizer, batches):
    for x, y in batches:
        for part, target in zip(x.chunk(4), y.chunk(4)):
            optimizer.zero_grad()  # expect: zero-grad-each-microbatch
            loss = nn.functional.cross_entropy(net(part), target)
            loss.backward()  # expect: accumulation-loss-not-scaled
        optimizer.step()
        torch.save(optimizer.state_dict(), "optimizer.pt")
