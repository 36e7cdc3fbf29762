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
