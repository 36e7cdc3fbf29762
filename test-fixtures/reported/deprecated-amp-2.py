# https://github.com/lucidrains/x-transformers/issues/265: a decorator that switches autocast off.
import torch
from torch import einsum, nn
from torch.cuda.amp import autocast


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv_freq)

    @autocast(enabled = False)  # expect: deprecated-amp
    def forward(self, t):
        freqs = einsum("i , j -> i j", t.type_as(self.inv_freq), self.inv_freq)
        return torch.stack((freqs, freqs), dim=-1)
