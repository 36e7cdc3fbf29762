# A helper wraps; the wrapped model has a name of its own.
import torch as th
from torch import nn, optim


def wrap(module, device):
    return th.nn.parallel.DistributedDataParallel(module.to(device), device_ids=[device])


def train(device, batches, grad_accum=4):
    ddp_model = wrap(nn.Linear(16, 1), device)
    opt = optim.Adam(ddp_model.module.parameters())
    for n, x in enumerate(batches, start=1):
        loss = ddp_model(x.to(device)).square().mean()
        (loss / grad_accum).backward()  # expect: accumulation-without-no-sync
        if n % grad_accum != 0 and n != len(batches):
            continue
        opt.step()
        opt.zero_grad()
