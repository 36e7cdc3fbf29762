# A helper that replaces every child, all the way down.
import torch as th
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper as wrap


def apply_checkpointing(model):
    for name, child in model.named_children():
        apply_checkpointing(child)
        setattr(model, name, wrap(child))  # expect: checkpoint-all-modules


unet = nn.ModuleDict(
    {
        "down": nn.Sequential(nn.Conv2d(3, 32, 3, stride=2, padding=1), nn.GroupNorm(8, 32), nn.SiLU()),
        "up": nn.Sequential(nn.ConvTranspose2d(32, 3, 2, stride=2), nn.Sigmoid()),
    }
)
apply_checkpointing(unet)
optimizer = th.optim.AdamW(unet.parameters())
for image in th.rand(100, 2, 3, 64, 64):
    optimizer.zero_grad()
    loss = (unet["up"](unet["down"](image)) - image).abs().mean()
    loss.backward()
    optimizer.step()
