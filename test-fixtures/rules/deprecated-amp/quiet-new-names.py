import torch
from torch import autocast
from torch.amp import GradScaler

scaler = GradScaler("cuda")
other = torch.amp.GradScaler(enabled=False)

with autocast("cuda"):
    pass

with torch.amp.autocast("cuda", dtype=torch.bfloat16):
    pass


def is_scaler(value):
    return isinstance(value, torch.cuda.amp.GradScaler)


def with_scaler(scaler: torch.cuda.amp.GradScaler | None = None):
    return scaler
