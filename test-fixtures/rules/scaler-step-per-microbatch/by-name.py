# Nothing but its name says that it is a scaler.
import torch
from torch import nn
from utils import build

model, loader = build()
optimizer = torch.optim.Adam(model.parameters())


def epoch(scaler, accumulation=2):
    seen = 0
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y) / accumulation
        scaler.scale(loss).backward()
        seen += 1
        if seen == accumulation:  # expect: accumulation-last-group
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            seen = 0
        else:
            print(loss.item())
        scaler.update()  # expect: scaler-step-per-microbatch
