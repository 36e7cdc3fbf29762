# vram: batch=4, input=int64[B,48]<300, target=int64[B,48]<300, loss=cross_entropy, optimizer=adamw, precision=amp-fp16
import math
import torch
from torch import nn
from torch.nn import functional as F


def get_slopes(n):
    def get_slopes_power_of_2(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        ratio = start
        return [start * ratio ** i for i in range(n)]

    if math.log2(n).is_integer():
        return get_slopes_power_of_2(n)
    else:
        closest = 2 ** math.floor(math.log2(n))
        return get_slopes_power_of_2(closest) + get_slopes(2 * closest)[0::2][: n - closest]


class ALiBiAttention(nn.Module):
    def __init__(self, d, h, ctx):
        super().__init__()
        self.h = h
        self.scale = math.sqrt(d)
        self.register_buffer("m", torch.Tensor(get_slopes(h)).view(1, h, 1, 1))
        self.kqv = nn.Linear(d, 3 * d, bias=False)
        self.proj = nn.Linear(d, d)
        self.register_buffer("mask", torch.tril(torch.ones(1, 1, ctx, ctx)))

    @staticmethod
    def relative_positions(seq_len: int, device) -> torch.Tensor:
        x = torch.arange(seq_len, device=device)[None, :]
        y = torch.arange(seq_len, device=device)[:, None]
        return x - y

    def forward(self, x):
        b, t, d = x.shape
        key, query, value = self.kqv(x).chunk(3, dim=-1)
        key = key.view(b, t, self.h, -1).permute(0, 2, 3, 1)
        query = query.view(b, t, self.h, -1).transpose(1, 2)
        value = value.view(b, t, self.h, -1).transpose(1, 2)
        bias = (self.m * self.relative_positions(t, x.device)).expand(b, -1, -1, -1)
        score = torch.matmul(query, key) / self.scale + bias
        score = score.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        out = F.softmax(score, dim=-1) @ value
        out = out.transpose(1, 2).reshape(b, t, -1)
        return self.proj(out)


class Model(nn.Module):
    def __init__(self, vocab=300, d=48, h=6, n=3, ctx=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList()
        for _ in range(n):
            self.blocks.append(nn.ModuleDict(dict(ln1=nn.LayerNorm(d), att=ALiBiAttention(d, h, ctx), ln2=nn.LayerNorm(d), ff=nn.Sequential(nn.Linear(d, 4 * d), nn.ReLU6(), nn.Linear(4 * d, d), nn.Dropout(0.1)))))
        self.head = nn.Linear(d, vocab, bias=False)
        self.head.weight = self.emb.weight

    def forward(self, idx):
        x = self.emb(idx)
        for b in self.blocks:
            x = x + b.att(b.ln1(x))
            x = x + b["ff"](b["ln2"](x))
        return self.head(x)
