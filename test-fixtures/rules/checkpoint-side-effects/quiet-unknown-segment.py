import functools

from torch import nn
from torch.utils.checkpoint import checkpoint

from blocks import Block, norm_layer


class Net(nn.Module):
    def __init__(self, block_class=Block):
        super().__init__()
        self.blocks = nn.ModuleList([block_class() for _ in range(4)])
        self.norm = norm_layer(8)

    def forward(self, x, *extra):
        for block in self.blocks:
            x = checkpoint(block, x, *extra, use_reentrant=False, preserve_rng_state=False)
        x = checkpoint(functools.partial(self.norm, eps=1e-5), x, use_reentrant=False)
        return checkpoint(*extra, use_reentrant=False)
