import torch
from torch.utils import checkpoint as ckpt


def run_blocks(blocks, hidden, enabled):
    for block in blocks:
        if enabled and torch.is_grad_enabled():
            hidden = ckpt.checkpoint(lambda h: block(h), hidden)  # expect: checkpoint-use-reentrant
        else:
            hidden = block(hidden)
    return hidden
