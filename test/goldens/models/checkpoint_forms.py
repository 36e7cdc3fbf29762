# vram: batch=4, input=float32[B,16,48], target=float32[B,16,48], loss=mse, optimizer=adam, precision=fp32
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
from functools import partial

ckpt = partial(checkpoint, use_reentrant=False)


class Ff(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n = nn.LayerNorm(d)
        self.a = nn.Linear(d, 4 * d)
        self.b = nn.Linear(4 * d, d)

    def _inner(self, x, scale, *, gate=None):
        h = self.b(torch.nn.functional.gelu(self.a(self.n(x))))
        if gate is not None:
            h = h * gate
        return x + scale * h

    def forward(self, x, gate):
        return ckpt(self._inner, x, 0.5, gate=gate)


class Every(nn.Module):
    def __init__(self, d=48, depth=4, every=2):
        super().__init__()
        self.gate = nn.Parameter(torch.ones(d))
        self.blocks = nn.ModuleList([Ff(d) for _ in range(depth)])
        self.tail = nn.Sequential(*[nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d), nn.Sigmoid()) for _ in range(4)])
        self.every = every

    def forward(self, x):
        for i, block in enumerate(self.blocks):
            if i % self.every == 0:
                x = block(x, self.gate)
            else:
                x = block._inner(x, 1.0)
        x = checkpoint_sequential(self.tail, 2, x, use_reentrant=False)
        return x
