# Checkpointing where it pays: the repeated blocks.
from functools import partial

import torch
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl,
    apply_activation_checkpointing,
    checkpoint_wrapper,
)
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 8, batch_first=True)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self, width=256, depth=8, checkpointing=True):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.stack = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, 1000)
        self.checkpointing = checkpointing

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            if self.checkpointing and self.training:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        for block in self.stack.children():
            x = checkpoint(block, x, use_reentrant=False)
        x = checkpoint_sequential(self.stack, 4, x, use_reentrant=False)
        return self.head(x)


def is_block(module):
    return isinstance(module, Block)


def by_class(model):
    wrapper = partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.NO_REENTRANT)
    apply_activation_checkpointing(model, checkpoint_wrapper_fn=wrapper, check_fn=is_block)
    apply_activation_checkpointing(model, check_fn=lambda m: isinstance(m, Block))
    apply_activation_checkpointing(model, auto_wrap_policy=ModuleWrapPolicy({Block}))


def by_hand(model):
    for index, block in enumerate(model.blocks):
        model.blocks[index] = checkpoint_wrapper(block)


def by_filter(model):
    for name, module in model.named_modules():
        if isinstance(module, nn.ModuleList):
            for index, child in enumerate(module):
                module[index] = checkpoint_wrapper(child)
