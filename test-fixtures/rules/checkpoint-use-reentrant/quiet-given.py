import functools

from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from fairscale.nn.checkpoint import checkpoint_wrapper
from deepspeed import checkpointing
from .training import checkpoint as store

light = functools.partial(checkpoint, use_reentrant=False)


def recompute(function, *args):
    return checkpoint(function, *args, use_reentrant=True)


def forward(blocks, x, **kwargs):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
        x = checkpoint(block, x, **kwargs)
        x = light(block, x)
        x = recompute(block, x)
        x = checkpointing.checkpoint(block, x)
    x = checkpoint_sequential(blocks, 2, x, False)
    store(x)
    return checkpoint_wrapper(blocks[0])(x)
