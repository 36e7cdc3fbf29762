import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 32)
        self.down = nn.Linear(32, 8)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(self.down(F.gelu(self.up(x))))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        weights = F.dropout((q @ k.transpose(-1, -2)).softmax(-1), 0.1, self.training)  # expect: attention-materialized
        return weights @ v


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.feed = FeedForward()
        self.layer = nn.TransformerEncoderLayer(8, 2)

    def forward(self, x):
        x = checkpoint(self.attention, x, use_reentrant=False, preserve_rng_state=False)  # expect: checkpoint-side-effects
        x = checkpoint(self.feed, x, preserve_rng_state=False, use_reentrant=False)  # expect: checkpoint-side-effects
        return checkpoint(self.layer, x, use_reentrant=False, preserve_rng_state=False)  # expect: checkpoint-side-effects
