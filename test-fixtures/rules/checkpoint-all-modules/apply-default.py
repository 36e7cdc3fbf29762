"""apply_activation_checkpointing without check_fn wraps every submodule: the default is `lambda _: True`."""
from functools import partial

import torch
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl,
    apply_activation_checkpointing,
    checkpoint_wrapper,
)


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def build(depth, width):
    return nn.Sequential(*[FeedForward(width) for _ in range(depth)])


def main():
    model = build(6, 256).cuda()
    wrapper = partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.NO_REENTRANT)
    apply_activation_checkpointing(model, checkpoint_wrapper_fn=wrapper)  # expect: checkpoint-all-modules
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(200):
        x = torch.randn(8, 128, 256, device="cuda")
        loss = (model(x) - x).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
