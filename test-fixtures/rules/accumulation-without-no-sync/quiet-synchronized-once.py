# The flag that no_sync() sets, set by hand.
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(rank, stream, gradient_accumulation_steps=4):
    model = DDP(nn.Linear(32, 4).to(rank), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters())
    while True:
        for micro_step in range(gradient_accumulation_steps):
            model.require_backward_grad_sync = micro_step == gradient_accumulation_steps - 1
            loss = model(next(stream)).square().mean() / gradient_accumulation_steps
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
